#!/usr/bin/env python3
"""Runs the programs below, which use Baton as their authors would, against a node.

    tests/interop/run.py --baton build/release/baton --all
    tests/interop/run.py --baton build/release/baton --only debian
    tests/interop/run.py --baton build/release/baton --only pika,amqplib
    tests/interop/run.py --uri amqp://guest:guest@127.0.0.1:5672/%2f [--restart-command CMD] --all

Each client gets a fresh node, is built in build/interop/ and says what it found on lines of its own:
`ok NAME`, `not ok NAME: why`, `skip NAME: why`, and `1..N` at its end. README.md says how to add one.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build/interop"
sys.path.insert(0, str(HERE.parent / "system"))

BUILD_LIMIT_S = 900
RUN_LIMIT_S = 180
RESTART_LIMIT_S = 60


# ---- the broker


CONFIG = """
[node]
drain_timeout = "3s"  # connections of a client's pool that nobody reads do not answer its close

[[user]]
name = "guest"
password = "guest"

[[user]]
name = "limited"
password = "secret"

[[user.permission]]
configure = '^own\\.'
write = '^(own\\.|amq\\.fanout$)'
read = '^(own\\.|amq\\.direct$)'
"""

SMALL_CONFIG = """
[node]
drain_timeout = "3s"
memory = "16MiB"
"""


class BatonNode:
    """A node of the program under test, with a data folder that outlives its restarts; and beside it
    one that has little memory."""

    def __init__(self, program):
        os.environ["BATON"] = str(program)
        import node  # tests/system/node.py
        self._data = BUILD / "data"
        shutil.rmtree(self._data, ignore_errors=True)
        self._port = node.free_port()
        self._start = lambda: node.Node(CONFIG, data=self._data, port=self._port)
        self._node = self._start()
        self.exit_codes, self.log = [], ""
        try:
            self._small = node.Node(SMALL_CONFIG)
        except Exception:
            self._node.close()
            raise
        self.uris = {
            "BATON_URI": f"amqp://guest:guest@127.0.0.1:{self._port}/%2f",
            "BATON_LIMITED_URI": f"amqp://limited:secret@127.0.0.1:{self._port}/%2f",
            "BATON_SMALL_URI": f"amqp://guest:guest@127.0.0.1:{self._small.port}/%2f",
        }

    def restart(self):
        self._end()
        self._node = self._start()

    def _end(self, which=None):
        which = which or self._node
        try:
            self.exit_codes.append(which.stop(RESTART_LIMIT_S))
            self.log += which.log()
        finally:
            which.close()

    def stop(self):
        """What was wrong with it, if anything."""
        try:
            self._end()
            self._end(self._small)
        except TimeoutError as late:
            return str(late)[:500]
        finally:
            self._small.close()
        if any(self.exit_codes):
            return f"ended with {self.exit_codes}: {self.log[-2000:]}"
        broken = [line for line in self.log.splitlines()
                  if line.split(" ")[1:2] == ["error"] or "Sanitizer" in line]
        return broken[0] if broken else None


class RunningBroker:
    """A broker that somebody else started."""

    def __init__(self, uri, restart_command):
        self.uris = {"BATON_URI": uri}
        self._restart_command = restart_command
        if not restart_command:
            self.restart = None

    def restart(self):
        subprocess.run(self._restart_command, shell=True, check=True, timeout=RESTART_LIMIT_S,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        return None


class Control:
    """A port of the loopback where a client asks, with the line `restart`, for a restarted broker."""

    def __init__(self, broker):
        self._broker = broker
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                try:
                    client.settimeout(10)
                    asked = client.makefile().readline().strip()
                    if asked != "restart":
                        raise ValueError(f"no such request: {asked!r}")
                    self._broker.restart()
                    client.sendall(b"ok\n")
                except Exception as error:  # pylint: disable=broad-except
                    client.sendall(f"failed: {error}\n".replace("\n", " ").encode() + b"\n")

    def close(self):
        self._listener.close()


# ---- building and starting each client


class Failed(Exception):
    pass


def call(command, cwd=None, **environment):
    """Runs a step of a build; its output is shown only if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, text=True, timeout=BUILD_LIMIT_S,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-3000:]}")


def fresh(folder, sources):
    """Whether `folder` was built from just these files; else it is emptied of that claim.

    Use as: `if not fresh(...): build; seal(folder, sources)`."""
    stamp = folder / "built-from"
    if stamp.exists() and stamp.read_text() == digest(sources):
        return True
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    return False


def seal(folder, sources):
    (folder / "built-from").write_text(digest(sources))


def digest(sources):
    total = hashlib.sha256()
    for source in sources:
        total.update(source.name.encode() + b"\0" + source.read_bytes())
    return total.hexdigest()


def virtual_environment(name):
    """A Python with the packages of NAME/requirements.txt, and the command that runs the client."""
    folder, pins = BUILD / name, HERE / name / "requirements.txt"
    if not fresh(folder, [pins]):
        call([sys.executable, "-m", "venv", "--clear", folder])
        call([folder / "bin/pip", "install", "--quiet", "--no-deps", "--requirement", pins])
        seal(folder, [pins])
    return [folder / "bin/python", HERE / name / "interop.py"]


def node_modules(name):
    folder, source = BUILD / name, HERE / name
    pins = [source / "package.json", source / "package-lock.json"]
    if not fresh(folder, pins):
        for file in pins:
            shutil.copy(file, folder)
        call(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder)
        seal(folder, pins)
    shutil.copy(source / "interop.mjs", folder)
    shutil.copy(HERE / "tap.mjs", folder)
    return ["node", folder / "interop.mjs"]


def c_program(name):
    folder, source = BUILD / name, HERE / name / "interop.c"
    if not fresh(folder, [source]):
        call(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Wno-deprecated-declarations", source, "-o",
              folder / "interop", "-lrabbitmq"])
        seal(folder, [source])
    return [folder / "interop"]


def go_program(name):
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    call(["go", "build", "-o", folder / "interop", "."], cwd=HERE / name)
    return [folder / "interop"]


def maven_program(name):
    folder, source = BUILD / name, HERE / name
    sources = [source / "pom.xml", *sorted((source / "src").rglob("*.java"))]
    if not fresh(folder, sources):
        shutil.copy(source / "pom.xml", folder)
        shutil.copytree(source / "src", folder / "src", dirs_exist_ok=True)
        call(["mvn", "--quiet", "--batch-mode", "package"], cwd=folder)
        seal(folder, sources)
    return ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp",
            f"{folder}/target/interop.jar:{folder}/target/lib/*", "Interop"]


def cargo_program(name):
    call(["cargo", "build", "--quiet", "--jobs", "1", "--manifest-path",
          HERE / name / "Cargo.toml", "--target-dir", BUILD / name])
    return [BUILD / name / "debug" / "baton-interop-lapin"]


def system_python(name):
    """The system's own Python with the packages of the distribution."""
    return ["/usr/bin/python3", HERE / name / "interop.py"]


def has(*programs):
    """The first of these programs that is missing."""
    return next((program for program in programs if not shutil.which(program)), None)


def too_old(program, argument, *wanted):
    """What is missing when the program is not there, or older than this version."""
    if has(program):
        return program
    said = subprocess.run([program, argument], capture_output=True, text=True, check=False).stdout
    found = tuple(int(part) for part in re.findall(r"\d+", said)[:len(wanted)])
    return None if found >= wanted else f"{program} {'.'.join(map(str, wanted))} or newer"


def lacks_header(header):
    done = subprocess.run(["cc", "-E", "-xc", "-"], input=f"#include <{header}>\n", text=True,
                          capture_output=True, check=False)
    return header if done.returncode else None


def lacks_python(module):
    done = subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True, check=False)
    return f"python3-{module}" if done.returncode else None


def lacks_venv():
    done = subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True,
                          check=False)
    return "python3-venv" if done.returncode else None


def lacks_node():
    return too_old("node", "--version", 18) or has("npm")


@dataclass
class Client:
    name: str
    what: str
    missing: object  # -> what is not there, or None
    build: object  # -> the command that runs it
    debian: bool = False  # needs only packages of Debian
    result: dict = field(default_factory=dict)


CLIENTS = [
    Client("rabbitmq-c", "librabbitmq of the system", lambda: has("cc") or lacks_header("amqp.h"),
           lambda: c_program("rabbitmq-c"), debian=True),
    Client("amqp-tools", "amqp-publish and its siblings", lambda: has("amqp-publish", "amqp-consume"),
           lambda: [sys.executable, HERE / "amqp-tools" / "interop.py"], debian=True),
    Client("pika-system", "pika as the system has it", lambda: lacks_python("pika"),
           lambda: system_python("pika"), debian=True),
    Client("pika", "pika", lacks_venv, lambda: virtual_environment("pika")),
    Client("aio-pika", "aio-pika, asyncio", lacks_venv, lambda: virtual_environment("aio-pika")),
    Client("celery", "Celery with its worker", lacks_venv, lambda: virtual_environment("celery")),
    Client("amqplib", "amqplib, Node.js", lacks_node, lambda: node_modules("amqplib")),
    Client("cloudamqp", "@cloudamqp/amqp-client, Node.js", lacks_node,
           lambda: node_modules("cloudamqp")),
    Client("amqp091-go", "amqp091-go", lambda: too_old("go", "version", 1, 20),
           lambda: go_program("amqp091-go")),
    Client("java", "the RabbitMQ Java client", lambda: has("java", "javac", "mvn"),
           lambda: maven_program("java")),
    Client("lapin", "lapin, Rust", lambda: too_old("cargo", "--version", 1, 88),
           lambda: cargo_program("lapin")),
]


# ---- running them


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    note: str = ""

    def fail(self, name, why):
        self.failed += 1
        print(f"  not ok {name}: {why}", flush=True)


def listen(client, command, broker, outcome, verbose, wanted):
    """Runs a client's program and counts what it says."""
    control = Control(broker) if broker.restart else None
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("BATON_CONTROL", "BATON_LIMITED_URI", "BATON_SMALL_URI")}
    environment |= {**broker.uris, "BATON_BUILD": str(BUILD / client.name), "PYTHONDONTWRITEBYTECODE": "1"}
    if control:
        environment["BATON_CONTROL"] = control.address
    errors = BUILD / f"{client.name}.stderr"
    planned = seen = 0
    with open(errors, "wb") as stderr:
        process = subprocess.Popen([str(part) for part in [*command, *wanted]], env=environment, cwd=BUILD,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                                   text=True, start_new_session=True)
    overdue = threading.Event()

    def end():
        overdue.set()
        os.killpg(process.pid, signal.SIGKILL)

    limit = threading.Timer(RUN_LIMIT_S, end)
    limit.start()
    try:
        for line in process.stdout:
            line = line.rstrip("\n")
            kind = next((k for k in ("ok ", "not ok ", "skip ", "1..") if line.startswith(k)), None)
            if kind == "1..":
                planned = int(line[3:])
            elif kind:
                seen += 1
                outcome.passed += kind == "ok "
                outcome.failed += kind == "not ok "
                outcome.skipped += kind == "skip "
            if verbose or kind not in ("ok ", "1.."):
                print(f"  {line}", flush=True)
        code = process.wait()
    finally:
        limit.cancel()
        if control:
            control.close()
    if overdue.is_set():
        outcome.fail(f"{client.name} ends in time", f"killed after {RUN_LIMIT_S} s")
    elif planned != seen or planned == 0:
        tail = errors.read_text(errors="replace")[-2000:]
        outcome.fail(f"{client.name} runs all of its tests",
                     f"{seen} of {planned} told, exit code {code}\n{tail}")


def run(client, broker_of, verbose, wanted):
    outcome = Outcome()
    if missing := client.missing():
        outcome.note = f"left out: no {missing}"
        return outcome
    print(f"{client.name}: {client.what}", flush=True)
    try:
        command = client.build()
    except (Failed, subprocess.TimeoutExpired, OSError) as error:
        outcome.fail(f"{client.name} can be built", error)
        return outcome
    started = time.monotonic()
    try:
        broker = broker_of()
    except Exception as error:  # pylint: disable=broad-except
        outcome.fail(f"the broker for {client.name} starts", error)
        return outcome
    try:
        listen(client, command, broker, outcome, verbose, wanted)
    finally:
        if wrong := broker.stop():
            outcome.fail(f"the broker of {client.name} ends in order", wrong)
    outcome.seconds = time.monotonic() - started
    return outcome


def chosen(parser, only):
    if only is None:
        return CLIENTS
    if only == "debian":
        return [client for client in CLIENTS if client.debian]
    names = only.split(",")
    if unknown := set(names) - {client.name for client in CLIENTS}:
        parser.error(f"no client {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(client.name for client in CLIENTS)}")
    return [client for client in CLIENTS if client.name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", type=Path, help="the program to start a node of, for each client")
    parser.add_argument("--uri", help="a broker that is running already, instead")
    parser.add_argument("--restart-command", help="with --uri: what restarts that broker and waits for it")
    parser.add_argument("--only", help='names, separated by commas, or "debian"')
    parser.add_argument("--all", action="store_true", help="every client whose toolchain is there")
    parser.add_argument("--test", default="", help="only the tests whose names contain this")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the tests that passed, too")
    arguments = parser.parse_args()
    if bool(arguments.baton) == bool(arguments.uri):
        parser.error("say either --baton or --uri")
    if not arguments.all and arguments.only is None:
        parser.error("say --all or --only")

    BUILD.mkdir(parents=True, exist_ok=True)
    if arguments.uri:
        broker_of = lambda: RunningBroker(arguments.uri, arguments.restart_command)  # noqa: E731
    else:
        program = arguments.baton.resolve()
        broker_of = lambda: BatonNode(program)  # noqa: E731
    wanted = [arguments.test] if arguments.test else []
    clients = chosen(parser, arguments.only)
    outcomes = [(client, run(client, broker_of, arguments.verbose, wanted)) for client in clients]

    print(f"\n{'client':14} {'passed':>6} {'failed':>6} {'skipped':>7} {'seconds':>8}")
    for client, outcome in outcomes:
        print(f"{client.name:14} {outcome.passed:6} {outcome.failed:6} {outcome.skipped:7} "
              f"{outcome.seconds:8.1f} {outcome.note}".rstrip())
    for client, outcome in outcomes:
        if outcome.note:
            print(f"left out {client.name}: {outcome.note.removeprefix('left out: ')}")
    if arguments.only == "debian":
        rest = ", ".join(client.name for client in CLIENTS if not client.debian)
        print(f"left out {rest}: they need more than Debian's packages (make interop)")
    passed = sum(outcome.passed for _, outcome in outcomes)
    failed = sum(outcome.failed for _, outcome in outcomes)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
