"""The control socket, and the commands that use it, whatever is sent to it and whatever is meant."""

import socket
import subprocess
import unittest

from node import Node, baton


def connect(node):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(str(node.data / "control.sock"))
    return client


def rest_of(client):
    """All that comes until the node closes."""
    got = b""
    while True:
        try:
            read = client.recv(65536)
        except ConnectionResetError:
            return got
        if not read:
            return got
        got += read


class ControlSocket(unittest.TestCase):
    def test_a_client_that_finishes_writing_is_answered_nonetheless(self):
        with Node() as node, connect(node) as client:
            client.sendall(b'{"request": "status"}\n')
            client.shutdown(socket.SHUT_WR)
            self.assertIn(b'"memory_budget"', rest_of(client))

    def test_clients_that_say_nothing_keep_nobody_out(self):
        with Node() as node:
            silent = [connect(node) for _ in range(100)]
            self.assertIn("memory budget", node.command("status"))
            for each in silent:
                each.close()

    def test_garbage_is_refused_and_harms_nobody(self):
        with Node() as node:
            for garbage in (b"\n", b"{}\n", b"[" * 4000 + b"\n", b'{"request": 7}\n', b"\0\xff\n",
                            b'{"request": "nope"}\n', b'{"request": ""}\n'):
                with connect(node) as client:
                    client.sendall(garbage)
                    self.assertIn(b"no such request", rest_of(client), garbage)
            with connect(node) as client:
                client.sendall(b"x" * 5000)
                self.assertEqual(rest_of(client), b"")
            with connect(node) as client:
                client.sendall(b'{"request": "que')
            self.assertIn("memory budget", node.command("status"))

    def test_a_client_that_leaves_before_its_answer_harms_nobody(self):
        with Node() as node:
            for _ in range(200):
                with connect(node) as client:
                    client.sendall(b'{"request": "queues"}\n')
            self.assertIn("memory budget", node.command("status"))


class Commands(unittest.TestCase):
    def run_baton(self, *arguments):
        return subprocess.run([str(baton()), *map(str, arguments)], capture_output=True, text=True,
                              timeout=30)

    def test_a_configuration_with_mistakes_does_not_ask_some_other_node(self):
        with Node() as node:
            broken = node.data.parent / "broken.toml"
            broken.write_text(f'[node]\ndata = "{node.data}"\nmemmory = "1GiB"\n')
            for command in ("status", "stop"):
                done = self.run_baton(command, "--config", broken)
                self.assertEqual(done.returncode, 1)
                self.assertIn("broken.toml:3:1: unknown key node.memmory", done.stderr)
            self.assertIn("memory budget", node.command("status"))

    def test_every_mistake_on_the_command_line_ends_with_1_and_a_reason(self):
        for arguments in ([], ["nope"], ["run", "extra"], ["check"], ["status", "--nope"],
                          ["perf", "churn", "nope"], ["perf", "idle", "queues"], ["queue"],
                          ["queue", "peek"], ["queue", "nope", "q"], ["queue", "peek", "q", "--count", "-1"]):
            done = self.run_baton(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertNotEqual(done.stderr, "", arguments)
            self.assertEqual(done.stdout, "", arguments)

    def test_help_and_version_end_with_0(self):
        for arguments in (["--help"], ["--version"], ["perf", "churn", "--help"], ["queue", "peek", "--help"]):
            self.assertEqual(self.run_baton(*arguments).returncode, 0, arguments)


if __name__ == "__main__":
    unittest.main()
