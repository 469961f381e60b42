"""LIID: the insert id that clients are told."""
import pymysql

from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test


@test("C18", "every way to ask for the last insert id gives the OK packet's, and no server is asked")
def last_insert_id(env):
    env.fresh("l1")
    logged = [] if env.plain else start_logging(env)
    connection = env.client("l1")
    _, key = run(connection, "INSERT INTO orders(user_id) VALUES (7)")
    check(key > 0, f"insert id {key}")
    for statement in ("SELECT LAST_INSERT_ID()", "select last_insert_id();", "SELECT LAST_INSERT_ID() AS k FROM DUAL",
                      "SELECT @@IDENTITY"):
        check_equal(ask(connection, statement), [(key,)], statement)
    if not env.plain:
        check_equal(statements_with(env, logged, "last_insert_id") + statements_with(env, logged, "@@identity"), [],
                    "what the servers were asked")


def start_logging(env):
    connections = [env.admin(number) for number in range(1, 5)]
    for connection in connections:
        run(connection, "SET GLOBAL log_output='TABLE'")
        run(connection, "TRUNCATE TABLE mysql.general_log")
        run(connection, "SET GLOBAL general_log=ON")
    return connections


def statements_with(env, connections, text):
    """Statements on the servers that hold `text`, the tests' own excluded; stops the log."""
    found = []
    for connection in connections:
        run(connection, "SET GLOBAL general_log=OFF")
        for (statement,) in ask(connection, "SELECT CAST(argument AS CHAR) FROM mysql.general_log "
                                "WHERE command_type IN ('Query','Prepare','Execute')"):
            if text in statement.lower() and "general_log" not in statement:
                found.append(statement)
    return found


@test("C19", "the last insert id is the session's own, whichever server the row went to")
def always_the_last(env):
    env.fresh("l1")
    one, two = env.client("l1"), env.client("l1")
    for _ in range(100):
        _, key = run(one, "INSERT INTO orders(user_id) VALUES (7)")
        run(two, "INSERT INTO orders(user_id) VALUES (8)")
        check_equal(ask(one, "SELECT LAST_INSERT_ID()"), [(key,)], "last insert id")


@test("C20", "a multi-row insert reports its first id, whatever the column's definition")
def first_of_many(env):
    for schema in ("l1", "l1a"):
        env.fresh(schema)
        connection = env.client(schema)
        affected, key = run(connection, "INSERT INTO orders(user_id) VALUES (1),(2),(3)")
        check_equal(affected, 3, "affected rows")
        rows = ask(connection, "SELECT id FROM orders ORDER BY id")
        check_equal(rows[0], (key,), f"{schema}: the first id")
        check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], f"{schema}: last insert id")


@test("C21", "keys that a driver computes from the first one and the increment are the stored ones")
def computed_keys(env):
    env.fresh("l1")
    connection = env.client("l1")
    increment = int(ask(connection, "SELECT @@auto_increment_increment")[0][0])
    for _ in range(20):
        env.fresh("l1")
        values = ",".join(f"({i})" for i in range(10))
        _, key = run(connection, f"INSERT INTO orders(user_id) VALUES {values}")
        stored = ask(connection, "SELECT id,user_id FROM orders ORDER BY id")
        check_equal(stored, [(key + i * increment, i) for i in range(10)], "ten keys")


@test("C23", "ON DUPLICATE KEY UPDATE: a new row's id is reported, a burnt one is not", needs_proxy=True)
def upsert(env):
    env.fresh("l2")
    connection = env.client("l2")
    statement = "INSERT INTO orders(user_id,ref_no,amount) VALUES (7,'A',1) ON DUPLICATE KEY UPDATE amount=amount+1"
    affected, key = run(connection, statement)
    check_equal(affected, 1, "affected rows of the new row")
    check_equal(ask(connection, "SELECT id,amount FROM orders WHERE user_id=7")[0][0], key, "the stored id")
    affected, second = run(connection, statement)
    check_equal(affected, 2, "affected rows of the changed row")
    rows = ask(connection, "SELECT id,CAST(amount AS CHAR) FROM orders WHERE user_id=7")
    check_equal(rows, [(key, "2.00")], "one row, changed, with its first id")
    check(second in (0, key), f"insert id {second} is neither 0 nor the row's {key}")
    check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], "the function's value is unchanged")


@test("C25", "inside a transaction each insert has its own id")
def in_transaction(env):
    env.fresh("l1")
    connection = env.client("l1")
    connection.begin()
    keys = []
    for _ in range(3):
        _, key = run(connection, "INSERT INTO orders(user_id) VALUES (7)")
        check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], "last insert id")
        keys.append(key)
    connection.commit()
    check_equal(keys, sorted(set(keys)), "three different ids")
    check_equal(ask(connection, "SELECT id FROM orders ORDER BY id"), [(key,) for key in keys], "rows")


@test("C26", "a table keyed by text has no insert id")
def text_key(env):
    env.fresh("l3")
    connection = env.client("l3")
    affected, key = run(connection, "INSERT INTO labels(code,text) VALUES ('red','a colour')")
    check_equal((affected, key), (1, 0), "affected rows, insert id")
    check_equal(ask(connection, "SELECT text FROM labels WHERE code='red'"), [("a colour",)], "found by its key")


@test("last-insert-id-as-value", "LAST_INSERT_ID() as the value of a sharding column")
def as_sharding_value(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, key = run(connection, "INSERT INTO orders(user_id) VALUES (7)")
    run(connection, "INSERT INTO order_lines(order_id,line,sku) VALUES (LAST_INSERT_ID(),1,'a'),(LAST_INSERT_ID(),2,'b')")
    check_equal(ask(connection, "SELECT order_id,line FROM order_lines WHERE order_id=LAST_INSERT_ID() ORDER BY line"),
                [(key, 1), (key, 2)], "lines of the order")
    if not env.plain:
        check_equal(list(env.rows_by_slot("l3", "order_lines")), list(env.rows_by_slot("l3")), "slots of order and lines")


@test("explicit-insert-id", "an explicit key leaves the function's value alone")
def explicit_key(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, key = run(connection, "INSERT INTO orders(user_id) VALUES (7)")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (4611686018427387907,7)")
    check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], "last insert id")
    check_equal(error_of(connection, "INSERT INTO orders(id,user_id) VALUES (4611686018427387907,7)")[0], 1062,
                "a duplicate key")
    check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(key,)], "last insert id after the error")
    with connection.cursor(pymysql.cursors.Cursor) as cursor:
        cursor.execute("SELECT LAST_INSERT_ID(42)")
        cursor.fetchall()
    check_equal(ask(connection, "SELECT LAST_INSERT_ID()"), [(42,)], "the value that LAST_INSERT_ID(expr) set")
