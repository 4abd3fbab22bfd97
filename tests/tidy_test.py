"""Tests of tidy.py, on trees of a few lines."""

import unittest
from unittest import mock

import tidy


def findings(check, files):
    return [f"{path}:{line}" for path, line, _ in check(tidy.Tree(files))]


class Layers(unittest.TestCase):
    files = {"config/a.hpp": "", "actors/b.hpp": '#pragma once\n#include "config/a.hpp"\n'}

    def test_a_layer_may_include_those_to_its_left(self):
        self.assertEqual(findings(tidy.layers, self.files), [])

    def test_an_include_of_a_layer_to_the_right_is_found_with_its_line(self):
        files = {**self.files, "storage/c.cpp": '\n#include "actors/b.hpp"\n'}
        self.assertEqual(findings(tidy.layers, files), ["storage/c.cpp:2"])

    def test_code_does_not_include_tests(self):
        files = {"cli/a.cpp": '#include "tests/b.hpp"\n', "tests/b.hpp": ""}
        self.assertEqual(findings(tidy.layers, files), ["cli/a.cpp:1"])

    def test_a_path_that_starts_at_its_own_folder_is_found(self):
        files = {**self.files, "config/c.cpp": '#include "a.hpp"\n'}
        self.assertEqual(findings(tidy.layers, files), ["config/c.cpp:1"])


class Libraries(unittest.TestCase):
    def test_caf_is_for_actors_only(self):
        files = {"actors/a.cpp": "#include <caf/all.hpp>\n", "cli/a.cpp": "#include <caf/all.hpp>\n"}
        self.assertEqual(findings(tidy.libraries, files), ["cli/a.cpp:1"])

    def test_asio_is_for_the_network_folder_only(self):
        files = {"transport/net/a.cpp": "#include <boost/asio.hpp>\n",
                 "transport/amqp091/a.cpp": "#include <boost/asio/buffer.hpp>\n"}
        self.assertEqual(findings(tidy.libraries, files), ["transport/amqp091/a.cpp:1"])

    def test_toml_is_read_in_one_file(self):
        files = {"config/a.cpp": "#include <toml++/toml.h>\n", "config/b.cpp": "#include <toml++/toml.h>\n"}
        self.assertEqual(findings(tidy.libraries, files), ["config/b.cpp:1"])


class Cores(unittest.TestCase):
    def test_a_core_that_reaches_caf_through_another_header_is_found(self):
        files = {"actors/queue/queue_core.hpp": '#include "actors/runtime/ref.hpp"\n',
                 "actors/runtime/ref.hpp": "#include <caf/actor.hpp>\n"}
        self.assertEqual(findings(tidy.cores, files), ["actors/queue/queue_core.hpp:1"])

    def test_headers_that_include_each_other_do_not_hang_it(self):
        files = {"actors/a_core.hpp": '#include "actors/b.hpp"\n',
                 "actors/b.hpp": '#include "actors/a_core.hpp"\n'}
        self.assertEqual(findings(tidy.cores, files), [])


class Files(unittest.TestCase):
    def test_an_unknown_entry_at_the_top_is_found(self):
        self.assertEqual(findings(tidy.top_level, {"scripts/a": "", ".ci/run": ""}), ["scripts:1"])

    def test_a_folder_without_its_page_is_found(self):
        files = {f"{folder}/README.md": "" for folder in tidy.WITH_README if folder != "storage"}
        self.assertEqual(findings(tidy.readmes, files), ["storage/README.md:1"])

    def test_a_long_file_is_found_unless_it_is_listed(self):
        files = {"cli/a.cpp": "\n" * 601}
        with mock.patch.dict(tidy.LONGER, clear=True):
            self.assertEqual(findings(tidy.lengths, files), ["cli/a.cpp:601"])
        with mock.patch.dict(tidy.LONGER, {"cli/a.cpp": "a table"}, clear=True):
            self.assertEqual(findings(tidy.lengths, files), [])

    def test_a_file_listed_as_long_that_is_not_is_found(self):
        with mock.patch.dict(tidy.LONGER, {"cli/a.cpp": "a table"}, clear=True):
            self.assertEqual(findings(tidy.lengths, {"cli/a.cpp": "\n"}), ["cli/a.cpp:1"])

    def test_an_unfinished_mark_is_found(self):
        self.assertEqual(findings(tidy.marks, {"cli/a.cpp": "// TO" "DO: more\n"}), ["cli/a.cpp:1"])

    def test_a_sleep_is_found_unless_it_gives_its_reason(self):
        files = {"tests/a.py": "time.sleep(1)\ntime.sleep(1)  # pace: 1 message a second\n"}
        self.assertEqual(findings(tidy.waits, files), ["tests/a.py:1"])

    def test_a_header_without_pragma_once_is_found(self):
        files = {"cli/a.hpp": "#pragma once\n", "cli/b.hpp": "// b\n"}
        self.assertEqual(findings(tidy.pragma_once, files), ["cli/b.hpp:1"])


class Headers(unittest.TestCase):
    def test_a_header_that_does_not_compile_alone_is_found(self):
        files = {"cli/unfinished.hpp": "#pragma once\n"}
        with mock.patch.object(tidy.subprocess, "run") as run:
            run.side_effect = [mock.Mock(stdout=b"compiler 1"),
                               mock.Mock(returncode=1, stderr="no such type")]
            self.assertEqual(findings(tidy.headers, files), ["cli/unfinished.hpp:1"])


if __name__ == "__main__":
    unittest.main()
