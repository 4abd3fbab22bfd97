"""Measurements of the journal that are no single load of `baton perf`: run.py calls them."""

import json
import os
import re
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from amqp import ACK, GET, GET_OK, Client, shortstr

CALL = struct.Struct("<QQQQIiQ")  # io_trace.hpp
WRITE = 2


def perf(uri, pid, arguments, timeout_s=900):
    """The summary of a run of `baton perf throughput`."""
    done = subprocess.run([os.environ["BATON"], "perf", "throughput", *arguments.split(), "--uri", uri,
                           "--pid", str(pid), "--json", "--quiet"],
                          capture_output=True, text=True, timeout=timeout_s)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout)


def expect(what, got, wanted):
    if got != wanted:
        raise RuntimeError(f"{what}: {got:,}, expected {wanted:,}")


def told(measure):
    """Its lines; or why there are none."""
    try:
        return "\n".join(measure())
    except (OSError, RuntimeError, ValueError, EOFError, subprocess.TimeoutExpired) as problem:
        return f"failed: {problem}"


# ---- what the store wrote, and how fast the disk takes the same


def threads_cpu(pid):
    """{thread: (name, seconds in user space)}"""
    ticks = os.sysconf("SC_CLK_TCK")
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name, rest = re.match(r"\d+ \((.*)\) (.*)", (task / "stat").read_text(), re.DOTALL).groups()
        fields = rest.split()
        found[task.name] = (name, int(fields[11]) / ticks)
    return found


def replay(broker_type, options):
    return told(lambda: _replay(broker_type, options))


def _replay(broker_type, options):
    built = Path(os.environ["BATON"]).parent
    library, program = built / "libio_trace.so", built / "journal_replay"
    for needed in (library, program):
        if not needed.exists():
            return [f"{needed.name} is not built (cmake --build {built} --target bench)"]
    lines = []
    for producers, window in ((1, 100), (1, 1000), (8, 100)):
        with tempfile.TemporaryDirectory(prefix="baton-trace-") as folder:
            trace = Path(folder) / "trace"
            with broker_type(environment={"LD_PRELOAD": str(library), "BATON_IO_TRACE": str(trace)}) as node:
                before, begin = threads_cpu(node.pid), time.monotonic_ns()
                summary = perf(node.uri, node.pid,
                               f"--size 1024 --durable --persistent --consumers 0 --producers {producers} "
                               f"--confirm {window} --duration {options.seconds} --warmup {options.warmup}")
                after, end = threads_cpu(node.pid), time.monotonic_ns()
                expect("nacked", summary["nacked"], 0)
                node.stop()
            calls = [call for call in CALL.iter_unpack(trace.read_bytes()) if begin <= call[0] < end]
            data = Path(folder) / "data"
            data.mkdir()
            again = json.loads(subprocess.run([program, trace, data, str(begin), str(end)], check=True,
                                              capture_output=True, text=True, timeout=300).stdout)
        # From the first of them to the last, whatever came in between.
        took = (max(start + spent for start, spent, *_ in calls) - calls[0][0]) / 1e9
        written = sum(call[3] for call in calls if call[4] == WRITE)
        expect("bytes repeated", again["bytes"], written)
        in_calls = sum(spent for _, spent, *_ in calls) / 1e9
        store = str(calls[0][6])
        own = after[store][1] - before[store][1]
        rate, possible = written / took, written / again["seconds"]
        lines.append(
            f"{producers} producer{'s' if producers > 1 else ' '}, window {window:5,}: "
            f"{summary['confirmed_per_second']:8,.0f} confirmed/s, {rate / 1e6:6.1f} MB/s of "
            f"{possible / 1e6:6.1f} repeated ({rate / possible:.2f}); "
            f"{again['writes']:,} writes of {written / max(again['writes'], 1) / 1024:.0f} KiB, "
            f"{again['syncs']:,} syncs; the store's thread: {in_calls / took:.0%} of the time in these "
            f"calls, {own / took:.0%} in user space")
    return lines


# ---- ten million messages


def resident_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1000 for name in ("VmRSS", "VmHWM")]


def head(node, queue):
    """Gets the next message, and acks it; its body."""
    with Client(node.port) as client:
        client.send(1, GET, b"\0\0", shortstr(queue), b"\0")
        client.expect(GET_OK)
        client.read_frame()
        body = client.read_frame()[2]
        client.send(1, ACK, struct.pack(">QB", 1, 0))
        client.send(1, GET, b"\0\0", shortstr("nothing"), b"\1")  # answered by 404, behind the ack
        client.read_method()
        return body


def ready(node, queue):
    return next(q["ready"] for q in json.loads(node.command("queues", "--json")) if q["name"] == queue)


FILL = "--size 100 --durable --persistent --consumers 0 --producers 4 --confirm 1000 --keep --prefix deep"
DRAIN = "--size 100 --durable --producers 0 --consumers 1 --ack 1000 --prefetch 5000 --prefix deep"


def deep(broker_type, brokers, options):
    def measure():
        lines = _deep(broker_type, options.deep_messages)
        for other in brokers:
            if other.name == "RabbitMQ":
                lines += _deep_elsewhere(other, options.deep_messages // 10)
        return lines
    return told(measure)


def _deep(broker_type, count):
    with tempfile.TemporaryDirectory(prefix="baton-deep-") as folder:
        data, lines = Path(folder) / "data", []

        def restarted(how):
            begin = time.monotonic()
            node = broker_type(data=data)
            up = time.monotonic() - begin
            head(node, "deep-0")
            took = time.monotonic() - begin
            lines.append(f"Baton: after {how}: ready after {up:.2f} s, the head delivered after {took:.2f} s, "
                         f"VmRSS {resident_mb(node.pid)[0]:.0f} MB")
            return node

        with broker_type(data=data) as node:
            summary = perf(node.uri, node.pid, f"{FILL} --count {count}")
            expect("confirmed", summary["confirmed"], count)
            expect("ready", ready(node, "deep-0"), count)
            now, peak = resident_mb(node.pid)
            lines.append(f"Baton: {count:,} messages of 100 bytes published and confirmed at "
                         f"{summary['confirmed_per_second']:,.0f}/s; VmRSS {now:.0f} MB, at its peak {peak:.0f} MB")
            begin = time.monotonic()
            node.stop()
            lines.append(f"Baton: stopped in order in {time.monotonic() - begin:.2f} s")
        with restarted("an orderly stop") as node:
            expect("ready", ready(node, "deep-0"), count - 1)
            node.kill()
        with restarted("SIGKILL") as node:
            left = ready(node, "deep-0")
            summary = perf(node.uri, node.pid, f"{DRAIN} --count {left}")
            expect("delivered", summary["delivered"], left)
            lines.append(f"Baton: {left:,} drained at {summary['delivered_per_second']:,.0f}/s, peak "
                         f"{resident_mb(node.pid)[1]:.0f} MB")
        if not count - 2 <= left <= count - 1:
            raise RuntimeError(f"{left:,} messages were left, of {count:,} less those two that were acked")
        return lines


def _deep_elsewhere(broker_type, count):
    with broker_type() as broker:
        filled = perf(broker.uri, broker.pid, f"{FILL} --count {count}")
        expect("confirmed", filled["confirmed"], count)
        peak = resident_mb(broker.pid)[1]
        drained = perf(broker.uri, broker.pid, f"{DRAIN} --count {count}")
        expect("delivered", drained["delivered"], count)
        return [f"{broker_type.name}: {count:,} published and confirmed at {filled['confirmed_per_second']:,.0f}/s, "
                f"peak {peak:.0f} MB; drained at {drained['delivered_per_second']:,.0f}/s"]
