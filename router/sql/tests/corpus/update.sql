UPDATE t SET a = 1
UPDATE t SET a = 1, b = b + 1, t.c = DEFAULT WHERE id = 5
UPDATE s.t SET a = ? WHERE id = ?
UPDATE LOW_PRIORITY IGNORE t AS x SET x.a = 1 WHERE x.id IN (1, 2) ORDER BY x.id DESC LIMIT 3
UPDATE t, u SET t.a = u.b WHERE t.id = u.id
UPDATE t JOIN u ON t.id = u.id SET t.a = u.b, u.c = 1 WHERE t.d = 2
UPDATE t LEFT JOIN u USING (id) SET a = NULL
UPDATE t SET a = (SELECT MAX(b) FROM u), c = CASE WHEN d THEN 1 ELSE 2 END WHERE EXISTS (SELECT 1 FROM v)
UPDATE t PARTITION (p0) SET a = 1
UPDATE t USE INDEX (i) SET a = 1
UPDATE t SET a := 1
UPDATE t SET `a b` = 'x', date = NOW(), count = count + 1
UPDATE (t, u) SET t.a = 1
UPDATE t, (SELECT MAX(id) AS m FROM u) AS d SET t.a = d.m
UPDATE t SET s.t.a = 1
#: mysql
WITH c AS (SELECT 1 AS x) UPDATE t, c SET t.a = c.x
