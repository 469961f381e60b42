"""ADMIN: the admin port, over the MySQL protocol and HTTP."""
import contextlib
import os
import secrets
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pymysql

from harness import clients
from harness.environment import ask, error_of
from harness.proxy import Proxy, accepts, free_port, greets
from harness.registry import check, check_equal, test


class Administered:
    """A proxy of its own with an admin port."""

    def __init__(self, env, folder):
        self.port, self.http_port, self.https_port = free_port(), free_port(), free_port()
        self.password = secrets.token_hex(8)
        extra = f"""admin:
  listeners: [{{address: "127.0.0.1:{self.port}"}}]
  http: {{listeners: [{{address: "127.0.0.1:{self.http_port}", tls: {{mode: "off"}}}}, {{address: "127.0.0.1:{self.https_port}"}}]}}
  users:
    - {{name: anna, password: "${{ADMIN_PASSWORD}}", rights: operate}}
    - {{name: rita, password: "${{ADMIN_PASSWORD}}"}}
"""
        self.proxy = Proxy(env.proxy.program, env.cluster, folder, extra=extra)
        text = open(self.proxy.config).read().replace("limits:\n", "limits:\n  slow_query: 50ms\n")
        with open(self.proxy.config, "w") as out:
            out.write(text)
        os.environ["ADMIN_PASSWORD"] = self.password

    def connect(self, user="anna"):
        return pymysql.connect(host="127.0.0.1", port=self.port, user=user, password=self.password, autocommit=True)

    def get(self, target):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{target}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def client(self, schema, **settings):
        account = self.proxy.account
        return pymysql.connect(host="127.0.0.1", port=self.proxy.port, user=account["user"], password=account["password"],
                               database=schema, autocommit=True, **settings)


@contextlib.contextmanager
def administered(env, secret_file=None):
    """`secret_file`: a variable whose value the proxy gets from the file that one.secret_file names."""
    with tempfile.TemporaryDirectory(prefix="evenkeel-admin-") as folder:
        one = Administered(env, folder)
        if secret_file:
            environment = one.proxy.environment
            one.secret_file = os.path.join(folder, "secret")
            with open(one.secret_file, "w") as out:
                out.write(environment()[secret_file] + "\n")
            one.proxy.environment = lambda: {name: value for name, value in environment().items() if name != secret_file} | {secret_file + "_FILE": one.secret_file}
        one.proxy.start()
        try:
            wait_until(lambda: greets(one.port) and accepts(one.http_port))
            yield one
        finally:
            one.proxy.stop()
        check_equal(one.proxy.status(), 0, f"the proxy's status after TERM\n{one.proxy.last_log_lines(20)}")


def column(connection, sql, name):
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(sql)
        return [row[name] for row in cursor.fetchall()]


@test("admin-1", "the admin port answers what the proxy does: topology, generators, sessions, pools, statistics, slow queries", needs_proxy=True)
def answers(env):
    env.fresh("l1")
    with administered(env) as one:
        admin, client = one.connect(), one.client("l1")
        check_equal(len(ask(admin, "SHOW TOPOLOGY")) >= 128, True, "rows of SHOW TOPOLOGY")
        with client.cursor() as cursor:
            cursor.execute("INSERT INTO orders(user_id) VALUES (7)")
            key = cursor.lastrowid
        ask(client, "SELECT SLEEP(0.2), user_id FROM orders WHERE id=%d AND user_id=7" % key)
        ids = dict(zip(column(admin, "SHOW GENERATORS", "table"), column(admin, "SHOW GENERATORS", "ids")))
        check_equal(ids["l1.orders"], 1, "ids of l1.orders")
        decoded = ask(admin, f"DECODE ID {key} FOR l1.orders")[0]
        topology = {(row[1], row[2]): row for row in ask(admin, "SHOW TOPOLOGY") if row[0] == "l1"}
        check_equal(decoded[8:], topology[("orders", key % 128)][3:], "the actual table of the id")
        sessions = ask(admin, "SHOW SESSIONS")
        check(any(row[1] == "app" and row[3] == "l1" for row in sessions), f"sessions: {sessions}")
        pools = ask(admin, "SHOW POOLS")
        check_equal(len(pools), 4, "instances of SHOW POOLS")
        check(sum(row[3] + row[4] for row in pools) > 0, f"connections: {pools}")
        statistics = dict(ask(admin, "SHOW STATISTICS"))
        check(statistics["keys_generated"] == 1 and statistics["write_statements"] == 1 and statistics["read_statements"] == 1, f"{statistics}")
        slow = ask(admin, "SHOW SLOW QUERIES")
        check(any("SLEEP" in row[1].upper() and "0.2" not in row[1] for row in slow), f"slow queries without literals: {slow}")
        workers = ask(admin, "SHOW WORKERS")
        check(any(row[0] == "ids" and "evenkeel" in row[2] for row in workers), f"workers: {workers}")
        code, message = error_of(admin, "SHOW ME")
        check(code == 1064 and "'ME' at character 6" in message, message)
        status, out, err = clients.run_cli(one.port, {"user": "anna", "password": one.password}, ["-e", "SHOW HELP"])
        check(status == 0 and "RELOAD CONFIG" in out, f"{out}{err}")


@test("admin-2", "rights: reading is not operating; KILL ends a statement and a session; RELOAD CONFIG", needs_proxy=True)
def rights(env):
    env.fresh("l1")
    with administered(env) as one:
        admin, reader, client = one.connect(), one.connect("rita"), one.client("l1")
        number = ask(client, "SELECT CONNECTION_ID()")[0][0]
        for sql in (f"KILL {number}", "RELOAD CONFIG", "STEER orders OFF"):
            check_equal(error_of(reader, sql)[0], 1227, f"{sql} by a reader")
        got = []
        sleeper = threading.Thread(target=lambda: got.append(sleep(client)))
        sleeper.start()
        wait_until(lambda: any(row[0] == number and row[4] == "busy" for row in ask(reader, "SHOW SESSIONS")))
        ask(admin, f"KILL QUERY {number}")
        sleeper.join(timeout=20)
        check_equal(got, [1317], "the killed statement")
        ask(admin, f"KILL {number}")
        wait_until(lambda: all(row[0] != number for row in ask(reader, "SHOW SESSIONS")))
        check_equal(error_of(admin, "KILL 999999")[0], 1094, "an unknown session")
        check_equal([row[:2] for row in ask(admin, "RELOAD CONFIG")][0], ("all", "unchanged"), "an unchanged file")
        try:
            pymysql.connect(host="127.0.0.1", port=one.port, user="app", password=one.proxy.account["password"])
            raise AssertionError("an application's user was let in")
        except pymysql.Error as error:
            check_equal(error.args[0], 1045, "an application's user")


def sleep(client):
    try:
        ask(client, "SELECT SLEEP(30)")
    except pymysql.Error as error:
        return error.args[0]
    return 0


@test("admin-3", "metrics, health and readiness", needs_proxy=True)
def metrics(env):
    env.fresh("l1")
    with administered(env) as one:
        client = one.client("l1")
        with client.cursor() as cursor:
            cursor.executemany("INSERT INTO orders(user_id) VALUES (%s)", [(1,), (2,)])
        check_equal(one.get("/healthz"), (200, "ok\n"), "/healthz")
        check_equal(one.get("/readyz"), (200, "ready\n"), "/readyz")
        status, page = one.get("/metrics")
        check_equal(status, 200, "/metrics")
        for wanted in ('evenkeel_ids_total{table="l1.orders"} 2\n', "evenkeel_keys_generated_total 2\n",
                       'evenkeel_statement_seconds_count{class="write"} 1\n', 'evenkeel_pool_connections{instance="instance1",state="idle"} ',
                       "evenkeel_clients 1\n"):
            check(wanted in page, f"{wanted!r} in\n{page}")
        check_equal(one.get("/nothing")[0], 404, "/nothing")


@test("READY-lease", "/readyz says no when a worker's lease has ended and no id can be made, and yes when it was renewed; nothing is drawn for it",
      needs_proxy=True)
def ready_by_lease(env):
    env.fresh("l1")
    with administered(env) as one:
        client, registry = one.client("l1"), os.path.join(one.proxy.folder, "state", "registry")
        check_equal(one.get("/readyz"), (200, "ready\n"), "/readyz")
        os.rename(registry, registry + "-away")
        wait_until(lambda: one.get("/readyz")[0] == 503)
        told = one.get("/readyz")[1]
        check("no key for table " in told and "the time reserved for the worker id ended at" in told, told)
        check_equal(one.get("/healthz"), (200, "ok\n"), "/healthz: the process lives")
        check_equal(ask(client, "SELECT COUNT(*) FROM orders"), [(0,)], "reading goes on")
        code, message = error_of(client, "INSERT INTO orders(user_id) VALUES (1)")
        check("the time reserved for the worker id ended at" in message, f"an insert: {code} {message}")
        os.rename(registry + "-away", registry)
        wait_until(lambda: one.get("/readyz") == (200, "ready\n"))
        with client.cursor() as cursor:
            cursor.execute("INSERT INTO orders(user_id) VALUES (1)")
        check('evenkeel_ids_total{table="l1.orders"} 1\n' in one.get("/metrics")[1], "ids made: that of the insert alone")


def wait_until(condition, patience=20):
    begun = time.monotonic()
    while not condition():
        check(time.monotonic() - begun < patience, "it does not come")
        time.sleep(0.01)
