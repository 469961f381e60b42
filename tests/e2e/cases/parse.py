"""PARSE: statements that proxies stumble over."""
import pymysql

from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test

from cases.route import fill


@test("C49", "upserts in every spelling reach the row's table, parameters in their order")
def upsert_spellings(env):
    env.fresh("l3")
    connection = env.client("l3")
    run(connection, "INSERT INTO orders(id,qty) VALUES (5,1)")
    run(connection, "INSERT INTO orders(id,qty) VALUES (5,7) ON DUPLICATE KEY UPDATE qty=VALUES(qty)")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(7,)], "VALUES(qty)")
    run(connection, "INSERT INTO orders(id,qty) VALUES (%s,%s) ON DUPLICATE KEY UPDATE qty=%s+qty", (5, 1, 100))
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(107,)], "a parameter and the column")
    statement = "INSERT INTO orders(id,qty) VALUES (5,11) AS n ON DUPLICATE KEY UPDATE qty=n.qty"
    if env.kind == "mysql":
        run(connection, statement)
        check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(11,)], "the row alias")
    else:
        error_of(connection, statement)
        check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(107,)], "MariaDB has no row alias")


@test("C50", "statements that drivers send at connect and in passing")
def passing(env):
    connection = env.client("l3")
    for statement in ("BEGIN;", "COMMIT ;", "SET SESSION wait_timeout=600", "SET NAMES utf8mb4", "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'",
                      "SET @@session.sql_mode=@@session.sql_mode", "SET autocommit=1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                      "SET character_set_results=NULL", "SET character_set_results=utf8mb4", "USE l3", "SELECT 1;", "/* c */ SELECT 1 -- end",
                      "# only a comment\nSELECT 1", "ROLLBACK", "START TRANSACTION", "COMMIT", "SET time_zone='+00:00'", "SHOW WARNINGS"):
        result_or_nothing(connection, statement)
    if env.kind == "mysql":
        result_or_nothing(connection, "/*!50708 SET max_execution_time=5000 */")
    check(ask(connection, "SELECT @@version_comment LIMIT 1")[0][0], "version comment")
    check_equal(ask(connection, "SELECT INSERT('abcd',2,1,'x')"), [("axcd",)], "a function called INSERT")
    check_equal(ask(connection, "SELECT 'a''b', \"c\", 'd\\'e', N'f', _utf8mb4'g', 0x41, x'42', b'01000011'")[0][:2], ("a'b", "c"),
                "literals")
    for statement in ("SHOW VARIABLES LIKE 'sql_mode'", "SHOW SESSION STATUS LIKE 'Threads_connected'", "SHOW COLLATION LIKE 'utf8mb4_bin'",
                      "SELECT @@session.auto_increment_increment AS auto_increment_increment", "SHOW ENGINES", "SELECT DATABASE()",
                      "SELECT CONNECTION_ID()", "SELECT VERSION()"):
        check(ask(connection, statement), statement)
    check_equal(ask(connection, "SELECT DATABASE()"), [("l3",)], "the schema's own name")


def result_or_nothing(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


@test("comments", "comments and strings that hold quotes, semicolons and table names")
def comments(env):
    fill(env, 16)
    for statement in ("SELECT id FROM orders /* orders ' */ WHERE id=5", "SELECT id -- it's\nFROM orders WHERE id=5",
                      "SELECT 'FROM orders WHERE id=6', id FROM orders WHERE id=5", "SELECT `id` FROM `orders` WHERE id=5 AND 'a;b'='a;b'",
                      "SELECT /*+ MAX_EXECUTION_TIME(1000) */ id FROM orders WHERE id=5", "SELECT id FROM orders WHERE id=/*6*/5",
                      "SELECT id FROM orders WHERE ref_no IS NULL AND id=5 # done", "SELECT/**/id/**/FROM/**/orders/**/WHERE/**/id=5",
                      "SELECT id FROM orders WHERE id=5--\t1", "SELECT id FROM orders WHERE id=5 /*! AND 1=1 */"):
        check_equal(env.same("l3", statement)[0][-1], 5, statement)


@test("injection", "where a string ends, the proxy and the server agree")
def string_ends(env):
    env.fresh("l3")
    connection, truth = env.client("l3"), env.truth("l3")
    texts = ["it's", 'say "hi"', "back\\slash", "\\'", "''", "a\0b", "line\nfeed", "tab\t", "ünï", "日本", "😀", "%_", "--", "/*", "#", ";", "\x1a"]
    for key, text in enumerate(texts, 1):
        for one in (connection, truth):
            run(one, "INSERT INTO orders(id,ref_no) VALUES (%s,%s)", (key, text))
    rows = env.same("l3", "SELECT id,ref_no FROM orders ORDER BY id", ordered=True)
    check_equal([row[1] for row in rows], texts, "the texts as they were sent")
    for one in (connection, truth):
        run(one, "SET SESSION sql_mode='NO_BACKSLASH_ESCAPES'")
        run(one, "INSERT INTO orders(id,ref_no) VALUES (101,'a\\'),(102,'b''c')")
        run(one, "SET SESSION sql_mode='ANSI_QUOTES'")
        run(one, 'INSERT INTO "orders"("id","ref_no") VALUES (103,\'d"e\')')
    rows = env.same("l3", "SELECT id,ref_no FROM orders WHERE id>100 ORDER BY id", ordered=True)
    check_equal(rows, [(101, "a\\"), (102, "b'c"), (103, 'd"e')], "texts under other SQL modes")


@test("charset-gbk", "a character whose second byte is a backslash does not end the escape")
def gbk(env):
    env.fresh("l3")
    options = {"charset": "gbk"}
    connection, truth = env.client("l3", **options), env.truth("l3")
    run(connection, "INSERT INTO orders(id,ref_no) VALUES (5,%s)", ("誠實",))
    run(truth, "INSERT INTO orders(id,ref_no) VALUES (5,%s)", ("誠實",))
    raw = b"INSERT INTO orders(id,ref_no) VALUES (6,'" + "誠".encode("gbk") + b"'),(7,'x')"
    connection.query(raw)
    check_equal(ask(connection, "SELECT id,ref_no FROM orders ORDER BY id"), [(5, "誠實"), (6, "誠"), (7, "x")], "rows")
    check_equal(ask(env.client("l3"), "SELECT ref_no FROM orders WHERE id=5"), [("誠實",)], "read in another charset")


@test("errors", "errors carry the server's number and state, and the session lives on")
def errors(env):
    fill(env, 8)
    connection = env.client("l3")
    for statement, code in (("SELEC 1", 1064), ("SELECT nothing FROM orders WHERE id=5", 1054), ("SELECT * FROM missing", 1146),
                            ("INSERT INTO orders(id,user_id) VALUES (5,1)", 1062), ("SELECT * FROM orders WHERE", 1064),
                            ("INSERT INTO orders(id,nothing) VALUES (1,1)", 1054), ("USE nowhere_at_all", 1049),
                            ("SELECT nothing FROM orders", 1054), ("", 1065)):
        got = error_of(connection, statement)
        # Accounts with fewer rights are told 1044 of a schema that does not exist.
        check(got[0] == code or (code == 1049 and got[0] == 1044), f"{statement!r}: expected {code}, got {got}")
        check_equal(ask(connection, "SELECT 1"), [(1,)], "the session after the error")
    try:
        env.client("nowhere_at_all")
    except pymysql.err.MySQLError as error:
        check(error.args[0] in (1044, 1049), f"connecting to a schema that does not exist: {error.args}")
    else:
        raise AssertionError("connecting to a schema that does not exist worked")
