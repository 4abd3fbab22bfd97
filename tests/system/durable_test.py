"""What was confirmed outlives the node, however it ends."""

import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from amqp import (ACK, BODY, CONFIRM_SELECT, CONFIRM_SELECT_OK, CONSUME, CONSUME_OK, DELIVER, HEADER,
                  METHOD, QOS, QOS_OK, QUEUE_DECLARE, QUEUE_DECLARE_OK, Client, frame, longstr, method,
                  shortstr)
from load import GONE, Publisher
from node import Node, baton

QUEUE_BIND, QUEUE_BIND_OK = (50, 20), (50, 21)
PUBLISH, NACK = (60, 40), (60, 120)
LIVES = 50
SMALL = '[journal]\nsegment_size = "1MiB"\n'


def persistent(channel, exchange, key, body):
    head = struct.pack(">HHQHB", 60, 0, len(body), 0x1000, 2)
    return (method(channel, PUBLISH, b"\0\0", shortstr(exchange), shortstr(key), b"\0")
            + frame(HEADER, channel, head) + frame(BODY, channel, body))


def declare_durable(client, queue):
    client.send(1, QUEUE_DECLARE, b"\0\0", shortstr(queue), b"\2", longstr(b""))
    return struct.unpack(">I", client.expect(QUEUE_DECLARE_OK)[len(queue) + 1:][:4])[0]


class Deliveries:
    """(tag, redelivered, number) of what a client is handed; other methods are passed over."""

    def __init__(self, client):
        self.client = client

    def __iter__(self):
        while True:
            kind, _, payload = self.client.read_frame()
            if kind != METHOD or struct.unpack(">HH", payload[:4]) != DELIVER:
                continue
            at = 5 + payload[4]
            tag, redelivered = struct.unpack(">QB", payload[at:at + 9])
            self.client.read_frame()
            yield tag, bool(redelivered), int(self.client.read_frame()[2][:10])


class Consumer(threading.Thread):
    """Takes from a queue, and acks one in `every`."""

    def __init__(self, port, queue, every):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.client.send(1, QOS, struct.pack(">IHB", 0, 100, 0))
        self.client.expect(QOS_OK)
        self.client.send(1, CONSUME, b"\0\0", shortstr(queue), shortstr("c"), b"\0", longstr(b""))
        self.client.expect(CONSUME_OK)
        self.every = every
        self.seen, self.acked = [], set()

    def run(self):
        try:
            for tag, redelivered, number in Deliveries(self.client):
                self.seen.append((number, redelivered))
                if number % self.every == 0:
                    self.acked.add(number)
                    self.client.send(1, ACK, struct.pack(">Q", tag), b"\0")
        except GONE:
            pass


class Durable(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="baton-durable-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def node(self, config=SMALL):
        return Node(config, data=self.folder / "data")

    def verify(self):
        done = subprocess.run([baton(), "journal", "verify", str(self.folder / "data")],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    # A kill keeps the page cache, so this proves nothing about syncs: only the simulated file system
    # does (tests/storage).
    def test_nothing_confirmed_is_lost_in_fifty_kills_under_load(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        dice = random.Random(seed)
        print(f"seed {seed}", flush=True)
        queues = {"all-acked": 1, "half-acked": 2, "untouched": 0}
        confirmed, drained = set(), {q: set() for q in queues}
        acked, seen = {q: set() for q in queues}, {q: set() for q in queues}
        next_number, recoveries = 0, []
        for life in range(LIVES + 1):
            begun = time.monotonic()
            with self.node() as node:
                recoveries.append(time.monotonic() - begun)
                with Client(node.port) as setup:
                    for queue in queues:
                        declare_durable(setup, queue)
                        setup.send(1, QUEUE_BIND, b"\0\0", shortstr(queue), shortstr("amq.fanout"),
                                   shortstr(""), b"\0", longstr(b""))
                        setup.expect(QUEUE_BIND_OK)
                if life % 10 == 0 and life > 0:
                    for queue in queues:
                        self.drain(node, queue, confirmed - acked[queue] - drained[queue],
                                   seen[queue], drained[queue])
                if life == LIVES:
                    break
                publisher = Publisher(node.port, next_number, dice.choice((1, 20, 200)),
                                      lambda body: persistent(1, "amq.fanout", "", body))
                consumers = [(q, Consumer(node.port, q, n)) for q, n in queues.items() if n > 0]
                for thread in [publisher, *(c for _, c in consumers)]:
                    thread.start()
                time.sleep(dice.uniform(0.05, 0.3))  # pace: the moment of the kill
                node.kill()
                for thread in [publisher, *(c for _, c in consumers)]:
                    thread.join(20)
                    self.assertFalse(thread.is_alive())
                    thread.client.close()
                next_number = publisher.next
                confirmed |= publisher.confirmed
                for queue, consumer in consumers:
                    self.check_seen(queue, consumer.seen, seen[queue])
                    acked[queue] |= consumer.acked
            if life % 10 == 5:
                self.verify()
        self.assertGreater(len(confirmed), LIVES)
        print(f"{len(confirmed)} confirmed, recovery ms: median "
              f"{sorted(recoveries)[len(recoveries) // 2] * 1000:.0f}, most {max(recoveries) * 1000:.0f}")

    def check_seen(self, queue, now, before):
        """What comes for the first time comes in order; what came before says so."""
        last = -1
        for number, redelivered in now:
            if not redelivered:
                self.assertNotIn(number, before, f"{queue}: {number} came again, unmarked")
            self.assertGreater(number, last, f"{queue}: out of order")
            last = number
            before.add(number)

    def drain(self, node, queue, wanted, seen, drained):
        with Client(node.port) as client:
            count = declare_durable(client, queue)
            got = []
            client.send(1, CONSUME, b"\0\0", shortstr(queue), shortstr("d"), b"\2", longstr(b""))
            client.expect(CONSUME_OK)
            for _, redelivered, number in Deliveries(client) if count else ():
                self.assertTrue(redelivered, f"{queue}: {number} was recovered, and is unmarked")
                got.append((number, redelivered))
                if len(got) == count:
                    break
        self.check_seen(queue, got, seen)
        missing = wanted - {number for number, _ in got}
        self.assertFalse(missing, f"{queue}: {len(missing)} confirmed messages are missing")
        drained |= wanted

    def test_a_stop_in_order_keeps_messages_as_they_were(self):
        with self.node() as node, Client(node.port) as client:
            declare_durable(client, "kept")
            client.declare("transient")
            client.send(1, CONFIRM_SELECT, b"\0")
            client.expect(CONFIRM_SELECT_OK)
            for n in range(10):
                client.socket.sendall(persistent(1, "", "kept", b"%010d" % n))
                client.wait_for(ACK)
            client.close()
            self.assertEqual(node.stop(), 0)
        with self.node() as node, Client(node.port) as client:
            self.assertEqual(declare_durable(client, "kept"), 10)
            self.assertNotIn("transient", node.command("queues"))
            client.send(1, CONSUME, b"\0\0", shortstr("kept"), shortstr("d"), b"\2", longstr(b""))
            client.expect(CONSUME_OK)
            deliveries = iter(Deliveries(client))
            self.assertEqual([next(deliveries)[1:] for _ in range(10)], [(False, n) for n in range(10)])
        self.verify()

    def test_a_folder_has_one_node(self):
        with self.node():
            with self.assertRaisesRegex(RuntimeError, re.escape(str(self.folder / "data"))):
                self.node()

    def test_a_deep_queue_lies_on_the_disk_and_comes_back_in_order(self):
        count = 200_000
        budget = '[node]\nmemory = "64MiB"\n'
        with self.node(budget) as node:
            with Client(node.port, timeout_s=60) as client:
                declare_durable(client, "deep")
                client.send(1, CONFIRM_SELECT, b"\0")
                client.expect(CONFIRM_SELECT_OK)
                for first in range(0, count, 1000):
                    client.socket.sendall(b"".join(
                        persistent(1, "", "deep", b"%010d" % n + b"." * 490)
                        for n in range(first, first + 1000)))
                    while struct.unpack(">QB", client.wait_for(ACK))[0] < first + 1000:
                        pass
                self.assertLess(node.resident_bytes(), 128 << 20)
            node.kill()
        with self.node(budget) as node, Client(node.port, timeout_s=60) as client:
            self.assertEqual(declare_durable(client, "deep"), count)
            client.send(1, CONSUME, b"\0\0", shortstr("deep"), shortstr("d"), b"\2", longstr(b""))
            client.expect(CONSUME_OK)
            for want, (_, redelivered, number) in zip(range(count), Deliveries(client)):
                self.assertEqual((number, redelivered), (want, True))
            self.assertLess(node.resident_bytes(), 128 << 20)


if __name__ == "__main__":
    unittest.main()
