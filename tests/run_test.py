"""Tests of run.py: how it counts what other programs report."""

import unittest

from run import counted


class Counting(unittest.TestCase):
    def test_a_program_that_reports_nothing_is_one_case(self):
        self.assertEqual(counted("hello\n", 0), (1, 0))
        self.assertEqual(counted("hello\n", 1), (0, 1))

    def test_cases_are_taken_from_catch2(self):
        self.assertEqual(counted("All tests passed (24 assertions in 7 test cases)\n", 0), (7, 0))
        self.assertEqual(counted("test cases:  7 | 5 passed | 2 failed\n", 2), (5, 2))
        self.assertEqual(counted("test cases: 3 | 2 passed | 1 failed as expected\n", 0), (3, 0))

    def test_cases_are_taken_from_unittest(self):
        self.assertEqual(counted("Ran 17 tests in 0.005s\n\nOK\n", 0), (17, 0))
        self.assertEqual(counted("Ran 5 tests in 1s\n\nFAILED (failures=1, errors=1)\n", 1), (3, 2))

    def test_cases_are_taken_from_our_own_last_line(self):
        self.assertEqual(counted("x\n12 passed, 1 failed\n", 1), (12, 1))

    def test_a_program_that_dies_after_its_cases_has_failed(self):
        self.assertEqual(counted("All tests passed (1 assertion in 1 test case)\nleak\n", 1), (1, 1))


if __name__ == "__main__":
    unittest.main()
