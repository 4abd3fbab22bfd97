"""`baton queue`: what an operator sees of a queue and does to it, over the control socket."""

import json
import struct
import subprocess
import unittest

from amqp import (
    ACK, BODY, CONFIRM_SELECT, CONFIRM_SELECT_OK, DELIVER, GET, GET_OK, HEADER, PUBLISH,
    QUEUE_DECLARE, QUEUE_DECLARE_OK, Client, frame, longstr, method, shortstr)
from node import Node, baton
from on_one_node import OnOneNode

BASIC_CANCEL, NACK = (60, 30), (60, 120)
CONTENT_TYPE, HEADERS, DELIVERY_MODE, EXPIRATION = 0x8000, 0x2000, 0x1000, 0x0100


def message(queue, body, flags=0, values=b""):
    return (method(1, PUBLISH, b"\0\0", shortstr(""), shortstr(queue), b"\0")
            + frame(HEADER, 1, struct.pack(">HHQH", 60, 0, len(body), flags) + values)
            + (frame(BODY, 1, body) if body else b""))


def confirmed(client, *messages):
    """Publishes and waits until the queue has them all."""
    client.send(1, CONFIRM_SELECT, b"\0")
    client.expect(CONFIRM_SELECT_OK)
    client.socket.sendall(b"".join(messages))
    while struct.unpack(">QB", client.wait_for(ACK))[0] < len(messages):
        pass


class QueueCommand(OnOneNode):
    def ready(self, client, queue):
        return struct.unpack(">II", client.declare(queue)[len(queue) + 1:])[0]

    def peek(self, queue, *more, node=None):
        return json.loads((node or self.node).command("queue", "peek", queue, "--json", *more))

    def refused(self, *arguments):
        """What `baton queue ARGUMENTS` says of its failure."""
        done = subprocess.run([str(baton()), "queue", *arguments, "--data", str(self.node.data)],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        return done.stderr

    def test_a_purge_takes_what_waits_and_says_how_many(self):
        client = self.client()
        client.declare("purged")
        confirmed(client, *(message("purged", b"m") for _ in range(5)))
        client.send(1, GET, b"\0\0", shortstr("purged"), b"\0")
        client.wait_for(GET_OK)
        self.assertEqual(self.node.command("queue", "purge", "purged"), "purged 4 messages\n")
        self.assertEqual(json.loads(self.node.command("queue", "purge", "purged", "--json")),
                         {"messages": 0})
        client.send(1, NACK, struct.pack(">QB", 1, 2))
        self.assertEqual(self.ready(client, "purged"), 1)  # what was out on lease has come back

    def test_a_delete_ends_a_queue_and_tells_its_consumers(self):
        client = self.client()
        client.declare("ended")
        confirmed(client, message("ended", b"m"))
        self.assertEqual(self.node.command("queue", "delete", "ended"), "deleted, with 1 message\n")
        self.assertIn("no queue 'ended'", self.refused("delete", "ended"))
        client.declare("ended")
        client.consume("ended")
        self.node.command("queue", "delete", "ended")
        client.expect(BASIC_CANCEL)

    def test_a_delete_spares_what_is_used_or_not_empty_when_it_is_told_to(self):
        client = self.client()
        client.declare("spared")
        confirmed(client, message("spared", b"m"))
        self.assertIn("queue 'spared' in vhost '/' not empty",
                      self.refused("delete", "spared", "--if-empty"))
        client.consume("spared")
        self.assertIn("queue 'spared' in vhost '/' in use",
                      self.refused("delete", "spared", "--if-unused"))
        other = self.client()
        other.declare("idle")
        self.node.command("queue", "delete", "idle", "--if-unused", "--if-empty")

    def test_a_peek_takes_nothing_and_marks_nothing(self):
        client = self.client()
        client.declare("seen")
        confirmed(client, *(message("seen", b"%d" % n) for n in range(12)))
        for _ in range(3):
            seen = self.peek("seen")
            self.assertEqual(seen["ready"], 12)
            self.assertEqual([m["body"] for m in seen["messages"]], [str(n) for n in range(10)])
        client.consume("seen")
        tag_and_flag = client.wait_for(DELIVER)[2:11]
        self.assertEqual(struct.unpack(">QB", tag_and_flag), (1, 0))  # not redelivered
        self.assertEqual(self.peek("seen"), {"ready": 0, "messages": []})

    def test_a_peek_shows_all_that_is_known_of_a_message(self):
        client = self.client()
        client.declare("known")
        headers = longstr(shortstr("mine") + b"I" + struct.pack(">i", 7)
                          + shortstr("raw") + b"S" + longstr(b"\xff!"))
        confirmed(client,
                  message("known", "grüße".encode(), CONTENT_TYPE | HEADERS | EXPIRATION,
                          shortstr("text/plain") + headers + shortstr("60000")),
                  message("known", b"\xff\0\x10"))
        client.send(1, GET, b"\0\0", shortstr("known"), b"\0")
        client.wait_for(GET_OK)
        client.send(1, NACK, struct.pack(">QB", 1, 2))
        client.declare("known")  # answered behind the nack
        first, second = self.peek("known")["messages"]
        self.assertLess(first["number"], second["number"])
        self.assertEqual((first["exchange"], first["routing_key"]), ("", "known"))
        self.assertEqual((first["redelivered"], first["returns"]), (True, 1))
        self.assertEqual(first["properties"], {
            "content_type": "text/plain", "headers": {"mine": 7, "raw": "?!"}, "expiration": "60000"})
        self.assertTrue(0 < first["expires_in_ms"] <= 60000)
        self.assertEqual((first["body"], first["body_encoding"], first["body_size"], first["body_cut"]),
                         ("grüße", "text", 7, False))
        self.assertEqual((second["body"], second["body_encoding"], second["body_size"]),
                         ("ff0010", "hex", 3))
        self.assertEqual((second["redelivered"], second["properties"]), (False, {}))
        self.assertNotIn("expires_in_ms", second)
        text = self.node.command("queue", "peek", "known")
        self.assertIn("0xff0010", text)
        self.assertIn("2 of 2 messages\n", text)

    def test_a_peek_shows_no_more_than_it_is_asked_for(self):
        client = self.client()
        client.declare("much")
        confirmed(client, message("much", b"0123456789" * 100), message("much", "ü".encode() * 9),
                  message("much", b"third"))
        seen = self.peek("much", "--count", "2", "--body-bytes", "5")
        self.assertEqual([(m["body"], m["body_size"], m["body_cut"]) for m in seen["messages"]],
                         [("01234", 1000, True), ("üü", 18, True)])
        self.assertIn("01234...\n", self.node.command("queue", "peek", "much", "--body-bytes", "5"))
        self.assertEqual(self.peek("much", "--count", "0"), {"ready": 3, "messages": []})
        self.assertEqual(self.peek("much", "--body-bytes", "0")["messages"][0]["body"], "")

    def test_exclusive_queues_can_be_looked_into(self):
        client = self.client()
        client.send(1, QUEUE_DECLARE, b"\0\0", shortstr("own"), b"\4", longstr(b""))
        client.expect(QUEUE_DECLARE_OK)
        confirmed(client, message("own", b"private"))
        self.assertEqual(self.peek("own")["messages"][0]["body"], "private")

    def test_what_is_not_there_is_named_with_what_may_be_meant(self):
        self.client().declare("invoices")
        for command in ("purge", "delete", "peek"):
            self.assertEqual(self.refused(command, "invoises"),
                             "baton queue: no queue 'invoises' in vhost '/'; did you mean 'invoices'?\n")
        self.assertEqual(self.refused("peek", "invoices", "--vhost", "nope"),
                         "baton queue: no vhost 'nope'\n")

    def test_messages_on_the_disk_are_shown_in_their_place(self):
        with Node('[node]\nmemory = "16MiB"\n') as node, Client(node.port) as client:
            client.send(1, QUEUE_DECLARE, b"\0\0", shortstr("deep"), b"\2", longstr(b""))
            client.expect(QUEUE_DECLARE_OK)
            client.send(1, CONFIRM_SELECT, b"\0")
            client.expect(CONFIRM_SELECT_OK)
            count = 20_000
            for first in range(0, count, 1000):
                client.socket.sendall(b"".join(
                    message("deep", b"%010d" % n + b"." * 990, DELIVERY_MODE, b"\2")
                    for n in range(first, first + 1000)))
                while struct.unpack(">QB", client.wait_for(ACK))[0] < first + 1000:
                    pass
            self.assertGreater(json.loads(node.command("queues", "--json"))[0]["on_disk"], 0)
            seen = self.peek("deep", "--count", "1000", "--body-bytes", "10", node=node)["messages"]
            self.assertEqual([int(m["body"]) for m in seen], list(range(1000)))
            client.close()
            data, port = node.data, node.port
            node.stop()
            # All that comes back from a restart is on the disk.
            with Node('[node]\nmemory = "16MiB"\n', data=data, port=port) as again, \
                    Client(port) as client:
                look = ("--count", "1000", "--body-bytes", "10")
                for _ in range(2):
                    seen = self.peek("deep", *look, node=again)
                    self.assertEqual(seen["ready"], count)
                    self.assertEqual([(int(m["body"]), m["on_disk"], m["redelivered"])
                                      for m in seen["messages"]],
                                     [(n, True, False) for n in range(1000)])
                # Now some of them are read ahead of whoever gets them, and some are not.
                for _ in range(10):
                    client.send(1, GET, b"\0\0", shortstr("deep"), b"\1")
                    client.expect(GET_OK)
                    client.read_frame(), client.read_frame()
                seen = self.peek("deep", "--count", "1000", "--body-bytes", "10", node=again)
                self.assertEqual([int(m["body"]) for m in seen["messages"]], list(range(10, 1010)))
                self.assertFalse(seen["messages"][0]["on_disk"])


if __name__ == "__main__":
    unittest.main()
