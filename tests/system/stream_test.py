"""Streams: what was confirmed has its offset for ever, however the node ends."""

import os
import random
import shutil
import struct
import tempfile
import threading
import time
import unittest
from pathlib import Path

from amqp import (ACK, CHANNEL_CLOSE, CLOSE, CONFIRM_SELECT, CONFIRM_SELECT_OK, CONSUME, CONSUME_OK,
                  DELIVER, GET, METHOD, PURGE, QOS, QOS_OK, QUEUE_DECLARE, QUEUE_DECLARE_OK,
                  Client, longstr, method, publish, shortstr)
from load import GONE, Publisher
from node import Node

LIVES = 20
SMALL = '[journal]\nsegment_size = "1MiB"\n'


def argument(name, value):
    if isinstance(value, int):
        return shortstr(name) + b"l" + struct.pack(">q", value)
    return shortstr(name) + b"S" + longstr(value.encode())


def declare_stream(client, name, **arguments):
    """How many messages it has."""
    table = argument("x-queue-type", "stream") + b"".join(
        argument(key.replace("_", "-"), value) for key, value in arguments.items())
    client.send(1, QUEUE_DECLARE, b"\0\0", shortstr(name), b"\2", longstr(table))
    return struct.unpack(">I", client.expect(QUEUE_DECLARE_OK)[len(name) + 1:][:4])[0]


def read_from(client, stream, offset, prefetch=1000):
    client.send(1, QOS, struct.pack(">IHB", 0, prefetch, 0))
    client.expect(QOS_OK)
    client.send(1, CONSUME, b"\0\0", shortstr(stream), shortstr("r"), b"\0",
                longstr(argument("x-stream-offset", offset)))
    client.expect(CONSUME_OK)


def deliveries(client):
    """(delivery tag, offset, body) of what a reader is handed."""
    while True:
        kind, _, payload = client.read_frame()
        if kind != METHOD or struct.unpack(">HH", payload[:4]) != DELIVER:
            continue
        at = 5 + payload[4]
        tag = struct.unpack(">Q", payload[at:at + 8])[0]
        head = client.read_frame()[2]
        size = struct.unpack(">Q", head[4:12])[0]
        at = head.index(b"\x0fx-stream-offsetl") + 17
        offset = struct.unpack(">q", head[at:at + 8])[0]
        body = b""
        while len(body) < size:
            body += client.read_frame()[2]
        yield tag, offset, body


class Reader(threading.Thread):
    """Reads from an offset on, and notes what was where."""

    def __init__(self, port, offset):
        super().__init__(daemon=True)
        self.client = Client(port)
        read_from(self.client, "s", offset, prefetch=50)
        self.seen = []

    def run(self):
        try:
            for tag, offset, body in deliveries(self.client):
                self.seen.append((offset, int(body[:10])))
                if len(self.seen) % 20 == 0:
                    self.client.send(1, ACK, struct.pack(">Q", tag), b"\1")
        except GONE:
            pass


class Streams(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="baton-stream-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def node(self, config=SMALL):
        return Node(config, data=self.folder / "data")

    # A kill keeps the page cache: for syncs see tests/actors/stream and tests/storage/stream.
    def test_an_offset_stands_for_one_message_through_twenty_kills_under_load(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        dice = random.Random(seed)
        print(f"seed {seed}", flush=True)
        confirmed, known, next_number = set(), {}, 0
        for life in range(LIVES + 1):
            with self.node() as node:
                with Client(node.port) as client:
                    count = declare_stream(client, "s")
                    if life in (LIVES // 2, LIVES):
                        self.read_all(client, count, confirmed, known)
                if life == LIVES:
                    break
                publisher = Publisher(node.port, next_number, dice.choice((1, 20, 200)),
                                      lambda body: publish(1, "s", body))
                readers = [Reader(node.port, offset)
                           for offset in ("next", "first", dice.randrange(count + 1))]
                for thread in [publisher, *readers]:
                    thread.start()
                time.sleep(dice.uniform(0.05, 0.3))  # pace: the moment of the kill
                node.kill()
                for thread in [publisher, *readers]:
                    thread.join(20)
                    self.assertFalse(thread.is_alive())
                    thread.client.close()
                next_number = publisher.next
                confirmed |= publisher.confirmed
                for reader in readers:
                    self.check_seen(reader.seen, known)
        self.assertGreater(len(confirmed), LIVES)
        print(f"{len(confirmed)} confirmed, {len(known)} read")

    def check_seen(self, seen, known):
        """Offsets come one after the other, and stand for what they stood for before."""
        for (offset, number), before in zip(seen, [None, *seen]):
            if before is not None:
                self.assertEqual(offset, before[0] + 1)
            self.assertEqual(known.setdefault(offset, number), number, f"offset {offset}")

    def read_all(self, client, count, confirmed, known):
        read_from(client, "s", "first", prefetch=200)
        seen = []
        for tag, offset, body in deliveries(client):
            seen.append((offset, int(body[:10])))
            if len(seen) % 100 == 0:
                client.send(1, ACK, struct.pack(">Q", tag), b"\1")
            if len(seen) == count:
                break
        self.assertEqual([offset for offset, _ in seen], list(range(count)))
        self.check_seen(seen, known)
        numbers = [number for _, number in seen]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertFalse(confirmed - set(numbers))

    def fill(self, client, stream, count, size=1000):
        client.send(1, CONFIRM_SELECT, b"\0")
        client.expect(CONFIRM_SELECT_OK)
        client.socket.sendall(b"".join(publish(1, stream, b"%010d" % n + b"." * (size - 10))
                                       for n in range(count)))
        done = 0
        while done < count:
            done = struct.unpack(">QB", client.expect(ACK))[0]

    def test_retention_frees_disk_and_a_reader_behind_it_begins_with_the_oldest(self):
        with self.node() as node:
            with Client(node.port) as client:
                declare_stream(client, "s", x_max_length_bytes=1_000_000,
                               x_stream_max_segment_size_bytes=200_000)
                self.fill(client, "s", 10_000)
            with Client(node.port) as client:
                count = declare_stream(client, "s", x_max_length_bytes=1_000_000,
                                       x_stream_max_segment_size_bytes=200_000)
                self.assertLess(count, 2000)
                self.assertGreater(count, 500)
                read_from(client, "s", 5)
                _, offset, body = next(deliveries(client))
                self.assertEqual(offset, 10_000 - count)
                self.assertEqual(int(body[:10]), offset)
            files = list((self.folder / "data/streams").glob("*/*.log"))
            self.assertLess(sum(f.stat().st_size for f in files), 2_000_000)

    def test_a_deleted_stream_leaves_no_file(self):
        with self.node() as node:
            with Client(node.port) as client:
                declare_stream(client, "s")
                self.fill(client, "s", 10)
                client.delete("s")
            client.close()
            for _ in range(200):
                if not list((self.folder / "data/streams").iterdir()):
                    break
                time.sleep(0.02)  # pace: files are removed off the loop
            self.assertEqual(list((self.folder / "data/streams").iterdir()), [])

    def test_a_stream_of_more_than_memory_is_read_from_any_place_within_the_budget(self):
        budget = '[node]\nmemory = "64MiB"\n'
        with self.node(budget) as node:
            with Client(node.port, timeout_s=60) as client:
                declare_stream(client, "s")
                self.fill(client, "s", 20_000, size=10_000)
            clients = [Client(node.port, timeout_s=60) for _ in range(8)]
            for n, client in enumerate(clients):
                read_from(client, "s", n * 2000, prefetch=100)
            for n, client in enumerate(clients):
                for taken, (tag, offset, _) in enumerate(deliveries(client)):
                    self.assertEqual(offset, n * 2000 + taken)
                    client.send(1, ACK, struct.pack(">Q", tag), b"\0")
                    if taken == 1000:
                        break
                client.close()
            resident = int(next(line for line in Path(f"/proc/{node.pid}/status").read_text().splitlines()
                                if line.startswith("VmHWM")).split()[1])
            self.assertLess(resident, (64 + 64) * 1024)

    def refused(self, node, name, *arguments):
        with Client(node.port) as client:
            client.send(1, name, *arguments)
            got = client.expect(CLOSE, CHANNEL_CLOSE)
            return struct.unpack(">H", got[:2])[0], got[3:3 + got[2]].decode()

    def test_what_a_stream_refuses(self):
        with self.node() as node:
            with Client(node.port) as client:
                declare_stream(client, "s")
            on = b"\0\0" + shortstr("s")
            self.assertEqual(self.refused(node, GET, on, b"\0"), (540,
                "NOT_IMPLEMENTED - basic.get not supported by stream queues queue 's' in vhost '/'"))
            self.assertEqual(self.refused(node, PURGE, on, b"\0")[0], 540)
            self.assertEqual(self.refused(node, CONSUME, on, shortstr("c"), b"\2", longstr(b""))[0], 540)
            self.assertEqual(self.refused(node, CONSUME, on, shortstr("c"), b"\0", longstr(b"")), (406,
                "PRECONDITION_FAILED - consumer prefetch count is not set for queue 's' in vhost '/'"))
            with Client(node.port) as client:
                client.send(1, QOS, struct.pack(">IHB", 0, 10, 0))
                client.expect(QOS_OK)
                client.socket.sendall(method(1, CONSUME, on, shortstr("c"), b"\0",
                                             longstr(argument("x-stream-offset", "yesterday"))))
                code, text = struct.unpack(">H", (got := client.expect(CHANNEL_CLOSE))[:2])[0], got
                self.assertEqual(code, 406)
                self.assertIn(b"yesterday", text)
            # transient ones are none
            with Client(node.port) as client:
                client.send(1, QUEUE_DECLARE, b"\0\0", shortstr("t"), b"\0",
                            longstr(argument("x-queue-type", "stream")))
                self.assertEqual(struct.unpack(">H", client.expect(CHANNEL_CLOSE)[:2])[0], 406)


if __name__ == "__main__":
    unittest.main()
