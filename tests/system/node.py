"""A node in a process of its own, for tests that treat it as its users do.

    with Node() as node:                       # a listener on a free port, guest/guest, its own folder
        connect(node.port)
        node.command("queues", "--json")       # what `baton queues --json` prints
    Node(config='[node]\\nmemory = "64MiB"')   # more configuration; {port} stands for the port
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def baton():
    """The program under test."""
    return Path(os.environ.get("BATON", ROOT / "build/release/baton")).resolve()


def free_port():
    """A port of 127.0.0.1 that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """Starts `baton run` and waits for its ready line; stops it, and deletes its folder, at the end.

    config     TOML that is merged with a [[listener]] on `port` and the data folder `data`
    arguments  more arguments of `baton run`
    data       a data folder to keep, e.g. that of a node that was stopped; else a new one
    prefix     a command to run the program under, e.g. ["prlimit", "--nofile=64"]
    """

    def __init__(self, config="", arguments=(), data=None, port=None, prefix=(), environment=None,
                 ready_timeout_s=30):
        self.port = port or free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="baton-node-"))
        self.data = Path(data) if data else self._folder / "data"
        self.log_path = self._folder / "log"
        self._lines = []
        listener = ""
        if "[[listener]]" not in config:
            listener = f'[[listener]]\nprotocol = "amqp"\naddress = "127.0.0.1"\nport = {self.port}\n'
        self.config_path = self._folder / "node.toml"
        self.config_path.write_text(config.replace("{port}", str(self.port)) + "\n" + listener)
        command = [*prefix, str(baton()), "run", "--config", str(self.config_path),
                   "--set", f"node.data={self.data}", *map(str, arguments)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log_path.open("wb"), bufsize=0,
            env={**os.environ, **(environment or {})})
        self._pending = b""
        try:
            self.ready_line = self.wait_for_line("ready", ready_timeout_s)
        except Exception:
            self.close()
            raise

    @property
    def pid(self):
        return self._process.pid

    def wait_for_line(self, part, timeout_s=10):
        """The next line on the node's standard output that contains `part`."""
        deadline = time.monotonic() + timeout_s
        while True:
            while b"\n" in self._pending:
                line, self._pending = self._pending.split(b"\n", 1)
                self._lines.append(line.decode(errors="replace"))
                if part in self._lines[-1]:
                    return self._lines[-1]
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise TimeoutError(f"no line with {part!r} after {timeout_s} s; {self._told()}")
            read = os.read(self._process.stdout.fileno(), 65536)
            if not read:
                raise RuntimeError(f"ended with {self._process.wait()} before {part!r}; {self._told()}")
            self._pending += read

    def _told(self):
        return "\n".join(["it said:", *self._lines, "and its log:", self.log()])

    def log(self):
        """What it has written to standard error."""
        return self.log_path.read_text(errors="replace")

    def resident_bytes(self):
        """VmRSS."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def command(self, *arguments, timeout_s=30):
        """What `baton ARGUMENTS...` prints about this node; an error if it fails."""
        done = subprocess.run(
            [str(baton()), *map(str, arguments), "--data", str(self.data)],
            capture_output=True, text=True, timeout=timeout_s)
        if done.returncode != 0:
            raise RuntimeError(f"baton {' '.join(map(str, arguments))} ended with "
                               f"{done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def stop(self, timeout_s=40):
        """SIGTERM, which drains; gives the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self.wait(timeout_s)

    def kill(self):
        """SIGKILL: what a power cut looks like to it."""
        self._process.kill()
        return self.wait(10)

    def wait(self, timeout_s):
        """The exit code of a node that is ending by itself."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running after {timeout_s} s; {self._told()}") from None

    def close(self):
        """Ends it, whatever it does, and deletes its folder."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self._process.poll() is None:
                self.stop()
        finally:
            self.close()
