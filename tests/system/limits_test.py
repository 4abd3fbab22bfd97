"""Descriptors, deadlines, limits and the end of a node, as clients see them."""

import socket
import struct
import threading
import unittest

from amqp import (ACK, BLOCKED, CHANNEL_OPEN, CLOSE, CLOSE_OK, QOS, Client, method, publish,
                  shortstr)
from node import Node


def code_and_text(arguments):
    size = arguments[2]
    return struct.unpack(">H", arguments[:2])[0], arguments[3:3 + size].decode()


class LimitsTest(unittest.TestCase):
    def test_without_descriptors_the_listener_pauses_says_so_and_recovers(self):
        with Node(prefix=["prlimit", "--nofile=40:40"]) as node, Client(node.port) as old:
            crowd = [socket.create_connection(("127.0.0.1", node.port), timeout=10)
                     for _ in range(60)]
            old.declare("still-here")
            for one in crowd:
                one.close()
            with Client(node.port) as late:
                late.declare("here-again")
            self.assertIn("pauses", node.log())
            self.assertIn("accepts again", node.log())

    def test_a_client_that_does_not_shake_hands_is_dropped_in_time(self):
        with Node('[limits]\nhandshake_timeout = "300ms"\n') as node:
            with socket.create_connection(("127.0.0.1", node.port), timeout=10) as silent:
                self.assertEqual(silent.recv(100), b"")
            with Client(node.port, handshake=False) as slow:
                slow.socket.sendall(b"AMQP\x00\x00\x09\x01")
                with self.assertRaises(EOFError):
                    while True:
                        slow.read_frame()

    def test_a_client_that_falls_silent_is_dropped_after_two_heartbeats(self):
        with Node() as node, Client(node.port, tuned=(2047, 1)) as client:
            with self.assertRaises(EOFError):
                while True:
                    client.read_frame()  # heartbeats, then the end, without connection.close

    def test_the_side_that_asked_to_close_does_not_wait_for_the_others_socket(self):
        with Node('[limits]\nclose_timeout = "60s"\n') as node:
            with Client(node.port, timeout_s=10) as client:
                client.send(1, QOS, struct.pack(">IHB", 1, 0, 0))  # a prefetch size
                code, _ = code_and_text(client.wait_for(CLOSE))
                self.assertEqual(code, 540)
                client.send(0, CLOSE_OK)
                with self.assertRaises(EOFError):
                    client.read_frame()
            with Client(node.port, timeout_s=10) as client:
                client.send(0, CLOSE, struct.pack(">H", 200), shortstr(""), b"\0\0\0\0")
                client.expect(CLOSE_OK)
                client.send(1, ACK, struct.pack(">Q", 1), b"\0")  # some still write
                with self.assertRaises(EOFError):
                    client.read_frame()

    def test_connections_beyond_the_limit_are_turned_away_and_others_stay(self):
        with Node("[limits]\nmax_connections = 2\n") as node:
            first, second = Client(node.port), Client(node.port)
            with self.assertRaises((EOFError, OSError)):
                Client(node.port)
            first.declare("q")
            second.close()
            first.close()

    def test_channels_beyond_the_limit_close_the_connection_with_530(self):
        with Node("[limits]\nchannel_max = 2\n") as node:
            with Client(node.port, tuned=(2, 0)) as client:
                for number in (2, 3):
                    client.send(number, CHANNEL_OPEN, shortstr(""))
                code, text = code_and_text(client.wait_for(CLOSE))
                self.assertEqual(code, 530)
                self.assertIn("number of channels opened (2) has reached", text)

    def test_sigterm_closes_connections_with_320_and_waits_for_their_answer(self):
        with Node() as node, Client(node.port) as client:
            node._process.terminate()
            code, text = code_and_text(client.wait_for(CLOSE))
            self.assertEqual(code, 320)
            self.assertEqual(
                text, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'")
            client.socket.sendall(method(0, CLOSE_OK))
            client.close()
            self.assertEqual(node.wait(10), 0)

    def test_sigterm_need_not_wait_for_a_client_whose_publishes_wait(self):
        with Node('[node]\nmemory = "16MiB"\n') as node, Client(node.port) as client:
            client.declare("heap")
            block = publish(1, "heap", b"x" * 100_000) * 400
            sender = threading.Thread(target=client.socket.sendall, args=(block,))
            sender.start()
            client.wait_for(BLOCKED)
            node._process.terminate()
            client.wait_for(CLOSE)
            sender.join()  # it is read again, to no effect
            client.socket.sendall(method(0, CLOSE_OK))
            self.assertEqual(node.wait(10), 0)

    def test_systemd_hears_that_the_node_is_ready(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(f"{folder}/notify")
                manager.settimeout(10)
                with Node(environment={"NOTIFY_SOCKET": f"{folder}/notify"}):
                    self.assertEqual(manager.recv(100), b"READY=1")

    def test_repeated_refusals_do_not_fill_the_log(self):
        with Node('[logging]\nrepeat_limit = 3\n') as node:
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", node.port), timeout=10) as wrong:
                    wrong.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    wrong.recv(100)
            self.assertLessEqual(node.log().count("protocol"), 4)


if __name__ == "__main__":
    unittest.main()
