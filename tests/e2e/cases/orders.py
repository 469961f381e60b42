"""STEER: what operators say at the admin port about skew and steering, and what comes of it."""
import contextlib
import datetime
import re
import time

import pymysql

from cases.admin import wait_until
from cases.dashboard import STEERING, dashboard, state_of, when_counted
from cases.skew import prefill, sizes
from harness.proxy import greets
from harness.registry import check, check_equal, test

SLOTS = 128
# The logical statements that the admin port is to know; each stands in HELP.
STATEMENTS = ["SHOW TOPOLOGY", "SHOW SKEW FOR l1.orders BY TABLE", "SHOW SKEW BY DATABASE", "SHOW SKEW BY INSTANCE", "SHOW STEERING", "SHOW STEERING HISTORY",
              "DRY RUN STEER l1.orders AVOID INSTANCE instance1", "EXPLAIN STEERING l1.orders", "EXPLAIN STEERING l1.orders TABLE 5", "SHOW GENERATORS",
              "SHOW WORKERS", "DECODE ID 12345678901234567", "SHOW SESSIONS", "SHOW POOLS", "SHOW STATISTICS", "SHOW SLOW QUERIES", "HELP", "SHOW HELP"]
OPERATE = ["STEER l1.orders AVOID INSTANCE instance1", "STEER l1.orders AVOID TABLES 0-31", "STEER l1.orders ONLY DATABASE l1_05",
           "STEER l1.orders WEIGHTS TABLES 0-31 = 2", "STEER l1.orders AUTO", "STEER l1.orders ADVISE", "STEER l1.orders OFF FOR 2 HOURS",
           "STEER l1.orders OFF", "RELOAD CONFIG"]


def error_of(one, statement, user="anna"):
    try:
        one.sql(statement, user)
    except pymysql.err.MySQLError as error:
        return error.args
    raise AssertionError(f"{statement} by {user} should have failed")


def insert(one, rows, pause=0.0):
    """So many rows; gives their ids' slots. Without a pause several ids come in one millisecond and lie side by side, and the instance that answers
    fastest gets most of them."""
    connection = pymysql.connect(host="127.0.0.1", port=one.proxy.port, user=one.proxy.account["user"], password=one.proxy.account["password"],
                                 database="l1", autocommit=True)
    slots = []
    with contextlib.closing(connection), connection.cursor() as cursor:
        for _ in range(rows):
            time.sleep(pause)
            cursor.execute("INSERT INTO orders(user_id) VALUES (7)")
            slots.append(cursor.lastrowid % SLOTS)
    return slots


def words(rows):
    return "\n".join(row["explanation"] for row in rows)


@test("STEER-statements", "every statement is in HELP and answers; a reader sees and tries, and changes nothing; errors name what was not expected", servers=("mariadb",), needs_proxy=True)
def statements(env):
    env.fresh("l1")
    with dashboard(env, "statements") as one:
        helped = " ".join(row["statement"] for row in one.sql("HELP"))
        for statement in STATEMENTS + OPERATE + ["KILL 1"]:
            for word in re.match(r"[A-Z ]+", statement)[0].split()[:2]:
                check(word in helped, f"{word} of {statement} is in HELP: {helped}")
        for statement in STATEMENTS:
            check(len(one.sql(statement, "rita")) > 0 or statement.startswith(("SHOW SLOW", "SHOW STEERING H", "SHOW SESS")), f"{statement} answers a reader")
        for statement in OPERATE:
            code, message = error_of(one, statement, "rita")
            check(code == 1227 and "needs the right to operate" in message, f"{statement} by a reader: {code} {message}")
        check_equal(state_of(one), ("off", 0), "after all a reader said")
        for statement in OPERATE:
            one.sql(statement)
        for statement, word, allowed in (("STEER l1.orders AVOID SLOT 5", "'SLOT' at character 23", "INSTANCE, DATABASE, TABLE, TABLES"),
                                         ("SHOW SKEW BY SERVER", "'SERVER' at character 14", "TABLE, DATABASE, INSTANCE"),
                                         ("EXPLAIN STEERING l1.orders ROW 1", "'ROW' at character 28", "TABLE, the end of the statement")):
            code, message = error_of(one, statement)
            check(code == 1064 and f"{word} was not expected; allowed here: {allowed}" in message, f"{statement}: {code} {message}")
        for statement, said in (("STEER l1.nothing OFF", "there is no sharded table l1.nothing; there are l1.orders, l2.orders"),
                                ("SHOW SKEW FOR orders", "orders is a table of several schemas: name one of l1.orders, l2.orders"),
                                ("STEER l1.orders AVOID TABLES 100-128", "l1.orders has the tables 0 to 127"),
                                ("STEER l1.orders AVOID INSTANCE instance9", "those that do are instance1, instance2, instance3, instance4"),
                                ("STEER l1.orders AVOID TABLES 0-127", "would leave no table for new rows"),
                                ("STEER l1.orders WEIGHTS TABLES 0-127 = 0", "no table would get new rows"),
                                ("STEER l2.orders AVOID TABLES 0-31", "steering does not apply to l2.orders: it is sharded by user_id"),
                                ("EXPLAIN STEERING l1.orders TABLE 128", "l1.orders has the tables 0 to 127")):
            message = error_of(one, statement)[1]
            check(said in message, f"{statement}: {message}")


@test("STEER-orders", "avoid, only and weights by table, database and instance: a dry run says where the rows go, and there they go", needs_proxy=True)
def orders(env):
    env.fresh("l1")
    with dashboard(env, "orders") as one:
        places = env.table("l1").places("l1")
        on = lambda *names: [slot for slot, place in enumerate(places) if f"instance{place[0]}" in names or place[1] in names]
        every = set(range(SLOTS))
        for order, open_slots in (("AVOID INSTANCE instance1", every - set(on("instance1"))),
                                  ("AVOID DATABASE l1_05, TABLES 0-31, 40", every - set(on("l1_05")) - set(range(32)) - {40}),
                                  ("ONLY INSTANCE instance4, DATABASE l1_00", set(on("instance4", "l1_00"))),
                                  ("ONLY TABLE 77", {77})):
            before, version = sizes(env), state_of(one)[1]
            tried = {row["name"]: row["of_next_10000"] for row in one.sql(f"DRY RUN STEER l1.orders {order}") if row["part"] == "table"}
            check_equal(state_of(one)[1], version, f"the map's version after the dry run of {order}")
            one.sql(f"STEER l1.orders {order}")
            rows = len(open_slots) * 4
            insert(one, rows)
            came = [now - then for now, then in zip(sizes(env), before)]
            check_equal({slot for slot in every if came[slot]} - open_slots, set(), f"tables that get rows in spite of {order}")
            check_equal(sum(came), rows, "rows that came")
            check(max(came) <= 20, f"{order}: {came}")
            predicted = [tried[f"{place[1]}.{place[2]}"] for place in places]
            check_equal([slot for slot in sorted(every) if predicted[slot]], sorted(open_slots), f"what the dry run of {order} opens")
            check(sum(predicted) == 10_000 and max(predicted) - min(predicted[slot] for slot in open_slots) <= 1, f"{predicted}")
        before = sizes(env)
        one.sql("STEER l1.orders WEIGHTS INSTANCE instance1 = 3, TABLES 32-127 = 1")
        insert(one, 1_152, pause=0.002)
        came = [now - then for now, then in zip(sizes(env), before)]
        check(500 <= sum(came[:32]) <= 640, f"{sum(came[:32])} of 1152 rows on instance1, which has the weight of half of all")
        one.sql("STEER l1.orders OFF")
        history = one.sql("SHOW STEERING HISTORY")
        check_equal([row["what"] for row in history], ["mode"] + ["ordered"] * 5, "history, the latest first")
        for row in history:
            check(row["by"].startswith("admin 'anna' from 127.0.0.1") and row["reason"], f"who and why: {row}")
        before = sizes(env)
        insert(one, 1_280, pause=0.002)
        came = [now - then for now, then in zip(sizes(env), before)]
        check(max(came) <= 30 and 0.2 < sum(came[:32]) / 1_280 < 0.3, f"after OFF every table gets rows as before: {came}")


@test("STEER-duration", "an order ends when its time is over, survives a restart until then, and says both", needs_proxy=True)
def duration(env):
    env.fresh("l1")
    with dashboard(env, "duration") as one:
        one.sql("STEER l1.orders AVOID TABLES 0-31 FOR 1 HOUR")
        row = next(row for row in one.sql("SHOW STEERING") if row["logical_table"] == "l1.orders")
        stamp = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "").replace(" UTC", ""))
        check_equal(round((stamp(row["until"]) - stamp(row["since"])).total_seconds()), 3600, "how long it lasts")
        check_equal((row["state"], row["ordered_by"][:12]), ("on, ordered", "admin 'anna'"), "who")
        one.proxy.stop()
        one.proxy.start()
        check_equal([slot for slot in insert(one, 96) if slot < 32], [], "rows of tables 0-31 after a restart, from the first one on")
        wait_until(lambda: greets(one.sql_port), patience=30)
        check_equal(state_of(one), ("on, ordered", row["map_version"]), "the map after a restart")
        one.sql("STEER l1.orders AVOID TABLES 0-31 FOR 2 SECONDS")
        # The proxy takes the map back at its next look, within a second.
        alike = lambda row: row["logical_table"] == "l1.orders" and row["map"] == "all 128 tables alike"
        wait_until(lambda: any(alike(row) for row in one.sql("SHOW STEERING")), patience=60)
        check(state_of(one)[0] != "on, ordered", "the state after its end")
        check(set(insert(one, 256)) & set(range(32)), "rows of tables 0-31 after its end")
        last = one.sql("SHOW STEERING HISTORY")[0]
        check("time" in last["reason"] or "over" in last["reason"] or "ended" in last["reason"], f"the last change: {last}")


@test("STEER-explain", "EXPLAIN STEERING says why a table gets rows or not: its size, the bound, the map's version, who set it and when", needs_proxy=True)
def explain(env):
    prefill(env, 400, 200)
    with dashboard(env, "explain") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        told = words(one.sql("EXPLAIN STEERING l1.orders TABLE 5"))
        for said in ("128 tables, mean 250.0 rows, fullest 400, emptiest 200; max/mean 1.6000", "Table 5 is l1_00.orders_005 on instance1: 400 rows, 1.6000 of the mean (count",
                     "No map is in force (version 0): every table gets the same part of new rows", "Mode off: steering begins above max/mean 1.3000 and ends at 1.0100"):
            check(said in told, f"{said!r} in\n{told}")
        one.sql("STEER l1.orders AVOID INSTANCE instance1 FOR 2 HOURS")
        told = words(one.sql("EXPLAIN STEERING l1.orders TABLE 5"))
        for said in ("Map 1 is in force: 96 of 128 tables alike; none for 0-31; set by admin 'anna' from 127.0.0.1 at 2", "Its reason: avoid instance instance1 for 2 h",
                     "Table 5 gets no new rows (weight 0 of 1): so it was ordered"):
            check(said in told, f"{said!r} in\n{told}")
        told = words(one.sql("EXPLAIN STEERING l1.orders TABLE 100"))
        check("Table 100 gets 1.042 % of new rows, 1.33 times an even part" in told and "it lacks 200 rows to the fullest" in told, told)
        told = words(one.sql("EXPLAIN STEERING l2.orders"))
        check("Steering does not apply to l2.orders: it is sharded by user_id and not by the generated id" in told, told)
        one.sql("STEER l1.orders AUTO")
        wait_until(lambda: state_of(one)[0] == "on, automatic", patience=60)
        told = words(one.sql("EXPLAIN STEERING l1.orders TABLE 5"))
        check("set by controller of evenkeel pid" in told and "Its reason: max/mean is 1.6000 (fullest 400, mean 250.0 rows), above the upper bound 1.3" in told, told)


@test("STEER-skew", "SHOW SKEW by table, database and instance: rows, shares, max/mean and variation of each", servers=("mariadb",), needs_proxy=True)
def skew(env):
    prefill(env, 400, 200)
    with dashboard(env, "skew") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        # (parts, rows of the full ones, of the others, how many are full)
        for by, parts in (("TABLE", 128), ("DATABASE", 16), ("INSTANCE", 4)):
            rows = one.sql(f"SHOW SKEW FOR l1.orders BY {by}")
            check_equal(len(rows), parts, f"parts by {by}")
            sums = [row["rows"] for row in rows]
            check_equal(sorted(sums), [200 * SLOTS // parts] * (parts * 3 // 4) + [400 * SLOTS // parts] * (parts // 4), f"rows by {by}")
            check_equal({(str(row["max_over_mean"]), str(row["variation_percent"])) for row in rows}, {("1.6000", "34.64")}, f"skew by {by}")
            check(abs(sum(float(row["percent_of_rows"]) for row in rows) - 100) < 0.1, f"percent of rows by {by}")
            check_equal({row["source"] for row in rows}, {"count"}, f"sources by {by}")


@test("STEER-windows", "automatic steering keeps to its daily windows, and begins within them", servers=("mariadb",), needs_proxy=True)
def windows(env):
    prefill(env, 400, 200)

    def around(first, last):
        """A window from so many minutes after now to so many."""
        now = datetime.datetime.utcnow()
        return "-".join((now + datetime.timedelta(minutes=minutes)).strftime("%H:%M") for minutes in (first, last))

    table = lambda window: STEERING.replace("mode: off", f'mode: auto, windows: ["{window}"]')
    outside, inside = table(around(120, 180)), table(around(-60, 60))
    with dashboard(env, "windows", outside) as one:
        when_counted(one, [400] * 32 + [200] * 96)
        wait_until(lambda: "outside the daily windows" in str(one.sql("SHOW STEERING")[0]["reason"]), patience=60)
        check_equal(state_of(one), ("off", 0), "outside its windows")
        text = open(one.proxy.config).read()
        open(one.proxy.config, "w").write(text.replace(outside, inside))
        check_equal([row["outcome"] for row in one.sql("RELOAD CONFIG") if row["setting"].startswith("steering")], ["changed and in force"], "the other window")
        wait_until(lambda: state_of(one)[0] == "on, automatic", patience=60)
        check_equal([slot for slot in insert(one, 96) if slot < 32], [], "rows of tables 0-31")
        open(one.proxy.config, "w").write(text)
        one.sql("RELOAD CONFIG")
        wait_until(lambda: state_of(one)[0] == "off", patience=60)
        history = one.sql("SHOW STEERING HISTORY")
        check("the daily window has closed" in history[0]["reason"], f"why it ended: {history}")


@test("STEER-bytes", "by bytes: tables with as many rows and larger ones are the full ones", servers=("mariadb",), needs_proxy=True)
def by_bytes(env):
    env.fresh("l1")
    for number in range(1, 5):
        with env.cluster.admin(number).cursor() as cursor:
            for slot, (instance, database, actual) in enumerate(env.table("l1").places("l1")):
                if instance == number:
                    long = "1.5, 1, 'eeeeeeee', '" + "x" * 32 + "', NOW(3)" if slot < 32 else "NULL, NULL, NULL, NULL, NULL"
                    values = ",".join(f"({slot + SLOTS * (k + 1)}, {long})" for k in range(1_500))
                    cursor.execute(f"INSERT INTO `{database}`.`{actual}` (id, amount, qty, region, ref_no, created_at) VALUES {values}")
                    cursor.execute(f"ANALYZE TABLE `{database}`.`{actual}`")
                    cursor.fetchall()
    with dashboard(env, "bytes", STEERING.replace("mode: off", "mode: auto, by: bytes")) as one:
        wait_until(lambda: state_of(one)[0] == "on, automatic", patience=120)
        row = next(row for row in one.sql("SHOW STEERING") if row["logical_table"] == "l1.orders")
        figures = one.ask("GET", "api/v1/figures?schema=l1&table=orders")[1]
        check_equal(figures["by_rows"]["max_over_mean"], 1, "by rows all is even")
        check(figures["by_bytes"]["max_over_mean"] > 1.3 and "bytes" in row["reason"], f"{figures['by_bytes']} {row}")
        check_equal([slot for slot in insert(one, 96) if slot < 32], [], "rows of tables 0-31")


@test("STEER-capacity", "what would leave inserts fewer ids than they need is refused, with the figures", servers=("mariadb",), needs_proxy=True)
def capacity(env):
    env.fresh("l1")
    with dashboard(env, "capacity", generator_ids=["  - name: ids", "    layout: js_safe"]) as one:
        # 4096 ids a second in 128 tables: one table alone has 32.
        insert(one, 300)
        wait_until(lambda: float(one.sql("SHOW STEERING")[0]["rows_per_second"]) > 0 or not insert(one, 300), patience=60)
        message = error_of(one, "STEER l1.orders ONLY TABLE 5")[1]
        check("inserts would have to wait" in message and re.search(r"\b32\b", message), message)
        check_equal(state_of(one), ("off", 0), "after the refusal")
        code = error_of(one, "DRY RUN STEER l1.orders ONLY TABLE 5")
        check("inserts would have to wait" in code[1], f"its dry run: {code}")


@test("STEER-dry-run", "a dry run says where the next 10,000 rows go, what capacity is left, which batches do not fit, and when it would be even", servers=("mariadb",), needs_proxy=True)
def dry_run(env):
    prefill(env, 400, 200)
    with dashboard(env, "dry-run") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        remarks = lambda order: [row["remark"] for row in one.sql(f"DRY RUN STEER l1.orders {order}") if row["part"] == "remark"]
        # An order outright, and what the controller would do.
        for order in ("AVOID TABLES 0-31", "AUTO"):
            told = "\n".join(remarks(order))
            for said in ("map: 96 of 128 tables alike; none for 0-31", "capacity: 3072000 ids a second and proxy, 75 % of 4096000",
                         "a batch of 100 rows (batch: consecutive) puts at least 4 of them into tables that get no others",
                         "when it will be even is not known: no rows arrive"):
                check(said in told, f"{order}: {said!r} in\n{told}")
            check("batch of 10 rows" not in told, told)
            rows = one.sql(f"DRY RUN STEER l1.orders {order}")
            by = {part: [(row["rows_now"], row["of_next_10000"], row["rows_then"]) for row in rows if row["part"] == part] for part in ("instance", "database", "table")}
            check_equal([now for now, _, _ in by["instance"]], [12_800] + [6_400] * 3, f"{order}, rows now")
            more = [more for _, more, _ in by["instance"]]
            check(more[0] == 0 and max(more[1:]) - min(more[1:]) <= 32, f"{order}, by instance: {more}")
            for part in by:
                check_equal(sum(more for _, more, _ in by[part]), 10_000, f"{order}, by {part}")
                check(all(now + more == then for now, more, then in by[part]), f"{order}, by {part}: {by[part]}")
        check_equal(state_of(one), ("off", 0), "after all dry runs")
        # With rows that arrive it says when.
        told = []

        def says_when():
            insert(one, 60, pause=0.002)
            told[:] = remarks("AVOID TABLES 0-31")
            return any(re.match(r"even in about \d+ s.*: \d+ more rows at the present rate", remark) for remark in told)

        wait_until(says_when, patience=60)
