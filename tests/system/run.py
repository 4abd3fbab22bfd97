#!/usr/bin/env python3
"""Runs the system tests: tests/system/*_test.py, each a unittest on nodes in processes of their own.

    tests/system/run.py [--baton build/release/baton] [NAME...]

NAME is a part of a test's name. The last line is `N passed, N failed`.
"""

import argparse
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", default=HERE.parent.parent / "build/release/baton")
    parser.add_argument("names", nargs="*", help="parts of test names; none: all tests")
    arguments = parser.parse_args()
    os.environ["BATON"] = str(Path(arguments.baton).resolve())

    loader = unittest.TestLoader()
    if arguments.names:
        loader.testNamePatterns = [f"*{name}*" for name in arguments.names]
    tests = loader.discover(str(HERE), pattern="*_test.py", top_level_dir=str(HERE))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    for test, reason in result.skipped:
        print(f"left out: {test}: {reason}")
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
