#!/usr/bin/env python3
"""Runs what a build tree can show: `make test` and .ci/run are this program.

    tests/run.py [--build build/release] [--only unit,system,...] [--leave-out interop,...]

Kinds: tools (the tests of tests/*.py), unit, simulation, examples, system, interop (with the clients
that need only Debian's packages). Test cases are counted in what each program prints last; the last
line here is their sum, `N passed, N failed`.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ["tools", "unit", "simulation", "examples", "system", "interop"]


def counted(output, exit_code):
    """(passed, failed) test cases that a program reports; a program that reports none is one case."""
    passed, failed = None, 0
    for line in output.splitlines():
        if match := re.fullmatch(r"(\d+) passed, (\d+) failed", line):
            passed, failed = int(match[1]), int(match[2])
        elif match := re.match(r"All tests passed \(.* in (\d+) test cases?\)", line):
            passed, failed = int(match[1]), 0
        elif match := re.match(r"test cases:\s*(\d+)\s*\|", line):
            failed_here = re.search(r"(\d+) failed(?! as expected)", line)
            failed = int(failed_here[1]) if failed_here else 0
            passed = int(match[1]) - failed
        elif match := re.match(r"Ran (\d+) tests? in ", line):
            passed, failed = int(match[1]), 0
        elif match := re.match(r"FAILED \((.*)\)", line):
            failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", match[1]))
            passed = (passed or 0) - failed
    if passed is None:
        return (1, 0) if exit_code == 0 else (0, 1)
    if exit_code != 0 and failed == 0:  # it died after, or outside of, its cases
        failed = 1
    return passed, failed


def run(name, command, environment, timeout_s):
    """Runs one program; prints its output when it fails. Gives (passed, failed)."""
    started = time.monotonic()
    print(f"{name} ...", flush=True)
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, timeout=timeout_s, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, exit_code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace")
        output, exit_code = f"{output}\nnot done after {timeout_s} s, killed\n", -1
    passed, failed = counted(output, exit_code)
    if failed:
        print(output)
        print(f"{name}: exit code {exit_code}; again with: {' '.join(map(str, command))}")
    else:
        for line in output.splitlines():
            if line.startswith("left out"):
                print("  " + line)
    print(f"{name}: {passed} passed, {failed} failed ({time.monotonic() - started:.1f} s)", flush=True)
    return passed, failed


def suites(build, kinds):
    """(name, command, timeout in seconds) of each program of these kinds."""
    baton = build / "baton"
    node = ["--baton", baton]
    if "tools" in kinds:
        for test in sorted((ROOT / "tests").glob("*_test.py")):
            yield test.name, [sys.executable, test], 120
    if "unit" in kinds:
        for layer in ["config", "storage", "transport", "actors", "cli"]:
            if (build / f"test_{layer}").exists():
                yield f"unit tests, {layer}", [build / f"test_{layer}"], 600
    if "simulation" in kinds and (build / "simulation").exists():
        yield "simulation", [build / "simulation"], 1800
    if "system" in kinds and baton.exists():
        yield "system tests", [sys.executable, ROOT / "tests/system/run.py", *node], 900
    if "interop" in kinds and baton.exists() and (ROOT / "tests/interop/run.py").exists():
        interop = [sys.executable, ROOT / "tests/interop/run.py", *node, "--only", "debian"]
        yield "interop", interop, 900
    if "examples" in kinds:
        for example in sorted((ROOT / "examples").glob("*.cpp")):
            yield f"example {example.stem}", [build / f"example_{example.stem}"], 120
        if baton.exists():
            configurations = [*(ROOT / "examples").glob("*.toml"), *(ROOT / "examples").glob("*.d")]
            for example in sorted(configurations):
                yield f"example {example.name}", [baton, "check", example], 30


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--leave-out", default="", help="kinds, separated by commas")
    arguments = parser.parse_args()
    kinds = set(arguments.only.split(",")) - set(arguments.leave_out.split(","))
    if unknown := kinds - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")

    environment = dict(os.environ)
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    environment.setdefault("TSAN_OPTIONS", f"suppressions={ROOT}/tests/tsan.suppressions")
    passed = failed = 0
    for name, command, timeout_s in suites(arguments.build.resolve(), kinds):
        here = run(name, command, environment, timeout_s)
        passed, failed = passed + here[0], failed + here[1]
    left_out = [kind for kind in KINDS if kind not in kinds]
    if left_out:
        print(f"left out: {', '.join(left_out)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
