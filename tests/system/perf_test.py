"""`baton perf` against a node: it counts right, and leaves nothing behind."""

import json
import subprocess
import unittest

from node import Node, baton


def perf(node, line, expect=0):
    """The summary of `baton perf LINE` with the node as its broker."""
    done = subprocess.run(
        [str(baton()), "perf", *line.split(), "--uri", f"amqp://guest:guest@127.0.0.1:{node.port}/",
         "--pid", str(node.pid), "--json", "--quiet"],
        capture_output=True, text=True, timeout=120)
    if done.returncode != expect:
        raise AssertionError(f"perf {line} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout) if expect == 0 else done.stderr


class PerfTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node()

    @classmethod
    def tearDownClass(cls):
        cls.node.stop()
        cls.node.close()

    def test_every_message_of_a_count_arrives_once(self):
        for line in ("--producers 3 --consumers 2 --ack 10 --prefetch 25",
                     "--confirm 50 --threads 2 --producers 2",
                     "--size 300000 --count 100",
                     "--size 0 --queues 7 --consumers 3"):
            count = "" if "--count" in line else " --count 20000"
            with self.subTest(line):
                summary = perf(self.node, f"throughput {line}{count}")
                expected = 100 if "--count" in line else 20000
                self.assertEqual(summary["published"], expected)
                self.assertEqual(summary["delivered"], expected)
                self.assertEqual(summary.get("confirmed", expected), expected)
                self.assertEqual(summary.get("nacked", 0), 0)

    def test_one_run_drains_what_another_one_has_kept(self):
        kept = "--durable --persistent --queue-type quorum --prefix kept --count 3000"
        filled = perf(self.node, f"throughput {kept} --consumers 0 --producers 3 --confirm 100 --keep")
        self.assertEqual((filled["confirmed"], filled["queue_type"]), (3000, "quorum"))
        self.assertGreater(filled["broker_disk_bytes_per_byte"], 0)
        queue, = json.loads(self.node.command("queues", "--json"))
        self.assertEqual((queue["name"], queue["ready"]), ("kept-0", 3000))
        self.assertEqual(queue["arguments"], {"x-queue-type": "quorum"})
        drained = perf(self.node, f"throughput {kept} --producers 0 --ack 10 --prefetch 100")
        self.assertEqual(drained["delivered"], 3000)
        self.assertEqual(json.loads(self.node.command("queues", "--json")), [])

    def test_a_fan_out_delivers_to_every_queue(self):
        summary = perf(self.node, "throughput --fanout 12 --consumer-connections 4 --count 5000")
        self.assertEqual(summary["delivered"], 60000)
        self.assertEqual(summary["connections"], 5)

    def test_unroutable_mandatory_messages_come_back(self):
        summary = perf(self.node, "throughput --exchange amq.direct --key nowhere --binding-key "
                                  "elsewhere --mandatory --consumers 0 --confirm 10 --count 500")
        self.assertEqual(summary["returned"], 500)
        self.assertEqual(summary["confirmed"], 500)

    def test_latency_is_measured_under_load(self):
        summary = perf(self.node, "latency --rate 2000 --duration 1 --warmup 0.2 "
                                  "--load-producers 1 --load-consumers 1 --load-rate 5000")
        self.assertGreater(summary["published"], 0)
        self.assertGreater(summary["latency_p50_us"], 0)
        self.assertGreater(summary["load_delivered"], 0)

    def test_what_is_made_again_and_again_is_gone_afterwards(self):
        for what in ("connections", "channels", "queues", "bindings"):
            with self.subTest(what):
                summary = perf(self.node, f"churn {what} --duration 0.5 --warmup 0.1")
                self.assertGreater(summary["cycles_per_second"], 0)

    def test_idle_things_are_weighed(self):
        for what in ("connections", "channels", "queues"):
            with self.subTest(what):
                summary = perf(self.node, f"idle {what} --count 200 --settle 0.1")
                self.assertEqual(summary["count"], 200)

    def test_bindings_change_while_messages_flow(self):
        summary = perf(self.node, "topology --bindings 500 --changes 200 --turn 0.3 --turns 1 "
                                  "--warmup 0.1 --confirm 100")
        self.assertGreater(summary["changes_per_second"], 0)
        self.assertGreater(summary["delivered_per_second_on"], 0)

    def test_a_refusal_is_told_and_ends_the_run(self):
        told = perf(self.node, "throughput --exchange amq.nothing --count 1", expect=1)
        self.assertIn("404", told)

    def test_nothing_is_left_behind(self):
        with Node() as node:
            perf(node, "throughput --exchange mine --type topic --key a.%i --queues 3 --count 300")
            queues = json.loads(node.command("queues", "--json"))
            exchanges = json.loads(node.command("exchanges", "--json"))
            self.assertNotIn("perf-", json.dumps(queues))
            self.assertNotIn("mine", json.dumps(exchanges))


if __name__ == "__main__":
    unittest.main()
