"""A private RabbitMQ (Debian's rabbitmq-server) beside Baton: its own folder, its own port, the loopback.

    with RabbitMQ() as broker:
        measure(broker.port, broker.pid)

It starts with an empty data folder and its defaults, without plugins. Nothing of an installed service
is touched.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = Path("/usr/lib/rabbitmq/bin")  # not the wrappers in /usr/sbin, which change the user


def is_installed():
    return (PROGRAMS / "rabbitmq-server").exists()


def version():
    """Of the installed package, e.g. "3.10.8"."""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"],
                          capture_output=True, text=True).stdout
    return re.match(r"[\d.]*", said)[0].rstrip(".") or "of unknown version"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RabbitMQ:
    name = "RabbitMQ"

    def __init__(self, ready_timeout_s=90):
        self.port = free_port()
        self._epmd_port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="baton-bench-rabbitmq-"))
        for part in ("home", "mnesia", "log", "schema", "gen"):
            (self._folder / part).mkdir()
        (self._folder / "enabled_plugins").write_text("[].\n")
        (self._folder / "empty-env.conf").touch()
        self._pid_file = self._folder / "rabbit.pid"
        self._environment = {**os.environ, **self._settings()}
        self._log = (self._folder / "out").open("wb")
        self._process = subprocess.Popen([PROGRAMS / "rabbitmq-server"], stdin=subprocess.DEVNULL,
                                         stdout=self._log, stderr=subprocess.STDOUT,
                                         env=self._environment, start_new_session=True)
        try:
            self._wait_until_ready(ready_timeout_s)
        except Exception:
            self.close()
            raise

    def _settings(self):
        folder = self._folder
        return {
            "HOME": f"{folder}/home",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_NODENAME": f"bench{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_PID_FILE": f"{folder}/rabbit.pid",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/none.config",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/empty-env.conf",
            "RABBITMQ_SCHEMA_DIR": f"{folder}/schema",
            "RABBITMQ_GENERATED_CONFIG_DIR": f"{folder}/gen",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def _wait_until_ready(self, timeout_s):
        """It listens before it has said so; "Starting broker... completed" is the last thing said."""
        deadline = time.monotonic() + timeout_s
        while b"completed with" not in (self._folder / "out").read_bytes():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("RabbitMQ did not start: " + self._told())
            time.sleep(0.1)  # pace: another program starts, which tells nobody

    def _told(self):
        return (self._folder / "out").read_text(errors="replace")[-2000:]

    @property
    def pid(self):
        """Of the Erlang machine, which is all of the broker."""
        return int(self._pid_file.read_text())

    @property
    def uri(self):
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def close(self):
        """Kills it, as nothing of it is kept, and deletes its folder."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        subprocess.run(["epmd", "-port", str(self._epmd_port), "-kill"], capture_output=True,
                       env=self._environment)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
