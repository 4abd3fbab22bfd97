"""Tests that share a node."""

import unittest

from amqp import Client
from node import Node


class OnOneNode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node()

    @classmethod
    def tearDownClass(cls):
        cls.node.close()

    def client(self):
        made = Client(self.node.port)
        self.addCleanup(made.close)
        return made
