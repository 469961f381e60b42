"""REGISTRY: the store of worker leases dies under inserts and comes back; no insert fails and no id comes twice."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pymysql

from harness.environment import ask, run
from harness.proxy import Proxy, accepts, free_port
from harness.registry import Skipped, check, check_equal, test

STORE = 3  # an instance that holds no row of the tables


class MysqlStore:
    """A schema on an instance that holds no row of the tables."""

    def __init__(self, env, name, _):
        self.cluster, self.database = env.cluster, name.replace("-", "_")
        admin = env.cluster.admin(STORE)
        run(admin, f"DROP DATABASE IF EXISTS {self.database}")
        run(admin, f"CREATE DATABASE {self.database}")
        run(admin, "DROP USER IF EXISTS 'registry'@'%'")
        run(admin, f"CREATE USER 'registry'@'%' IDENTIFIED BY '{env.cluster.proxy_account['password']}'")
        run(admin, f"GRANT SELECT, INSERT, UPDATE, CREATE ON {self.database}.* TO 'registry'@'%'")
        admin.close()
        self.section = (f"registry: {{provider: mysql, addresses: ['127.0.0.1:{env.cluster.ports()[STORE - 1]}'], user: registry, "
                        f"password: '${{BACKEND_PASSWORD}}', database: {self.database}, timeout: 1s}}\n")

    def kill(self):
        self.cluster.command("kill", STORE)

    def start(self):
        self.cluster.command("start", STORE)

    def records(self):
        admin = self.cluster.admin(STORE, self.database)
        try:
            return " ".join(value.decode() for (value,) in ask(admin, "SELECT value FROM evenkeel_registry WHERE name LIKE 'workers/ids/%'"))
        finally:
            admin.close()

    def end(self):
        pass


class RedisStore:
    """A server of its own that appends to its file before it answers."""

    def __init__(self, env, name, folder):
        if not shutil.which("redis-server"):
            raise Skipped("redis-server is not installed")
        self.folder, self.port = os.path.join(folder, name + "-redis"), free_port()
        os.makedirs(self.folder, exist_ok=True)
        self._process = None
        self.start()
        self.section = f"registry: {{provider: redis, addresses: ['127.0.0.1:{self.port}'], timeout: 1s}}\n"

    def start(self):
        self._process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder, "--appendonly", "yes", "--appendfsync",
             "always", "--save", ""], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not accepts(self.port):
            check(time.monotonic() < deadline and self._process.poll() is None, "redis-server does not start")
            time.sleep(0.01)

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def records(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(b"HVALS evenkeel:{registry}:records\r\nQUIT\r\n")
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode(errors="replace")

    def end(self):
        if self._process is not None and self._process.poll() is None:
            self.kill()


def connect(proxy):
    return pymysql.connect(host="127.0.0.1", port=proxy.port, user=proxy.account["user"], password=proxy.account["password"],
                           database="l3", charset="utf8mb4", autocommit=True, read_timeout=60)


class Writers:
    """Clients that insert until told to stop; every error counts."""

    def __init__(self, proxy, count=4):
        self.ids, self.errors, self._stop = [], [], threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(proxy,)) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _write(self, proxy):
        try:
            connection = connect(proxy)
            while not self._stop.is_set():
                self.ids.append(run(connection, "INSERT INTO orders(user_id) VALUES (1)")[1])
        except Exception as error:
            self.errors.append(error)

    def wait_for_more(self, count, patience=60):
        aim, deadline = len(self.ids) + count, time.monotonic() + patience
        while len(self.ids) < aim and not self.errors:
            check(time.monotonic() < deadline, f"inserts have come to a stop: {len(self.ids)} of {aim}")
            time.sleep(0.01)
        check_equal(self.errors, [], "errors of inserts")

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def wait_until(condition, what, patience=90):
    deadline = time.monotonic() + patience
    while not condition():
        check(time.monotonic() < deadline, f"not so after {patience} s: {what}")
        time.sleep(0.05)


def bounds(records):
    return {line.split()[1] for line in records.replace("\r", "").split("\n") if line.startswith("bound ")}


def gone_under_inserts(env, name, kind):
    env.fresh("l3")
    with contextlib.ExitStack() as ends:
        store = kind(env, name, env.proxy.folder)
        ends.callback(store.end)
        proxy = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, name), names=["l3"], extra=store.section)
        proxy.start()
        ends.callback(proxy.stop)
        log = lambda: open(proxy.log, errors="replace").read()
        writers = Writers(proxy)
        ends.callback(writers.stop)
        first = bounds(store.records())
        check(first, f"the worker id's record is in the store: {store.records()!r}")
        # The first minute reserves a minute only; a process that has settled has an hour.
        wait_until(lambda: bounds(store.records()) - first, "the hour is reserved")
        writers.wait_for_more(500)
        store.kill()
        wait_until(lambda: "stay usable until their reserved time ends" in log(), "the proxy says that the registry is gone")
        writers.wait_for_more(1000)
        store.start()
        wait_until(lambda: "the registry answers again" in log(), "the proxy says that the registry is back")
        writers.wait_for_more(500)
        writers.stop()
        check_equal(writers.errors, [], "errors of inserts")
        check_equal(len(set(writers.ids)), len(writers.ids), "distinct ids")
        check_equal(sorted(writers.ids), [row[0] for row in ask(env.client("l3"), "SELECT id FROM orders ORDER BY id")], "rows")
        proxy.stop()
        check_equal(proxy.status(), 0, "status at the end")
        check("released" in store.records(), "the worker id was given back")


@test("registry-mysql-gone", "the instance that holds a MySQL registry is killed under inserts and started again: no insert fails, no id twice",
      needs_proxy=True)
def mysql_gone(env):
    gone_under_inserts(env, "registry-mysql-gone", MysqlStore)


@test("registry-redis-gone", "a Redis registry is killed under inserts and started again: no insert fails, no id twice", servers=("mariadb",),
      needs_proxy=True)
def redis_gone(env):
    gone_under_inserts(env, "registry-redis-gone", RedisStore)
