"""MERGE: results put together from several tables equal those of one, or are refused by name."""
from harness.environment import ask, run
from harness.registry import check, check_equal, test

from cases.route import fill


@test("C41", "ORDER BY a number is in number order")
def order_by_number(env):
    env.fresh("l3")
    env.load("l3", "orders", "id,qty", [(1, 9), (2, 10), (3, 99), (4, 999), (5, 9989), (6, None)])
    rows = env.same("l3", "SELECT qty FROM orders ORDER BY qty DESC LIMIT 3", ordered=True)
    check_equal(rows, [(9989,), (999,), (99,)], "the three largest")
    env.same("l3", "SELECT qty FROM orders ORDER BY qty LIMIT 3", ordered=True)
    env.same("l3", "SELECT id,qty FROM orders ORDER BY qty DESC, id", ordered=True)


@test("C43", "COUNT with a LIMIT")
def count_limit(env):
    fill(env)
    check_equal(env.same("l3", "SELECT COUNT(*) FROM orders LIMIT 1"), [(64,)], "LIMIT 1")
    check_equal(env.same("l3", "SELECT COUNT(*) FROM orders LIMIT 0"), [], "LIMIT 0")


@test("aggregates", "COUNT, SUM, MIN, MAX and AVG, grouped and not, with exact decimals")
def aggregates(env):
    fill(env)
    for statement in ("SELECT COUNT(*),COUNT(region),SUM(amount),MIN(amount),MAX(amount),AVG(amount) FROM orders",
                      "SELECT SUM(qty),AVG(qty),MIN(qty),MAX(qty) FROM orders",
                      "SELECT COUNT(*),SUM(amount),AVG(amount),MIN(id) FROM orders WHERE id>100000",
                      "SELECT COUNT(*) AS n FROM orders WHERE user_id=3",
                      "SELECT MIN(created_at),MAX(created_at) FROM orders"):
        env.same("l3", statement)
    for statement in ("SELECT user_id,COUNT(*),SUM(amount),AVG(qty) FROM orders GROUP BY user_id",
                      "SELECT qty,MIN(id),MAX(id) FROM orders GROUP BY qty ORDER BY qty",
                      "SELECT qty,COUNT(*) c FROM orders GROUP BY qty ORDER BY qty DESC LIMIT 4",
                      "SELECT user_id,qty,COUNT(*) FROM orders GROUP BY user_id,qty",
                      "SELECT COUNT(*) FROM orders GROUP BY user_id"):
        env.same("l3", statement)


@test("order-limit", "ORDER BY with LIMIT and OFFSET, several keys, both directions, NULL first")
def order_limit(env):
    fill(env)
    for statement in ("SELECT id FROM orders ORDER BY id", "SELECT id FROM orders ORDER BY id DESC LIMIT 7",
                      "SELECT id FROM orders ORDER BY id LIMIT 5 OFFSET 20", "SELECT id FROM orders ORDER BY id LIMIT 20,5",
                      "SELECT qty,id FROM orders ORDER BY qty,id DESC LIMIT 30", "SELECT id,amount FROM orders ORDER BY amount DESC,id LIMIT 9",
                      "SELECT id,created_at FROM orders ORDER BY created_at,id LIMIT 11",
                      "SELECT user_id AS u,id FROM orders ORDER BY u DESC,id", "SELECT user_id,id FROM orders ORDER BY 1,2 LIMIT 12",
                      "SELECT id FROM orders ORDER BY user_id,id LIMIT 10", "SELECT id FROM orders ORDER BY id LIMIT 1000",
                      "SELECT id FROM orders ORDER BY id LIMIT 0", "SELECT * FROM orders ORDER BY id LIMIT 3"):
        env.same("l3", statement, ordered=True)
    rows = env.same("l3", "SELECT COUNT(*) FROM orders")
    check_equal(rows, [(64,)], "all rows")
    got = ask(env.client("l3"), "SELECT id FROM orders LIMIT 10")
    check_equal(len(got), 10, "LIMIT without ORDER BY")


@test("C44", "DISTINCT in its forms: right or refused")
def distinct(env):
    fill(env)
    for statement in ("SELECT DISTINCT region, COUNT(*) FROM orders GROUP BY region", "SELECT COUNT(DISTINCT user_id) FROM orders",
                      "SELECT SUM(DISTINCT qty) FROM orders", "SELECT DISTINCT user_id FROM orders", "SELECT DISTINCT region FROM orders"):
        env.same_or_refused("l3", statement, any_case=True)


@test("C45", "HAVING and AVG on merged sums: right or refused")
def having(env):
    fill(env)
    env.same_or_refused("l3", "SELECT region, AVG(amount) a FROM orders GROUP BY region HAVING SUM(amount)>100 ORDER BY a",
                        ordered=True)


@test("refused-or-right", "what needs more than a merge is right or refused, never wrong")
def refused_or_right(env):
    fill(env)
    answered = 0
    for statement in ("SELECT SUM(amount)/COUNT(*) FROM orders", "SELECT SUM(qty)+1 FROM orders", "SELECT ROUND(AVG(amount),1) FROM orders",
                      "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM orders", "SELECT GROUP_CONCAT(id ORDER BY id) FROM orders",
                      "SELECT STDDEV(qty) FROM orders", "SELECT region FROM orders ORDER BY region", "SELECT region,COUNT(*) FROM orders GROUP BY region",
                      "SELECT id FROM orders WHERE qty=(SELECT MAX(qty) FROM orders)", "SELECT * FROM (SELECT id,qty FROM orders) t WHERE qty=3",
                      "SELECT id FROM orders UNION SELECT order_id FROM order_lines", "WITH c AS (SELECT id FROM orders) SELECT COUNT(*) FROM c",
                      "SELECT id FROM orders ORDER BY qty*2,id", "SELECT user_id FROM orders GROUP BY user_id ORDER BY COUNT(*),user_id",
                      "SELECT MAX(region) FROM orders", "SELECT user_id FROM orders GROUP BY user_id WITH ROLLUP",
                      "SELECT 1 FROM orders", "SELECT id+0 FROM orders", "SELECT COUNT(*)>5 FROM orders", "SELECT BIT_OR(id) FROM orders",
                      "SELECT id FROM orders ORDER BY RAND()" if env.plain else "SELECT id FROM orders ORDER BY id+0"):
        if "RAND()" not in statement:
            answered += env.same_or_refused("l3", statement)
    check(answered > 0, "none of these was answered: is everything refused?")


@test("C47", "a deep OFFSET streams and is exact")
def deep_offset(env):
    env.fresh("l3")
    rows = [(i, i % 100) for i in range(1, 40_001)]
    env.load("l3", "orders", "id,qty", rows, batch=4000)
    check_equal(env.same("l3", "SELECT id FROM orders ORDER BY id LIMIT 5 OFFSET 30000", ordered=True),
                [(i,) for i in range(30_001, 30_006)], "five ids")
    if not env.plain:
        before = env.proxy.resident_kib()
        check_equal(len(ask(env.client("l3"), "SELECT id,qty FROM orders ORDER BY id")), 40_000, "all rows in order")
        check(env.proxy.resident_kib() - before < 64 * 1024, "the merge held its rows instead of streaming them")


@test("large-scatter", "100,000 rows through a merge, in order")
def large_scatter(env):
    env.fresh("l1")
    connection = env.client("l1")
    for start in range(0, 100_000, 5000):
        values = ",".join(f"({i},{i % 97},'x')" for i in range(start + 1, start + 5001))
        run(connection, f"INSERT INTO orders(id,user_id,region) VALUES {values}")
    rows = ask(connection, "SELECT id,user_id FROM orders ORDER BY id")
    check_equal(len(rows), 100_000, "rows")
    check(all(row == (i, i % 97) for i, row in enumerate(rows, 1)), "every row in its place")
    for _ in range(4):  # more than the buffers hold, and no order to wait for: rows wait for the client at the end
        check_equal(len(set(ask(connection, "SELECT id,user_id FROM orders"))), 100_000, "rows without an order")
    check_equal(ask(connection, "SELECT COUNT(*),SUM(user_id) FROM orders")[0][0], 100_000, "count")


@test("distinct", "SELECT DISTINCT of columns over all tables")
def distinct(env):
    fill(env)
    for statement in ("SELECT DISTINCT region FROM orders", "SELECT DISTINCT user_id,region FROM orders", "SELECT DISTINCT qty,qty,1 FROM orders",
                      "SELECT DISTINCT created_at FROM orders", "SELECT DISTINCT amount FROM orders WHERE id>20", "SELECT DISTINCT o.qty FROM orders o"):
        check(env.same_or_refused("l3", statement, any_case=True), f"{statement} is answered")
    for statement in ("SELECT DISTINCT qty FROM orders ORDER BY qty DESC", "SELECT DISTINCT user_id,qty FROM orders ORDER BY qty,user_id DESC LIMIT 7",
                      "SELECT DISTINCT qty AS q FROM orders ORDER BY q LIMIT 2,3"):
        check(env.same_or_refused("l3", statement, ordered=True), f"{statement} is answered")


@test("bound-joins", "joins of bound tables over all slots, inner and outer, plain, ordered and counted")
def bound_joins(env):
    env.fresh("l3")
    fill(env)
    env.load("l3", "order_lines", "order_id,line,sku", [(key, line, f"s{key % 7}") for key in range(1, 90, 2) for line in range(1, 2 + key % 3)])
    for statement in ("SELECT o.id,l.line FROM orders o JOIN order_lines l ON l.order_id=o.id", "SELECT * FROM orders o LEFT JOIN order_lines l ON l.order_id=o.id",
                      "SELECT o.id,l.sku FROM order_lines l RIGHT JOIN orders o ON l.order_id=o.id AND l.order_id=5",
                      "SELECT o.qty,l.* FROM orders o, order_lines l WHERE o.id=l.order_id AND l.line>1",
                      "SELECT COUNT(*),SUM(l.line),MIN(o.qty),AVG(o.amount) FROM orders o JOIN order_lines l ON l.order_id=o.id",
                      "SELECT l.sku,COUNT(*),MAX(o.qty) FROM orders o JOIN order_lines l ON l.order_id=o.id GROUP BY l.sku",
                      "SELECT a.id,b.id FROM orders a JOIN orders b ON a.id=b.id", "SELECT DISTINCT l.sku FROM orders o JOIN order_lines l ON l.order_id=o.id",
                      "SELECT o.id FROM orders o LEFT JOIN order_lines l ON l.order_id=o.id WHERE l.line IS NULL"):
        check(env.same_or_refused("l3", statement), f"{statement} is answered")
    for statement in ("SELECT o.id,l.line,o.region FROM orders o JOIN order_lines l ON l.order_id=o.id ORDER BY o.region DESC,o.id,l.line LIMIT 20",
                      "SELECT * FROM orders o JOIN order_lines l ON l.order_id=o.id ORDER BY l.sku,o.id,l.line LIMIT 5,9",
                      "SELECT line,COUNT(*) FROM orders o JOIN order_lines l ON l.order_id=o.id GROUP BY line ORDER BY line DESC"):
        check(env.same_or_refused("l3", statement, ordered=True), f"{statement} is answered")
    for statement in ("SELECT o.id FROM orders o JOIN order_lines l ON l.user_id=o.user_id", "SELECT a.id FROM orders a JOIN orders b ON a.qty=b.qty",
                      "SELECT * FROM orders a JOIN orders b ON a.id=b.id ORDER BY 2"):
        env.same_or_refused("l3", statement)
