"""IDS: the id service, over both protocols and with one of two servers killed."""
import contextlib
import os
import ssl
import tempfile
import threading
import time

import pymysql

from harness import clients
from harness.id_service import IdService
from harness.registry import check, check_equal, test


@contextlib.contextmanager
def service(program, **settings):
    with tempfile.TemporaryDirectory(prefix="evenkeel-ids-") as folder:
        one = IdService(program, folder, os.path.join(folder, "registry"), **settings).start()
        try:
            yield one
        finally:
            status = one.stop()
        check_equal(status, 0, "the service's status after TERM")


def ask(connection, sql, values=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


@test("id-service-1", "clients of elsewhere draw ids over the MySQL protocol: mariadb, PyMySQL, mysql2 with prepared statements", servers=())
def over_mysql(program):
    with service(program) as one:
        connection = one.connect(autocommit=True)
        ids = [ask(connection, "SELECT NEXT_ID('orders')")[0][0] for _ in range(50)]
        ids += [row[0] for row in ask(connection, "SELECT * FROM NEXT_IDS(%s, %s)", ("orders", 100))]
        check_equal(ids, sorted(set(ids)), "150 ids of one connection, ascending and distinct")
        check(abs((ids[0] >> 22) / 1000 + 1704067200 - time.time()) < 60, f"the time in {ids[0]}")
        decoded = ask(connection, "SELECT * FROM DECODE_ID(%s, 'orders')", (ids[0],))[0]
        check_equal((decoded[0], decoded[1], decoded[5], decoded[6], decoded[7]), (ids[0], "orders", ids[0] & 4095, ids[0] % 128, 128), "decoded")
        for sql, code in (("SELECT NEXT_ID('nothing')", 1146), ("SELECT * FROM NEXT_IDS('orders', 1001)", 1064), ("DELETE FROM t", 1064)):
            try:
                ask(connection, sql)
                raise AssertionError(f"{sql} was answered")
            except pymysql.Error as error:
                check_equal(error.args[0], code, sql)
        connection.ping(reconnect=False)
        status, out, err = clients.run_cli(one.port, one.account, ["-N", "-B", "-e", "SELECT NEXT_ID('orders'); SELECT id FROM NEXT_IDS('orders', 3); \\s"])
        check_equal(status, 0, f"the mariadb client:\n{out}{err}")
        ids += [int(line) for line in out.splitlines() if line.isdigit()]
        check_equal(len(ids), 154, "ids of the mariadb client")
        said = clients.run_node("mysql2_ids", one.port, one.account, "")
        ids += [int(text) for text in said["ids"]]
        check_equal(len(said["ids"]), 17, "ids of mysql2")
        check_equal((said["refused"], said["decoded"]["key_space"]), (1146, "orders"), "mysql2")
        check_equal(len(set(ids)), len(ids), "distinct ids of all clients")
        slots = {id_ % 128 for id_ in ids}
        check(len(slots) > 30, f"the ids spread over {len(slots)} slots")
        try:
            pymysql.connect(host="127.0.0.1", port=one.port, user="shop", password="wrong")
            raise AssertionError("a wrong password was accepted")
        except pymysql.Error as error:
            check_equal(error.args[0], 1045, "a wrong password")


@test("id-service-2", "ids over HTTP: token and password, limits, throttled failures, readiness and metrics", servers=())
def over_http(program):
    with service(program) as one:
        status, headers, body = one.request("POST", "/ids/orders?count=100", token=one.token)
        check_equal((status, len(set(body["ids"])), body["layout"]), (200, 100, "ms:41:10:12:1704067200000"), "a batch")
        check(all(isinstance(text, str) for text in body["ids"]), "ids are strings")
        check_equal(headers["Cache-Control"], "no-store", "Cache-Control")
        status, _, one_id = one.request("POST", "/ids/orders", basic=("shop", one.account["password"]))
        check_equal((status, len(one_id["ids"])), (200, 1), "by password")
        check(int(one_id["ids"][0]) > max(map(int, body["ids"])), "later ids are larger")
        status, _, decoded = one.request("GET", f"/decode/{body['ids'][7]}?space=orders", token=one.token)
        check_equal((status, decoded["slot"]), (200, int(body["ids"][7]) % 128), "decoded")
        check_equal(one.request("POST", "/ids/orders?count=1001", token=one.token)[0], 400, "too many")
        check_equal(one.request("POST", "/ids/nothing", token=one.token)[0], 404, "an unknown key space")
        check_equal(one.request("GET", "/ids/orders", token=one.token)[0], 405, "GET")
        check_equal(one.request("POST", "/ids/orders", token=one.token, headers={"Host": "evil.example.com"})[0], 421, "a foreign Host")
        check_equal(one.request("GET", "/healthz")[0], 200, "/healthz")
        check_equal(one.request("GET", "/readyz")[0], 200, "/readyz")
        metrics = one.request("GET", "/metrics")[2]
        check('evenkeel_ids_total{key_space="orders"} ' in metrics, metrics)
        check_equal(one.request("POST", "/ids/orders")[0], 401, "without a login")
        statuses = [one.request("POST", "/ids/orders", token="wrong" * 5)[0] for _ in range(7)]
        check_equal((statuses[0], statuses[-1]), (401, 429), f"wrong tokens: {statuses}")
        check_equal(one.request("POST", "/ids/orders", token=one.token)[0], 429, "the right token from that address meanwhile")


@test("id-service-3", "https with the generated certificate", servers=())
def over_https(program):
    with service(program, tls=True) as one:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        status, _, body = one.request("POST", "/ids/orders?count=3", token=one.token, context=context)
        check_equal((status, len(body["ids"])), (200, 3), "over TLS")
        connection = one.connect(ssl=context)
        check_equal(len(ask(connection, "SELECT * FROM NEXT_IDS('lines', 4)")), 4, "the MySQL protocol over TLS")


@test("id-service-4", "two servers beside each other, one killed and started again in mid-flight: no id twice", servers=())
def two_servers(program):
    with tempfile.TemporaryDirectory(prefix="evenkeel-ids-") as folder:
        registry = os.path.join(folder, "registry")
        both = [IdService(program, folder, registry, name).start() for name in ("a", "b")]
        lists, failures, stop = [], [], threading.Event()

        def work(number):
            mine, at, connection = [], number % 2, None
            lists.append(mine)
            while not stop.is_set():
                try:
                    if connection is None:
                        connection = both[at].connect()
                    mine.extend(row[0] for row in ask(connection, "SELECT * FROM NEXT_IDS('orders', %s)", (1 + len(mine) % 40,)))
                except (pymysql.Error, OSError):
                    at, connection = 1 - at, None  # the other one answers
                except Exception as error:
                    failures.append(error)
                    return

        workers = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        try:
            for worker in workers:
                worker.start()
            for _ in range(3):
                before = sum(map(len, lists))
                wait_until(lambda: sum(map(len, lists)) > before + 2000)
                both[0].kill()
                between = sum(map(len, lists))
                wait_until(lambda: sum(map(len, lists)) > between + 2000)
                both[0].start()
        finally:
            stop.set()
            for worker in workers:
                worker.join()
            for one in both:
                one.stop()
        check_equal(failures, [], "unexpected errors")
        ids = [id_ for mine in lists for id_ in mine]
        check(len(ids) > 12000, f"{len(ids)} ids were drawn")
        check_equal(len(ids) - len(set(ids)), 0, f"ids drawn twice among {len(ids)}")
        workers_seen = {id_ >> 12 & 1023 for id_ in ids}
        check(len(workers_seen) >= 2, f"worker ids: {workers_seen}")


def wait_until(condition, patience=60):
    begun = time.monotonic()
    while not condition():
        check(time.monotonic() - begun < patience, "nothing moves any more")
        time.sleep(0.005)
