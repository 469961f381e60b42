#!/usr/bin/python3
"""End-to-end tests: real servers, the proxy before them, clients from elsewhere.

  run.py --program build/release/evenkeel [--server mariadb|mysql|both] [-k NAME]... [--list] [--plain] [--keep]

--plain runs the tests against one plain server instead of the proxy: a test of the tests, since what they expect of
MySQL must hold for MySQL. The last line counts: "N passed, N failed, N skipped". Ends with 1 when a test failed,
or, with EVENKEEL_CI=1 set, when one was skipped for another reason than a download that was refused.
"""
import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from harness import clients, registry, schemas  # noqa: E402
from harness.cluster import Cluster  # noqa: E402
from harness.environment import Environment  # noqa: E402
from harness.proxy import Proxy  # noqa: E402

FAMILIES = ("admin", "reload", "orders", "configuration", "ids", "registry", "segments", "key", "liid", "route", "merge", "parse", "transactions", "programs", "logins", "types", "differential", "statements", "skew", "dashboard", "dashboard_page", "failures")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--server", choices=("mariadb", "mysql", "both"), default="both")
    parser.add_argument("-k", dest="names", action="append", default=[], help="part of a test's name or title; repeatable")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave configuration and logs, and say where")
    return parser.parse_args()


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = self.inexcusable = 0
        self.failures = []

    def line(self, outcome, where, test, seconds, note=""):
        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        shown = {"ok": "\033[32mok\033[0m     ", "FAILED": "\033[31mFAILED\033[0m ", "SKIPPED": "\033[33mSKIPPED\033[0m"}[outcome] \
            if color else f"{outcome:7}"
        print(f"{shown} {where:8} {test.name:22} {seconds:5.1f} s  {test.title}{note}", flush=True)

    def run(self, where, test, *arguments):
        begun = time.monotonic()
        try:
            test.function(*arguments)
        except registry.Skipped as reason:
            self.skip(where, test, str(reason), reason.excused)
        except Exception as error:
            self.failed += 1
            self.line("FAILED", where, test, time.monotonic() - begun)
            text = str(error) if isinstance(error, AssertionError) else told_where(error)
            print("    " + text.strip().replace("\n", "\n    "), flush=True)
            self.failures.append(f"{where} {test.name}")
        else:
            self.passed += 1
            self.line("ok", where, test, time.monotonic() - begun)

    def skip(self, where, test, reason, excused):
        self.skipped += 1
        self.inexcusable += not excused
        self.line("SKIPPED", where, test, 0, f": {reason}")


def told_where(error):
    """An unexpected exception with the lines of the test that led to it, not those of the libraries below."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(HERE)]
    lines = [f"{os.path.relpath(frame.filename, HERE)}:{frame.lineno}: {frame.line}" for frame in frames if "run.py" not in frame.filename]
    return "\n".join([f"{type(error).__name__}: {error}"] + lines)


def chosen_tests(options):
    for family in FAMILIES:
        if os.path.exists(os.path.join(HERE, "cases", family + ".py")):
            importlib.import_module(f"cases.{family}")
    tests = [test for test in registry.TESTS
             if not options.names or any(name.lower() in f"{test.name} {test.title}".lower() for name in options.names)]
    if options.plain:
        tests = [test for test in tests if not test.needs_proxy and test.servers]
    return tests


def fetch_mysql():
    """(there is a MySQL server, why not, whether nobody here can help it)"""
    script = os.path.join(HERE, "..", "..", "tools", "fetch-mysql.sh")
    done = subprocess.run([script, "--quiet-if-present"], capture_output=True, text=True)
    if done.returncode == 0:
        return True, "", False
    return False, (done.stderr.strip().splitlines() or ["no reason given"])[-1], done.returncode == 3


def run_on(kind, tests, options, folder, report):
    where = {"mariadb": "MariaDB", "mysql": "MySQL"}[kind]
    print(f"-- starting 4 {where} servers", flush=True)
    cluster = Cluster(options.program, kind, os.path.join(folder, kind))
    proxy = None
    try:
        for schema in schemas.SCHEMAS:
            schemas.create_plain(cluster, schema, schemas.truth_name(schema))
            if options.plain:
                schemas.create_plain(cluster, schema, schema, generating=True)
            else:
                schemas.create_sharded(cluster, schema)
        if not options.plain:
            proxy = Proxy(options.program, cluster, os.path.join(folder, f"proxy-{kind}"))
            proxy.start()
        print(f"-- {where} {cluster.version} on ports {cluster.ports()}" + (f", proxy on {proxy.port}" if proxy else ""), flush=True)
        environment = Environment(cluster, proxy, options.plain)
        for test in tests:
            if proxy and not proxy.running():
                raise RuntimeError(f"the proxy ended by itself (status {proxy.status()}):\n{proxy.last_log_lines(30)}")
            report.run(where, test, environment)
            environment.close_connections()
        if proxy:
            proxy.stop()
            if proxy.status() != 0:
                raise RuntimeError(f"the proxy ended with status {proxy.status()}:\n{proxy.last_log_lines(30)}")
    finally:
        if proxy:
            proxy.stop()
        cluster.stop()


def main():
    options = arguments()
    options.program = os.path.abspath(options.program)
    tests = chosen_tests(options)
    if options.list:
        for test in tests:
            print(f"{test.name:22} {test.title}")
        return 0
    report = Report()
    folder = tempfile.mkdtemp(prefix="evenkeel-e2e-")
    try:
        for test in tests:
            if not test.servers:
                report.run("-", test, options.program)
        for kind in ("mariadb", "mysql"):
            mine = [test for test in tests if kind in test.servers]
            if options.server not in (kind, "both") or not mine:
                continue
            if kind == "mysql":
                present, reason, excused = fetch_mysql()
                if not present:
                    for test in mine:
                        report.skip("MySQL", test, reason, excused)
                    continue
            try:
                run_on(kind, mine, options, folder, report)
            except Exception as error:
                report.failed += 1
                report.failures.append(f"{kind}: the run itself")
                print(f"FAILED  {kind}: {error}", flush=True)
                if not isinstance(error, RuntimeError):
                    traceback.print_exc()
    finally:
        clients.remove_built()
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if report.failures:
        print("failed: " + ", ".join(report.failures))
    if report.inexcusable and os.environ.get("EVENKEEL_CI"):
        print(f"{report.inexcusable} tests were SKIPPED although nothing had to be downloaded: CI counts that as a failure")
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    nothing_ran = report.passed + report.failed + report.skipped == 0
    return int(report.failed > 0 or nothing_ran or (report.inexcusable > 0 and bool(os.environ.get("EVENKEEL_CI"))))


if __name__ == "__main__":
    sys.exit(main())
