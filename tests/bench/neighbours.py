#!/usr/bin/env python3
"""How much a client that misbehaves slows an unrelated flow of 1,000 messages/s.

    tests/bench/neighbours.py [--baton build/release/baton] [--only NAME]... [--turns N] [--seconds S]
                              [--own-seconds S]

Each turn measures the flow three times: alone; while somebody misbehaves towards a second node on the
same machine, which costs it nothing but processor time; and while somebody misbehaves towards its own
node. The misbehaving clients run at nice 19, but what they make their node do does not. So the last
ratio, own node to second node, is the node's part in it. README.md here says how to read the table.
"""

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import select
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "system")]

from amqp import ACK, GET, QOS, QOS_OK, Client, method, publish, shortstr  # noqa: E402
from node import Node  # noqa: E402

MIB = 1 << 20
BUDGET = 256 * MIB
CONFIG = f"""
[node]
memory = "{BUDGET // MIB}MiB"
[limits]
max_message_size = "128MiB"
"""
BODY = b"x" * 300


# ---- those that misbehave: each goes on until it is killed

def push(client, block):
    """Sends as much of `block` as the socket takes now; returns what is left of it."""
    if not select.select([], [client.socket], [], 0)[1]:
        return block
    return block[client.socket.send(block, socket.MSG_DONTWAIT):]


def swallow(client, most):
    """Reads what has arrived, at most `most` bytes of it."""
    if select.select([client.socket], [], [], 0)[0]:
        client.socket.recv(most)


def flood(*sources):
    """Sends the block of each (client, block) again and again, as fast as the node takes it."""
    blocks = {client.socket: memoryview(block) for client, block in sources}
    left = dict(blocks)
    while True:
        for writable in select.select([], list(left), [])[1]:
            rest = left[writable]
            left[writable] = rest[writable.send(rest, socket.MSG_DONTWAIT):] or blocks[writable]


def ticks(interval_s):
    """Yields once each interval."""
    began = time.monotonic()
    for n in itertools.count(1):
        yield
        time.sleep(max(0.0, began + n * interval_s - time.monotonic()))  # pace: a steady rate


def slow_consumer(port, acks):
    """100,000 messages/s come in, 10,000 go out."""
    publisher, consumer = Client(port), Client(port)
    publisher.declare("slow")
    if acks:
        consumer.send(1, QOS, struct.pack(">IHB", 0, 100, 0))
        consumer.expect(QOS_OK)
    consumer.consume("slow", no_ack=not acks)
    block = memoryview(publish(1, "slow", BODY) * 1000)
    rest = block
    for _ in ticks(0.01):
        rest = push(publisher, rest) or block
        if acks:  # of all that is outstanding, a window of 100
            consumer.send(1, ACK, struct.pack(">QB", 0, 1))
        swallow(consumer, 100 * (len(BODY) + 60))


def deaf_consumer(port):
    """Consumes, and never reads its socket."""
    publisher, deaf = Client(port), Client(port)
    publisher.declare("deaf")
    deaf.consume("deaf", no_ack=True)
    flood((publisher, publish(1, "deaf", BODY) * 500))


def hoarder(port, queues):
    """Declares, publishes and never consumes."""
    clients = [Client(port) for _ in range(queues)]
    for i, client in enumerate(clients):
        client.declare(f"hoard-{i}")
    flood(*((client, publish(1, f"hoard-{i}", BODY) * 500) for i, client in enumerate(clients)))


def half_message(port):
    """Half of a 128 MiB message, at once; then nothing."""
    client = Client(port)
    client.declare("half")
    client.socket.sendall(publish(1, "half", b"x" * (64 * MIB), size=128 * MIB))
    client.socket.settimeout(None)
    client.socket.recv(1)


def deaf_asker(port):
    """Asks without end and never reads an answer."""
    client = Client(port)
    client.declare("asked")
    flood((client, method(1, GET, b"\0\0", shortstr("asked"), b"\1") * 1000))


def crowd(port):
    """2,000 connections, each opened completely; then the oldest goes and a new one comes."""
    members = []
    while True:
        members.append(Client(port))
        if len(members) > 2000:
            members.pop(0).close()


CASES = {
    "slow-acks": ("publisher ten times faster than its consumer's acks", slow_consumer, (True,)),
    "slow-reads": ("publisher ten times faster than its consumer reads", slow_consumer, (False,)),
    "deaf": ("a consumer that never reads its socket, a publisher as fast as it goes", deaf_consumer, ()),
    "hoard-1": ("publishes as fast as it goes, nobody consumes", hoarder, (1,)),
    "hoard-8": ("the same, 8 queues and connections", hoarder, (8,)),
    "half": ("half of a 128 MiB message", half_message, ()),
    "asker": ("asks as fast as it goes, never reads the answers", deaf_asker, ()),
    "crowd": ("connections as fast as they come, 2,000 at a time", crowd, ()),
}


# ---- measuring

def misbehave(what, port):
    os.nice(19)
    with contextlib.suppress(KeyboardInterrupt):
        what[1](port, *what[2])


class Neighbour:
    """One that misbehaves towards `node`, in a process of its own, from its entry to its exit."""

    def __init__(self, what, node):
        self._process = multiprocessing.Process(target=misbehave, args=(what, node.port), daemon=True)

    def __enter__(self):
        self._process.start()

    def __exit__(self, *_):
        if not self._process.is_alive():
            raise RuntimeError(f"the one that misbehaves ended with {self._process.exitcode}")
        self._process.kill()
        self._process.join()


def flow(baton, node, seconds):
    """What `baton perf` says of the flow."""
    done = subprocess.run(
        [baton, "perf", "latency", "--rate", "1000", "--warmup", "1", "--duration", str(seconds),
         "--json", "--quiet", "--uri", f"amqp://guest:guest@127.0.0.1:{node.port}/"],
        capture_output=True, text=True, timeout=seconds + 60)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def peak_bytes(node):
    status = Path(f"/proc/{node.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines()
                if line.startswith("VmHWM:"))


def turn(baton, what, seconds, own_seconds):
    """(alone, beside one that misbehaves elsewhere, beside one here, peak memory of the node)"""
    with contextlib.ExitStack() as nodes:
        def fresh():
            node = Node(CONFIG)
            nodes.callback(node.close)  # what is left in its queues need not be drained
            return node
        own, second = fresh(), fresh()
        alone = flow(baton, own, seconds)
        with Neighbour(what, second):
            elsewhere = flow(baton, own, seconds)
        with Neighbour(what, own):
            here = flow(baton, own, own_seconds)
        return alone, elsewhere, here, max(peak_bytes(own), peak_bytes(second))


def row(text, turns):
    places = list(zip(*turns))
    cells = []
    for key in ("latency_p50_us", "latency_p99_us"):
        alone, elsewhere, here = (statistics.median(s[key] for s in place) for place in places[:3])
        cells.append(f"{alone:,.0f} / {elsewhere:,.0f} / {here:,.0f} "
                     f"({elsewhere / alone:.1f}x, {here / alone:.1f}x, **{here / elsewhere:.2f}x**)")
    return f"| {text} | {' | '.join(cells)} | {max(places[3]) / MIB:,.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", default=HERE.parent.parent / "build/release/baton")
    parser.add_argument("--only", action="append", default=[], choices=CASES, metavar="NAME",
                        help=f"cases: {', '.join(CASES)}")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="that are measured, each time")
    parser.add_argument("--own-seconds", type=float,
                        help="the same, beside the load on the flow's own node; default: --seconds")
    options = parser.parse_args()
    own_seconds = options.own_seconds or options.seconds
    baton = os.environ["BATON"] = str(Path(options.baton).resolve())

    print(f"p50 and p99 of 1,000 messages/s in us: alone / misbehaviour at a second node / at its own node "
          f"(second to alone, own to alone, own to second); medians of {options.turns} turns of "
          f"{options.seconds:g} s. Memory in MiB, of a budget of {BUDGET // MIB}.\n")
    print("| beside | p50 | p99 | peak |\n|---|---:|---:|---:|", flush=True)
    for name, what in CASES.items():
        if not options.only or name in options.only:
            print(row(what[0], [turn(baton, what, options.seconds, own_seconds)
                                for _ in range(options.turns)]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
