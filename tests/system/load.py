"""A client that publishes until its node is gone."""

import random
import struct
import threading

from amqp import ACK, CONFIRM_SELECT, CONFIRM_SELECT_OK, Client

GONE = (EOFError, OSError)


class Publisher(threading.Thread):
    """Publishes numbered messages of many sizes, `window` of them unconfirmed, from number `first` on.

    `encode` makes a publish of a body. `confirmed`: the numbers that were; `next`: not used yet."""

    def __init__(self, port, first, window, encode):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.client.send(1, CONFIRM_SELECT, b"\0")
        self.client.expect(CONFIRM_SELECT_OK)
        self.next, self.window, self.encode = first, window, encode
        self.confirmed = set()

    def run(self):
        open_numbers, tag = {}, 0
        try:
            while True:
                while len(open_numbers) < self.window:
                    tag += 1
                    open_numbers[tag] = self.next
                    body = b"%010d" % self.next + b"." * random.choice((0, 100, 3000, 20000))
                    self.next += 1
                    self.client.socket.sendall(self.encode(body))
                upto, multiple = struct.unpack(">QB", self.client.expect(ACK))
                for t in [t for t in open_numbers if t == upto or (multiple and t < upto)]:
                    self.confirmed.add(open_numbers.pop(t))
        except GONE:
            pass
