"""RELOAD: RELOAD CONFIG and HUP, while clients are at work."""
import base64
import contextlib
import hashlib
import json
import os
import re
import signal
import ssl
import threading
import time
import urllib.error
import urllib.request

import pymysql

from cases.admin import administered, wait_until
from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test


def verifier(password):
    """For mysql_native_password, which clients without TLS can prove."""
    return hashlib.sha1(hashlib.sha1(password.encode()).digest()).hexdigest()


def edit(one, *replacements):
    """Replaces texts of the proxy's file, each of which must stand there once; gives the text before."""
    before = text = open(one.proxy.config).read()
    for old, new in replacements:
        check_equal(text.count(old), 1, f"{old!r} in the file")
        text = text.replace(old, new)
    put(one, text)
    return before


def put(one, text):
    with open(one.proxy.config, "w") as out:
        out.write(text)


def reloaded(admin):
    return {row[0]: row[1] for row in ask(admin, "RELOAD CONFIG") if row[0] != "warning"}


def log_in(port, user, password, **settings):
    """The connection, or the number of the error."""
    try:
        return pymysql.connect(host="127.0.0.1", port=port, user=user, password=password, autocommit=True, **settings)
    except pymysql.err.MySQLError as error:
        return error.args[0]


class Work(threading.Thread):
    """A client that goes on inserting; every error and every id is kept."""

    def __init__(self, one):
        super().__init__()
        self.connection, self.ids, self.errors, self.ending = one.client("l1"), [], [], False

    def run(self):
        while not self.ending:
            try:
                with self.connection.cursor() as cursor:
                    cursor.execute("INSERT INTO orders(user_id) VALUES (7)")
                    self.ids.append(cursor.lastrowid)
            except pymysql.err.MySQLError as error:
                self.errors.append(error)
                return


@contextlib.contextmanager
def at_work(one):
    """Nothing of what happens in between is noticed by a client that inserts."""
    work = Work(one)
    work.start()
    wait_until(lambda: work.ids)
    try:
        yield work
        made = len(work.ids)
        wait_until(lambda: len(work.ids) > made or work.errors)
    finally:
        work.ending = True
        work.join()
    check_equal(work.errors, [], "errors of a client that goes on inserting")
    check_equal(work.ids, sorted(set(work.ids)), "its ids")


@test("RELOAD-users", "accounts of clients and operators change while others work; who is gone is not let in again", needs_proxy=True)
def users(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin, old = one.connect(), one.client("l1")
        run(old, "BEGIN")
        run(old, "INSERT INTO orders(user_id) VALUES (1)")
        text = open(one.proxy.config).read()
        backend = re.search(r"    backend:\n(?:      .*\n)+", text)[0]
        second = "  - name: second\n    native_verifier: " + verifier("new-secret") + "\n" + backend
        edit(one, ("generators:\n", second + "generators:\n"))
        check_equal(reloaded(admin), {"users": "changed and in force"}, "a user more")
        new = log_in(one.proxy.port, "second", "new-secret", database="l1")
        check_equal(ask(new, "SELECT COUNT(*) FROM orders WHERE user_id = 1"), [(0,)], "the new user's query")
        edit(one, (verifier("new-secret"), verifier("another")))
        check_equal(reloaded(admin), {"users[1].native_verifier": "changed and in force"}, "another password")
        check_equal(log_in(one.proxy.port, "second", "new-secret"), 1045, "the password of before")
        check_equal(ask(new, "SELECT 1"), [(1,)], "who came by the password of before goes on")
        log_in(one.proxy.port, "second", "another").close()
        # Every user is another: who is at work stays who it was.
        put(one, text.replace("- name: app\n", "- name: renamed\n"))
        check_equal(reloaded(admin), {"users": "changed and in force"}, "another list")
        check_equal(log_in(one.proxy.port, "app", one.proxy.account["password"]), 1045, "a user who is gone")
        run(old, "INSERT INTO orders(user_id) VALUES (2)")
        run(old, "COMMIT")
        check_equal(ask(old, "SELECT USER() LIKE 'app@%'"), [(1,)], "who an open session is")
        renamed = log_in(one.proxy.port, "renamed", one.proxy.account["password"], database="l1")
        check_equal(ask(renamed, "SELECT COUNT(*) FROM orders WHERE user_id IN (1, 2)"), [(2,)], "the transaction's rows")
        # The operators' own.
        token = page(one, "POST", "/api/v1/session", "rita", one.password)[1]["token"]
        check_equal(page(one, "GET", "/api/v1/session", token=token)[0], 200, "rita's page")
        edit(one, ("name: rita, password: \"${ADMIN_PASSWORD}\"", f"name: paul, rights: operate, native_verifier: \"{verifier('p')}\""))
        check_equal(set(reloaded(admin).values()), {"changed and in force"}, "operators")
        check_equal(log_in(one.port, "rita", one.password), 1045, "an operator who is gone")
        check_equal(page(one, "GET", "/api/v1/session", token=token)[0], 401, "her page")
        check_equal(page(one, "POST", "/api/v1/session", "rita", one.password)[0], 401, "her login to the page")
        check_equal(page(one, "POST", "/api/v1/session", "paul", "p")[0], 200, "his")
        check_equal(reloaded(log_in(one.port, "paul", "p")), {"all": "unchanged"}, "his RELOAD CONFIG")


def page(one, method, path, user="", password="", token=""):
    said = "Bearer " + token if token else "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    request = urllib.request.Request(f"http://127.0.0.1:{one.http_port}{path}", method=method, headers={"Authorization": said})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read() or "null")
    except urllib.error.HTTPError as refusal:
        return refusal.code, None


@test("RELOAD-limits", "limits, pool, slow statements, log level and certificates change while others work", needs_proxy=True)
def limits(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin, client = one.connect(), one.client("l1")
        text = open(one.proxy.config).read()
        ask(client, "SELECT SLEEP(0.06)")
        count = lambda: sum(row[2] for row in ask(admin, "SHOW SLOW QUERIES") if "SLEEP" in row[1])
        check_equal(count(), 1, "slow statements")
        edit(one, ("slow_query: 50ms", "slow_query: 10s\n  query_timeout: 500ms\n  offset: 5\n  prepared_statements: 1\n  clients: 3"),
             ("connections: 64", "connections: 2\n  lease_timeout: 1s"), ("level: info", "level: debug"))
        check_equal(reloaded(admin), {key: "changed and in force" for key in (
            "limits.slow_query", "limits.query_timeout", "limits.offset", "limits.prepared_statements", "limits.clients",
            "pool.connections", "pool.lease_timeout", "log.level")}, "changes")
        ask(client, "SELECT SLEEP(0.06)")
        check_equal(count(), 1, "slow statements after the bound is higher")
        begun = time.monotonic()
        with contextlib.suppress(pymysql.err.MySQLError):  # MySQL lets SLEEP() end early and gives its row
            ask(client, "SELECT SLEEP(60)")
        check(time.monotonic() - begun < 30, "a statement that runs too long is ended")
        check_equal(ask(client, "SELECT 1"), [(1,)], "after it")
        message = error_of(client, "SELECT id FROM orders ORDER BY id LIMIT 1 OFFSET 6")[1]
        check("offset" in message.lower() and "5" in message, f"OFFSET 6: {message}")
        third = one.client("l1")  # beside the one at work and `client`
        check_equal(log_in(one.proxy.port, "app", one.proxy.account["password"]), 1040, "a client too many")
        check_equal([row[2] for row in ask(admin, "SHOW POOLS")], [2] * 4, "connections, as SHOW POOLS has them")
        third.close()
        wait_until(lambda: log_in(one.proxy.port, "app", "wrong") == 1045)
        wait_until(lambda: re.search(r" D login of client \d+ failed", open(one.proxy.log).read()))
        put(one, text)
        reloaded(admin)
        ask(client, "SELECT SLEEP(0.6)")
        check_equal(count(), 2, "slow statements with the bound of before")
        one.client("l1").close()


def certificate(one):
    """A client and the certificate that it was shown."""
    connection = one.client("l1", ssl={"check_hostname": False})
    return connection, connection._sock.getpeercert(binary_form=True)


def certificates(one):
    """That of clients, of the admin port's SQL, and of its HTTP."""
    sql = pymysql.connect(host="127.0.0.1", port=one.port, user="anna", password=one.password, ssl={"check_hostname": False})
    return [certificate(one)[1], sql._sock.getpeercert(binary_form=True), ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", one.https_port)))]


@test("RELOAD-tls", "certificates are read again: new clients see the new one, old ones go on; one that is broken changes nothing", needs_proxy=True)
def tls(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin = one.connect()
        state = os.path.join(one.proxy.folder, "state")
        names = [os.path.join(state, name) for name in ("listener.crt", "listener.key")]
        old, first = certificate(one)
        check_equal(reloaded(admin), {"all": "unchanged"}, "the same files")
        check_equal([each == first for each in certificates(one)], [True] * 3, "the same certificate everywhere")
        for name in names:
            os.remove(name)  # the next reading makes new ones
        reloaded(admin)
        check_equal([each == first for each in certificates(one)], [False] * 3, "another certificate everywhere")
        check_equal(ask(old, "SELECT 1"), [(1,)], "who came under the old one")
        whole = open(names[0]).read()
        open(names[0], "w").write("not a certificate")
        before = edit(one, ("slow_query: 50ms", "slow_query: 77ms"))
        code, message = error_of(admin, "RELOAD CONFIG")
        check(code == 2026 and "listener.crt" in message, f"a broken certificate: {code} {message}")
        second = certificate(one)[1]
        open(names[0], "w").write(whole)
        check_equal(reloaded(admin), {"limits.slow_query": "changed and in force"}, "what the broken certificate kept back")
        check_equal(certificate(one)[1] == second, True, "the certificate that was in force all the time")
        put(one, before)


@test("RELOAD-steering", "mode, bounds and windows of steering change; a map in force stays until a look says otherwise", servers=("mariadb",), needs_proxy=True)
def steering(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin = one.connect()
        now = lambda: {row[0]: row for row in ask(admin, "SHOW STEERING")}["l1.orders"]
        check_equal(now()[2], "off", "the mode at start")
        text = open(one.proxy.config).read()
        put(one, text + "steering:\n  reweight: 1s\n  tables:\n    - {table: l1.orders, mode: advise, upper: 1.7, lower: 1.3, windows: [\"22:00-05:00\"]}\n")
        check_equal(set(reloaded(admin)), {"steering.reweight", "steering.tables"}, "changes")
        check_equal((now()[2], str(now()[7])), ("advise", "1.3000"), "mode and lower bound")
        ask(admin, "STEER l1.orders AVOID TABLES 0-31")
        version = now()[3]
        put(one, text + "steering:\n  tables:\n    - {table: l1.orders, mode: auto}\n")
        check_equal(set(reloaded(admin)), {"steering.reweight", "steering.tables[0].mode", "steering.tables[0].upper",
                                           "steering.tables[0].lower", "steering.tables[0].windows"}, "changes")
        check_equal((now()[1], now()[3]), ("on, ordered", version), "the map that was ordered")
        ask(admin, "STEER l1.orders OFF")


FIXED = [
    ("state_directory: ", "state_directory: /nowhere", "state_directory"),
    ("  - address: 127.0.0.1:", "  - address: 127.0.0.2:", "listeners[0].address"),
    ("    address: 127.0.0.1:", "    address: 127.0.0.9:", "instances[0].address"),
    ("    layout: classic", "    layout: wide", "generators[0].layout"),
    ("  id: lease", "  id: 3", "worker.id"),
    ("  worker_threads: 2", "  worker_threads: 1", "limits.worker_threads"),
    ("    default_instance: instance1", "    default_instance: instance2", "schemas[0].default_instance"),
    ("admin:\n  listeners: [{address: \"127.0.0.1:", "admin:\n  listeners: [{address: \"127.0.0.8:", "admin.listeners[0].address"),
]


@test("RELOAD-refused", "what cannot change while the proxy runs is refused by name and place, and the rest of the file with it", servers=("mariadb",), needs_proxy=True)
def refused(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin = one.connect()
        text = open(one.proxy.config).read()
        for old, new, path in FIXED:
            at = text.index(old)
            changed = text[:at] + new + text[at + len(old):]
            put(one, changed.replace("slow_query: 50ms", "slow_query: 1ms"))
            code, message = error_of(admin, "RELOAD CONFIG")
            check(code == 1105 and "nothing was changed" in message and f": {path}: takes effect at a start only" in message, f"{path}: {code} {message}")
            line = int(re.search(rf"evenkeel\.yaml:(\d+):\d+: {re.escape(path)}:", message)[1])
            key = path.rpartition(".")[2]
            check(key in changed.splitlines()[line - 1], f"line {line} of {path} is {changed.splitlines()[line - 1]!r}")
            check("slow_query" not in message, f"what could change is not blamed: {message}")
        ask(one.client("l1"), "SELECT SLEEP(0.02)")
        check(not any("SLEEP" in row[1] for row in ask(admin, "SHOW SLOW QUERIES")), "the slow-query bound is the old one")
        put(one, text.replace("limits:", "limitz:"))
        check(re.search(r"evenkeel\.yaml:\d+:1: limitz: unknown key", error_of(admin, "RELOAD CONFIG")[1]), "a fault of the file")
        os.remove(one.proxy.config)
        check("evenkeel.yaml" in error_of(admin, "RELOAD CONFIG")[1], "no file")
        put(one, text)
        check_equal(reloaded(admin), {"all": "unchanged"}, "the file of before")


@test("C40", "a reload with twice the tables is refused while they hold rows, and says how many; the old configuration stays active", needs_proxy=True)
def more_tables(env):
    env.fresh("l3")
    table = env.table("l3")
    with administered(env) as one:
        admin, client = one.connect(), one.client("l3")
        with client.cursor() as cursor:
            cursor.execute("INSERT INTO orders(id, user_id) VALUES " + ",".join(f"({1000 + n},{n})" for n in range(23)))
        wait_until(lambda: sum(row[5] for row in ask(admin, "SHOW SKEW FOR l3.orders BY TABLE")) == 23)
        text = open(one.proxy.config).read()
        head, tail = text.split("  - name: l3\n")
        slots = table.slots()
        put(one, head + "  - name: l3\n" + re.sub(r"^(          tables|        tables|.*\btables): %d$" % slots, r"\1: %d" % (2 * slots), tail, flags=re.M))
        code, message = error_of(admin, "RELOAD CONFIG")
        check(code == 1105 and "topology.tables: takes effect at a start only" in message, f"{code} {message}")
        check(f"l3.orders: its {slots} tables hold 23 rows, which would not be found in the {2 * slots} tables of the file" in message, message)
        check_equal(ask(client, "SELECT COUNT(*), SUM(user_id) FROM orders"), [(23, sum(range(23)))], "the rows")
        check_equal(ask(client, "SELECT user_id FROM orders WHERE id = 1022"), [(22,)], "one of them")
        check_equal(len([row for row in ask(admin, "SHOW TOPOLOGY") if row[:2] == ("l3", "orders")]), slots, "tables of SHOW TOPOLOGY")
        put(one, text)


@test("RELOAD-hup", "HUP does what RELOAD CONFIG does, and tells it in the log; passwords come anew from files", needs_proxy=True)
def hup(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        log = lambda: open(one.proxy.log).read()
        before = edit(one, ("slow_query: 50ms", "slow_query: 20ms"))
        one.proxy.signal(signal.SIGHUP)
        wait_until(lambda: "configuration read again (HUP): limits.slow_query: changed and in force" in log())
        ask(one.client("l1"), "SELECT SLEEP(0.03)")
        check(any("SLEEP" in row[1] for row in ask(one.connect(), "SHOW SLOW QUERIES")), "the new bound is in force")
        put(one, before.replace("  id: lease", "  id: 5"))
        one.proxy.signal(signal.SIGHUP)
        wait_until(lambda: re.search(r"configuration not read again \(HUP\): nothing was changed.*\n.*evenkeel\.yaml:\d+:\d+: worker\.id: takes effect", log()))
        check(one.proxy.running(), "the proxy goes on")
        put(one, before)


@test("RELOAD-secrets", "a secret whose file changed is read anew, without a change of the configuration", servers=("mariadb",), needs_proxy=True)
def secrets_in_files(env):
    env.fresh("l1")
    with administered(env, secret_file="APP_PASSWORD") as one:
        client, admin = one.client("l1"), one.connect()
        with open(one.secret_file, "w") as out:
            out.write("rotated-secret\n")
        check_equal(reloaded(admin), {"users": "secrets were read anew and are in force"}, "what changed")
        check_equal(log_in(one.proxy.port, "app", one.proxy.account["password"]), 1045, "the secret of before")
        log_in(one.proxy.port, "app", "rotated-secret").close()
        check_equal(ask(client, "SELECT 1"), [(1,)], "who came by the secret of before")
        check("rotated-secret" not in open(one.proxy.log).read(), "no secret in the log")
        os.remove(one.secret_file)
        message = error_of(admin, "RELOAD CONFIG")[1]
        check("the environment variable APP_PASSWORD is not set, nor does APP_PASSWORD_FILE name a readable file" in message, message)
        log_in(one.proxy.port, "app", "rotated-secret").close()


class Guests(threading.Thread):
    """Clients that come, ask something and go, one after the other."""

    def __init__(self, one):
        super().__init__()
        self.one, self.ending, self.came, self.errors = one, False, 0, []

    def run(self):
        while not self.ending:
            try:
                with contextlib.closing(self.one.client("l1", **({"ssl": {"check_hostname": False}} if self.came % 2 else {}))) as guest:
                    ask(guest, "SELECT COUNT(*) FROM orders WHERE id=5")
                    self.came += 1
            except pymysql.err.MySQLError as error:
                self.errors.append(error)
                return


@test("RELOAD-many", "forty reloads in a row, of everything that changes, while clients work, come and go", servers=("mariadb",), needs_proxy=True)
def many(env):
    env.fresh("l1")
    with administered(env) as one, at_work(one):
        admin, guests = one.connect(), [Guests(one) for _ in range(3)]
        for guest in guests:
            guest.start()
        text = open(one.proxy.config).read()
        backend = re.search(r"    backend:\n(?:      .*\n)+", text)[0]
        for turn in range(40):
            certificate_files = [os.path.join(one.proxy.folder, "state", name) for name in ("listener.crt", "listener.key")]
            if turn % 10 == 5:
                for name in certificate_files:
                    os.remove(name)
            user = f"  - name: user{turn}\n    native_verifier: {verifier('x')}\n{backend}" if turn % 3 else ""
            put(one, text.replace("generators:\n", user + "generators:\n").replace("slow_query: 50ms", f"slow_query: {turn + 1}ms\n  wait_timeout: {turn + 100}s")
                .replace("connections: 64", f"connections: {8 + turn % 4}") + f"steering:\n  reweight: {turn % 5 + 1}s\n  tables: [{{table: l1.orders, mode: {('off', 'advise')[turn % 2]}}}]\n")
            check_equal(set(reloaded(admin).values()), {"changed and in force"}, f"reload {turn}")
        put(one, text)
        check("changed and in force" in reloaded(admin).values(), "the file of before")
        wait_until(lambda: all(guest.came > 5 or guest.errors for guest in guests))
        for guest in guests:
            guest.ending = True
        for guest in guests:
            guest.join()
        check_equal([guest.errors for guest in guests], [[]] * 3, "errors of clients that came meanwhile")
