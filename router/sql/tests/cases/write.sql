INSERT INTO orders (id, qty) VALUES (NULL, 1), (DEFAULT, ?)
----
insert words="insert into" [INSERT INTO orders (id, qty) VALUES (NULL, 1), (DEFAULT, ?)]
parameters 1
tables orders
  into orders
  column_list [(id, qty)]
  has_column_list
  columns id qty
  row [(NULL, 1)]
    null [NULL]
    literal [1]
  row [(DEFAULT, ?)]
    default [DEFAULT]
    parameter 0 [?]
====
INSERT INTO t SET a = 1, b = LAST_INSERT_ID()
----
insert words="insert into" [INSERT INTO t SET a = 1, b = LAST_INSERT_ID()]
tables t
calls last_insert_id
  into t
  columns a b
  set column=a [a = 1]
    literal [1]
  set column=b [b = LAST_INSERT_ID()]
    function last_insert_id [LAST_INSERT_ID()]
====
INSERT IGNORE INTO s.t SELECT * FROM u ON DUPLICATE KEY UPDATE a = VALUES(a), t.b = ? + b
----
insert words="insert ignore into" [INSERT IGNORE INTO s.t SELECT * FROM u ON DUPLICATE KEY UPDATE a = VALUES(a), t.b = ? + b]
parameters 1
tables s.t u
  into s.t ignore
  query [SELECT * FROM u]
    select [SELECT * FROM u]
      list [*]
      item [*]
        star [*]
      from [u]
      table u [u]
  on_duplicate [ON DUPLICATE KEY UPDATE a = VALUES(a), t.b = ? + b]
  update column=a [a = VALUES(a)]
    values_of [VALUES(a)]
      column column=a [a]
  update table=t column=b [t.b = ? + b]
    binary [? + b]
      parameter 0 [?]
      column column=b [b]
====
REPLACE INTO t VALUES ()
----
insert words="replace into" [REPLACE INTO t VALUES ()]
tables t
  into t replace
  row [()]
====
INSERT INTO t (a) VALUES (1) RETURNING id, a AS b
----
insert words="insert into" [INSERT INTO t (a) VALUES (1) RETURNING id, a AS b]
tables t
  into t
  column_list [(a)]
  has_column_list
  columns a
  row [(1)]
    literal [1]
  returning [RETURNING id, a AS b]
  item [id]
    column column=id [id]
  item alias=b [a AS b]
    column column=a [a]
====
#: rules mysql
INSERT INTO orders (id, qty) VALUES (5, 1) AS n (i, q) ON DUPLICATE KEY UPDATE qty = n.qty
----
insert words="insert into" [INSERT INTO orders (id, qty) VALUES (5, 1) AS n (i, q) ON DUPLICATE KEY UPDATE qty = n.qty]
tables orders
  into orders
  column_list [(id, qty)]
  has_column_list
  columns id qty
  row [(5, 1)]
    literal [5]
    literal [1]
  row_alias n
  column_aliases i q
  on_duplicate [ON DUPLICATE KEY UPDATE qty = n.qty]
  update column=qty [qty = n.qty]
    column table=n column=qty [n.qty]
====
UPDATE LOW_PRIORITY IGNORE t SET a = a + 1, b = DEFAULT WHERE id IN (1, 2) ORDER BY id LIMIT 3
----
update words="update low_priority ignore" [UPDATE LOW_PRIORITY IGNORE t SET a = a + 1, b = DEFAULT WHERE id IN (1, 2) ORDER BY id LIMIT 3]
tables t
  update ignore low_priority
  table t [t]
  set column=a [a = a + 1]
    binary [a + 1]
      column column=a [a]
      literal [1]
  set column=b [b = DEFAULT]
    default [DEFAULT]
  where: in_list [id IN (1, 2)]
    column column=id [id]
    literal [1]
    literal [2]
  order [id]
    column column=id [id]
  limit [LIMIT 3]
    count: literal [3]
====
UPDATE t JOIN u ON t.id = u.id SET t.a = (SELECT MAX(x) FROM v)
----
update words="update" [UPDATE t JOIN u ON t.id = u.id SET t.a = (SELECT MAX(x) FROM v)]
tables t u v
  update multi_table
  join inner [t JOIN u ON t.id = u.id]
    table t [t]
    table u [u]
    on: binary [t.id = u.id]
      column table=t column=id [t.id]
      column table=u column=id [u.id]
  set table=t column=a [t.a = (SELECT MAX(x) FROM v)]
    subquery [(SELECT MAX(x) FROM v)]
      query [SELECT MAX(x) FROM v]
        select [SELECT MAX(x) FROM v]
          list [MAX(x)]
          item [MAX(x)]
            aggregate max [MAX(x)]
              column column=x [x]
          from [v]
          table v [v]
====
DELETE FROM t WHERE id = 5 ORDER BY a LIMIT 1
----
delete words="delete from" [DELETE FROM t WHERE id = 5 ORDER BY a LIMIT 1]
tables t
  delete
  table t [t]
  where: binary [id = 5]
    column column=id [id]
    literal [5]
  order [a]
    column column=a [a]
  limit [LIMIT 1]
    count: literal [1]
====
DELETE a, s.b FROM t AS a JOIN s.b USING (id) WHERE a.x = 1
----
delete words="delete" [DELETE a, s.b FROM t AS a JOIN s.b USING (id) WHERE a.x = 1]
tables t s.b
  delete multi_table
  targets a s.b
  join inner [t AS a JOIN s.b USING (id)]
    table t alias=a [t AS a]
    table s.b [s.b]
    using id
  where: binary [a.x = 1]
    column table=a column=x [a.x]
    literal [1]
====
DELETE FROM t, u USING t JOIN u ON t.id = u.id
----
delete words="delete from" [DELETE FROM t, u USING t JOIN u ON t.id = u.id]
tables t u
  delete multi_table
  targets t u
  join inner [t JOIN u ON t.id = u.id]
    table t [t]
    table u [u]
    on: binary [t.id = u.id]
      column table=t column=id [t.id]
      column table=u column=id [u.id]
====
WITH c AS (SELECT 1 AS x) DELETE FROM t WHERE id IN (SELECT x FROM c)
----
delete words="with" [WITH c AS (SELECT 1 AS x) DELETE FROM t WHERE id IN (SELECT x FROM c)]
tables t c
  delete
  with c
    query [SELECT 1 AS x]
      select [SELECT 1 AS x]
        list [1 AS x]
        item alias=x [1 AS x]
          literal [1]
  table t [t]
  where: in_query [id IN (SELECT x FROM c)]
    column column=id [id]
    query [SELECT x FROM c]
      select [SELECT x FROM c]
        list [x]
        item [x]
          column column=x [x]
        from [c]
        table c [c]
====
#: rules mariadb
DELETE FROM t WHERE id = 1 RETURNING id
----
delete words="delete from" [DELETE FROM t WHERE id = 1 RETURNING id]
tables t
  delete
  table t [t]
  where: binary [id = 1]
    column column=id [id]
    literal [1]
  returning [RETURNING id]
  item [id]
    column column=id [id]
====
#: rules mysql
INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = (VALUES(a)), b = (VALUES(b) + 1)
----
insert words="insert into" [INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = (VALUES(a)), b = (VALUES(b) + 1)]
tables t
  into t
  column_list [(a)]
  has_column_list
  columns a
  row [(1)]
    literal [1]
  on_duplicate [ON DUPLICATE KEY UPDATE a = (VALUES(a)), b = (VALUES(b) + 1)]
  update column=a [a = (VALUES(a))]
    parenthesis [(VALUES(a))]
      values_of [VALUES(a)]
        column column=a [a]
  update column=b [b = (VALUES(b) + 1)]
    parenthesis [(VALUES(b) + 1)]
      binary [VALUES(b) + 1]
        values_of [VALUES(b)]
          column column=b [b]
        literal [1]
