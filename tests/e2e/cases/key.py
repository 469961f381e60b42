"""KEY: what key the proxy fills in, and when."""
import threading
import time

from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test


@test("C01", "ids at a low rate spread over the tables", needs_proxy=True)
def low_rate(env):
    env.fresh("l1")
    connection = env.client("l1")
    ids = []
    for _ in range(100):
        affected, key = run(connection, "INSERT INTO orders(user_id,amount) VALUES (7,10)")
        check_equal(affected, 1, "affected rows")
        ids.append(key)
        time.sleep(0.02)
    check_equal(ids, sorted(set(ids)), "ids in strictly ascending order")
    counts = {slot: len(rows) for slot, rows in env.rows_by_slot("l1").items()}
    check_equal(sum(counts.values()), 100, "rows in all tables")
    check(len(counts) >= 95, f"100 rows hit only {len(counts)} of 128 tables")
    check(max(counts.values()) <= 3, f"one table holds {max(counts.values())} of 100 rows")


@test("C10", "many threads at once get distinct ids")
def many_threads(env):
    env.fresh("l1")
    threads, each = 16, 250
    ids, failures = [], []

    def work(connection):
        try:
            for _ in range(each):
                ids.append(run(connection, "INSERT INTO orders(user_id) VALUES (1)")[1])
        except Exception as error:  # told to the main thread, which fails the test
            failures.append(error)

    workers = [threading.Thread(target=work, args=(env.client("l1"),)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check_equal(failures, [], "errors of the threads")
    check_equal(len(set(ids)), threads * each, "distinct ids")
    check_equal(ask(env.client("l1"), "SELECT COUNT(*) FROM orders"), [(threads * each,)], "rows")


@test("C11", "NULL, DEFAULT, 0 and an omitted key are filled, an explicit one is kept")
def null_is_filled(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, first = run(connection, "INSERT INTO orders(id,user_id) VALUES (NULL,7)")
    _, second = run(connection, "INSERT INTO orders(id,user_id) VALUES (DEFAULT,7)")
    _, third = run(connection, "INSERT INTO orders(id,user_id) VALUES (0,7)")
    _, fourth = run(connection, "INSERT INTO orders SET user_id=7")
    check(0 < first < second < third < fourth, f"four filled keys: {first} {second} {third} {fourth}")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (4611686018427387905,8)")
    rows = ask(connection, "SELECT id FROM orders WHERE user_id=8")
    check_equal(rows, [(4611686018427387905,)], "an explicit id is stored as it is")
    run(connection, "SET SESSION sql_mode=CONCAT(@@sql_mode,',NO_AUTO_VALUE_ON_ZERO')" if env.plain else
        "SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES'")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (0,9)")
    check_equal(ask(connection, "SELECT id FROM orders WHERE user_id=9"), [(0,)],
                "with NO_AUTO_VALUE_ON_ZERO a zero is a value")


@test("C13", "a negative explicit id: an error, or stored where it is found again; never a wrapped insert id")
def negative_id(env):
    env.fresh("l3")
    connection = env.client("l3")
    try:
        _, key = run(connection, "INSERT INTO orders(id,user_id) VALUES (-3,7)")
    except Exception as error:
        check(getattr(error, "args", [0])[0] > 1000, f"a MySQL error: {error!r}")
        check_equal(ask(connection, "SELECT COUNT(*) FROM orders"), [(0,)], "rows after the error")
        return
    if not env.plain:
        check_equal(key, 0, "insert id of an explicit negative key")
    check_equal(ask(connection, "SELECT id,user_id FROM orders WHERE id=-3"), [(-3, 7)], "found by its id")
    if not env.plain:
        check_equal(list(env.rows_by_slot("l3")), [5], "slot by non-negative remainder of 8")


@test("C15", "INSERT without a column list")
def no_column_list(env):
    env.fresh("l3")
    connection = env.client("l3")
    _, key = run(connection, "INSERT INTO orders VALUES (NULL,7,10.5,3,'eu','A-1','2026-01-02 03:04:05.678')")
    rows = ask(connection, "SELECT id,user_id,amount,qty,region,ref_no,CAST(created_at AS CHAR) FROM orders WHERE id=%s",
               (key,))
    check_equal([tuple(map(str, row)) for row in rows],
                [(str(key), "7", "10.50", "3", "eu", "A-1", "2026-01-02 03:04:05.678")], "the row, every column in place")
    code, message = error_of(connection, "INSERT INTO orders VALUES (NULL,7)")
    check_equal(code, 1136, f"column count does not match: {message}")


@test("C17", "no generator and no key: an error, and no row anywhere", needs_proxy=True)
def no_generator(env):
    env.fresh("bare")
    connection = env.client("bare")
    code, message = error_of(connection, "INSERT INTO orders(user_id) VALUES (7)")
    check(code > 0 and "id" in message, f"the message names the column: {code} {message}")
    check_equal(env.rows_by_slot("bare"), {}, "rows in any table")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (11,7)")
    check_equal(list(env.rows_by_slot("bare")), [3], "slot of an explicit 11 of 8")


@test("insert-unresolved", "a row that does not name exactly one table is an error and writes nothing", needs_proxy=True)
def unresolved_row(env):
    env.fresh("l3")
    connection = env.client("l3")
    error_of(connection, "INSERT INTO orders(id,user_id) VALUES (5,1),(id+1,2)")
    error_of(connection, "INSERT INTO orders(id,user_id) VALUES (5,1),('7.5',2)")
    error_of(connection, "INSERT INTO orders(id,user_id) SELECT id+1,user_id FROM order_lines")
    check_equal(env.rows_by_slot("l3"), {}, "rows in any table")


@test("unique-scope", "with a unique key that holds per table only, what would rely on it is refused by name",
      needs_proxy=True)
def unique_per_table(env):
    env.fresh("l1u")
    connection = env.client("l1u")
    run(connection, "INSERT INTO orders(user_id,ref_no) VALUES (7,'A')")
    for statement in ("INSERT INTO orders(user_id,ref_no) VALUES (7,'A') ON DUPLICATE KEY UPDATE amount=1",
                      "REPLACE INTO orders(user_id,ref_no) VALUES (7,'A')",
                      "INSERT IGNORE INTO orders(user_id,ref_no) VALUES (7,'A')"):
        code, message = error_of(connection, statement)
        check_equal(code, 1235, f"{statement}: {message}")
        check("ref" in message, f"the message names the key: {message}")
    check_equal(ask(connection, "SELECT COUNT(*) FROM orders"), [(1,)], "rows")


@test("even-fill", "12,800 one-row inserts at full speed fill 128 tables evenly", needs_proxy=True)
def even_fill(env):
    env.fresh("l1")
    connection = env.client("l1")
    connection.begin()
    for _ in range(12_800):
        run(connection, "INSERT INTO orders(user_id) VALUES (1)")
    connection.commit()
    counts = [len(rows) for rows in env.rows_by_slot("l1", columns="id").values()]
    check_equal(len(counts), 128, "tables with rows")
    # As even as random draws at the least (five standard deviations); better the slower the rows come.
    check(max(counts) <= 150 and min(counts) >= 50, f"fullest {max(counts)}, emptiest {min(counts)}, mean 100")
