"""Queues that clients declare as quorum queues: what they keep, and what they say of a message that
has come back."""

import struct
import tempfile
import unittest
from pathlib import Path

from amqp import (
    ACK, BODY, CONFIRM_SELECT, CONFIRM_SELECT_OK, CONSUME, CONSUME_OK, DELIVER, GET, GET_EMPTY, GET_OK,
    HEADER, METHOD, PUBLISH, QUEUE_DECLARE, QUEUE_DECLARE_OK, Client, frame, longstr, method, shortstr)
from node import Node
from on_one_node import OnOneNode

QUEUE_BIND, QUEUE_BIND_OK = (50, 20), (50, 21)
NACK, REJECT, RECOVER, RECOVER_OK = (60, 120), (60, 90), (60, 110), (60, 111)
DELIVERY_MODE, HEADERS = 0x1000, 0x2000


def argument(name, value):
    return shortstr(name) + (b"I" + struct.pack(">i", value) if isinstance(value, int)
                             else b"S" + longstr(value.encode()))


def declare(client, queue, kind="quorum", **arguments):
    """How many messages it has."""
    table = argument("x-queue-type", kind)
    for name, value in arguments.items():
        table += argument("x-" + name.replace("_", "-"), value)
    client.send(1, QUEUE_DECLARE, b"\0\0", shortstr(queue), b"\2", longstr(table))
    return struct.unpack(">I", client.expect(QUEUE_DECLARE_OK)[len(queue) + 1:][:4])[0]


def transient(exchange, key, body, headers=None):
    flags, values = DELIVERY_MODE, b"\1"
    if headers is not None:
        flags, values = flags | HEADERS, longstr(headers) + values
    return (method(1, PUBLISH, b"\0\0", shortstr(exchange), shortstr(key), b"\0")
            + frame(HEADER, 1, struct.pack(">HHQH", 60, 0, len(body), flags) + values)
            + (frame(BODY, 1, body) if body else b""))


def confirm(client, *publishes):
    client.send(1, CONFIRM_SELECT, b"\0")
    client.expect(CONFIRM_SELECT_OK)
    for count, each in enumerate(publishes, 1):
        client.socket.sendall(each)
        while struct.unpack(">QB", client.wait_for(ACK))[0] < count:
            pass


def content(client):
    """The properties behind their flags, and the body, of the content that comes next."""
    kind, _, head = client.read_frame()
    assert kind == HEADER
    size, = struct.unpack(">Q", head[4:12])
    return head[12:], client.read_frame()[2] if size > 0 else b""


def delivered(client):
    """(tag, redelivered, properties, body) of the delivery that comes next."""
    while True:
        kind, _, payload = client.read_frame()
        if kind == METHOD and struct.unpack(">HH", payload[:4]) == DELIVER:
            at = 5 + payload[4]
            tag, redelivered = struct.unpack(">QB", payload[at:at + 9])
            return (tag, bool(redelivered), *content(client))


def got(client, queue):
    """(tag, redelivered, properties, body), or nothing."""
    client.send(1, GET, b"\0\0", shortstr(queue), b"\0")
    name, arguments = client.read_method()
    if name == GET_EMPTY:
        return None
    assert name == GET_OK
    tag, redelivered = struct.unpack(">QB", arguments[:9])
    return (tag, bool(redelivered), *content(client))


def count_of(properties):
    """The header x-delivery-count, or nothing."""
    name = shortstr("x-delivery-count") + b"l"
    at = properties.find(name)
    return None if at < 0 else struct.unpack(">q", properties[at + len(name):][:8])[0]


def consume(client, queue):
    client.send(1, CONSUME, b"\0\0", shortstr(queue), shortstr("c"), b"\0", longstr(b""))
    client.expect(CONSUME_OK)


def put_back(client, tag):
    client.send(1, NACK, struct.pack(">QB", tag, 2))


class DeliveryCount(OnOneNode):
    def test_a_delivery_says_how_often_its_message_came_back(self):
        client = self.client()
        declare(client, "counted")
        client.socket.sendall(transient("", "counted", b"m", argument("mine", 7)))
        consume(client, "counted")
        for returns in range(4):
            tag, redelivered, properties, body = delivered(client)
            self.assertEqual((count_of(properties), redelivered, body),
                             (returns or None, returns > 0, b"m"))
            # The publisher's own headers stay in front of it, and the properties behind them.
            self.assertEqual(properties[2:].find(argument("mine", 7)), 4)
            self.assertEqual(properties[-1:], b"\1")
            if returns % 2:
                client.send(1, REJECT, struct.pack(">QB", tag, 1))
            else:
                put_back(client, tag)

    def test_a_get_says_how_often_its_message_came_back(self):
        client = self.client()
        declare(client, "counted-gets")
        client.socket.sendall(transient("", "counted-gets", b""))
        for returns in range(4):
            tag, redelivered, properties, _ = got(client, "counted-gets")
            self.assertEqual((count_of(properties), redelivered), (returns or None, returns > 0))
            put_back(client, tag)

    def test_whatever_brings_a_message_back_counts(self):
        client = self.client()
        declare(client, "back")
        client.socket.sendall(transient("", "back", b"m"))
        got(client, "back")
        client.send(1, RECOVER, b"\1")
        client.expect(RECOVER_OK)
        self.assertEqual(count_of(got(client, "back")[2]), 1)
        client.close()
        other = self.client()
        found = None
        while found is None:  # until the node has seen that the other one has gone
            found = got(other, "back")
        self.assertEqual(count_of(found[2]), 2)

    def test_the_large_body_of_a_message_that_came_back_is_whole(self):
        client = self.client()
        declare(client, "large")
        body = bytes(range(256)) * 1000
        head = struct.pack(">HHQH", 60, 0, len(body), 0)
        client.socket.sendall(
            method(1, PUBLISH, b"\0\0", shortstr(""), shortstr("large"), b"\0")
            + frame(HEADER, 1, head)
            + frame(BODY, 1, body[:131000]) + frame(BODY, 1, body[131000:]))
        consume(client, "large")
        for returns in range(3):
            tag, _, properties, first = delivered(client)
            self.assertEqual(count_of(properties), returns or None)
            self.assertEqual(first + client.read_frame()[2], body)
            put_back(client, tag)

    def test_other_queues_count_for_themselves(self):
        client = self.client()
        declare(client, "uncounted", "classic")
        client.socket.sendall(transient("", "uncounted", b"m"))
        for returns in range(3):
            tag, redelivered, properties, _ = got(client, "uncounted")
            self.assertEqual((count_of(properties), redelivered), (None, returns > 0))
            put_back(client, tag)


class DeliveryLimit(OnOneNode):
    def test_a_message_is_delivered_once_more_than_its_limit(self):
        client = self.client()
        declare(client, "limited", delivery_limit=2)
        client.socket.sendall(transient("", "limited", b"first") + transient("", "limited", b"second"))
        for returns in (None, 1, 2):
            tag, _, properties, body = got(client, "limited")
            self.assertEqual((count_of(properties), body), (returns, b"first"))
            put_back(client, tag)
        self.assertEqual(got(client, "limited")[3], b"second")
        self.assertIsNone(got(client, "limited"))

    def test_a_limit_of_minus_1_is_none(self):
        client = self.client()
        declare(client, "unlimited", delivery_limit=-1)
        client.socket.sendall(transient("", "unlimited", b"m"))
        for returns in range(30):
            tag, _, properties, _ = got(client, "unlimited")
            self.assertEqual(count_of(properties), returns or None)
            put_back(client, tag)


class Declarations(OnOneNode):
    def test_how_a_queue_is_to_be_kept_in_memory_is_taken_and_not_compared(self):
        client = self.client()
        for kind in ("classic", "quorum"):
            for mode in ({"queue_mode": "lazy"}, {"queue_mode": "default"}, {}):
                self.assertEqual(declare(client, "moded-" + kind, kind, **mode), 0)


class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def node(self):
        # Clients that do not answer its close are let go soon.
        return Node('[node]\ndrain_timeout = "500ms"', data=Path(self.folder.name) / "data")

    def test_what_was_confirmed_outlives_a_kill_whatever_its_delivery_mode(self):
        with self.node() as node, Client(node.port) as client:
            declare(client, "kept")
            declare(client, "forgotten", "classic")
            for queue in ("kept", "forgotten"):
                client.send(1, QUEUE_BIND, b"\0\0", shortstr(queue), shortstr("amq.fanout"),
                            shortstr(""), b"\0", longstr(b""))
                client.expect(QUEUE_BIND_OK)
            confirm(client, transient("", "kept", b"one"), transient("amq.fanout", "", b"both"))
            node.kill()
        with self.node() as node, Client(node.port) as client:
            self.assertEqual(declare(client, "kept"), 2)
            self.assertEqual(declare(client, "forgotten", "classic"), 0)
            self.assertEqual([got(client, "kept")[1::2] for _ in range(2)], [(True, b"one"), (True, b"both")])

    def test_counts_are_the_same_after_a_stop_in_order_and_limits_hold(self):
        with self.node() as node, Client(node.port) as client:
            declare(client, "counted", delivery_limit=3)
            confirm(client, transient("", "counted", b"m"), transient("", "counted", b"fresh"))
            for _ in range(2):
                put_back(client, got(client, "counted")[0])
            self.assertEqual(node.stop(), 0)
        with self.node() as node, Client(node.port) as client:
            tag, redelivered, properties, body = got(client, "counted")
            self.assertEqual((count_of(properties), redelivered, body), (2, True, b"m"))
            self.assertEqual(got(client, "counted")[1:], (False, b"\x10\0\1", b"fresh"))
            put_back(client, tag)
            # It is out on lease when the node ends: that return is its third.
            self.assertEqual(count_of(got(client, "counted")[2]), 3)
            self.assertEqual(node.stop(), 0)
        with self.node() as node, Client(node.port) as client:
            self.assertEqual(got(client, "counted")[3], b"fresh")
            self.assertIsNone(got(client, "counted"))

    def test_a_count_is_a_lower_bound_after_a_kill(self):
        with self.node() as node, Client(node.port) as client:
            declare(client, "bound")
            confirm(client, transient("", "bound", b"m"))
            for returns in range(5):
                tag, _, properties, _ = got(client, "bound")
                self.assertEqual(count_of(properties), returns or None)
                put_back(client, tag)
            # What was stored behind them has them stored too.
            confirm(client, transient("", "bound", b"behind"))
            node.kill()
        with self.node() as node, Client(node.port) as client:
            tag, redelivered, properties, _ = got(client, "bound")
            self.assertEqual((count_of(properties), redelivered), (5, True))
            # Delivered and never given back: the node cannot know.
            put_back(client, got(client, "bound")[0])
            node.kill()
        with self.node() as node, Client(node.port) as client:
            _, redelivered, properties, body = got(client, "bound")
            self.assertEqual((redelivered, body), (True, b"m"))
            self.assertEqual(count_of(properties), 5)


if __name__ == "__main__":
    unittest.main()
