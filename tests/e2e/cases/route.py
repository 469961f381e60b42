"""ROUTE: which tables a statement touches, and that what it finds is what one table would give."""
import os

import pymysql

from harness.environment import ask, error_of, run
from harness.proxy import Proxy
from harness.registry import check, check_equal, test

COLUMNS = "id,user_id,amount,qty,region,created_at"


def fill(env, count=64):
    env.fresh("l3")
    rows = [(i, i % 9, f"{i * 7 % 50}.{i % 100:02d}", i % 13, ("eu", "us", "EU", None, "asia")[i % 5],
             f"20{29 + i % 3}-01-{1 + i % 28:02d} 00:00:00.{i:03d}") for i in range(1, count + 1)]
    env.load("l3", "orders", COLUMNS, rows)


def slots_of(env, statement):
    """What EXPLAIN ROUTE says of a statement, as text; empty against a plain server."""
    if env.plain:
        return ""
    return "\n".join(str(row[0]) for row in ask(env.client("l3"), f"EXPLAIN ROUTE {statement}"))


@test("C27", "rows of one insert go each to its own table, in order")
def several_slots(env):
    env.fresh("l3")
    connection = env.client("l3")
    affected, _ = run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(2,1),(10,1),(3,1)")
    check_equal(affected, 4, "affected rows")
    if not env.plain:
        found = env.rows_by_slot("l3", columns="id")
        check_equal(found, {1: [(1,)], 2: [(2,), (10,)], 3: [(3,)]}, "rows by slot")
    for key in (1, 2, 10, 3):
        check_equal(ask(connection, f"SELECT id FROM orders WHERE id={key}"), [(key,)], f"found by id {key}")


@test("C28", "rows with generated ids are found by them, ascending in the order written")
def generated(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, first = run(connection, "INSERT INTO orders(user_id,qty) VALUES (1,10),(1,11),(1,12),(1,13)")
    rows = ask(connection, "SELECT id,qty FROM orders ORDER BY id")
    check_equal(rows, [(first + i, 10 + i) for i in range(4)], "ids in the order of the rows")
    for key, qty in rows:
        check_equal(ask(connection, "SELECT qty FROM orders WHERE id=%s", (key,)), [(qty,)], f"found by id {key}")


@test("C29", "IN touches exactly the tables of its values")
def in_list(env):
    fill(env)
    env.same("l3", f"SELECT {COLUMNS} FROM orders WHERE id IN (1,2,9,10)")
    text = slots_of(env, "SELECT * FROM orders WHERE id IN (1,2,9,10)")
    if not env.plain:
        named = sorted({number for number in range(8) if f"orders_{number:03d}" in text})
        check_equal(named, [1, 2], f"tables named in the plan:\n{text}")


@test("C31", "AND narrows, OR and NOT widen, BETWEEN on a small span; always the rows of one table")
def conditions(env):
    fill(env)
    for condition in ("id=5 AND created_at > '2030-01-01'", "id=5 AND created_at > '2020-01-01'", "id=5 OR user_id=3",
                      "NOT id=5", "id BETWEEN 3 AND 6", "id=5 AND id=6", "id IN (3,4) AND id IN (4,5)", "id>60", "id>=60 AND id<62",
                      "id<>5", "id IS NULL", "id IS NOT NULL AND qty=3", "id=5 XOR user_id=5", "(id=5 OR id=6) AND user_id>0",
                      "id NOT IN (1,2,3)", "5=id", "id=5.0", "id=5.5", "id='5'", "id='5abc'", "id=5+1", "id=-1", "id=NULL",
                      "id<=>5", "id BETWEEN 6 AND 3", "id BETWEEN '3' AND 6", "id IN (1,NULL)", "id IN ('1',2.0)",
                      "id LIKE '5'", "id=5 AND 1=0", "1=1", "id=0x5", "id=b'101'", "id=1e1", "id=TRUE"):
        env.same("l3", f"SELECT {COLUMNS} FROM orders WHERE {condition}")


@test("C32", "a number written as text finds the same row, also as a parameter")
def text_number(env):
    env.fresh("l2")
    connection = env.client("l2")
    run(connection, "INSERT INTO orders(user_id,ref_no) VALUES (42,'A'),(43,'B'),('42','C')")
    for condition, parameters in (("user_id='42'", None), ("user_id=42", None), ("user_id=%s", ("42",)),
                                  ("user_id=%s", (42,)), ("user_id=42.0", None), ("user_id=' 42'", None)):
        rows = ask(connection, f"SELECT ref_no FROM orders WHERE {condition} ORDER BY ref_no", parameters)
        check_equal(rows, [("A",), ("C",)], condition)


@test("big-text-keys", "ids written as text, as PHP and JavaScript send them, find exactly their row")
def big_text_keys(env):
    env.fresh("l3")
    first = 9007199254740990
    env.load("l3", "orders", "id,user_id", [(first + i, i) for i in range(12)])
    for condition in (f"id='{first + 3}'", f"id IN ('{first + 3}','5')", f"id IN ({first + 3},'{first + 5}')",
                      f"id BETWEEN '{first + 3}' AND '{first + 4}'", f"'{first + 3}'=id", f"id<=>'{first + 3}'",
                      f"NOT id<>'{first + 3}'", f"id='{first + 3}.0'"):
        env.same("l3", f"SELECT id,user_id FROM orders WHERE {condition}")
    if not env.plain:
        text = slots_of(env, f"SELECT * FROM orders WHERE id='{first + 3}'")
        check_equal(sum(f"orders_{number:03d}" in text for number in range(8)), 1, f"tables asked:\n{text}")


@test("C34", "letter case, backticks and the schema's name make no difference")
def spelling(env):
    fill(env, 16)
    connection = env.client()
    statements = ["SELECT user_id FROM l3.orders WHERE id=5", "SELECT user_id FROM `l3`.`orders` WHERE `id`=5",
                  "SELECT o.user_id FROM l3 . orders AS o WHERE o.ID=5", "SELECT L3O.user_id FROM l3.orders L3O WHERE L3O.Id=5"]
    if not env.plain:
        statements += ["SELECT user_id FROM l3.Orders WHERE ID=5", "SELECT user_id FROM l3.`ORDERS` WHERE `ORDERS`.id=5"]
    for statement in statements:
        check_equal(ask(connection, statement), [(5,)], statement)


@test("C36", "a join on the key runs in one table pair; one without it is whole or refused")
def joins(env):
    fill(env, 32)
    lines = [(i, line, i % 9, f"s{i}-{line}") for i in range(1, 33) for line in range(2)]
    env.load("l3", "order_lines", "order_id,line,user_id,sku", lines)
    rows = env.same("l3", "SELECT o.id,l.sku FROM orders o JOIN order_lines l ON o.id=l.order_id WHERE o.id=5")
    check_equal(len(rows), 2, "rows of the join by key")
    env.same("l3", "SELECT o.id,l.sku FROM orders o JOIN order_lines l ON l.order_id=o.id WHERE l.order_id=6 AND l.line=1")
    for statement in ("SELECT o.id,l.sku FROM orders o JOIN order_lines l ON o.user_id=l.user_id",
                      "SELECT o.id,l.sku FROM orders o, order_lines l",
                      "SELECT o.id,l.sku FROM orders o LEFT JOIN order_lines l ON o.id=l.order_id",
                      "SELECT o.id FROM orders o WHERE o.id IN (SELECT order_id FROM order_lines WHERE line=1)",
                      "SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM order_lines l WHERE l.user_id=o.user_id)",
                      "SELECT o.id,n.text FROM orders o JOIN notes n ON n.id=o.qty"):
        env.same_or_refused("l3", statement)


@test("C39", "the sharding key does not change", needs_proxy=True)
def key_is_fixed(env):
    fill(env, 16)
    connection = env.client("l3")
    code, message = error_of(connection, "UPDATE orders SET id=id+1 WHERE id=5")
    check("id" in message, f"the message names the column: {code} {message}")
    check_equal(ask(connection, "SELECT COUNT(*) FROM orders WHERE id=5"), [(1,)], "the row is as it was")
    run(connection, "INSERT INTO orders(id,qty) VALUES (5,77) ON DUPLICATE KEY UPDATE id=VALUES(id), qty=VALUES(qty)")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(77,)], "an upsert that names the key unchanged")


@test("writes", "UPDATE and DELETE over one, some and all tables count and change as on one table")
def writes(env):
    fill(env)
    connection, truth = env.client("l3"), env.truth("l3")
    for statement in ("UPDATE orders SET qty=99 WHERE id=5", "UPDATE orders SET qty=qty+1 WHERE id IN (1,2,9,10,200)",
                      "UPDATE orders SET region='xx' WHERE region='eu'", "UPDATE orders SET qty=qty", "DELETE FROM orders WHERE id=7",
                      "DELETE FROM orders WHERE id IN (8,16,17)", "UPDATE orders SET amount=amount*2 WHERE user_id=3 AND qty<50",
                      "DELETE FROM orders WHERE qty=5", "UPDATE orders SET qty=1 WHERE 1=0"):
        check_equal(run(connection, statement)[0], run(truth, statement)[0], f"affected rows of {statement}")
        env.same("l3", f"SELECT {COLUMNS} FROM orders")
    check_equal(run(connection, "DELETE FROM orders")[0], run(truth, "DELETE FROM orders")[0], "affected rows of DELETE")
    env.same("l3", "SELECT COUNT(*) FROM orders")


@test("write-atomic", "a write over several tables that fails in one leaves no trace in the others")
def statement_atomic(env):
    fill(env, 8)
    connection = env.client("l3")
    code, _ = error_of(connection, "INSERT INTO orders(id,user_id) VALUES (101,1),(102,1),(8,1),(103,1)")
    check_equal(code, 1062, "a duplicate key")
    check_equal(ask(connection, "SELECT COUNT(*) FROM orders"), [(8,)], "rows after it")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (201,1)")
    check_equal(error_of(connection, "INSERT INTO orders(id,user_id) VALUES (202,1),(7,1),(204,1)")[0], 1062,
                "a duplicate key inside a transaction")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (205,1)")
    connection.commit()
    check_equal(ask(connection, "SELECT id FROM orders WHERE id>100 ORDER BY id"), [(201,), (205,)],
                "the transaction went on without the failed statement")


@test("single-table", "a table without rules lives on the default instance")
def single_table(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, key = run(connection, "INSERT INTO notes(text) VALUES ('one'),('two')")
    check(key > 0, "the server's own insert id")
    check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], "last insert id of a single table")
    check_equal(ask(connection, "SELECT text FROM notes ORDER BY id"), [("one",), ("two",)], "rows")
    check_equal(error_of(connection, "SELECT * FROM nowhere")[0], 1146, "a table that does not exist")


@test("gene-routes", "an id that carries its gene names the table by itself; one that does not is refused", needs_proxy=True)
def gene_routes(env):
    env.fresh("l2")
    for method, modulus in (("shared", None), ("blocks", 64), ("classes", 128)):
        gene = f"{{method: {method}, {f'modulus: {modulus}, ' if modulus else ''}routes: true}}"
        proxy = Proxy(env.proxy.program, env.cluster, os.path.join(env.proxy.folder, f"gene-{method}"), names=["l2"], gene=gene)
        proxy.start()
        try:
            connection = pymysql.connect(host="127.0.0.1", port=proxy.port, user=proxy.account["user"], password=proxy.account["password"],
                                         database="l2", charset="utf8mb4", autocommit=True)
            one_table_by_id(connection, modulus, method)
            connection.close()
        finally:
            proxy.stop()


def one_table_by_id(connection, modulus, method):
    ids = {}
    for user in range(40):
        _, first = run(connection, f"INSERT INTO orders(user_id,ref_no) VALUES ({user},'{method}')")
        ids[user] = first
    if modulus:
        check_equal({id % modulus for user, id in ids.items() if user == 7}, {7}, "the id carries user_id mod the modulus")
    for user, id in ids.items():
        plan = "\n".join(str(row[0]) for row in ask(connection, f"EXPLAIN ROUTE SELECT user_id FROM orders WHERE id={id}"))
        check("one slot" in plan, f"where an id alone leads: {plan}")
        check_equal(ask(connection, f"SELECT user_id FROM orders WHERE id={id}"), [(user,)], "the row by its id alone")
    wanted = ", ".join(str(id) for id in ids.values())
    check_equal(sorted(row[0] for row in ask(connection, f"SELECT user_id FROM orders WHERE id IN ({wanted})")), list(range(40)), "all by a list")
    check_equal(run(connection, f"UPDATE orders SET qty=5 WHERE id={ids[9]}")[0], 1, "rows that an UPDATE by id met")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE user_id=9 AND ref_no=%s", (method,)), [(5,)], "what it did")
    code, message = error_of(connection, f"INSERT INTO orders(id,user_id,ref_no) VALUES ({ids[1] + 1},1,'other')")
    check(code == 1235 and "names table" in message, f"an id that names another table: {code} {message}")
    check_equal(error_of(connection, f"UPDATE orders SET id={ids[1] + 128} WHERE id={ids[1]}")[0], 1235, "UPDATE of the id")
    check_equal(run(connection, f"DELETE FROM orders WHERE id={ids[1]}")[0], 1, "rows that a DELETE by id met")


@test("explain-route", "EXPLAIN ROUTE answers the plan", needs_proxy=True)
def explain(env):
    one = slots_of(env, "SELECT * FROM orders WHERE id=5")
    check("orders_005" in one and "orders_006" not in one, f"one table:\n{one}")
    every = slots_of(env, "SELECT * FROM orders")
    check(all(f"orders_{slot:03d}" in every for slot in range(8)), f"all tables:\n{every}")
