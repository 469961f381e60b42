"""STATEMENTS: what is easily told in another way than one server tells it: ends of texts, names, types, messages."""
import os
import struct

import pymysql

from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test

from cases.differential import bound, read_answer, send_prepared, send_text
from cases.route import fill


@test("text-ends", "a NUL at the end, comments alone and no text at all")
def text_ends(env):
    fill(env, 8)
    connection, truth = env.client("l3"), env.truth("l3")
    for sql in ("SELECT 1\0", "SELECT 1;\0", "SELECT id FROM orders WHERE id=5\0", "SELECT COUNT(*) FROM orders\0", "SELECT 1\0x", "\0", ";", "",
                "--", "-- nothing", "#", "/* nothing */", "-- nothing\n;", "# first\nSELECT 3"):
        got, expected = (send_text(one, sql, "l3") for one in (connection, truth))
        check_equal((got.kind, got.rows if got.kind == "rows" else ""), (expected.kind, expected.rows if expected.kind == "rows" else ""), repr(sql))


@test("prepare-errors", "PREPARE tells the server's own syntax errors, and MySQL's commands that cannot be prepared")
def prepare_errors(env):
    fill(env, 8)
    connection, truth = env.client("l3"), env.truth("l3")
    for sql in ("SELECT id FROM orders WHER id=1", "SELECT FROM orders", "UPDATE orders SET WHERE id=1", "SAVEPOINT a", "BEGIN", "COMMIT"):
        check_equal(send_prepared(connection, sql, [], "l3").kind, send_prepared(truth, sql, [], "l3").kind, sql)


@test("delete-alias", "DELETE of joined tables by alias and by name, with and without a current schema")
def delete_alias(env):
    env.fresh("l3")
    for schema, name in (("l3", "l3."), (None, "l3.")):
        for target, tables in (("o", f"{name}orders o JOIN {name}order_lines l ON l.order_id=o.id WHERE o.id=5"),
                               ("orders", f"{name}orders JOIN {name}order_lines ON order_id=id WHERE id=6")):
            connection = env.client("l3")
            run(connection, "REPLACE INTO orders(id) VALUES (5),(6)")
            run(connection, "REPLACE INTO order_lines(order_id,line) VALUES (5,1),(6,1)")
            if schema is None and target == "orders":
                continue  # no server knows which schema's table is meant
            check_equal(run(env.client(schema), f"DELETE {target} FROM {tables}")[0], 1, f"{target} of {tables}")
    check_equal(send_prepared(env.client("l3"), "DELETE o FROM orders o JOIN order_lines l ON l.order_id=o.id WHERE o.id=?", [6], "l3").columns[0], 1,
                "prepared")
    env.fresh("l3")
    free = env.client()
    check_equal(error_of(free, "SELECT * FROM notes")[0], 1046, "a session without a schema gets nobody else's")


@test("messages", "Records, Duplicates and Warnings of INSERTs that are split", needs_proxy=True)
def messages(env):
    env.fresh("l3")
    connection, truth = env.client("l3"), env.truth("l3")
    for sql in ("INSERT INTO orders(id,qty) VALUES (1,1),(2,2),(3,3),(9,9)", "INSERT IGNORE INTO orders(id,qty) VALUES (1,1),(2,2),(4,4),(17,1)",
                "REPLACE INTO orders(id,qty) VALUES (1,5),(9,6),(5,5)", "INSERT INTO orders(id,qty) VALUES (1,7),(2,2),(6,6),(9,1) ON DUPLICATE KEY UPDATE qty=7",
                "INSERT INTO orders(id,qty) VALUES (1,8),(2,8),(7,8) ON DUPLICATE KEY UPDATE qty=VALUES(qty)", "UPDATE orders SET qty=8",
                "UPDATE orders SET qty=qty+1 WHERE id IN (1,2,3)"):
        got, expected = (send_text(one, sql, "l3") for one in (connection, truth))
        check_equal(got.columns, expected.columns, sql)
        # MySQL's texts name the actual table.
        got, expected = ([row[:2] for row in ask(one, "SHOW WARNINGS")] for one in (connection, truth))
        check_equal(got, expected, f"warnings of {sql}")


@test("told-types", "types and names of columns are one server's: session functions, schemas in expressions, common tables")
def told_types(env):
    fill(env, 8)
    connection, truth = env.client("l3"), env.truth("l3")
    for sql in ("SELECT id,@@autocommit,CONNECTION_ID() IS NULL,LAST_INSERT_ID(),FOUND_ROWS(),ROW_COUNT() FROM orders",
                "SELECT id,@@autocommit,LAST_INSERT_ID() FROM orders WHERE id=5", "SELECT LAST_INSERT_ID()+1 FROM orders WHERE id=5",
                "SELECT AVG(l3.orders.qty),MAX(l3.orders.qty) FROM l3.orders", "SELECT l3.orders.qty+1 FROM l3.orders WHERE id=5",
                "WITH c AS (SELECT id,qty FROM orders WHERE id=5) SELECT id,qty FROM c", "SELECT id FROM (SELECT id FROM orders WHERE id=5) t",
                "WITH c AS (SELECT id,qty FROM l3.orders WHERE id=5) SELECT c.id,qty+1 FROM c"):
        got, expected = send_text(connection, sql, "l3"), send_text(truth, sql.replace("l3.", "truth_l3."), "l3")
        check_equal(got.kind, "rows", sql)
        told = [(column[0].replace("truth_l3.", "l3."), *column[1:]) for column in expected.columns]
        check_equal(list(got.columns), told, f"columns of {sql}")


@test("prepared-modes", "a prepared statement and sql_mode, and one text in two schemas")
def prepared_modes(env):
    fill(env, 8)
    connection = env.client("l3")
    connection._execute_command(0x16, 'SELECT id,"?" FROM orders WHERE id=?')
    packet = connection._read_packet()
    packet.advance(1)
    statement, columns, count = struct.unpack("<IHH", packet.read(8))
    check_equal(count, 1, "parameters")
    for _ in range(count + 1 + columns + 1):
        connection._read_packet()
    kind, text = bound(5)
    body = struct.pack("<IBI", statement, 0, 1) + b"\0\1" + kind + text

    def execute():
        connection._execute_command(0x17, body)
        try:
            return read_answer(connection, "l3").kind
        except pymysql.err.MySQLError as error:
            return error.args[0]

    check_equal(execute(), "rows", "before")
    run(connection, "SET sql_mode='ANSI_QUOTES'")
    check(execute() in ("rows", 1615), "its text now means something else: as it was, or an error")
    run(connection, "SET sql_mode=''")
    check_equal(execute(), "rows", "after")
    for _ in range(2):
        for mode, expected in (("", [(1, b"id")]), ("ANSI_QUOTES", None)):
            run(connection, f"SET sql_mode='{mode}'")
            answer = send_prepared(connection, 'SELECT "id" FROM orders WHERE id=?', [5], "l3")
            check_equal(answer.columns[0][6], 253 if expected else 8, f"the type of \"id\" under sql_mode '{mode}'")


@test("local-infile", "LOAD DATA LOCAL is refused and leaves the transaction as it was")
def local_infile(env):
    env.fresh("l3")
    connection = env.client("l3", autocommit=False)
    run(connection, "INSERT INTO notes(id,text) VALUES (1,'x')")
    check(error_of(connection, f"LOAD DATA LOCAL INFILE '{os.devnull}' INTO TABLE notes")[0] not in (0, 2013), "an error is told")
    run(connection, "INSERT INTO notes(id,text) VALUES (2,'y')")
    connection.commit()
    check_equal(ask(env.client("l3"), "SELECT id FROM notes ORDER BY id"), [(1,), (2,)], "rows of the transaction")


@test("equal-weights", "strings of one weight are one group and one place in the order, whatever their bytes")
def equal_weights(env):
    env.fresh("mix")
    texts = ["ss", "ß", "SS", "sz", "s", "ss ", "Æ", "ae", "", " ", None]
    env.load("mix", "goods", "id,uni,grp", [(number + 1, text, number % 3) for number, text in enumerate(texts)])
    rows = env.same("mix", "SELECT COUNT(*) FROM goods GROUP BY uni ORDER BY uni", ordered=True)
    check_equal(rows[-2][0], 4, "ss, ß, SS and 'ss ' are one group")
    env.same("mix", "SELECT id FROM goods ORDER BY uni,id", ordered=True)


@test("hidden-transactions", "a procedure that begins or ends a transaction does so for the session", needs_proxy=True)
def hidden_transactions(env):
    env.fresh("l3")
    server = env.cluster.admin(1)
    run(server, "DROP PROCEDURE IF EXISTS l3.begin_work")
    run(server, "DROP PROCEDURE IF EXISTS l3.begin_and_fail")
    run(server, "CREATE PROCEDURE l3.begin_work() BEGIN START TRANSACTION; INSERT INTO l3.notes(text) VALUES ('a'); END")
    run(server, "CREATE PROCEDURE l3.begin_and_fail() BEGIN START TRANSACTION; SIGNAL SQLSTATE '45000'; END")
    before = ask(env.client("l3"), "SELECT COUNT(*) FROM notes")[0][0]
    connection = env.client("l3")
    run(connection, "CALL begin_work()")
    run(connection, "INSERT INTO notes(text) VALUES ('b')")
    run(connection, "COMMIT")
    connection.close()
    check_equal(ask(env.client("l3"), "SELECT COUNT(*) FROM notes")[0][0], before + 2, "what COMMIT confirmed is there")
    connection = env.client("l3")
    error_of(connection, "CALL begin_and_fail()")
    run(connection, "ROLLBACK")
    run(connection, "INSERT INTO notes(text) VALUES ('c')")
    connection.close()
    check_equal(ask(env.client("l3"), "SELECT COUNT(*) FROM notes")[0][0], before + 3, "after ROLLBACK each statement commits by itself")
    run(server, "DROP PROCEDURE l3.begin_work")
    run(server, "DROP PROCEDURE l3.begin_and_fail")
    server.close()
