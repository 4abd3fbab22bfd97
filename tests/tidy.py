#!/usr/bin/env python3
"""Proves what the design says about the tree: who includes whom, and what each folder must have.

    tests/tidy.py [CHECK...]        all of CHECKS, or some of them; `N passed, N failed` at the end

A finding reads file:line: what is wrong; what was expected. Headers that compiled alone are remembered
below build/tidy by the content of all that they include, so that a second run takes a second.
"""

import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A folder includes only itself and those to its left.
LAYERS = ["config", "storage", "transport", "actors", "cli"]

# Who may include what others wrote: a folder (ends in "/") or a file. Anything else is free.
MAY_INCLUDE = {
    "caf/": ["actors/", "tests/actors/", "tests/simulation/", "tests/bench/"],
    "boost/asio": ["transport/net/", "transport/http/", "tests/transport/net/", "tests/bench/"],
    "boost/beast": ["transport/http/", "tests/transport/http/"],
    "toml++/": ["config/"],
    "spdlog/": ["actors/", "cli/", "tests/actors/", "tests/cli/"],
    "sodium": ["actors/", "tests/actors/"],
    "CLI/": ["cli/", "tests/cli/"],
    "catch2/": ["tests/catch.hpp", "tests/catch_main.cpp"],
}
IN_ONE_FILE = ["toml++/"]  # so slow, or so much, that one file is enough

# What these may not even reach through other headers. A core decides, and is tested, without actors;
# a protocol machine turns bytes into commands without sockets.
MAY_NOT_REACH = [
    (re.compile(r"_core\.[hc]pp$"), ["caf/", "boost/asio"]),
    (re.compile(r"^transport/(?!net/|http/)"), ["boost/asio"]),
    (re.compile(r"^tests/fuzz/"), ["caf/"]),
]

TOP_LEVEL = [*LAYERS, "tests", "examples", "CMakeLists.txt", "CMakePresets.json", "Makefile", "README.md"]
WITH_README = [*LAYERS, "tests", "examples"]

MAX_LINES = 600
LONGER = {  # file: why it holds one idea all the same
    "tests/interop/pika/interop.py": "one client, one program; the one that tries every rule",
}

SOURCE = (".hpp", ".cpp", ".h", ".c", ".py", ".js", ".go", ".java", ".rs", ".cmake", ".txt", ".sh")
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
WAITS = re.compile(r"\bsleep_(for|until)\b|\busleep\(|\btime\.sleep\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def is_cpp(path):
    return path.endswith((".hpp", ".cpp"))


def is_below(path, places):
    return any(path.startswith(place) if place.endswith("/") else path == place for place in places)


class Tree:
    """The files of the tree by their paths, with what their lines include."""

    def __init__(self, files):
        self.files = files  # path: text
        self.includes = {  # path: [(line number, quoted, included path)]
            path: [
                (number, match[1] == '"', match[2])
                for number, line in enumerate(text.splitlines(), 1)
                if (match := INCLUDE.match(line))
            ]
            for path, text in files.items()
            if is_cpp(path)
        }

    @classmethod
    def of_repository(cls):
        """All files that git has, or would take."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
        files = {}
        for path in filter(None, listed):
            if (ROOT / path).is_file():
                files[path] = (ROOT / path).read_text(errors="replace")
        return cls(files)

    def reached(self, path):
        """{what is included, directly or not: the chain of files that leads to it}."""
        reached, waiting = {}, [(path, [path])]
        while waiting:
            at, chain = waiting.pop()
            for _, _, included in self.includes.get(at, []):
                if included not in reached:
                    reached[included] = [*chain, included]
                    waiting.append((included, reached[included]))
        return reached


# ---- the checks: each yields (path, line, what is wrong; what was expected)


def layers(tree):
    """A layer includes itself and those to its left, by paths from the top of the tree."""
    for path, includes in tree.includes.items():
        folder = path.split("/")[0]
        for line, quoted, included in includes:
            target = included.split("/")[0]
            if quoted and included not in tree.files:
                yield path, line, f'"{included}" is no file of ours; expected its path from the top, or <>'
            elif not quoted and included in tree.files:
                yield path, line, f"<{included}> is ours; expected it in quotes"
            elif quoted and folder in LAYERS:
                allowed = LAYERS[: LAYERS.index(folder) + 1]
                if target not in allowed:
                    yield (path, line, f"{folder}/ includes {target}/; expected only "
                           f"{', '.join(allowed)}")


def libraries(tree):
    """What others wrote is included where the design says, and nowhere else."""
    seen = {}
    for path, includes in sorted(tree.includes.items()):
        for line, _, included in includes:
            for library, places in MAY_INCLUDE.items():
                if included in tree.files or not included.startswith(library):
                    continue
                if not is_below(path, places):
                    yield path, line, f"includes <{included}>; expected only in {', '.join(places)}"
                elif library in IN_ONE_FILE and seen.setdefault(library, path) != path:
                    yield path, line, f"includes <{included}>; expected only in {seen[library]}"


def cores(tree):
    """Cores reach no actor and no socket, protocol machines no socket, through any header."""
    for path in sorted(tree.includes):
        for pattern, libraries_ in MAY_NOT_REACH:
            if not pattern.search(path):
                continue
            for included, chain in tree.reached(path).items():
                if included.startswith(tuple(libraries_)):
                    line = next(n for n, _, name in tree.includes[path] if name == chain[1])
                    yield (path, line, f"reaches {' -> '.join(chain[1:])}; expected none of "
                           f"{', '.join(libraries_)}")
                    break


def pragma_once(tree):
    """A header begins with #pragma once, before any other code."""
    for path, text in tree.files.items():
        if path.endswith(".hpp") and not text.startswith("#pragma once\n"):
            yield path, 1, "expected #pragma once in the first line"


def top_level(tree):
    """At the top are the layers, tests, examples, the build, README.md and dot-files."""
    for entry in sorted({path.split("/")[0] for path in tree.files}):
        if not entry.startswith(".") and entry not in TOP_LEVEL:
            yield entry, 1, f"expected at the top only {', '.join(TOP_LEVEL)} and dot-files"


def readmes(tree):
    """Each folder has its page, which fits on one."""
    for folder in WITH_README:
        page = f"{folder}/README.md"
        if page not in tree.files:
            yield page, 1, "missing; expected one page: what lives here, invariants, how to add to it"


def lengths(tree):
    """A file of one idea is not longer than MAX_LINES."""
    for path, text in tree.files.items():
        count = text.count("\n")
        if path.endswith((".hpp", ".cpp", ".py")) and count > MAX_LINES and path not in LONGER:
            yield (path, MAX_LINES + 1, f"{count} lines; expected at most {MAX_LINES}, or a reason in "
                   "tests/tidy.py, LONGER")
    for path in LONGER:
        if tree.files.get(path, "").count("\n") <= MAX_LINES:
            yield path, 1, "is listed as too long in tests/tidy.py, but is not (any more)"


def marks(tree):
    """Nothing is left unfinished in the code."""
    for path, text in tree.files.items():
        if path.endswith(SOURCE) or "." not in Path(path).name:
            for number, line in enumerate(text.splitlines(), 1):
                if match := MARKS.search(line):
                    yield path, number, f"{match[0]}; expected it done, or an issue instead of a mark"


def waits(tree):
    """Tests drive the clock or wait for an event. A line that must let time pass says why: `pace:`."""
    for path, text in tree.files.items():
        if path.startswith("tests/") and path.endswith((".cpp", ".hpp", ".py")):
            for number, line in enumerate(text.splitlines(), 1):
                if (match := WAITS.search(line)) and "pace:" not in line and "re.compile" not in line:
                    yield path, number, f"{match[0]}; expected a driven clock or a wait for the event"


def headers(tree):
    """Every header compiles alone, without a warning."""
    compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                "-Wpedantic", "-Werror", '-DBATON_VERSION="0"', "-I.",
                "-isystem", "build/deps/usr/include", "-x", "c++", "-"]
    version = subprocess.run([compiler[0], "--version"], capture_output=True, check=True).stdout
    known = ROOT / "build/tidy"
    known.mkdir(parents=True, exist_ok=True)

    def compile_alone(path):
        content = hashlib.sha256(" ".join(compiler).encode() + version)
        for part in sorted({path, *tree.reached(path)} & tree.files.keys()):
            content.update(f"{part}\0{tree.files[part]}\0".encode())
        stamp = known / content.hexdigest()
        if stamp.exists():
            return None
        done = subprocess.run(compiler, input=f'#include "{path}"\n', cwd=ROOT, text=True,
                              capture_output=True)
        if done.returncode == 0:
            stamp.touch()
            return None
        return done.stderr.strip() or "the compiler gave no reason"

    paths = sorted(path for path in tree.includes if path.endswith(".hpp"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, reason in zip(paths, pool.map(compile_alone, paths)):
            if reason:
                yield path, 1, f"does not compile alone; expected it to include what it uses\n{reason}"


CHECKS = [layers, libraries, cores, pragma_once, top_level, readmes, lengths, marks, waits, headers]


def main():
    names = sys.argv[1:]
    by_name = {check.__name__: check for check in CHECKS}
    if unknown := [name for name in names if name not in by_name]:
        print(f"no such check: {', '.join(unknown)}; there are {', '.join(by_name)}", file=sys.stderr)
        return 2
    tree = Tree.of_repository()
    failed = 0
    chosen = [by_name[name] for name in names] or CHECKS
    for check in chosen:
        findings = list(check(tree))
        failed += bool(findings)
        print(f"{check.__name__}: {check.__doc__} {'FAILED' if findings else 'ok'}")
        for path, line, text in findings:
            print(f"{path}:{line}: {text}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
