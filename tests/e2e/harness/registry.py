"""Tests are functions marked with @test("C11", "what it shows"); run.py finds and runs them in order."""
import collections

TESTS = []
Test = collections.namedtuple("Test", "name title function servers needs_proxy")


class Skipped(Exception):
    """A test that cannot run here. `excused`: for want of a download, which no one at this machine can help."""

    def __init__(self, reason, excused=False):
        super().__init__(reason)
        self.excused = excused


def test(name, title, servers=("mariadb", "mysql"), needs_proxy=False):
    """servers: where it runs; () = without any. needs_proxy: says nothing about a plain server (--plain)."""

    def mark(function):
        TESTS.append(Test(name, title, function, servers, needs_proxy))
        return function

    return mark


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def check_equal(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}:\n  expected {short(expected)}\n  got      {short(got)}")


def short(value, limit=600):
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
