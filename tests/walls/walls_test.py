#!/usr/bin/python3
"""The wall test itself: a made-up house with each fault once must be found out, a right one must pass."""
import os
import subprocess
import sys
import tempfile
import unittest

WALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walls.py")


def faults(part, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as out:
                out.write(text)
        done = subprocess.run([sys.executable, WALLS, part, folder], capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if " of them compiled here" not in line]
        assert (done.returncode == 0) == (len(lines) == 1), done.stdout + done.stderr
        return lines[:-1]


class Walls(unittest.TestCase):
    base = {"base/clock.h": "#pragma once\n", "base/mysql/value.h": "#pragma once\n", "router/rule/rule.h": '#include "base/mysql/value.h"\n',
            "router/plan/plan.h": '#include "router/rule/rule.h"\n#include "base/clock.h"\n'}

    def test_a_right_house(self):
        self.assertEqual(faults("includes", self.base), [])

    def test_an_arrow_upwards(self):
        found = faults("includes", {**self.base, "router/rule/wrong.cc": '#include "router/plan/plan.h"\n'})
        self.assertEqual(len(found), 1)
        self.assertIn("router/rule/wrong.cc:1: router/rule may not include router/plan", found[0])

    def test_sideways(self):
        found = faults("includes", {**self.base, "router/sql/wrong.cc": '#include "router/rule/rule.h"\n'})
        self.assertEqual(len(found), 1)

    def test_a_relative_include(self):
        found = faults("includes", {**self.base, "router/plan/wrong.cc": '#include "plan.h"\n'})
        self.assertEqual(len(found), 1)
        self.assertIn("full path", found[0])

    def test_settings_are_open_to_config_and_nothing_else_is(self):
        house = {**self.base, "proxy/net/settings.h": "", "proxy/net/loop.h": "",
                 "config/config.cc": '#include "proxy/net/settings.h"\n#include "proxy/net/loop.h"\n'}
        found = faults("includes", house)
        self.assertEqual(len(found), 1)
        self.assertIn("proxy/net/loop.h", found[0])

    def test_libraries_in_the_wrong_room(self):
        found = faults("includes", {"router/sql/a.cc": "#include <yaml-cpp/yaml.h>\n", "proxy/session/b.cc": "#include <event2/event.h>\n",
                                    "proxy/exec/c.cc": "#include <sys/socket.h>\n", "idgen/d.cc": "#include <cppconn/driver.h>\n",
                                    "proxy/net/e.cc": "#include <event2/event.h>\n"})
        self.assertEqual(len(found), 4)

    def test_a_clock_read(self):
        found = faults("includes", {"router/plan/a.cc": "auto t = std::chrono::steady_clock::now();\n",
                                    "router/plan/b.cc": "// steady_clock::now() is not called here\n",
                                    "proxy/net/c.cc": "auto t = std::chrono::steady_clock::now();\n", "base/clock.cc": "system_clock::now();\n"})
        self.assertEqual([line.split(":")[0] for line in found], ["router/plan/a.cc"])

    def test_words(self):
        found = faults("words", {"base/a.h": "class PoolManager {\n};\n", "base/string_util.h": "", "docs/b.md": "see /root/notes\n",
                                 "base/c.h": "class Pool {\n};  // no class Manager\n"})
        self.assertEqual(sorted(line.split(":")[0] for line in found), ["base/a.h", "base/string_util.h", "docs/b.md"])

    def test_docs(self):
        found = faults("docs", {"README.md": "`router/plan/` and [a](docs/a.md) and `router/gone/x.h` and `SELECT/x` and `build/release/evenkeel`\n",
                                "router/plan/plan.h": "", "docs/a.md": "`router/plan/plan.h`\n"})
        self.assertEqual(found, ["README.md:1: router/gone/x.h does not exist"])

    def test_headers(self):
        found = faults("headers", {"base/led.h": "#pragma once\nnonsense that only the build would see\n", "base/led.cc": '#include "base/led.h"\n',
                                   "base/good.h": "#pragma once\n#include <string>\nstd::string f();\n",
                                   "base/needs.h": "#pragma once\nstd::string f();\n", "base/twice.h": "struct A {};\n"})
        self.assertEqual(sorted(line.split()[0] for line in found), ["base/needs.h", "base/twice.h"])


if __name__ == "__main__":
    unittest.main()
