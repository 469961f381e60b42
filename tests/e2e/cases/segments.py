"""SEGMENTS: ids in segments from a real server's table: crashes of the proxy and of that server, ids of the client's own."""
import contextlib
import os
import signal
import subprocess
import threading
import time

import pymysql

from harness.environment import ask, error_of, run
from harness.proxy import Proxy
from harness.registry import check, check_equal, test

STORE = 3  # an instance that holds no row of the tables


@contextlib.contextmanager
def segment_proxy(env, name, step=100, extra=(), kind="segment"):
    env.fresh("l3")
    password = env.cluster.proxy_account["password"]
    store = env.cluster.admin(STORE)
    run(store, f"DROP DATABASE IF EXISTS {database_of(name)}")
    run(store, f"CREATE DATABASE {database_of(name)}")
    run(store, "DROP USER IF EXISTS 'ids'@'%'")
    run(store, f"CREATE USER 'ids'@'%' IDENTIFIED BY '{password}'")
    run(store, f"GRANT SELECT, INSERT, UPDATE, CREATE ON {database_of(name)}.* TO 'ids'@'%'")
    store.close()
    lines = ["  - name: ids", f"    kind: {kind}", "    segment:", f"      step: {step}", f"      step_min: {step}", f"      step_max: {step}",
             "      max_wait: 1s", "      timeout: 1s", "      allocators:",
             f"        - {{address: '127.0.0.1:{env.cluster.ports()[STORE - 1]}', user: ids, password: '${{BACKEND_PASSWORD}}', "
             f"database: {database_of(name)}}}"]
    proxy = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, name), names=["l3"], generator_ids=lines + list(extra))
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()


def database_of(name):
    return name.replace("-", "_")


def connect(proxy):
    return pymysql.connect(host="127.0.0.1", port=proxy.port, user=proxy.account["user"], password=proxy.account["password"],
                           database="l3", charset="utf8mb4", autocommit=True)


def insert(connection):
    return run(connection, "INSERT INTO orders(user_id) VALUES (1)")[1]


def row_of_store(env, name):
    connection = env.cluster.admin(STORE)
    try:
        return ask(connection, f"SELECT max_id, explicit_id, epoch FROM {database_of(name)}.evenkeel_segment WHERE tag='ids/l3.orders'")[0]
    finally:
        connection.close()


def stored(env):
    return [row[0] for row in ask(env.client("l3"), "SELECT id FROM orders ORDER BY id")]


class Writers:
    """Clients that insert until told to stop; `ids` are those that the proxy confirmed, `errors` what it said instead."""

    def __init__(self, proxy, count=8):
        self.proxy, self.ids, self.errors, self._stop = proxy, [], [], threading.Event()
        self._threads = [threading.Thread(target=self._write, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _write(self):
        connection = None
        while not self._stop.is_set():
            try:
                connection = connection or connect(self.proxy)
                self.ids.append(insert(connection))
            except pymysql.Error as error:
                self.errors.append(str(error))
                if not connection or not connection.open or error.args[0] in (2006, 2013):
                    connection = None
                    self._stop.wait(0.02)

    def wait_for(self, count, patience=30):
        deadline = time.monotonic() + patience
        while len(self.ids) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        check(len(self.ids) >= count, f"{len(self.ids)} of {count} rows after {patience} s; errors: {self.errors[-3:]}")

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


@test("segment-ids", "ids come from segments of a table; a crash costs a hole, a clean end gives the rest back, and no id comes twice", needs_proxy=True)
def crash_and_restart(env):
    with segment_proxy(env, "segment-ids") as proxy:
        connection = connect(proxy)
        check_equal([insert(connection) for _ in range(3)], [1, 2, 3], "the first ids")
        _, first = run(connection, "INSERT INTO orders(user_id) VALUES (1),(2),(3),(4)")
        check_equal(first, 4, "the first id of a multi-row INSERT")
        writers = Writers(proxy)
        writers.wait_for(350)
        proxy.signal(signal.SIGKILL)
        while proxy.running():
            time.sleep(0.01)
        before = row_of_store(env, "segment-ids")[0]
        proxy.start()
        writers.wait_for(len(writers.ids) + 350)
        writers.stop()
        mine = writers.ids + [1, 2, 3, 4, 5, 6, 7]
        check_equal(len(set(mine)), len(mine), "distinct ids")
        rows = stored(env)
        check(set(mine) <= set(rows), "a confirmed row is missing")
        check(not any("Duplicate" in error for error in writers.errors), f"a duplicate was refused by the server: {writers.errors}")
        check(max(mine) > before, "after the crash ids go on above everything that was given out")
        proxy.stop()
        check_equal(proxy.status(), 0, "status at the end")
        check_equal(row_of_store(env, "segment-ids")[0], max(rows), "the store's maximum after a clean end")
    check_equal({row % 8 for row in rows}, set(range(8)), "slots")


@test("segment-explicit", "an id that the client gave is never generated later: within a segment, beyond it, in a batch, and after a crash", needs_proxy=True)
def explicit_ids(env):
    with segment_proxy(env, "segment-explicit") as proxy:
        connection = connect(proxy)
        check_equal(insert(connection), 1, "the first id")
        run(connection, "INSERT INTO orders(id,user_id) VALUES (40,1)")
        check_equal(insert(connection), 41, "after an explicit id in the segment")
        run(connection, "INSERT INTO orders(id,user_id) VALUES (%s,1),(NULL,2),(%s,3)", (5000, 5003))
        ids = [insert(connection) for _ in range(400)]
        rows = stored(env)
        check_equal(len(rows), 406, "rows")
        check_equal(len(set(ids) & {40, 5000, 5003}), 0, "explicit ids among the generated ones")
        check(max(ids) > 5003, f"ids go on above the explicit ones: {max(ids)}")
        check_equal(row_of_store(env, "segment-explicit")[1] >= 5003, True, "the store knows the explicit ids")
        code, message = error_of(connection, "INSERT INTO orders(id,user_id) VALUES (9223372036854775807,1)")
        check("leaves no room" in message, f"{code} {message}")
        proxy.signal(signal.SIGKILL)
        while proxy.running():
            time.sleep(0.01)
        proxy.start()
        ids = [insert(connect(proxy)) for _ in range(20)]
        check(min(ids) > max(rows), "after a crash too")


@test("segment-store-gone", "while the store hangs or is dead the rest of the segments serves, then a clear error; it goes on by itself", needs_proxy=True)
def store_gone(env):
    with segment_proxy(env, "segment-store-gone") as proxy:
        connection = connect(proxy)
        seen = [insert(connection) for _ in range(10)]
        for fault in ("hangs", "is killed"):
            pid = env.cluster.instances[STORE - 1]["pid"]
            if fault == "hangs":
                os.kill(pid, signal.SIGSTOP)
            else:
                env.cluster.command("kill", STORE)
            try:
                refused, slowest = None, 0
                for _ in range(400):
                    begun = time.monotonic()
                    try:
                        seen.append(insert(connection))
                    except pymysql.Error as error:
                        refused = str(error)
                        break
                    finally:
                        slowest = max(slowest, time.monotonic() - begun)
                check(refused is not None, f"the store {fault}, and 400 ids came out of segments of 100")
                check("its segments are used up" in refused and "127.0.0.1" in refused, f"the store {fault}: {refused}")
                check(slowest < 10, f"the error took {slowest:.1f} s")
                check_equal(ask(connection, f"SELECT user_id FROM orders WHERE id={seen[0]}"), [(1,)], "reads go on")
            finally:
                if fault == "hangs":
                    os.kill(pid, signal.SIGCONT)
                else:
                    env.cluster.command("start", STORE)
            deadline = time.monotonic() + 20
            while True:
                try:
                    seen.append(insert(connection))
                    break
                except pymysql.Error:
                    check(time.monotonic() < deadline, f"no id 20 s after the store that {fault} was back")
                    time.sleep(0.05)
            seen += [insert(connection) for _ in range(250)]
        check_equal(len(set(seen)), len(seen), "distinct ids")
        check_equal(stored(env), sorted(seen), "rows")


def proxy_beside(env, first):
    """Another proxy of the same tables, with the generators of the first one; not started."""
    generators = open(first.config).read().split("generators:\n")[1].split("  - name: wide_ids")[0]
    return Proxy(env.proxy.program, env.cluster, os.path.join(first.folder, "second"), names=["l3"], generator_ids=generators.splitlines())


@test("segment-two-proxies", "two proxies on one table: each row goes through, also those whose ids a client gave", needs_proxy=True)
def two_proxies(env):
    with segment_proxy(env, "segment-two") as first:
        second = proxy_beside(env, first)
        second.start()
        try:
            writers = [Writers(first, 4), Writers(second, 4)]
            for one in writers:
                one.wait_for(300)
            for one in writers:
                one.stop()
        finally:
            second.stop()
        ids = writers[0].ids + writers[1].ids
        check_equal(len(set(ids)), len(ids), "distinct ids")
        check_equal(writers[0].errors + writers[1].errors, [], "errors")


def decoded(proxy, id, *options):
    """What `evenkeel decode` says of an id, by the proxy's own configuration."""
    done = subprocess.run([proxy.program, "decode", str(id), "--config", proxy.config, *options], capture_output=True, text=True, timeout=60,
                          env=proxy.environment())
    return done.returncode, done.stdout + done.stderr


def number_of(id):
    """The worker field of layout classic."""
    return id >> 12 & 1023


def field(text, name):
    return next(line.split()[1] for line in text.splitlines() if line.startswith(name))


@test("hybrid-ids", "worker numbers come from the table of segments: two proxies, kill -9, a new start, no id twice; decode tells the number", needs_proxy=True)
def hybrid(env):
    with segment_proxy(env, "hybrid-ids", kind="hybrid") as first:
        second = proxy_beside(env, first)
        second.start()
        try:
            writers = [Writers(first, 4), Writers(second, 4)]
            for one in writers:
                one.wait_for(200)
            numbers = [{number_of(id) for id in list(one.ids)} for one in writers]
            check_equal([len(one) for one in numbers], [1, 1], "each proxy has one number")
            check(numbers[0] != numbers[1], f"both have {numbers[0]}")
            first.signal(signal.SIGKILL)
            while first.running():
                time.sleep(0.01)
            begun = len(writers[0].ids)
            first.start()
            writers[0].wait_for(begun + 200)
            for one in writers:
                one.stop()
        finally:
            second.stop()
        fresh = number_of(writers[0].ids[-1])
        check(fresh not in numbers[0] | numbers[1], f"after the kill another number is taken, not {fresh}")
        ids = writers[0].ids + writers[1].ids
        check_equal(len(set(ids)), len(ids), "distinct ids")
        check(set(ids) <= set(stored(env)), "a confirmed row is missing")
        text = decoded(first, ids[0], "--of", "l3.orders")[1]
        check_equal(field(text, "worker"), str(number_of(ids[0])), f"the worker number: {text}")
        place = field(text, "table")
        check_equal(field(text, "slot"), str(ids[0] % 8), f"the slot: {text}")
        check(place.startswith("l3"), f"where the row is: {text}")


@test("segment-check", "check --connect asks for the table of segments and the account's rights; decode refuses counted ids by name", needs_proxy=True)
def check_connect(env):
    with segment_proxy(env, "segment-check") as proxy:
        insert(connect(proxy))
        asked = [proxy.program, "check", proxy.config, "--connect"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60, env=proxy.environment())
        # The tests' servers are set up to be fast.
        check(done.returncode == 0 and "warning: generator ids:" in done.stdout and "innodb_flush_log_at_trx_commit is" in done.stdout,
              f"a server that does not flush ({done.returncode}):\n{done.stdout}{done.stderr}")
        before = row_of_store(env, "segment-check")
        status, text = decoded(proxy, 1, "--of", "ids")
        check(status == 1 and "are counted in segments by generator ids" in text, f"decode of a counted id: {text}")
        store = env.cluster.admin(STORE)
        flushes = ask(store, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit")[0][0]
        try:
            run(store, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
            done = subprocess.run(asked, capture_output=True, text=True, timeout=60, env=proxy.environment())
            check(done.returncode == 0 and "is fit for segments" in done.stdout, f"a table that is fit:\n{done.stdout}{done.stderr}")
            run(store, "REVOKE INSERT, UPDATE ON segment_check.* FROM 'ids'@'%'")
            done = subprocess.run(asked, capture_output=True, text=True, timeout=60, env=proxy.environment())
            check(done.returncode == 1 and "error: generator ids:" in done.stdout and "the account needs SELECT, INSERT, UPDATE" in done.stdout,
                  f"without rights ({done.returncode}):\n{done.stdout}{done.stderr}")
            run(store, "GRANT SELECT, INSERT, UPDATE, CREATE ON segment_check.* TO 'ids'@'%'")
        finally:
            run(store, f"SET GLOBAL innodb_flush_log_at_trx_commit = {flushes}")
            store.close()
        check_equal(row_of_store(env, "segment-check"), before, "the check took nothing")
