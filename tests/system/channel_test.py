"""What an AMQP channel answers, in which order, and what it keeps: frames by hand."""

import struct
import unittest

from amqp import (
    BODY, CHANNEL_CLOSE, CHANNEL_OPEN, CHANNEL_OPEN_OK, CONSUME_OK, DELIVER, GET, GET_EMPTY, GET_OK,
    HEADER, PUBLISH, QUEUE_DECLARE, QUEUE_DECLARE_OK, QUEUE_DELETE, QUEUE_DELETE_OK, Client, frame,
    longstr, method, shortstr)
from node import Node
from on_one_node import OnOneNode

BASIC_CANCEL, CONSUME = (60, 30), (60, 20)
QUEUE_PURGE = (50, 30)
TX_SELECT, TX_SELECT_OK, TX_COMMIT, TX_COMMIT_OK = (90, 10), (90, 11), (90, 20), (90, 21)
RETURN = (60, 50)
REPLY_TO = "amq.rabbitmq.reply-to"

EXPIRATION, USER_ID, DELIVERY_MODE, REPLY = 0x0100, 0x0010, 0x1000, 0x0200


def publish_with(exchange, flags, values):
    """An empty publish whose properties are these."""
    return (method(1, PUBLISH, b"\0\0", shortstr(exchange), shortstr("nowhere"), b"\0")
            + frame(HEADER, 1, struct.pack(">HHQH", 60, 0, 0, flags) + values))


def mandatory(queue, body):
    return (method(1, PUBLISH, b"\0\0", shortstr(""), shortstr(queue), b"\1")
            + frame(HEADER, 1, struct.pack(">HHQH", 60, 0, len(body), 0)) + frame(BODY, 1, body))


def closing(client):
    """Code and text of the channel.close that comes next."""
    arguments = client.expect(CHANNEL_CLOSE)
    return struct.unpack(">H", arguments[:2])[0], arguments[3:3 + arguments[2]].decode()


class Order(OnOneNode):
    def test_delete_ok_comes_before_the_cancels_of_the_deleting_channels_own_consumers(self):
        client = self.client()
        client.declare("own-consumers")
        client.consume("own-consumers")
        client.send(1, QUEUE_DELETE, b"\0\0", shortstr("own-consumers"), b"\0")
        client.expect(QUEUE_DELETE_OK)
        self.assertTrue(client.expect(BASIC_CANCEL).startswith(shortstr("c")))

    def test_another_channel_is_told_of_the_end_of_its_consumer(self):
        deleting, consuming = self.client(), self.client()
        deleting.declare("others-consumers")
        consuming.consume("others-consumers")
        deleting.delete("others-consumers")
        self.assertTrue(consuming.expect(BASIC_CANCEL).startswith(shortstr("c")))

    def test_a_missing_exchange_is_named_before_any_property_that_is_wrong(self):
        for flags, values in ((EXPIRATION, shortstr("soon")), (USER_ID, shortstr("joe")),
                              (DELIVERY_MODE, b"\3"), (REPLY, shortstr(REPLY_TO))):
            client = self.client()
            client.socket.sendall(publish_with("not-there", flags, values))
            self.assertEqual(closing(client),
                             (404, "NOT_FOUND - no exchange 'not-there' in vhost '/'"))

    def test_properties_are_checked_in_rabbitmqs_order(self):
        client = self.client()
        client.socket.sendall(publish_with("", REPLY | EXPIRATION, shortstr(REPLY_TO) + shortstr("soon")))
        self.assertEqual(closing(client)[1],
                         "PRECONDITION_FAILED - fast reply consumer does not exist")
        client = self.client()
        client.socket.sendall(publish_with("", DELIVERY_MODE | EXPIRATION, b"\3" + shortstr("soon")))
        self.assertEqual(closing(client)[1],
                         "PRECONDITION_FAILED - invalid expiration 'soon': no_integer")
        client = self.client()
        client.socket.sendall(publish_with("", DELIVERY_MODE | USER_ID, b"\3" + shortstr("joe")))
        self.assertEqual(closing(client)[1],
                         "PRECONDITION_FAILED - invalid message: {delivery_mode_unknown,3}")

    def test_a_priority_that_is_no_integer_is_refused_with_its_type(self):
        client = self.client()
        client.declare("prioritised")
        client.send(1, CONSUME, b"\0\0", shortstr("prioritised"), shortstr("c"), b"\0",
                    longstr(shortstr("x-priority") + b"S" + longstr(b"high")))
        self.assertEqual(
            closing(client)[1],
            "PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'prioritised' in vhost '/': "
            '"expected integer, got longstr"')


class QueuesThatHaveJustEnded(OnOneNode):
    """What comes on one AMQP channel right behind the delete on another finds the queue dead."""

    def refused(self, name, behind, *arguments):
        """What is answered to a method behind a delete, on another channel of the same connection."""
        client = self.client()
        client.send(2, CHANNEL_OPEN, shortstr(""))
        client.expect(CHANNEL_OPEN_OK)
        client.declare(name)
        client.socket.sendall(method(1, QUEUE_DELETE, b"\0\0", shortstr(name), b"\0")
                              + method(2, behind, b"\0\0", shortstr(name), *arguments))
        answers = dict(client.read_method() for _ in range(2))
        self.assertIn(QUEUE_DELETE_OK, answers)
        closed = answers[CHANNEL_CLOSE]
        # The connection goes on, and the name can be used again.
        client.declare(name)
        return struct.unpack(">H", closed[:2])[0], closed[3:3 + closed[2]].decode()

    def test_a_consume_is_answered(self):
        self.assertEqual(
            self.refused("dead-consume", CONSUME, shortstr("c"), b"\0", longstr(b"")),
            (404, "NOT_FOUND - no queue 'dead-consume' in vhost '/'"))

    def test_a_purge_is_answered(self):
        self.assertEqual(self.refused("dead-purge", QUEUE_PURGE, b"\0"),
                         (404, "NOT_FOUND - no queue 'dead-purge' in vhost '/'"))

    def test_a_passive_declare_is_answered(self):
        self.assertEqual(self.refused("dead-declare", QUEUE_DECLARE, b"\1", longstr(b"")),
                         (404, "NOT_FOUND - no queue 'dead-declare' in vhost '/'"))

    def test_a_get_is_answered(self):
        client = self.client()
        client.send(2, CHANNEL_OPEN, shortstr(""))
        client.expect(CHANNEL_OPEN_OK)
        client.declare("dead-get")
        client.socket.sendall(method(1, QUEUE_DELETE, b"\0\0", shortstr("dead-get"), b"\0")
                              + method(2, GET, b"\0\0", shortstr("dead-get"), b"\0"))
        self.assertIn(QUEUE_DELETE_OK, dict(client.read_method() for _ in range(2)))


class DirectReplies(OnOneNode):
    def test_the_name_to_ask_for_replies_by_can_be_declared(self):
        client = self.client()
        for passive in (b"\0", b"\1"):
            client.send(1, QUEUE_DECLARE, b"\0\0", shortstr(REPLY_TO), passive, longstr(b""))
            self.assertEqual(client.expect(QUEUE_DECLARE_OK),
                             shortstr(REPLY_TO) + struct.pack(">II", 0, 1))

    def test_the_name_of_a_requester_can_be_declared_while_it_lives(self):
        requester, server = self.client(), self.client()
        server.declare("requests")
        requester.send(1, CONSUME, b"\0\0", shortstr(REPLY_TO), shortstr("c"), b"\2", longstr(b""))
        requester.expect(CONSUME_OK)
        head = struct.pack(">HHQH", 60, 0, 0, REPLY) + shortstr(REPLY_TO)
        requester.socket.sendall(
            method(1, PUBLISH, b"\0\0", shortstr(""), shortstr("requests"), b"\0")
            + frame(HEADER, 1, head))
        server.send(1, CONSUME, b"\0\0", shortstr("requests"), shortstr("s"), b"\2", longstr(b""))
        server.expect(CONSUME_OK)
        server.expect(DELIVER)
        kind, _, head = server.read_frame()
        self.assertEqual(kind, HEADER)
        name = head[15:].decode()
        self.assertTrue(name.startswith(REPLY_TO + "."))
        for passive in (b"\0", b"\1"):
            server.send(1, QUEUE_DECLARE, b"\0\0", shortstr(name), passive, longstr(b""))
            self.assertEqual(server.expect(QUEUE_DECLARE_OK), shortstr(name) + struct.pack(">II", 0, 1))
        server.send(1, QUEUE_DELETE, b"\0\0", shortstr(name), b"\0")
        server.expect(QUEUE_DELETE_OK)
        server.send(1, QUEUE_DECLARE, b"\0\0", shortstr(name), b"\1", longstr(b""))
        server.expect(QUEUE_DECLARE_OK)

    def test_a_name_that_no_requester_goes_by_cannot_be_declared(self):
        for passive in (b"\0", b"\1"):
            client = self.client()
            client.send(1, QUEUE_DECLARE, b"\0\0", shortstr(REPLY_TO + ".nobody"), passive, longstr(b""))
            self.assertEqual(closing(client)[0], 404)


class Transactions(OnOneNode):
    def published(self, queue):
        """A client whose transaction has a mandatory publish that was routed to the queue."""
        client = self.client()
        client.declare(queue)
        client.send(1, TX_SELECT)
        client.expect(TX_SELECT_OK)
        client.socket.sendall(mandatory(queue, b"m"))
        client.declare(queue)  # answered behind the publish
        self.client().delete(queue)
        return client

    def test_a_mandatory_publish_whose_queue_has_gone_comes_back_before_commit_ok(self):
        client = self.published("gone-at-commit")
        client.send(1, TX_COMMIT)
        self.assertEqual(struct.unpack(">H", client.expect(RETURN)[:2])[0], 312)
        client.expect(TX_COMMIT_OK)

    def test_a_publish_goes_to_the_queue_that_has_its_name_at_the_commit(self):
        client = self.published("anew-at-commit")
        self.client().declare("anew-at-commit")
        client.send(1, TX_COMMIT)
        client.expect(TX_COMMIT_OK)
        client.send(1, GET, b"\0\0", shortstr("anew-at-commit"), b"\1")
        client.expect(GET_OK)


class Memory(unittest.TestCase):
    def test_a_channel_forgets_the_queues_that_it_has_asked_for_a_message(self):
        with Node() as node, Client(node.port) as client:
            def rounds(count, tag):
                for i in range(count):
                    name = shortstr(f"{tag}-{i}")
                    client.socket.sendall(
                        method(1, QUEUE_DECLARE, b"\0\0", name, b"\0", longstr(b""))
                        + method(1, GET, b"\0\0", name, b"\0")
                        + method(1, QUEUE_DELETE, b"\0\0", name, b"\0"))
                    client.expect(QUEUE_DECLARE_OK)
                    client.expect(GET_EMPTY)
                    client.expect(QUEUE_DELETE_OK)
            rounds(500, "first")
            before = node.resident_bytes()
            rounds(3000, "then")
            self.assertLess(node.resident_bytes() - before, 3000 * 500)

    def test_what_was_got_is_acknowledged_on_the_queue_that_it_came_from(self):
        with Node() as node, Client(node.port) as client:
            for i in range(20):
                client.declare(f"got-{i}")
                client.socket.sendall(method(1, PUBLISH, b"\0\0", shortstr(""), shortstr(f"got-{i}"), b"\0")
                                      + frame(HEADER, 1, struct.pack(">HHQH", 60, 0, 0, 0)))
                client.send(1, GET, b"\0\0", shortstr(f"got-{i}"), b"\0")
                client.expect(GET_OK)
                client.send(1, GET, b"\0\0", shortstr(f"got-{i}"), b"\0")
                client.expect(GET_EMPTY)
            client.send(1, (60, 80), struct.pack(">QB", 10, 1))
            client.send(1, (60, 120), struct.pack(">QB", 0, 3))
            for i in range(20):
                messages = client.declare(f"got-{i}")[-8:-4]
                self.assertEqual(messages, struct.pack(">I", 0 if i < 10 else 1), i)


if __name__ == "__main__":
    unittest.main()
