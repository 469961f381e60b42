SET autocommit = 0, @@session.sql_mode = 'ANSI', @a = 1, GLOBAL x = ON, NAMES 'utf8mb4' COLLATE utf8mb4_bin
----
set words="set" [SET autocommit = 0, @@session.sql_mode = 'ANSI', @a = 1, GLOBAL x = ON, NAMES 'utf8mb4' COLLATE utf8mb4_bin]
structural 'utf8mb4'
  variable session autocommit [autocommit = 0]
    literal [0]
  variable session explicit sql_mode [@@session.sql_mode = 'ANSI']
    literal ['ANSI']
  variable user a [@a = 1]
    literal [1]
  variable global explicit x [GLOBAL x = ON]
    column column=ON [ON]
  names session  collate=utf8mb4_bin [NAMES 'utf8mb4' COLLATE utf8mb4_bin]
    literal ['utf8mb4']
====
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY
----
set words="set session transaction isolation" [SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY]
  transaction isolation="read committed" read_only
  transaction session explicit  [SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY]
====
SET TRANSACTION READ WRITE
----
set words="set transaction read write" [SET TRANSACTION READ WRITE]
  transaction one_shot isolation="" read_write
  transaction session  [TRANSACTION READ WRITE]
====
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
----
transaction words="start transaction with consistent" implicit_commit [START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY]
  begin consistent_snapshot read_only=true
====
COMMIT AND CHAIN NO RELEASE
----
transaction words="commit and chain no" [COMMIT AND CHAIN NO RELEASE]
  commit chain=true release=false
====
ROLLBACK TO SAVEPOINT a
----
transaction words="rollback to savepoint" [ROLLBACK TO SAVEPOINT a]
  rollback_to savepoint=a
====
BEGIN;
----
transaction words="begin" implicit_commit [BEGIN]
  begin
====
SHOW FULL COLUMNS FROM t FROM s LIKE 'x'
----
show words="show full columns from" [SHOW FULL COLUMNS FROM t FROM s LIKE 'x']
tables s.t
====
SHOW TABLES FROM s
----
show words="show tables from" [SHOW TABLES FROM s]
schema s
====
SHOW CREATE TABLE s.t
----
show words="show create table" [SHOW CREATE TABLE s.t]
tables s.t
====
EXPLAIN ROUTE SELECT a FROM t WHERE id = ?
----
explain_route words="explain route select" [EXPLAIN ROUTE SELECT a FROM t WHERE id = ?]
parameters 1
tables t
  select words="select" [SELECT a FROM t WHERE id = ?]
  tables t
    query [SELECT a FROM t WHERE id = ?]
      select [SELECT a FROM t WHERE id = ?]
        list [a]
        item [a]
          column column=a [a]
        from [t]
        table t [t]
        where_clause [WHERE id = ?]
        where: binary [id = ?]
          column column=id [id]
          parameter 0 [?]
====
DESCRIBE s.t
----
explain words="describe" [DESCRIBE s.t]
tables s.t
====
CREATE TABLE t (a INT DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (a) REFERENCES u (id))
----
ddl words="create table" implicit_commit [CREATE TABLE t (a INT DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (a) REFERENCES u (id))]
tables t u
====
CREATE TEMPORARY TABLE t LIKE u
----
ddl words="create temporary table" temporary [CREATE TEMPORARY TABLE t LIKE u]
tables t u
====
CREATE OR REPLACE DEFINER=a@b VIEW v AS SELECT * FROM t JOIN u
----
ddl words="create or replace definer" implicit_commit [CREATE OR REPLACE DEFINER=a@b VIEW v AS SELECT * FROM t JOIN u]
tables v t u
====
ALTER TABLE t RENAME TO u
----
ddl words="alter table" implicit_commit [ALTER TABLE t RENAME TO u]
tables t u
====
DROP TEMPORARY TABLE t
----
ddl words="drop temporary table" temporary [DROP TEMPORARY TABLE t]
tables t
====
RENAME TABLE a TO b, c TO s.d
----
ddl words="rename table" implicit_commit [RENAME TABLE a TO b, c TO s.d]
tables a b c s.d
====
CREATE UNIQUE INDEX i ON t (a)
----
ddl words="create unique index" implicit_commit [CREATE UNIQUE INDEX i ON t (a)]
tables t
====
LOCK TABLES t READ, s.u AS x WRITE
----
lock_tables words="lock tables" implicit_commit [LOCK TABLES t READ, s.u AS x WRITE]
tables t s.u
====
KILL QUERY 5
----
kill words="kill query" [KILL QUERY 5]
  kill query
  literal [5]
====
CALL p(LAST_INSERT_ID(), @a)
----
call words="call" [CALL p(LAST_INSERT_ID(), @a)]
calls p last_insert_id a
====
LOAD DATA LOCAL INFILE 'f' INTO TABLE s.t FIELDS TERMINATED BY ',' (a, @b) SET c = @b
----
load_data words="load data local infile" has_opaque [LOAD DATA LOCAL INFILE 'f' INTO TABLE s.t FIELDS TERMINATED BY ',' (a, @b) SET c = @b]
tables s.t
calls b b
====
ANALYZE TABLE t, s.u
----
analyze words="analyze table" implicit_commit [ANALYZE TABLE t, s.u]
tables t s.u
====
/*!50003 CREATE TRIGGER r BEFORE INSERT ON orders FOR EACH ROW SET NEW.a = (SELECT b FROM u) */
----
opaque words="create trigger" implicit_commit has_opaque [CREATE TRIGGER r BEFORE INSERT ON orders FOR EACH ROW SET NEW.a = (SELECT b FROM u)]
tables r orders ROW NEW.a b u
====
CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); SELECT * FROM s.u; END
----
opaque words="create procedure" implicit_commit has_opaque [CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); SELECT * FROM s.u; END]
tables p BEGIN t s.u END
====
SET STATEMENT max_statement_time = 1 FOR SELECT * FROM orders
----
opaque words="set statement" has_opaque [SET STATEMENT max_statement_time = 1 FOR SELECT * FROM orders]
tables STATEMENT max_statement_time orders
====
PURGE BINARY LOGS BEFORE NOW()
----
opaque words="purge binary logs before" has_opaque [PURGE BINARY LOGS BEFORE NOW()]
tables LOGS NOW
calls now
====
ANALYZE FORMAT=JSON SELECT * FROM t
----
opaque words="analyze format" has_opaque [ANALYZE FORMAT=JSON SELECT * FROM t]
tables FORMAT JSON t
====
RESET MASTER
----
opaque words="reset master" implicit_commit has_opaque [RESET MASTER]
tables RESET MASTER
====
DELETE HISTORY FROM t
----
opaque words="delete history from" has_opaque [DELETE HISTORY FROM t]
tables HISTORY t
====
UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1
----
opaque words="update" has_opaque [UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1]
tables t OF p a
====
SELECT a FROM t WHERE a === 5 ORDER BY b
----
select words="select" has_opaque [SELECT a FROM t WHERE a === 5 ORDER BY b]
tables t
  query [SELECT a FROM t WHERE a === 5 ORDER BY b]
    select [SELECT a FROM t WHERE a === 5]
      list [a]
      item [a]
        column column=a [a]
      from [t]
      table t [t]
      where_clause [WHERE a === 5]
      where: opaque [a === 5]
    order_by [ORDER BY b]
    order [b]
      column column=b [b]
====
SELECT a ?? b, c FROM t
----
select words="select" has_opaque [SELECT a ?? b, c FROM t]
parameters 2
tables t
  query [SELECT a ?? b, c FROM t]
    select [SELECT a ?? b, c FROM t]
      list [a ?? b, c]
      item [a ?? b]
        opaque [a ?? b]
      item [c]
        column column=c [c]
      from [t]
      table t [t]
====
SELECT f(a b c, (SELECT x FROM hidden)) FROM t
----
select words="select" has_opaque [SELECT f(a b c, (SELECT x FROM hidden)) FROM t]
tables a b c x hidden t
calls f
  query [SELECT f(a b c, (SELECT x FROM hidden)) FROM t]
    select [SELECT f(a b c, (SELECT x FROM hidden)) FROM t]
      list [f(a b c, (SELECT x FROM hidden))]
      item [f(a b c, (SELECT x FROM hidden))]
        function f [f(a b c, (SELECT x FROM hidden))]
          opaque [a b c, (SELECT x FROM hidden)]
      from [t]
      table t [t]
====
SELECT a FROM t WHERE (a = 1
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '' at line 1 (an unclosed parenthesis)
====
SELECT a FROM t WHERE a = 1)
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near ')' at line 1 (a closing parenthesis without an opening one)
====
SELECT 'abc
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near ''abc' at line 1 (an unterminated string)
====
SELECT a FROM t FOR SYSTEM_TIME AS OF NOW() AS x WHERE id = 1
----
select words="select" has_opaque [SELECT a FROM t FOR SYSTEM_TIME AS OF NOW() AS x WHERE id = 1]
tables t
calls now
  query [SELECT a FROM t FOR SYSTEM_TIME AS OF NOW() AS x WHERE id = 1]
    select [SELECT a FROM t FOR SYSTEM_TIME AS OF NOW() AS x WHERE id = 1]
      list [a]
      item [a]
        column column=a [a]
      from [t FOR SYSTEM_TIME AS OF NOW() AS x]
      table t alias=x [t FOR SYSTEM_TIME AS OF NOW() AS x]
      where_clause [WHERE id = 1]
      where: binary [id = 1]
        column column=id [id]
        literal [1]
====
nonsense of orders, s.t
----
opaque has_opaque [nonsense of orders, s.t]
tables nonsense of orders s.t
====

----
empty []
