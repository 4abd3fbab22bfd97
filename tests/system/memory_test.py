"""Memory stays bounded, whatever clients do, and nobody else suffers for it."""

import select
import socket
import struct
import threading
import unittest

from amqp import (ACK, BLOCKED, CONFIRM_SELECT, CONFIRM_SELECT_OK, DELIVER, GET, GET_EMPTY, UNBLOCKED,
                  Client, method, publish, shortstr)
from node import Node

MIB = 1 << 20
BUDGET = 96 * MIB
BOUND = BUDGET + 64 * MIB
CONFIG = '[node]\nmemory = "96MiB"\n'


def flood(client, block, until=None, timeout_s=3, stop=None):
    """Sends `block` again and again until the node takes no more for `timeout_s`, or `until` bytes.

    Ends early once the event `stop` is set. Leaves the rest of the block that was cut off in
    `client.unsent`.
    """
    sent, rest = 0, memoryview(block)
    client.unsent = b""
    while (until is None or sent < until) and not (stop and stop.is_set()):
        if not select.select([], [client.socket], [], timeout_s)[1]:
            client.unsent = bytes(rest)
            return sent
        try:
            n = client.socket.send(rest, socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        sent += n
        rest = rest[n:] if n < len(rest) else memoryview(block)
    client.unsent = bytes(rest) if len(rest) < len(block) else b""
    return sent


class MemoryTest(unittest.TestCase):
    def peak(self, node):
        with open(f"/proc/{node.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))

    def test_a_client_that_publishes_and_never_consumes_is_blocked_within_the_budget(self):
        for size in (16, 1000, 300_000):
            with self.subTest(size=size), Node(CONFIG) as node, Client(node.port) as client:
                client.declare("heap")
                block = publish(1, "heap", b"x" * size) * max(1, 100_000 // (size + 70))
                sent = flood(client, block)
                self.assertGreater(sent, 10 * MIB)
                client.wait_for(BLOCKED)
                self.assertLess(self.peak(node), BOUND)
                # Others go on: a client that only consumes frees memory, and the first one goes on too.
                with Client(node.port) as other:
                    other.consume("heap", no_ack=True)
                    other.wait_for(DELIVER)
                    reader = threading.Thread(target=self.drain, args=(other,))
                    reader.start()
                    client.wait_for(UNBLOCKED)
                    other.socket.shutdown(2)
                    reader.join()

    @staticmethod
    def drain(client):
        try:
            while client.socket.recv(1 << 16):
                pass
        except OSError:
            pass

    def test_a_consumer_that_never_reads_its_socket_costs_no_more_than_its_credit(self):
        with Node(CONFIG) as node, Client(node.port) as deaf, Client(node.port) as client:
            client.declare("heap")
            deaf.consume("heap", no_ack=True)
            flood(client, publish(1, "heap", b"x" * 1000) * 100)
            self.assertLess(self.peak(node), BOUND)

    def test_acks_get_through_on_a_connection_whose_publishes_wait(self):
        with Node(CONFIG) as node, Client(node.port) as client:
            client.declare("heap")
            client.send(1, CONFIRM_SELECT, b"\0")
            client.expect(CONFIRM_SELECT_OK)
            client.consume("heap")
            block = publish(1, "heap", b"x" * 100_000)
            # Until memory is full: everything is delivered to us, and stays ours until we ack it.
            told = threading.Event()
            sender = threading.Thread(target=flood, args=(client, block), kwargs={"stop": told})
            tags, blocked = 0, False
            sender.start()
            while not blocked:
                name, arguments = client.read_method()
                if name == DELIVER:
                    tags = struct.unpack(">Q", arguments[2:10])[0]
                blocked = name == BLOCKED
            told.set()
            sender.join()
            self.assertGreater(tags, 0)
            # The acks stand behind publishes that wait, on the same AMQP channel.
            client.socket.settimeout(60)
            client.socket.sendall(client.unsent + method(1, ACK, struct.pack(">QB", tags, 1)))
            while (name := client.read_method())[0] != UNBLOCKED:
                if name[0] == DELIVER:
                    client.send(1, ACK, name[1][2:10] + b"\0")
            self.assertLess(self.peak(node), BOUND)

    def test_a_client_that_never_reads_its_replies_harms_nobody(self):
        with Node(CONFIG) as node, Client(node.port) as deaf, Client(node.port) as client:
            client.declare("q")
            flood(deaf, method(1, GET, b"\0\0", shortstr("q"), b"\1") * 1000, until=40 * MIB)
            self.assertLess(self.peak(node), BOUND)
            client.send(1, GET, b"\0\0", shortstr("q"), b"\1")
            client.expect(GET_EMPTY)

    def test_halves_of_large_messages_cost_what_has_arrived_and_block_nobody(self):
        with Node(CONFIG) as node, Client(node.port) as client:
            client.declare("q")
            halves = [Client(node.port) for _ in range(4)]
            for half in halves:
                flood(half, publish(1, "q", b"x" * MIB, size=128 * MIB), until=1 * MIB, timeout_s=1)
            self.assertLess(self.peak(node), 64 * MIB)
            client.socket.sendall(publish(1, "q", b"small"))
            client.send(1, GET, b"\0\0", shortstr("q"), b"\1")
            self.assertNotEqual(client.read_method()[0], GET_EMPTY)
            for half in halves:
                half.close()


if __name__ == "__main__":
    unittest.main()
