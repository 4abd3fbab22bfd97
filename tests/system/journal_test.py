"""A journal is looked into from outside, with and without a node on it."""

import subprocess
import unittest

from amqp import Client
from node import Node, baton


def journal(what, folder):
    return subprocess.run([baton(), "journal", what, folder], capture_output=True, text=True, timeout=30)


class Journal(unittest.TestCase):
    def test_it_is_verified_and_dumped_while_a_node_runs_and_after_it_ended(self):
        with Node('[[queue]]\nname = "kept"\n') as node:
            with Client(node.port):
                for what in ("verify", "dump"):
                    running = journal(what, node.data)
                    self.assertEqual(running.returncode, 0, running.stderr)
            self.assertEqual(node.stop(), 0)
            ended = journal("verify", node.data / "journal")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("closed in order, no damage", ended.stdout)
            self.assertIn(" define, ", journal("dump", node.data).stdout)

    def test_damage_is_told_and_fails(self):
        with Node('[[queue]]\nname = "kept"\n') as node:
            node.stop()
            segment = next((node.data / "journal").glob("*.log"))
            damaged = bytearray(segment.read_bytes())
            damaged[100] ^= 1
            segment.write_bytes(damaged)
            told = journal("verify", node.data)
            self.assertEqual(told.returncode, 1)
            self.assertIn(f"damage: {segment}: bytes 88 to ", told.stderr)


if __name__ == "__main__":
    unittest.main()
