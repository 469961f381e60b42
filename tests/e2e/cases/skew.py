"""SKEW: tables 0-31 hold twice the rows of the others; new rows are steered until the tables are even."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import threading
import time

import pymysql

from harness.environment import ask, run
from harness.proxy import Proxy
from harness.registry import check, check_equal, test

SLOTS = 128
STEERING = """steering:
  reweight: 1s
  exact_interval: 60s
  exact_per_second: 200
  estimate_interval: 2s
  tables:
    - {table: l1.orders, mode: auto, upper: 1.3, lower: 1.01}
"""


@contextlib.contextmanager
def steering_proxies(env, name, count=1, steering=STEERING, edit=None):
    """Proxies of their own that share one state directory."""
    folder = os.path.join(env.proxy.folder, "skew-" + name)
    shutil.rmtree(folder, ignore_errors=True)
    state = os.path.join(folder, "state")
    proxies = []
    try:
        for number in range(count):
            proxy = Proxy(env.proxy.program, env.cluster, os.path.join(folder, str(number)), names=["l1", "l2"], state=state)
            text = open(proxy.config).read() + steering
            open(proxy.config, "w").write(edit(text) if edit else text)
            proxies.append(proxy)
            proxy.state = state
            proxy.start()
        yield proxies
    finally:
        for proxy in proxies:
            proxy.stop()


def connect(proxy, schema="l1"):
    return pymysql.connect(host="127.0.0.1", port=proxy.port, user=proxy.account["user"], password=proxy.account["password"],
                           database=schema, autocommit=True, read_timeout=60)


def prefill(env, full, rest):
    """Small ids, as if they were old; nothing that the proxy could have counted."""
    env.fresh("l1")
    table = env.table("l1")
    for number in range(1, 5):
        with env.cluster.admin(number).cursor() as cursor:
            for slot, (instance, database, actual) in enumerate(table.places("l1")):
                if instance == number:
                    rows = full if slot < 32 else rest
                    values = ",".join(f"({slot + SLOTS * (k + 1)})" for k in range(rows))
                    cursor.execute(f"INSERT INTO `{database}`.`{actual}` (id) VALUES {values}")
                    cursor.execute(f"ANALYZE TABLE `{database}`.`{actual}`")
                    cursor.fetchall()


def sizes(env):
    counts = []
    connections = {}
    for instance, database, actual in env.table("l1").places("l1"):
        connection = connections.setdefault(instance, env.admin(instance))
        counts.append(ask(connection, f"SELECT COUNT(*) FROM `{database}`.`{actual}`")[0][0])
    return counts


def log_of(proxies):
    return "".join(open(proxy.log, errors="replace").read() for proxy in proxies)


def wait_for(what, condition, patience=60):
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > patience:
            raise AssertionError(f"{what} did not come within {patience} s")
        time.sleep(0.1)


def records(proxy, kind):
    """The records of the registry's directory whose key begins with skew/<kind>/."""
    found = {}
    for path in glob.glob(os.path.join(proxy.state, "**", f"skew+{kind}+*.record"), recursive=True):
        with contextlib.suppress(OSError):
            found[os.path.basename(path)] = json.loads(open(path).read().split("\n\n", 1)[1])
    return found


def steering_record(proxy, table="l1.orders"):
    return records(proxy, "steering").get(f"skew+steering+{table}.record", {"origin": "none", "map_version": 0, "history": []})


class Fill(threading.Thread):
    """One client that inserts `rate` times a second until told to stop; keeps every id."""

    def __init__(self, proxy, batches, rate):
        super().__init__()
        self.pause = 1 / rate
        self.proxy, self.batches, self.stopping, self.ids, self.error, self.lost = proxy, batches, False, [], None, 0

    def run(self):
        connection, number, due = None, 0, time.monotonic()
        while not self.stopping:
            # A client that fell behind does not catch up: the fastest second decides how far a map can be wrong.
            due = max(due + self.pause, time.monotonic() - 0.01)
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                connection = connection or connect(self.proxy)
                number += 1
                with connection.cursor() as cursor:
                    if self.batches and number % (10 * 10 // self.batches) == 0:
                        cursor.execute("INSERT INTO orders(user_id) VALUES " + ",".join(["(7)"] * 10))
                        self.ids.append(list(range(cursor.lastrowid, cursor.lastrowid + 10)))
                    else:
                        cursor.execute("INSERT INTO orders(user_id) VALUES (7)")
                        self.ids.append([cursor.lastrowid])
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError):  # the proxy is being restarted
                self.lost += 1
                connection = None
                time.sleep(0.05)
            except Exception as error:  # told by the test
                self.error = error
                return


def fill_until_even(env, proxies, clients=6, batches=0, patience=240, midway=None, rate=1_500):
    """Inserts, `rate` times a second in all, until steering has ended by itself; gives the ids by client."""
    fills = [Fill(proxies[i % len(proxies)], batches, rate / clients) for i in range(clients)]
    for each in fills:
        each.start()
    begun = time.monotonic()
    try:
        while steering_record(proxies[0])["origin"] != "none":
            check(time.monotonic() - begun < patience, "steering did not end:\n" + log_of(proxies)[-3000:])
            failed = [each.error for each in fills if each.error]
            check_equal(failed, [], "errors of the clients")
            if midway and time.monotonic() - begun > 5:
                midway()
                midway = None
            time.sleep(0.05)
    finally:
        for each in fills:
            each.stopping = True
        for each in fills:
            each.join()
    check(midway is None, "steering ended before anything happened in its middle")
    return fills


def check_ids(fills, whole=True):
    every = [key for each in fills for keys in each.ids for key in keys]
    check_equal(len(set(every)), len(every), "distinct ids")
    if whole:
        for each in fills:
            flat = [key for keys in each.ids for key in keys]
            check_equal(flat, sorted(flat), "ids of one client, which has one worker, ascend")


def check_closed(fills, history):
    """Until steering ended no row came into tables 0-31: their ids carry their time (41 bits of milliseconds since 2024)."""
    ended = next(change["at"] for change in history if change["what"] == "steering off")
    early = [key for each in fills for keys in each.ids for key in keys if key % SLOTS < 32 and (key >> 22) + 1_704_067_200_000 < ended]
    check_equal(early, [], "ids of tables that were over the bound, made before steering ended")


def check_even(before, after, ratio, spread=1.05):
    others = after[32:]
    check(max(others) <= min(others) * spread, f"the 96 others differ by more than {spread}: {min(others)} to {max(others)}")
    mean = sum(after) / len(after)
    check(max(after) <= mean * ratio, f"max/mean is {max(after) / mean:.4f}, not {ratio}: {after}")
    print(f"    max/mean {max(after) / mean:.4f}; the others {min(others)} to {max(others)}; "
          f"{sum(after) - sum(before)} rows came", flush=True)


def begin(env, proxies):
    wait_for("steering on", lambda: steering_record(proxies[0])["origin"] == "auto")
    # Every proxy draws by the map before the first row comes.
    version = steering_record(proxies[0])["map_version"]
    for proxy in proxies:
        wait_for(f"map {version}", lambda proxy=proxy: sum(
            each["map_version"] >= version for each in records(proxy, "counts").values()
            if f"pid {proxy.pid} " in each["by"]) > 0)
    time.sleep(1.2)


@test("SKEW-reference", "one-row inserts: no new row in tables 0-31, the others alike, even at the end, off by itself", needs_proxy=True)
def reference(env):
    prefill(env, 2_000, 1_000)
    before = sizes(env)
    with steering_proxies(env, "reference") as proxies:
        begin(env, proxies)
        fills = fill_until_even(env, proxies)
        after = sizes(env)
        history = steering_record(proxies[0])["history"]
    check_closed(fills, history)
    check_even(before, after, 1.015)
    check_ids(fills)
    check_equal([change["what"] for change in history if change["what"] != "re-weighted"], ["steering on", "steering off"], "history")
    check("max/mean is 1.6" in history[0]["reason"], f"reason: {history[0]['reason']}")


@test("SKEW-two", "two proxies, the one that decides restarted in the middle", needs_proxy=True)
def two_proxies(env):
    prefill(env, 1_200, 600)
    before = sizes(env)
    with steering_proxies(env, "two", 2) as proxies:
        begin(env, proxies)

        def midway():
            # The one that decides: the other takes over, and the one that comes back obeys.
            proxies[0].stop()
            proxies[0].start()

        fills = fill_until_even(env, proxies, midway=midway)
        after = sizes(env)
        history = steering_record(proxies[0])["history"]
    check_closed(fills, history)
    check_even(before, after, 1.05, 1.08)
    check_ids(fills, whole=False)
    check_equal([change["what"] for change in history if change["what"] != "re-weighted"], ["steering on", "steering off"], "history")


@test("SKEW-estimates", "estimates that are wrong by 30 % begin nothing and end nothing", servers=("mariadb",), needs_proxy=True)
def wrong_estimates(env):
    prefill(env, 1_000, 500)
    table = env.table("l1")
    for number in range(1, 5):
        with env.cluster.admin(number).cursor() as cursor:
            for slot, (instance, database, actual) in enumerate(table.places("l1")):
                if instance == number:
                    wrong = (1_000 if slot < 32 else 500) * (0.7 if slot % 2 else 1.3)
                    cursor.execute(f"ALTER TABLE `{database}`.`{actual}` STATS_AUTO_RECALC=0")
                    cursor.execute(f"UPDATE mysql.innodb_table_stats SET n_rows={int(wrong)} WHERE database_name='{database}' "
                                   f"AND table_name='{actual}'")
                    cursor.execute(f"FLUSH TABLE `{database}`.`{actual}`")
    before = sizes(env)
    try:
        with steering_proxies(env, "estimates") as proxies:
            begin(env, proxies)
            fills = fill_until_even(env, proxies)
            after = sizes(env)
            history = steering_record(proxies[0])["history"]
        check_closed(fills, history)
        check_even(before, after, 1.05, 1.08)
        check_ids(fills)
        check_equal([change["what"] for change in history if change["what"] != "re-weighted"], ["steering on", "steering off"], "history")
    finally:
        for number in range(1, 5):
            with env.cluster.admin(number).cursor() as cursor:
                for instance, database, actual in table.places("l1"):
                    if instance == number:
                        cursor.execute(f"ALTER TABLE `{database}`.`{actual}` STATS_AUTO_RECALC=DEFAULT")


@test("SKEW-registry", "the registry is lost in the middle: the map holds, inserts go on, it goes on when the registry is back",
      servers=("mariadb",), needs_proxy=True)
def lost_registry(env):
    prefill(env, 1_000, 500)
    before = sizes(env)
    # The worker's window must outlast the loss: it is what says that ids may be made.
    window = lambda text: text.replace("worker:\n  id: lease", "worker:\n  id: lease\n  window: 60s\n  renew: 1s")
    with steering_proxies(env, "registry", edit=window) as proxies:
        begin(env, proxies)
        state = proxies[0].state

        def midway():
            os.rename(state, state + "-away")
            count = sum(sizes(env))
            wait_for("the loss in the log", lambda: "the registry is lost" in log_of(proxies))
            wait_for("more rows without a registry", lambda: sum(sizes(env)) > count + 500)
            os.rename(state + "-away", state)
            wait_for("the registry's return in the log", lambda: "the registry is back" in log_of(proxies))

        fills = fill_until_even(env, proxies, clients=2, midway=midway)
        after = sizes(env)
        history = steering_record(proxies[0])["history"]
    check_closed(fills, history)
    check_even(before, after, 1.06, 1.1)
    check_ids(fills)


def outside_of(proxy):
    return sum(each["outside"] for each in records(proxy, "counts").values())


@test("SKEW-batches", "batches: consecutive rows outside the map are exactly those counted, steered has none", needs_proxy=True)
def batches(env):
    for mode in ("consecutive", "steered"):
        prefill(env, 2_000, 1_000)
        edit = lambda text: text.replace("  - name: ids\n    layout: classic", f"  - name: ids\n    layout: classic\n    batch: {mode}")
        with steering_proxies(env, "batches-" + mode, edit=edit) as proxies:
            begin(env, proxies)
            connection = connect(proxies[0])
            for rows in (10, 96, 97, 1_000):
                before, counted = sizes(env), outside_of(proxies[0])
                _, first = run(connection, "INSERT INTO orders(user_id) VALUES " + ",".join(["(7)"] * rows))
                after = sizes(env)
                check_equal(sum(after) - sum(before), rows, "rows that came")
                outside = sum(after[:32]) - sum(before[:32])
                if mode == "steered":
                    check_equal(outside, 0, f"rows of a batch of {rows} outside the map")
                else:
                    least = {10: 0, 96: 0, 97: 1, 1_000: 232}[rows]
                    check_equal(outside, least, f"rows of a consecutive batch of {rows} outside the map")
                    ids = ask(connection, f"SELECT COUNT(*) FROM orders WHERE id BETWEEN {first} AND {first + rows - 1}")
                    check_equal(ids, [(rows,)], "consecutive ids")
                wait_for("the count of rows outside", lambda: outside_of(proxies[0]) == counted + outside, 20)


@test("SKEW-user", "a table sharded by user_id: steering does not apply, and it is said why", servers=("mariadb",), needs_proxy=True)
def by_user(env):
    with steering_proxies(env, "user") as proxies:
        told = subprocess_output(proxies[0], "skew", proxies[0].config, "--table", "l2.orders")
    check("Steering does not apply to l2.orders" in told and "sharded by user_id" in told, told)


@test("SKEW-command", "evenkeel skew counts, explains and shows a dry run", needs_proxy=True)
def command(env):
    prefill(env, 200, 100)
    with steering_proxies(env, "command", steering="") as proxies:
        told = subprocess_output(proxies[0], "skew", proxies[0].config, "--table", "l1.orders")
    check("max/mean 1.6000" in told, told)
    check("6400" in told and "3200" in told, told)
    check("96 of 128 tables alike; none for 0-31" in told, told)
    check("a batch of 100 rows (batch: consecutive) puts at least 4 of them" in told, told)


@test("SKEW-counts", "rows are counted by slot: one and many rows, deletes, rollbacks, savepoints, REPLACE, prepared", needs_proxy=True)
def counts(env):
    env.fresh("l1")
    with steering_proxies(env, "counts", steering="") as proxies:
        connection = connect(proxies[0])
        run(connection, "INSERT INTO orders(user_id) VALUES (1)")
        run(connection, "INSERT INTO orders(user_id) VALUES (1),(2),(3)")
        run(connection, "BEGIN")
        run(connection, "INSERT INTO orders(id,user_id) VALUES (128000001,9)")
        run(connection, "SAVEPOINT a")
        run(connection, "INSERT INTO orders(id,user_id) VALUES (128000002,9),(128000003,9)")
        run(connection, "ROLLBACK TO SAVEPOINT a")
        run(connection, "COMMIT")
        run(connection, "BEGIN")
        run(connection, "DELETE FROM orders")
        run(connection, "ROLLBACK")
        run(connection, "REPLACE INTO orders(id,user_id) VALUES (128000001,10),(128000005,10)")
        run(connection, "INSERT INTO orders(id,user_id) VALUES (128000001,1) ON DUPLICATE KEY UPDATE user_id=11")
        run(connection, "INSERT IGNORE INTO orders(id,user_id) VALUES (128000001,1)")
        run(connection, "DELETE FROM orders WHERE user_id IN (2,3)")
        try:
            run(connection, "INSERT INTO orders(id,user_id) VALUES (128000007,1),(128000001,1)")
            raise AssertionError("a duplicate key was accepted")
        except pymysql.err.IntegrityError as error:
            check_equal(error.args[0], 1062, "the error of a duplicate")
        expected = sizes(env)
        check_equal(sum(expected), 4, "rows")

        def counted():
            for name, record in records(proxies[0], "counts").items():
                if "l1.orders" in name:
                    return [value for run_ in record["rows"] for value in ([run_[0]] * run_[1] if isinstance(run_, list) else [run_])]
            return []

        wait_for(f"the counts, which are {counted()}", lambda: counted() == expected, 20)


def subprocess_output(proxy, *arguments):
    done = subprocess.run([proxy.program, *arguments], capture_output=True, text=True, timeout=120, env=proxy.environment())
    check_equal(done.returncode, 0, f"status of evenkeel {arguments[0]}; it said {done.stderr}")
    return done.stdout
