"""TXN: transactions over one and several instances, and the session's state."""
import time

import pymysql

from harness.environment import ask, error_of, run
from harness.registry import check, check_equal, test

from cases.route import fill


@test("txn-commit-rollback", "BEGIN, COMMIT, ROLLBACK over several instances")
def commit_rollback(env):
    env.fresh("l3")
    connection, other = env.client("l3"), env.client("l3")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(5,1)")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (7,1)")
    check_equal(ask(connection, "SELECT COUNT(*) FROM orders"), [(3,)], "own rows inside the transaction")
    check_equal(ask(other, "SELECT COUNT(*) FROM orders"), [(0,)], "others see nothing before the commit")
    connection.rollback()
    check_equal(ask(connection, "SELECT COUNT(*) FROM orders"), [(0,)], "after the rollback")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(5,1)")
    connection.commit()
    check_equal(ask(other, "SELECT id FROM orders ORDER BY id"), [(1,), (5,)], "after the commit")


@test("txn-autocommit-off", "autocommit=0, as Python's drivers send it at connect")
def autocommit_off(env):
    env.fresh("l3")
    connection, other = env.client("l3", autocommit=False), env.client("l3")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(6,2)")
    check_equal(ask(other, "SELECT COUNT(*) FROM orders"), [(0,)], "not committed yet")
    connection.rollback()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (2,1)")
    connection.commit()
    check_equal(ask(other, "SELECT id FROM orders"), [(2,)], "committed")
    check_equal(ask(connection, "SELECT @@autocommit"), [(0,)], "the session's own flag")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (3,1)")
    run(connection, "SET autocommit=1")
    check_equal(ask(other, "SELECT COUNT(*) FROM orders"), [(2,)], "switching it on commits")


@test("txn-savepoint", "savepoints are kept or refused")
def savepoint(env):
    env.fresh("l3")
    connection = env.client("l3")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1)")
    try:
        run(connection, "SAVEPOINT s")
    except pymysql.err.MySQLError as refusal:
        check_equal(refusal.args[0], 1235, f"refused by name: {refusal.args}")
        connection.rollback()
        return
    run(connection, "INSERT INTO orders(id,user_id) VALUES (5,1)")
    run(connection, "ROLLBACK TO SAVEPOINT s")
    connection.commit()
    check_equal(ask(connection, "SELECT id FROM orders"), [(1,)], "rows")


@test("txn-disconnect", "a client that goes away leaves nothing behind")
def disconnect(env):
    env.fresh("l3")
    connection = env.client("l3")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1),(5,1)")
    connection._force_close()
    other = env.client("l3")
    # The row locks must be gone: this insert waits for them at most innodb_lock_wait_timeout.
    run(other, "INSERT INTO orders(id,user_id) VALUES (1,2)")
    check_equal(ask(other, "SELECT id,user_id FROM orders"), [(1, 2)], "rows")


@test("txn-isolation", "one-shot and session isolation levels")
def isolation(env):
    fill(env, 8)
    connection, other = env.client("l3"), env.client("l3")
    run(connection, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    connection.begin()
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(5,)], "first read")
    run(other, "UPDATE orders SET qty=50 WHERE id=5")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(50,)], "READ COMMITTED sees the change")
    connection.commit()
    run(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    connection.begin()
    ask(connection, "SELECT qty FROM orders WHERE id=5")
    run(other, "UPDATE orders SET qty=51 WHERE id=5")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(50,)], "REPEATABLE READ does not")
    connection.commit()
    run(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
    connection.begin()
    ask(connection, "SELECT qty FROM orders WHERE id=5")
    run(other, "UPDATE orders SET qty=52 WHERE id=5")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(52,)], "one shot: READ COMMITTED once")
    connection.commit()
    connection.begin()
    ask(connection, "SELECT qty FROM orders WHERE id=5")
    run(other, "UPDATE orders SET qty=53 WHERE id=5")
    check_equal(ask(connection, "SELECT qty FROM orders WHERE id=5"), [(52,)], "and then no more")
    connection.commit()


@test("session-state", "what a session sets holds on every instance and is unseen by others")
def session_state(env):
    env.fresh("l3")
    connection, other = env.client("l3"), env.client("l3")
    run(connection, "SET SESSION time_zone='+05:00'")
    run(connection, "SET SESSION sql_mode='ANSI_QUOTES'")
    for key in (1, 5):  # one on each instance
        run(connection, 'INSERT INTO "orders"("id","created_at") VALUES (%s, FROM_UNIXTIME(0))', (key,))
        check_equal(str(ask(connection, 'SELECT "created_at" FROM "orders" WHERE "id"=%s', (key,))[0][0]), "1970-01-01 05:00:00",
                    f"time zone on the instance of id {key}")
    check_equal(ask(connection, "SELECT @@session.time_zone, @@sql_mode"), [("+05:00", "ANSI_QUOTES")], "as set")
    check(ask(other, "SELECT @@session.time_zone")[0][0] != "+05:00", "another session has its own")
    for _ in range(20):
        check(error_of(env.client("l3"), 'SELECT "id" FROM "orders" WHERE id=1')[0] in (1064, 1054, 1146),
              "a new session starts with its own sql_mode")
        env.close_connections()


@test("C56", "a commit over two instances of which one is gone says what happened", needs_proxy=True)
def commit_without_one(env):
    env.fresh("l3")
    connection = env.client("l3")
    connection.begin()
    run(connection, "INSERT INTO orders(id,user_id) VALUES (1,1)")
    run(connection, "INSERT INTO orders(id,user_id) VALUES (5,1)")
    env.cluster.command("kill", 2)
    try:
        code, message = error_of_call(connection.commit)
        check("instance2" in message, f"the error names the instance: {code} {message}")
    finally:
        env.cluster.command("start", 2)
    fresh = env.client("l3")
    check_equal(retry(lambda: ask(fresh, "SELECT COUNT(*) FROM orders WHERE id=5")), [(0,)], "the lost instance's row")
    check(ask(fresh, "SELECT COUNT(*) FROM orders")[0][0] in (0, 1), "at most the other instance's row")


def error_of_call(call):
    try:
        call()
    except pymysql.err.MySQLError as error:
        return error.args
    raise AssertionError("the call should have failed")


def retry(call, attempts=50):
    """An instance that was away is asked again until the proxy has found it."""
    for attempt in range(attempts):
        try:
            return call()
        except pymysql.err.MySQLError:
            if attempt == attempts - 1:
                raise
            time.sleep(0.1)
    return None
