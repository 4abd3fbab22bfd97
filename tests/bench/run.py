#!/usr/bin/env python3
"""Measures Baton beside RabbitMQ, in turns, with the same generator: `make bench`.

    tests/bench/run.py [--baton build/release/baton] [--only NAME]... [--turns N] [--seconds S]
                       [--quick] [--out FILE] [--raw FILE]

Each run has a fresh broker with an empty data folder. Without RabbitMQ it measures Baton alone. The last
thing printed is the report, in Markdown; README.md here says how to read it. Ends with 1 when a run of
Baton failed.
"""

import argparse
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system")]

import node  # noqa: E402
import rabbitmq  # noqa: E402
import storage  # noqa: E402
from cases import CASES, settings_of  # noqa: E402

NODE = """
[node]
memory = "1GiB"
"""


class Baton(node.Node):
    name = "Baton"

    def __init__(self, config="", **more):
        super().__init__(config=NODE + config, **more)
        self.uri = f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def __exit__(self, kind, error, trace):
        self.close()  # what is left in its queues need not be drained


class Relay:
    name = "relay"

    def __init__(self):
        port = rabbitmq.free_port()
        self.uri = f"relay://127.0.0.1:{port}"
        self._process = subprocess.Popen([Path(os.environ["BATON"]).parent / "relay", str(port)],
                                         stdout=subprocess.PIPE)
        self._process.stdout.readline()
        self.pid = self._process.pid

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_once(case, broker_type, options):
    """The summary of one run of the case, or {"failed": why}."""
    command = [os.environ["BATON"], "perf", *case.arguments.split(), "--json", "--quiet"]
    if case.timed:
        command += ["--duration", str(options.seconds), "--warmup", str(options.warmup)]
    try:
        with (broker_type(case.config) if broker_type is Baton else broker_type()) as broker:
            command += ["--uri", broker.uri, "--pid", str(broker.pid)]
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=120 if case.timed else 900)
        if done.returncode == 0:
            summary = json.loads(done.stdout)
            lost = summary.get("nacked", 0) + summary.get("returned", 0)
            return {"failed": f"{lost} publishes came back"} if lost else summary
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as problem:
        return {"failed": str(problem).splitlines()[0]}


def measure(case, brokers, options):
    """{broker's name: its summaries}, taken in turns so that the machine's moods meet all alike."""
    runs = {broker.name: [] for broker in brokers}
    turns = options.latency_turns if case.latency else options.turns
    for turn in range(turns):
        for broker in brokers:
            if broker.name not in case.brokers or broker is Relay and not case.relay:
                continue
            summary = run_once(case, broker, options)
            runs[broker.name].append(summary)
            key, heading = case.figures[0]
            figure = summary.get("failed") or f"{shown(key, summary.get(key))} {heading}"
            say(f"{case.name:18} turn {turn + 1}/{turns}  {broker.name:9} {figure}")
    return {name: summaries for name, summaries in runs.items() if summaries}


def median(summaries, key):
    values = [summary[key] for summary in summaries if key in summary]
    return statistics.median(values) if values else None


def shown(key, value):
    if value is None:
        return "-"
    if key.endswith("_bytes"):
        value /= 1e6
    if value >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def less_is_better(key):
    return key.endswith(("_us", "_bytes", "_bytes_each", "_per_byte")) or "_us_" in key


def advantage(key, ours, theirs):
    """How many times better Baton is than RabbitMQ; below 1 it is worse."""
    times = theirs / ours if less_is_better(key) else ours / theirs
    return f"{times:,.1f}x" if times >= 1 else f"{times:.2f}x"


def cell(key, runs):
    """`Baton / RabbitMQ (how many times better)`, and the relay's where there is one."""
    values = {name: median(summaries, key) for name, summaries in runs.items()}
    ours, theirs, floor = (values.get(name) for name in ("Baton", "RabbitMQ", "relay"))
    text = " / ".join(shown(key, values[name]) for name in ("Baton", "RabbitMQ") if name in runs)
    if ours and theirs:
        text += f" (**{advantage(key, ours, theirs)}**)"
    if floor is not None:
        text += f"; relay {shown(key, floor)}"
    return text


def multiple(case, runs, others):
    """Baton's first figure as a multiple of the other case's."""
    key = case.figures[0][0]
    ours, base = (median(summaries, key) for summaries in (runs.get("Baton", []), others.get("Baton", [])))
    return f"; **{ours / base:.2f}** of the other's" if ours and base else ""


def row_of(case, runs, others):
    any_summary = next((s for all in runs.values() for s in all if "failed" not in s), {})
    settings = settings_of(any_summary)
    load = case.text + (f"; {settings}" if settings else "") + multiple(case, runs, others)
    for name, summaries in runs.items():
        for why in sorted({summary["failed"] for summary in summaries if "failed" in summary}):
            load += f". **{name} failed**: {why.replace('|', '/')}"
    return f"| {load} | {' | '.join(cell(key, runs) for key, _ in case.figures)} |"


def in_process(options, brokers):
    """What the embedded node's own benchmark prints, or why there is nothing."""
    program = Path(os.environ["BATON"]).parent / "embedded_bench"
    if not program.exists():
        return "in process: embedded_bench is not built"
    say("in-process")
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    return done.stdout.rstrip() if done.returncode == 0 else f"embedded_bench failed: {done.stderr.strip()}"


# What is no load of one kind for some seconds.
OTHERS = {
    "in-process": ("In process, without a socket:", in_process),
    "replay": ("What Baton's store wrote, and the same calls repeated with nothing in between:",
               lambda options, brokers: storage.replay(Baton, options)),
    "deep": ("A deep queue:", lambda options, brokers: storage.deep(Baton, brokers, options)),
}


def machine():
    cpus = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")]
    memory_kb = int(Path("/proc/meminfo").read_text().split()[1])
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return (f"{len(cpus) or os.cpu_count()} cores of {cpus[0] if cpus else platform.machine()}, "
            f"{memory_kb / 1024 / 1024:.0f} GiB, {system}, Linux {platform.release()}")


def report(results, brokers, options, others):
    against = f"RabbitMQ {rabbitmq.version()}" if rabbitmq.RabbitMQ in brokers else "Baton alone"
    lines = [
        f"Machine: {machine()}; the generator shares it. {against}. Medians of {options.turns} turn(s) "
        f"({options.latency_turns} for latency) of {options.seconds:g} s after {options.warmup:g} s, a fresh "
        "broker with an empty data folder each, defaults but for Baton's memory budget of 1 GiB. "
        "A cell reads Baton / RabbitMQ (how many times better Baton is); relay: the same bytes through "
        "tests/bench/relay.cpp, which does not look at them.",
    ]
    for table, cases in itertools.groupby(results, key=lambda result: result[0].table):
        cases = list(cases)
        headings = [heading for _, heading in cases[0][0].figures]
        lines += ["", f"| {table} | {' | '.join(headings)} |", "|---|" + "---:|" * len(headings)]
        by_name = {case.name: runs for case, runs in cases}
        lines += [row_of(case, runs, by_name.get(case.beside, {})) for case, runs in cases]
    for heading, text in others:
        lines += ["", heading, "", "```", text, "```"]
    return "\n".join(lines) + "\n"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", default=HERE.parent.parent / "build/release/baton")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help=f"cases: {', '.join([*OTHERS, *(case.name for case in CASES)])}")
    parser.add_argument("--brokers", default="Baton,RabbitMQ,relay", help="of these, those that are there")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--latency-turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="that are measured, of each run")
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--deep-messages", type=int, default=10_000_000,
                        help="of the deep queue; RabbitMQ gets a tenth")
    parser.add_argument("--quick", action="store_true", help="one turn of 2 s: does it run at all?")
    parser.add_argument("--out", type=Path, help="write the report there too")
    parser.add_argument("--raw", type=Path, help="write every summary there, as JSON")
    options = parser.parse_args()
    if options.quick:
        options.turns = options.latency_turns = 1
        options.seconds, options.warmup = 2, 1
        options.deep_messages = 200_000
    known = {case.name for case in CASES} | set(OTHERS)
    if unknown := set(options.only) - known:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_options()
    os.environ["BATON"] = str(Path(options.baton).resolve())
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))  # 10,000 connections

    wanted = options.brokers.split(",")
    brokers = [broker for broker in (Baton, rabbitmq.RabbitMQ, Relay) if broker.name in wanted]
    if rabbitmq.RabbitMQ in brokers and not rabbitmq.is_installed():
        say("RabbitMQ is not installed (apt-get install rabbitmq-server): measuring Baton alone")
        brokers.remove(rabbitmq.RabbitMQ)
    if Relay in brokers and not (Path(os.environ["BATON"]).parent / "relay").exists():
        say("the relay is not built (cmake --build build/release --target relay): no floor")
        brokers.remove(Relay)

    results = []
    for case in CASES:
        if not options.only or case.name in options.only:
            results.append((case, measure(case, brokers, options)))
    others = [(heading, measure_it(options, brokers)) for name, (heading, measure_it) in OTHERS.items()
              if not options.only or name in options.only]

    text = report(results, brokers, options, others)
    print(text)
    if options.out:
        options.out.write_text(text)
    if options.raw:
        options.raw.write_text(json.dumps({case.name: runs for case, runs in results}, indent=1))
    failed = (any("failed" in summary for _, runs in results for summary in runs.get("Baton", []))
              or any("failed:" in told for _, told in others))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
