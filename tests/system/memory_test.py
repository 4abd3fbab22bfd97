"""Memory stays bounded, whatever clients do, and nobody else suffers for it."""

import select
import socket
import struct
import threading
import unittest

from amqp import (ACK, BLOCKED, CONFIRM_SELECT, CONFIRM_SELECT_OK, DELIVER, GET, GET_EMPTY, GET_OK,
                  PURGE, QOS, QOS_OK, UNBLOCKED, Client, method, publish, shortstr)
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


def clients(node, count):
    return [Client(node.port) for _ in range(count)]


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
        with Node(CONFIG + '[limits]\nmax_message_size = "48MiB"\n') as node:
            # The first announces all that may be incomplete at a time; the others wait for it.
            client, *halves = clients(node, 5)
            client.declare("q")
            for half in halves:
                flood(half, publish(1, "q", b"x" * MIB, size=48 * MIB), until=1 * MIB, timeout_s=1)
            self.assertLess(self.peak(node), 64 * MIB)
            for size in (5, 100_000, 900_000):
                self.pass_on(client, "q", b"x" * size, times=3)
            for half in halves:
                half.close()
            self.pass_on(client, "q", b"x" * 2 * MIB)
            client.close()

    def test_half_of_a_large_message_costs_half_of_it(self):
        with Node('[node]\nmemory = "256MiB"\n[limits]\nmax_message_size = "128MiB"\n') as node:
            with Client(node.port) as half, Client(node.port) as client:
                client.declare("q")
                half.socket.sendall(publish(1, "q", b"x" * 64 * MIB, size=128 * MIB))
                self.pass_on(client, "q", b"small", times=1000)
                self.assertLess(self.peak(node), 128 * MIB)

    def test_clients_that_fill_many_queues_leave_room_for_those_whose_messages_are_consumed(self):
        with Node(CONFIG) as node:
            client, *hoarders = clients(node, 9)
            client.declare("q")
            for i, hoarder in enumerate(hoarders):
                hoarder.declare(f"heap-{i}")
            for i, hoarder in enumerate(hoarders):
                flood(hoarder, publish(1, f"heap-{i}", b"x" * 1000) * 100, timeout_s=1)
            for hoarder in hoarders:
                hoarder.wait_for(BLOCKED)
            self.pass_on(client, "q", b"x" * 1000, times=1000)
            self.assertLess(self.peak(node), BOUND)
            # What one queue lets go of, others may take that hold less than that.
            client.send(1, PURGE, b"\0\0", shortstr("heap-0"), b"\0")
            for hoarder in hoarders[4:]:
                hoarder.wait_for(UNBLOCKED)
            for one in (client, *hoarders):
                one.close()

    def test_a_publisher_ten_times_faster_than_its_consumer_waits_for_it(self):
        with Node(CONFIG) as node, Client(node.port) as client, Client(node.port) as slow:
            client.declare("heap")
            slow.send(1, QOS, struct.pack(">IHB", 0, 100, 0))
            slow.expect(QOS_OK)
            slow.consume("heap")
            stop = threading.Event()
            block = publish(1, "heap", b"x" * 1000) * 100
            sender = threading.Thread(target=flood, args=(client, block), kwargs={"stop": stop})
            sender.start()
            # One window is acknowledged for each ten that come in, at first; then as many come as go.
            for tag in range(1, 20_000):
                self.assertEqual(slow.read_method()[0], DELIVER)
                if tag % 100 == 0:
                    slow.send(1, ACK, struct.pack(">QB", tag, 1))
            self.assertLess(self.peak(node), BOUND)
            stop.set()
            sender.join()

    def pass_on(self, client, queue, body, times=1):
        """Publishes to an empty queue and gets it back, again and again."""
        for _ in range(times):
            client.socket.sendall(publish(1, queue, body)
                                  + method(1, GET, b"\0\0", shortstr(queue), b"\1"))
            client.expect(GET_OK)


if __name__ == "__main__":
    unittest.main()
