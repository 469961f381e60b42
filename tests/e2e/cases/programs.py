"""PROTO: clients that nobody here wrote."""
import hashlib
import struct
import time

import pymysql

from harness import clients
from harness.environment import ask, error_of, result_of, run
from harness.registry import check, check_equal, test


@test("cli", "the mariadb command line client: queries, a script, errors, a large result")
def command_line(env):
    env.fresh("l3")

    def cli(text, *arguments):
        return clients.run_cli(env.port, env.account, ["--batch", "--skip-column-names", *arguments], "l3", text)

    status, output, errors = cli("INSERT INTO orders(user_id,qty) VALUES (7,1),(8,2);\nSELECT LAST_INSERT_ID() > 0;\n"
                                 "SELECT user_id,qty FROM orders ORDER BY user_id;\nSHOW WARNINGS;\nstatus\n")
    check_equal((status, errors), (0, ""), "status and errors")
    check_equal(output.splitlines()[:3], ["1", "7\t1", "8\t2"], "output")
    check(env.cluster.version.split("-")[0] in output, "the version announced is the server's own")
    status, _, errors = cli("SELECT nothing FROM orders WHERE id=5")
    check(status == 1 and "1054 (42S22)" in errors, f"an unknown column: {status} {errors}")
    status, output, _ = cli("delimiter //\nSELECT 1 //\nSELECT 'a;b' //\n")
    check_equal((status, output.split()), (0, ["1", "a;b"]), "another delimiter")
    values = ",".join(f"({i},{i})" for i in range(1, 20_001))
    status, output, errors = cli(f"DELETE FROM orders; INSERT INTO orders(id,user_id) VALUES {values}; SELECT id FROM orders ORDER BY id;")
    check_equal((status, errors), (0, ""), "status and errors of a large script")
    check_equal(output.split(), [str(i) for i in range(1, 20_001)], "20,000 rows in order")
    status, output, errors = cli("SELECT 1", "--compress")
    check_equal((status, output.strip()), (0, "1"), f"a client that offers compression: {errors}")


@test("pymysql", "PyMySQL: cursors, unbuffered results, reconnect, change of schema")
def pymysql_client(env):
    env.fresh("l3")
    connection = env.client("l3")
    for i in range(50):
        run(connection, "INSERT INTO orders(user_id,amount,created_at) VALUES (%s,%s,NOW(3))", (i, "1.25"))
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders")
        row = cursor.fetchone()
    check_equal((row["n"], str(row["total"])), (50, "62.50"), "dictionary cursor")
    with connection.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute("SELECT user_id FROM orders ORDER BY user_id")
        first = cursor.fetchone()
        rest = cursor.fetchall()
    check_equal([first, *rest], [(i,) for i in range(50)], "unbuffered cursor")
    connection.ping()
    connection.select_db("l1")
    check_equal(ask(connection, "SELECT DATABASE()"), [("l1",)], "schema after COM_INIT_DB")
    connection.close()
    connection.connect()
    check_equal(ask(connection, "SELECT 1"), [(1,)], "reconnect")
    wrong = dict(host="127.0.0.1", port=env.port, user=env.account["user"], password="wrong")
    try:
        pymysql.connect(**wrong)
    except pymysql.err.OperationalError as error:
        check_equal(error.args[0], 1045, "a wrong password")
    else:
        raise AssertionError("a wrong password was accepted")


@test("mysql2", "Node's mysql2: text and prepared, bulk insert, errors, 20 MB values, 200 queries at once")
def node_mysql2(env):
    env.fresh("l3")
    check_node_session(clients.run_node("mysql2_session", env.port, env.account, "l3"))


def check_node_session(found):
    ids = [int(found[name]["id"]) for name in ("text", "prepared", "nullKey", "many")]
    check(ids == sorted(set(ids)) and ids[0] > 0, f"ids ascend: {ids}")
    check_equal([found["text"]["affected"], found["prepared"]["affected"], found["many"]["affected"]], [1, 1, 3], "affected rows")
    expected = [{"id": found["text"]["id"], "user_id": 7, "amount": "10.25"}]
    for name in ("byText", "byPrepared"):
        rows = [{**row, "id": str(row["id"]), "user_id": int(row["user_id"])} for row in found[name]]
        check_equal(rows, expected, name)
    check_equal(found["again"], [8, 7, 9], "one prepared statement, three keys")
    check_equal([(str(row["one"]), row["two"]) for row in found["noTable"]], [("1", "x")], "a prepared SELECT without FROM")
    check_equal(found["ordered"], [22, 21], "prepared ORDER BY LIMIT over all tables")
    check_equal(found["count"], 6, "prepared COUNT")
    check_equal(found["errors"], [{"errno": 1064, "state": "42000"}, {"errno": 1054, "state": "42S22"}, {"errno": 1062, "state": "23000"}],
                "errors")
    check(found["largeText"] and found["largePrepared"], "20 MB in and out, text and prepared")
    check(found["inOrder"], "200 queries answered in order")
    check_equal(found["multi"], [1, 2, 7], "three statements in one")
    check_equal(found["rolledBack"], 0, "rows after a rollback")
    check_equal(found["afterChangeUser"], "l3", "schema after COM_CHANGE_USER")


@test("npm-mariadb", "npm mariadb: commands sent before earlier answers came")
def node_mariadb(env):
    env.fresh("l3")
    found = clients.run_node("mariadb_pipelining", env.port, env.account, "l3")
    ids = [int(key) for key in found["ids"]]
    check_equal(ids, sorted(set(ids)), "fifty ids")
    check(found["rows"] and found["prepared"], "each found by its id, text and prepared")
    check_equal(found["mixed"], [1, 1064, 3], "an error in the middle of a pipeline")
    check_equal(found["batch"], 3, "rows of a batch")
    check_equal(found["scattered"], [0, 1, 2], "a scattered read")


@test("C51", "C through libmariadb: prepared inserts and selects, long data, statistics, reset, change user")
def libmariadb(env):
    env.fresh("l3")
    output = clients.run_c("session", [env.port, env.account["user"], "l3"], env.account["password"])
    found = dict(line.split(" ", 1) for line in output.splitlines())
    expected = {"insert_parameters": "2", "ascending": "1", "null_key_filled": "1", "prepared_function": "1", "select_parameters": "1",
                "select_columns": "2", "select_types": "8 246", "select_names": "id amount", "select_rows": "2", "prepared_count": "21",
                "pieces": str(20 << 20), "statistics": "1", "variable_after_reset": "-1", "error": "1064 42000", "alive": "42", "done": "1"}
    for name, value in expected.items():
        check_equal(found.get(name), value, name)


@test("C54", "multi-statements switched on and off by COM_SET_OPTION, ten results in one batch")
def multi_statements(env):
    env.fresh("l3")
    output = clients.run_c("session", [env.port, env.account["user"], "l3"], env.account["password"])
    found = dict(line.split(" ", 1) for line in output.splitlines())
    for name, value in {"delete_results": "10", "delete_affected": "10", "insert_results": "10", "insert_ascending": "1",
                        "multi_off_error": "1"}.items():
        check_equal(found.get(name), value, name)


@test("large-values", "20 MB and just around the 16 MB frame, both ways, exact")
def large_values(env):
    env.fresh("l3")
    connection = env.client("l3")
    for size in ((1 << 24) - 60, (1 << 24) - 1, 1 << 24, 20 << 20):
        body = (hashlib.sha256(str(size).encode()).hexdigest().encode() * (size // 64 + 1))[:size]
        _, key = run(connection, "INSERT INTO files(name,body) VALUES ('f',_binary %s)", (body,))
        check_equal(ask(connection, "SELECT LENGTH(body) FROM files WHERE id=%s", (key,)), [(size,)], "stored length")
        got = ask(connection, "SELECT body FROM files WHERE id=%s", (key,))[0][0]
        check(got == body, f"a value of {size} bytes came back as {len(got)} bytes, not the same")
        run(connection, "DELETE FROM files WHERE id=%s", (key,))
    check_equal(ask(connection, "SELECT 1"), [(1,)], "the session after it")


@test("large-result", "100,000 rows from one table")
def large_result(env):
    env.fresh("l3")
    connection = env.client("l3")
    values = ",".join(f"({i * 8 + 3},{i})" for i in range(100_000))
    run(connection, f"INSERT INTO orders(id,user_id) VALUES {values}")
    rows = ask(connection, "SELECT id,user_id FROM orders ORDER BY id")
    check_equal((len(rows), rows[0], rows[-1]), (100_000, (3, 0), (799_995, 99_999)), "rows in order")


@test("pipelining", "three queries in one write, the second wrong: three answers in order")
def pipelined(env):
    env.fresh("l3")
    connection = env.client("l3")
    queries = [b"SELECT 1", b"SELEC 2", b"INSERT INTO orders(user_id) VALUES (7)", b"SELECT COUNT(*) FROM orders", b"SELECT 5"]
    connection._sock.sendall(b"".join(struct.pack("<I", len(query) + 1) + b"\3" + query for query in queries))
    answers = []
    for _ in queries:
        connection._next_seq_id = 1
        try:
            connection._read_query_result()
            answers.append(connection._result.rows[0][0] if connection._result.rows else connection._result.affected_rows)
        except pymysql.err.MySQLError as error:
            answers.append(error.args[0])
    check_equal([int(answer) for answer in answers], [1, 1064, 1, 1, 5], "answers")


@test("idle-slow-reader", "a client that reads slowly holds up nobody, and the proxy's memory stays bounded", needs_proxy=True)
def slow_reader(env):
    env.fresh("l3")
    loader = env.client("l3")
    for i in range(8):
        run(loader, "INSERT INTO files(id,name,body) VALUES (%s,'s',REPEAT('x',4000000))", (i * 8 + 3,))
    slow = env.client("l3", read_timeout=60)
    before = env.proxy.resident_kib()
    query = b"SELECT body FROM files UNION ALL SELECT body FROM files" if env.plain else b"SELECT body FROM files"
    slow._sock.sendall(struct.pack("<I", len(query) + 1) + b"\3" + query)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not waiting_for_client(env):
        time.sleep(0.02)
    check_equal(ask(loader, "SELECT 1"), [(1,)], "another client meanwhile")
    growth = env.proxy.resident_kib() - before
    check(growth < 16 * 1024, f"the proxy grew by {growth} KiB for one slow client")
    slow._next_seq_id = 1
    slow._read_query_result()
    check_equal([len(row[0]) for row in slow._result.rows], [4_000_000] * 8, "the slow client's rows, whole")


def waiting_for_client(env):
    """True when a server stands still because its reader does not read."""
    for number in range(1, 3):
        states = ask(env.admin(number), "SELECT STATE FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT body%%'")
        if any("net" in str(state).lower() or "sending" in str(state).lower() for (state,) in states):
            return True
    return False


@test("kill-query", "KILL QUERY of a session by another, by the ids that CONNECTION_ID() gives")
def kill_query(env):
    connection, other = env.client("l3"), env.client("l3")
    number = ask(connection, "SELECT CONNECTION_ID()")[0][0]
    query = b"SELECT SLEEP(30) AS s FROM orders WHERE id=5 UNION ALL SELECT SLEEP(30)" if env.plain else b"SELECT SLEEP(30)"
    connection._sock.sendall(struct.pack("<I", len(query) + 1) + b"\3" + query)
    begun = time.monotonic()
    deadline = begun + 10
    while time.monotonic() < deadline:
        run(other, f"KILL QUERY {number}")
        connection._sock.settimeout(0.2)
        try:
            first = connection._sock.recv(1, 2)  # MSG_PEEK
        except (TimeoutError, OSError):
            continue
        check(first, "the connection is still open")
        break
    connection._sock.settimeout(20)
    connection._next_seq_id = 1
    try:
        connection._read_query_result()
    except pymysql.err.MySQLError as error:
        check_equal(error.args[0], 1317, "query execution was interrupted")
    check(time.monotonic() - begun < 15, "the query ended early")
    check_equal(ask(connection, "SELECT 1"), [(1,)], "the killed session lives on")
    check_equal(error_of(other, "KILL QUERY 4000000000")[0], 1094, "an unknown session")


@test("metadata", "column names and types are those of one table")
def metadata(env):
    env.fresh("l3")
    run(env.client("l3"), "INSERT INTO orders(id,user_id,amount) VALUES (1,1,1),(2,2,2)")
    run(env.truth("l3"), "INSERT INTO orders(id,user_id,amount) VALUES (1,1,1),(2,2,2)")
    for statement in ("SELECT * FROM orders WHERE id=1", "SELECT * FROM orders", "SELECT o.id AS k, amount*1 FROM orders o WHERE o.id=2",
                      "SELECT * FROM orders WHERE id=99"):
        got, expected = result_of(env.client("l3"), statement), result_of(env.truth("l3"), statement)
        check_equal(got[0], expected[0], f"columns of {statement}")
