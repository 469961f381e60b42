"""Headless Chromium, ordered about by clients/browser/driver.js; and the proxy that is none, clients/browser/fake.js."""
import contextlib
import functools
import json
import os
import shutil
import subprocess
import urllib.request

from harness.clients import installed_packages
from harness.registry import Skipped, check_equal

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "browser")


class Browser:
    """One page at a time; what a driver's order refuses is an AssertionError with the page's text."""

    def __init__(self):
        self._process = subprocess.Popen(["node", "driver.js", chromium()], cwd=driver_folder(), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def __getattr__(self, verb):
        return functools.partial(self._order, verb)

    def _order(self, verb, **rest):
        self._process.stdin.write(json.dumps({"verb": verb, **rest}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the browser ended with {self._process.wait()} at the order {verb}")
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{verb} {rest}: {answer['error']}")
        return answer["value"]

    def sign_in(self, user, password):
        self.wait(script="!document.getElementById('login').hidden")
        self.fill(at="#login-user", value=user)
        self.fill(at="#login-password", value=password)
        self.click(at="#login-form button[type=submit]")

    def stop(self):
        self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def browsing(url, **options):
    browser = Browser()
    try:
        check_equal(browser.open(url=url, **options), 200, f"the status of {url}")
        yield browser
        check_equal(browser.problems(), [], "what the browser complained of")
    finally:
        browser.stop()


class Fake:
    """`settings` as fake.js names them: layout, schema, table, user, …"""

    def __init__(self, **settings):
        self._process = subprocess.Popen(["node", "fake.js", json.dumps(settings)], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)
        self.url = json.loads(self._process.stdout.readline())["url"]

    def break_path(self, path, fault):
        """From now on that path answers with the status `fault`, hangs up ("hang up"), or (None) works again."""
        request = urllib.request.Request(self.url + "fake/broken", json.dumps({"path": path, "fault": fault}).encode(), method="POST")
        urllib.request.urlopen(request, timeout=60).close()

    def stop(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)


@contextlib.contextmanager
def faking(**settings):
    if not shutil.which("node"):
        raise Skipped("node is not installed (apt-get install nodejs)")
    fake = Fake(**settings)
    try:
        yield fake
    finally:
        fake.stop()


def chromium():
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        raise Skipped("Chromium is not installed (apt-get install chromium)")
    return found


def driver_folder():
    return installed_packages("browser", "playwright-core")
