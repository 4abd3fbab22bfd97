"""Just enough AMQP 0-9-1 for tests that want to misbehave: frames by hand over a blocking socket.

    client = Client(node.port)                 # handshake done, AMQP channel 1 open
    client.send(1, QUEUE_DECLARE, shortstr("q"), ...)
    client.expect(QUEUE_DECLARE_OK)
"""

import socket
import struct

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8

START, START_OK, TUNE, TUNE_OK = (10, 10), (10, 11), (10, 30), (10, 31)
OPEN, OPEN_OK, CLOSE, CLOSE_OK = (10, 40), (10, 41), (10, 50), (10, 51)
BLOCKED, UNBLOCKED = (10, 60), (10, 61)
CHANNEL_OPEN, CHANNEL_OPEN_OK, CHANNEL_CLOSE = (20, 10), (20, 11), (20, 40)
QUEUE_DECLARE, QUEUE_DECLARE_OK = (50, 10), (50, 11)
PURGE, PURGE_OK = (50, 30), (50, 31)
QUEUE_DELETE, QUEUE_DELETE_OK = (50, 40), (50, 41)
QOS, QOS_OK, CONSUME, CONSUME_OK = (60, 10), (60, 11), (60, 20), (60, 21)
PUBLISH, DELIVER, GET, GET_OK, GET_EMPTY = (60, 40), (60, 60), (60, 70), (60, 71), (60, 72)
ACK = (60, 80)
CONFIRM_SELECT, CONFIRM_SELECT_OK = (85, 10), (85, 11)


def shortstr(text):
    raw = text.encode()
    return struct.pack(">B", len(raw)) + raw


def longstr(raw):
    return struct.pack(">I", len(raw)) + raw


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, name, *arguments):
    return frame(METHOD, channel, struct.pack(">HH", *name) + b"".join(arguments))


def publish(channel, queue, body, size=None):
    """A whole publish to a queue; `size`: announced instead of the body's own."""
    head = struct.pack(">HHQH", 60, 0, len(body) if size is None else size, 0)
    return (method(channel, PUBLISH, b"\0\0", shortstr(""), shortstr(queue), b"\0")
            + frame(HEADER, channel, head)
            + b"".join(frame(BODY, channel, body[at:at + 131000])
                       for at in range(0, len(body), 131000)))


class Client:
    """`tuned`: what tune-ok says, the largest channel number and the heartbeat in seconds."""

    def __init__(self, port, handshake=True, timeout_s=20, tuned=(2047, 0)):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._in = b""
        if handshake:
            self.open(*tuned)

    def open(self, channel_max=2047, heartbeat_s=0):
        self.socket.sendall(b"AMQP\x00\x00\x09\x01")
        self.expect(START)
        capabilities = b"".join(shortstr(name) + b"t\x01" for name in (
            "connection.blocked", "consumer_cancel_notify", "authentication_failure_close"))
        self.send(0, START_OK, longstr(shortstr("capabilities") + b"F" + longstr(capabilities)),
                  shortstr("PLAIN"), longstr(b"\0guest\0guest"), shortstr("en_US"))
        self.expect(TUNE)
        self.send(0, TUNE_OK, struct.pack(">HIH", channel_max, 131072, heartbeat_s))
        self.send(0, OPEN, shortstr("/"), shortstr(""), b"\0")
        self.expect(OPEN_OK)
        self.send(1, CHANNEL_OPEN, shortstr(""))
        self.expect(CHANNEL_OPEN_OK)

    def send(self, channel, name, *arguments):
        self.socket.sendall(method(channel, name, *arguments))

    def declare(self, queue, arguments=b""):
        self.send(1, QUEUE_DECLARE, b"\0\0", shortstr(queue), b"\0", longstr(arguments))
        return self.expect(QUEUE_DECLARE_OK)

    def delete(self, queue):
        self.send(1, QUEUE_DELETE, b"\0\0", shortstr(queue), b"\0")
        return self.expect(QUEUE_DELETE_OK)

    def consume(self, queue, no_ack=False):
        self.send(1, CONSUME, b"\0\0", shortstr(queue), shortstr("c"),
                  bytes([2 if no_ack else 0]), longstr(b""))
        self.expect(CONSUME_OK)

    def read_frame(self):
        """(type, channel, payload); EOFError when the node has closed."""
        head = self._take(7)
        kind, channel, size = struct.unpack(">BHI", head)
        payload = self._take(size)
        assert self._take(1) == b"\xce"
        return kind, channel, payload

    def read_method(self):
        """The next method's (class, method) and arguments; contents and heartbeats are passed over."""
        while True:
            kind, _, payload = self.read_frame()
            if kind == METHOD:
                return struct.unpack(">HH", payload[:4]), payload[4:]

    def expect(self, *names):
        """The arguments of the next method, which must be one of these."""
        name, arguments = self.read_method()
        assert name in names, f"expected {names}, got {name} {arguments!r}"
        return arguments

    def wait_for(self, name):
        """Passes over other methods."""
        while True:
            got, arguments = self.read_method()
            if got == name:
                return arguments

    def _take(self, size):
        while len(self._in) < size:
            read = self.socket.recv(65536)
            if not read:
                raise EOFError
            self._in += read
        taken, self._in = self._in[:size], self._in[size:]
        return taken

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
