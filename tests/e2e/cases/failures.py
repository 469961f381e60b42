"""What happens when a part goes away, comes back or is set up wrongly. Each test has its own proxy."""
import contextlib
import os
import signal
import struct
import subprocess
import time

import pymysql

from harness.environment import ask, error_of, run
from harness.proxy import Proxy, greets
from harness.registry import check, check_equal, test


@contextlib.contextmanager
def own_proxy(env, name, **settings):
    proxy = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, name), names=["l3"], **settings)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()


def connect(proxy, **options):
    return pymysql.connect(host="127.0.0.1", port=proxy.port, user=proxy.account["user"], password=proxy.account["password"],
                           database="l3", charset="utf8mb4", **{"autocommit": True, **options})


@test("drain", "SIGTERM lets an open transaction finish, takes no new client, and ends with 0", needs_proxy=True)
def drain(env):
    env.fresh("l3")
    with own_proxy(env, "drain") as proxy:
        busy, idle = connect(proxy), connect(proxy)
        ask(idle, "SELECT 1")
        busy.begin()
        run(busy, "INSERT INTO orders(id,user_id) VALUES (1,1),(5,1)")
        proxy.signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        while greets(proxy.port) and time.monotonic() < deadline:
            time.sleep(0.01)
        check(not greets(proxy.port), "a new client is let in while draining")
        check(proxy.running(), "the proxy waits for the open transaction")
        busy.commit()
        while proxy.running() and time.monotonic() < deadline + 10:
            time.sleep(0.01)
        check_equal(proxy.status(), 0, "status at the end")
    check_equal(ask(env.client("l3"), "SELECT COUNT(*) FROM orders"), [(2,)], "rows of the transaction")


@test("second-term", "a second SIGTERM ends at once", needs_proxy=True)
def second_term(env):
    env.fresh("l3")
    with own_proxy(env, "second-term") as proxy:
        busy = connect(proxy)
        busy.begin()
        run(busy, "INSERT INTO orders(id,user_id) VALUES (1,1)")
        proxy.signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        while greets(proxy.port) and time.monotonic() < deadline:
            time.sleep(0.01)
        check(proxy.running(), "the proxy waits for the open transaction")
        proxy.signal(signal.SIGTERM)
        while proxy.running() and time.monotonic() < deadline + 10:
            time.sleep(0.01)
        check(not proxy.running(), "the proxy still runs")
    check_equal(ask(env.client("l3"), "SELECT COUNT(*) FROM orders"), [(0,)], "the transaction was undone")


@test("restart", "after a crash and a restart ids go on above the old ones", needs_proxy=True)
def restart(env):
    env.fresh("l3")
    with own_proxy(env, "restart") as proxy:
        _, before = run(connect(proxy), "INSERT INTO orders(user_id) VALUES (1),(2),(3)")
        proxy.signal(signal.SIGKILL)
        while proxy.running():
            time.sleep(0.01)
        proxy.start()
        _, after = run(connect(proxy), "INSERT INTO orders(user_id) VALUES (4)")
        check(after > before + 2, f"ids before {before} and after {after}")
        check_equal(len(ask(connect(proxy), "SELECT id FROM orders ORDER BY id")), 4, "rows")


@test("C08", "a second proxy with the same worker id serves no generated keys, and says who holds it", needs_proxy=True)
def same_worker(env):
    env.fresh("l3")
    with own_proxy(env, "worker-one", worker_id="7") as first:
        shared = os.path.join(first.folder, "state")
        second = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, "worker-two"), names=["l3"], worker_id="7",
                       state=shared)
        try:
            second.start()
            code, message = error_of(connect(second), "INSERT INTO orders(user_id) VALUES (1)")
            check(code > 0, message)
        except RuntimeError as refusal:
            check("7" in str(refusal), f"the reason names the worker id: {refusal}")
        finally:
            second.stop()
        run(connect(first), "INSERT INTO orders(user_id) VALUES (1)")
    check_equal(ask(env.client("l3"), "SELECT COUNT(*) FROM orders"), [(1,)], "rows")


@test("instance-gone", "while an instance is away the others serve, and it is found again", needs_proxy=True)
def instance_gone(env):
    env.fresh("l3")
    with own_proxy(env, "instance-gone") as proxy:
        connection = connect(proxy)
        run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(5,5)")
        env.cluster.command("kill", 2)
        try:
            check_equal(ask(connection, "SELECT user_id FROM orders WHERE id=1"), [(1,)], "the other instance's row")
            begun = time.monotonic()
            code, message = error_of(connection, "SELECT user_id FROM orders WHERE id=5")
            check(time.monotonic() - begun < 12, "the error took too long")
            check("instance2" in message, f"the error names the instance: {code} {message}")
            error_of(connection, "SELECT COUNT(*) FROM orders")
            check_equal(ask(connection, "SELECT user_id FROM orders WHERE id=1"), [(1,)], "the session lives on")
        finally:
            env.cluster.command("start", 2)
        deadline = time.monotonic() + 20
        rows = None
        while rows is None and time.monotonic() < deadline:
            try:
                rows = ask(connection, "SELECT user_id FROM orders WHERE id=5")
            except pymysql.err.MySQLError:
                time.sleep(0.05)
        check_equal(rows, [(5,)], "the row after the instance came back")


@test("leftover-table", "a physical table with a sharded table's name in the logical schema is refused at start", needs_proxy=True)
def leftover(env):
    admin = env.admin(1)
    run(admin, "CREATE TABLE l3.orders (id BIGINT PRIMARY KEY)")
    try:
        with own_proxy(env, "leftover"):
            pass
    except RuntimeError as refusal:
        check("orders" in str(refusal), f"the reason names the table: {refusal}")
    else:
        raise AssertionError("the proxy started")
    finally:
        run(admin, "DROP TABLE l3.orders")


@test("check-connect", "check --connect asks every instance, and names one that does not answer", needs_proxy=True)
def check_connect(env):
    proxy = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, "check"), names=["l3", "l1"])

    def check_it():
        done = subprocess.run([proxy.program, "check", "--connect", proxy.config], capture_output=True, text=True, timeout=60,
                              env=proxy.environment())
        return done.returncode, done.stdout + done.stderr

    status, output = check_it()
    check_equal(status, 0, f"a right configuration:\n{output}")
    env.cluster.command("stop", 2)
    try:
        status, output = check_it()
    finally:
        env.cluster.command("start", 2)
    check(status != 0 and "instance2" in output, f"an instance that is away:\n{output}")


@test("client-vanishes", "a client that vanishes in the middle of a query frees the server", needs_proxy=True)
def vanishes(env):
    env.fresh("l3")
    with own_proxy(env, "vanishes") as proxy:
        connection = connect(proxy)
        run(connection, "INSERT INTO orders(id,user_id) VALUES (5,1)")
        query = b"SELECT SLEEP(60) FROM orders WHERE id=5"
        connection._sock.sendall(struct.pack("<I", len(query) + 1) + b"\3" + query)
        admin = env.admin(2)
        running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(60)%%'"
        deadline = time.monotonic() + 10
        while ask(admin, running) == [(0,)] and time.monotonic() < deadline:
            time.sleep(0.01)
        check_equal(ask(admin, running), [(1,)], "the query runs")
        connection._force_close()
        while ask(admin, running) != [(0,)] and time.monotonic() < deadline + 10:
            time.sleep(0.02)
        check_equal(ask(admin, running), [(0,)], "the query was stopped")
