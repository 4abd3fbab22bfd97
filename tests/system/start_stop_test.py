"""A node starts, says that it is ready, and ends in order."""

import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from node import Node, baton


class StartAndStop(unittest.TestCase):
    def test_the_port_takes_connections_once_the_ready_line_is_out(self):
        with Node() as node:
            with socket.create_connection(("127.0.0.1", node.port), timeout=5) as client:
                client.sendall(b"AMQP\x00\x00\x09\x01")
                frame = client.recv(7)
                self.assertEqual(frame[:3], b"\x01\x00\x00")  # a method frame on channel 0: start

    def test_sigterm_ends_it_with_success(self):
        with Node() as node:
            self.assertEqual(node.stop(), 0)

    def test_the_stop_command_returns_once_the_node_has_ended(self):
        with Node() as node:
            self.assertEqual(node.command("stop"), "stopped\n")
            self.assertEqual(node.wait(10), 0)

    def test_a_node_that_does_not_run_cannot_be_asked(self):
        with Node() as node:
            node.stop()
            with self.assertRaisesRegex(RuntimeError, "no node answers"):
                node.command("queues")

    def test_a_killed_node_starts_again_on_its_data_folder(self):
        with Node() as first:
            first.kill()
            with Node(data=first.data) as second:
                self.assertEqual(second.stop(), 0)

    def test_a_node_that_cannot_declare_its_topology_names_every_obstacle(self):
        queue = '[[queue]]\nname = "{}"\narguments = {{ x-expires = 0 }}\n'
        with self.assertRaisesRegex(RuntimeError, r"node.toml:1:1: .*\n.*node.toml:4:1: "):
            Node(queue.format("a") + queue.format("b"))

    def test_a_question_with_a_wrong_configuration_is_not_put_to_another_node(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = Path(folder) / "n.toml"
            wrong.write_text("[node]\nnmae = 1\n")
            asked = subprocess.run([baton(), "stop", "--config", wrong], capture_output=True, text=True)
            self.assertEqual(asked.returncode, 1)
            self.assertIn(f"{wrong}:2:1: unknown key node.nmae", asked.stderr)

    def test_two_nodes_do_not_share_a_port(self):
        with Node() as first:
            with self.assertRaisesRegex(RuntimeError, str(first.port)):
                Node(port=first.port)


if __name__ == "__main__":
    unittest.main()
