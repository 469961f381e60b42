"""DIFFERENTIAL: seeded random statements through the proxy and on plain tables; every answer must be equal or refused.

Compared: rows byte by byte, column names and types, error numbers, affected rows. Not compared: a column's length, flags and
schema, an OK packet's warnings and message, and which of several strings of one weight stands for its group.
"""
import collections
import os
import random
import struct

import pymysql
from pymysql.constants import COMMAND

from harness.registry import check, check_equal, short, test

REFUSED = 1235
GOODS = "id grp name code uni latin price weight day made span small must big".split()
NAMES = ["", "a", "A", "b", "ä", "Ä", "ß", "ss", "z", "Zebra", "zebra", "a ", "ab", "é", "e", "_", "0", "10", "9", "ö", "Ab", "aB"]
WORDS = ("name", "code", "uni", "latin", "must")
SEEDED = 60
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))  # others by hand: DIFFERENTIAL_SEED=7 run.py … -k differential
STATEMENTS = int(os.environ.get("DIFFERENTIAL_STATEMENTS", "4000"))


class Answer(collections.namedtuple("Answer", "kind columns rows")):
    """kind: "rows", "ok" or an error number; for "ok" the columns are (affected, warnings, message)."""


def lenenc(packet):
    return packet.read_length_encoded_integer()


def read_answer(connection, schema):
    """The answer to a command just sent, its rows as the bytes they came in."""
    packet = connection._read_packet()
    if packet.is_ok_packet():
        packet.advance(1)
        affected, insert_id = lenenc(packet), lenenc(packet)
        status, warnings = struct.unpack("<HH", packet.read(4))
        return Answer("ok", (affected, warnings, packet.read_all().lstrip(b"\0").decode("utf8", "replace")), insert_id)
    count = lenenc(packet)
    columns = tuple(read_column(connection._read_packet(), schema) for _ in range(count))
    eof = connection._read_packet()
    assert eof.is_eof_packet(), "no EOF after the columns"
    rows = []
    while True:
        packet = connection._read_packet()
        if packet.is_eof_packet():
            return Answer("rows", columns, rows)
        rows.append(packet.get_all_data())


def read_column(packet, schema):
    packet.read_length_coded_string()
    database, table, org_table, name, org_name = (packet.read_length_coded_string() for _ in range(5))
    lenenc(packet)
    charset, length, kind, flags, decimals = struct.unpack("<HIBHB", packet.read(10))
    return (name.decode("latin1"), org_name.decode("latin1"), table.decode("latin1"), org_table.decode("latin1"), database.decode().replace("truth_", ""), charset, kind, decimals)


def send_text(connection, sql, schema):
    try:
        connection._execute_command(COMMAND.COM_QUERY, sql)
        return read_answer(connection, schema)
    except pymysql.err.OperationalError as error:
        if error.args[0] in (2006, 2013):
            raise
        return Answer(error.args[0], (), error.args[1])
    except pymysql.err.MySQLError as error:
        return Answer(error.args[0], (), error.args[1])


def bound(value):
    """(type bytes, value bytes) of a parameter."""
    if value is None:
        return struct.pack("<H", 6), b""
    if isinstance(value, bool):
        return struct.pack("<H", 1), struct.pack("<b", value)
    if isinstance(value, int) and value >= 1 << 64:
        value = str(value)
    if isinstance(value, int):
        return (struct.pack("<H", 8), struct.pack("<q", value)) if -1 << 63 <= value < 1 << 63 else (struct.pack("<H", 0x8008), struct.pack("<Q", value))
    if isinstance(value, float):
        return struct.pack("<H", 5), struct.pack("<d", value)
    text = value.encode() if isinstance(value, str) else value
    length = bytes([len(text)]) if len(text) < 251 else b"\xfc" + struct.pack("<H", len(text))
    return struct.pack("<H", 253 if isinstance(value, str) else 252), length + text


def send_prepared(connection, sql, parameters, schema):
    try:
        connection._execute_command(COMMAND.COM_STMT_PREPARE, sql)
        packet = connection._read_packet()
        packet.advance(1)
        statement, columns, count = struct.unpack("<IHH", packet.read(8))
        for part in (count, columns):
            if part:
                for _ in range(part + 1):
                    connection._read_packet()
        assert count == len(parameters), (count, parameters, sql)
        nulls = bytearray((count + 7) // 8)
        types = values = b""
        for i, value in enumerate(parameters):
            if value is None:
                nulls[i // 8] |= 1 << i % 8
            kind, text = bound(value)
            types += kind
            values += text
        body = struct.pack("<IBI", statement, 0, 1) + (bytes(nulls) + b"\1" + types + values if count else b"")
        try:
            connection._execute_command(COMMAND.COM_STMT_EXECUTE, body)
            return read_answer(connection, schema)
        finally:
            connection._execute_command(COMMAND.COM_STMT_CLOSE, struct.pack("<I", statement))
    except pymysql.err.OperationalError as error:
        if error.args[0] in (2006, 2013):
            raise
        return Answer(error.args[0], (), error.args[1])
    except pymysql.err.MySQLError as error:
        return Answer(error.args[0], (), error.args[1])


class Statement:
    """Text with parameters kept apart, so that one statement is sent as text or prepared."""

    def __init__(self, text, ordered=False):
        self.text, self.ordered = text, ordered


class Writer:
    """Random statements. Literals are written between \\x01 and \\x02 so that they can become parameters."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.chance = lambda share: self.random.random() < share

    # -- values

    def lit(self, value):
        return f"\x01{value!r}\x02"

    def key(self):
        return self.lit(self.random.randint(-4, SEEDED + 6)) if self.chance(0.93) else \
            self.lit(self.pick([0, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63), 1 << 64]))

    def value(self, column):
        if self.chance(0.12):
            return self.pick(["NULL", self.lit(None)])
        r = self.random
        if column in ("name", "code", "uni", "latin", "must", "label", "tag", "word"):
            names = [n for n in NAMES if len(n) <= 6]
            return self.lit(self.pick(names))
        if column in ("price", "cost"):
            return self.pick([f"{r.randint(-500, 500) / 8:.3f}", f"{r.randint(-5, 5)}", self.lit(f"{r.randint(-99, 99) / 10}")])
        if column == "weight":
            return self.pick([self.lit(r.randint(-8, 8) / 4), "1e1", "0.5", "-2.25e0"])
        if column == "day":
            return self.lit(f"2024-0{r.randint(1, 3)}-1{r.randint(0, 4)}")
        if column == "made":
            return self.lit(f"2024-01-0{r.randint(1, 4)} 0{r.randint(0, 3)}:00:00.{r.randint(0, 2)}00")
        if column == "span":
            return self.lit(f"{self.pick(['', '-'])}0{r.randint(0, 5)}:00:00.5")
        if column == "small":
            return self.lit(r.randint(0, 9))
        if column == "big":
            return self.lit(self.pick([0, 1, (1 << 64) - 1, 1 << 63, 77]))
        return self.lit(r.randint(-5, 9))

    def row(self, key, columns):
        return ",".join(self.lit(key) if c in ("id",) else self.value(c) if c != "must" else self.lit(self.pick(NAMES[1:7])) for c in columns)

    # -- conditions

    def key_condition(self, k):
        v = self.key
        return self.pick([
            lambda: f"{k}={v()}", lambda: f"{v()}={k}", lambda: f"{k} IN ({v()},{v()},{v()})", lambda: f"{k} NOT IN ({v()},{v()})",
            lambda: f"{k} BETWEEN {v()} AND {v()}", lambda: f"{k} NOT BETWEEN {v()} AND {v()}", lambda: f"{k}>{v()}", lambda: f"{k}<={v()}",
            lambda: f"{k}<=>{v()}", lambda: f"{k}='{self.random.randint(1, 40)}'", lambda: f"{k}={self.random.randint(1, 40)}.0",
            lambda: f"{k}={self.random.randint(1, 40)}.5", lambda: f"{k}='{self.random.randint(1, 40)}x'", lambda: f"{k}=NULL",
            lambda: f"{k} IS NULL", lambda: f"{k} IS NOT NULL", lambda: f"NOT {k}={v()}", lambda: f"{k}!={v()}", lambda: f"{k}={v()} OR {k}={v()}",
            lambda: f"({k}={v()} OR {k}={v()}) AND {k}>{v()}", lambda: f"{k}={v()} AND {k}={v()}", lambda: f"{k} IN ({v()},NULL)",
            lambda: f"{k}={v()}+1", lambda: f"{k}=0x0{self.random.randint(1, 9)}", lambda: f"{k}=b'101'", lambda: f"{k}=TRUE",
            lambda: f"({k},{v()})=({v()},{v()})", lambda: f"({k},{k}) IN (({v()},{v()}),({v()},{v()}))", lambda: f"{k} LIKE '{self.random.randint(1, 9)}%'",
            lambda: f"{k}=1e1", lambda: f"{k}={v()} XOR {k}={v()}", lambda: f"NOT ({k}<>{v()})", lambda: f"{k}>={v()} AND {k}<={v()}",
            lambda: f"{k} IN ('3',{v()},'07')", lambda: f"-{k}=-{self.random.randint(1, 40)}", lambda: f"{k}=(({v()}))",
            lambda: f"{k}={v()}={v()}", lambda: f"{k}={v()} IS TRUE", lambda: f"{k}={v()} IS NOT TRUE", lambda: f"{k}=-{self.random.randint(1, 9)}",
            lambda: f"NOT ({k}={v()} AND {k}={v()})", lambda: f"{k} % 2 = {self.lit(1)}", lambda: f"{k}=IF({v()}>3,{v()},{v()})",
            lambda: f"{k}={v()} || {k}={v()}", lambda: f"{k}={v()} && 1", lambda: f"{k} IN ({v()})", lambda: f"{k} = ANY (SELECT {self.random.randint(1, 9)})",
            lambda: f"{k}={v()} COLLATE utf8mb4_bin", lambda: f"{k}=' {self.random.randint(1, 40)}'", lambda: f"{k}=+{self.random.randint(1, 40)}",
            lambda: f"{k}=- -{self.random.randint(1, 40)}", lambda: f"CASE WHEN {k}={v()} THEN 1 ELSE 0 END", lambda: f"!({k}={v()})",
            lambda: f"{k}={v()} OR 0", lambda: f"{k}={v()} AND NOT NULL", lambda: f"({k}={v()}) IS NULL", lambda: f"{k}={v()} > 0",
            lambda: f"{k} BETWEEN {v()} AND {v()} AND {k}={v()}", lambda: f"EXISTS(SELECT 1) AND {k}={v()}", lambda: f"{k}=00{self.random.randint(1, 40)}",
            lambda: f"{k}=DATE '2024-01-01'", lambda: f"{k} IN ({v()},{v()}) AND {k} IN ({v()},{v()},{v()})", lambda: f"{k}=_utf8mb4'7'", lambda: f"{k}=N'8'",
        ])()

    def condition(self, q, depth=0):
        """q: prefix of the columns, such as "g." """
        roll = self.random.random()
        if depth < 2 and roll < 0.25:
            return f"({self.condition(q, depth + 1)}) {self.pick(['AND', 'OR', 'AND', 'XOR'])} ({self.condition(q, depth + 1)})"
        if depth < 2 and roll < 0.3:
            return f"NOT ({self.condition(q, depth + 1)})"
        if roll < 0.65:
            return self.key_condition(q + "id")
        column = self.pick(GOODS[1:])
        return self.pick([lambda: f"{q}{column}={self.value(column)}", lambda: f"{q}{column}>{self.value(column)}", lambda: f"{q}{column} IS NULL",
                          lambda: f"{q}{column} IN ({self.value(column)},{self.value(column)})", lambda: f"{q}{column}<=>{self.value(column)}",
                          lambda: f"{q}{column} BETWEEN {self.value(column)} AND {self.value(column)}", lambda: f"{q}name LIKE 'a%'"])()

    def where(self, q="", share=0.75):
        return f" WHERE {self.condition(q)}" if self.chance(share) else ""

    # -- reads

    def source(self):
        """(text of FROM, prefixes that name its columns)"""
        return self.pick([("goods", ["", "goods.", "`goods`."]), ("goods g", ["", "g."]), ("goods AS g", ["", "g.", "`g`."]),
                          ("mix.goods", ["", "goods."]), ("`mix`.`goods` x", ["", "x."]), ("goods", [""])])

    def limit(self):
        if self.chance(0.45):
            return ""
        a, b = self.random.randint(0, 12), self.random.randint(0, 20)
        return self.pick([f" LIMIT {a}", f" LIMIT {b},{a}", f" LIMIT {a} OFFSET {b}", f" LIMIT {self.lit(a)}", f" LIMIT {self.lit(a)} OFFSET {self.lit(b)}",
                          " LIMIT 0", f" LIMIT {b},18446744073709551615"])

    def direction(self):
        return self.pick(["", " ASC", " DESC", " desc"])

    def plain_select(self):
        text, prefixes = self.source()
        q = self.pick(prefixes)
        columns = self.random.sample(GOODS, self.random.randint(1, 5))
        shown = [f"{self.pick(prefixes)}{c}" for c in columns]
        aliased = {}
        for i, column in enumerate(columns):
            if self.chance(0.25):
                aliased[column] = f"al{i}"
                shown[i] += self.pick([" AS ", " "]) + aliased[column]
        if self.chance(0.08):
            shown, columns, aliased = ["*"], list(GOODS), {}
        elif self.chance(0.06) and q:
            shown, columns, aliased = [q + "*"], list(GOODS), {}
        elif self.chance(0.15):
            shown.append(self.pick(["1", "'x'", "grp+1", "UPPER(code)", "IFNULL(name,'-')", "NULL", f"{self.lit(7)} AS v", f"{self.lit('x')} AS v", "price*2", "id%3 AS m", "CONCAT(name,code) AS n", "DATE(made)", "1 AS `odd name`"]))
        where = self.where(q)
        order, ordered = "", False
        if self.chance(0.75):
            keys = []
            for _ in range(self.random.randint(1, 3)):
                if self.chance(0.2) and shown[0] not in ("*",) and not shown[0].endswith(".*"):
                    keys.append(str(self.random.randint(1, len(columns))))
                else:
                    column = self.pick(GOODS if self.chance(0.4) else columns)
                    keys.append(aliased[column] if column in aliased and self.chance(0.6) else q + column)
            keys = [k + self.direction() for k in keys]
            if self.chance(0.8):
                keys.append(q + "id" + self.direction())
                ordered = True
            order = " ORDER BY " + ",".join(keys)
        limit = self.limit() if ordered or self.chance(0.02) else ""
        if limit and not ordered:
            limit = " LIMIT 0"
        tail = self.pick(["", "", "", "", "", " FOR UPDATE", " LOCK IN SHARE MODE"])
        return Statement(f"SELECT {','.join(shown)} FROM {text}{where}{order}{limit}{tail}", ordered)

    def aggregate(self):
        text, prefixes = self.source()
        q = self.pick(prefixes)
        numbers = ["grp", "price", "small", "id", "weight", "big", "day", "name", "made", "code", "span", "uni", "latin"]
        shown = []
        for i in range(self.random.randint(1, 4)):
            function = self.pick(["COUNT", "COUNT", "SUM", "MIN", "MAX", "AVG", "count", "Sum"])
            column = self.pick(numbers)
            if function.lower() in ("sum", "avg") and (column not in ("grp", "price", "small", "id") and not self.chance(0.06)):
                column = "price"
            inside = "*" if function.upper() == "COUNT" and self.chance(0.4) else q + column
            shown.append(f"{function}({inside})" + (f" AS a{i}" if self.chance(0.4) else ""))
        where = self.where(q)
        if self.chance(0.35):
            return Statement(f"SELECT {','.join(shown)} FROM {text}{where}{self.pick(['', '', '', ' LIMIT 1', ' LIMIT 0', ' LIMIT 1,1', ' ORDER BY 1'])}")
        groups = self.random.sample([c for c in GOODS if c not in ("id", "weight")] + ["id"], self.random.randint(1, 2))
        names = {}
        for i, column in enumerate(groups):
            if self.chance(0.85):
                names[column] = f"g{i}" if self.chance(0.3) else None
                shown.insert(self.random.randint(0, len(shown)), f"{q}{column}" + (f" AS g{i}" if names[column] else ""))
        if any(c in WORDS for c in groups):  # which of equal strings a group shows is the server's choice
            shown = [s for s in shown if not any(s.startswith(f"{q}{c}") for c in WORDS)] or ["COUNT(*)"]
        by = [self.pick([q + c, c]) if not names.get(c) else self.pick([names[c], q + c]) for c in groups]
        order, ordered = "", False
        if self.chance(0.6):
            keys = [(b if self.chance(0.8) else q + g) + self.direction() for b, g in zip(by, groups)]
            if self.chance(0.25):
                keys.insert(0, self.pick(["1", "COUNT(*)", "a0", "2"]) + self.direction())
            if self.chance(0.2):
                keys = keys[:1]
            ordered = len(keys) >= len(groups)
            if "a0" in order or "2" in keys[0] or "1" in keys[0]:
                ordered = False
            order = " ORDER BY " + ",".join(keys)
        limit = self.limit() if ordered else ""
        having = self.pick([f" HAVING COUNT(*)>{self.random.randint(0, 3)}"]) if self.chance(0.07) else ""
        return Statement(f"SELECT {','.join(shown)} FROM {text}{where} GROUP BY {','.join(by)}{having}{order}{limit}", ordered)

    def join(self):
        kind = self.pick(["JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", ",", "JOIN", "LEFT OUTER JOIN", "STRAIGHT_JOIN"])
        if kind == ",":
            text = "goods g,parts p"
            where = " WHERE g.id=p.goods_id" if self.chance(0.9) else ""
            if self.chance(0.6):
                where += (" AND (" if where else " WHERE (") + self.condition("g.") + ")"
        else:
            on = self.pick(["ON g.id=p.goods_id", "ON p.goods_id=g.id", f"ON g.id=p.goods_id AND p.no>{self.lit(1)}", "ON (g.id=p.goods_id)", f"ON g.id=p.goods_id OR g.grp={self.lit(1)}"]
                           if self.chance(0.95) else ["ON g.grp=p.no"])
            pair = self.pick([("goods g", "parts p"), ("goods AS g", "parts AS p")])
            text = f"{pair[0]} {kind} {pair[1]} {on}" if self.chance(0.7) else f"{pair[1]} {kind} {pair[0]} {on}"
            where = self.pick([lambda: self.where("g."), lambda: f" WHERE {self.key_condition('p.goods_id')}",
                               lambda: f" WHERE {self.key_condition('g.id')} AND {self.key_condition('p.goods_id')}", lambda: ""])()
        if self.chance(0.3):
            return Statement(f"SELECT COUNT(*),SUM(p.cost),MIN(g.price) FROM {text}{where}")
        if self.chance(0.3):
            return Statement(f"SELECT g.grp,COUNT(*),SUM(p.cost) FROM {text}{where} GROUP BY g.grp ORDER BY g.grp{self.limit()}", True)
        order = self.pick(["", " ORDER BY g.id,p.goods_id,p.no", " ORDER BY p.goods_id DESC,p.no,g.id", " ORDER BY g.name,g.id,p.goods_id,p.no DESC"])
        return Statement(f"SELECT {self.pick(['g.id,p.no,p.label', 'p.*', 'g.*,p.*', '*', 'g.name AS n,p.no,g.id,p.goods_id', 'g.id i,p.no'])} FROM {text}{where}{order}" +
                         (self.limit() if order else ""), bool(order))

    def nested(self):
        w = self.where
        return self.pick([
            lambda: Statement(f"SELECT COUNT(*) FROM (SELECT id,grp FROM goods{w()}) t"),
            lambda: Statement(f"SELECT * FROM (SELECT id,grp,name FROM goods{w()}) t WHERE {self.key_condition('t.id')} ORDER BY id", True),
            lambda: Statement(f"SELECT * FROM (SELECT grp,COUNT(*) c FROM goods WHERE id={self.key()} GROUP BY grp) t"),
            lambda: Statement(f"SELECT id FROM goods WHERE id IN (SELECT goods_id FROM parts WHERE no={self.random.randint(1, 3)})"),
            lambda: Statement(f"SELECT id FROM goods g WHERE EXISTS (SELECT 1 FROM parts p WHERE p.goods_id=g.id{self.pick(['', ' AND p.no>1'])})"),
            lambda: Statement(f"SELECT id,(SELECT COUNT(*) FROM parts p WHERE p.goods_id=g.id) c FROM goods g{w('g.')}"),
            lambda: Statement(f"SELECT id,(SELECT MAX(no) FROM parts) c FROM goods g WHERE id={self.key()}"),
            lambda: Statement(f"SELECT id FROM goods WHERE id={self.key()} UNION ALL SELECT id FROM goods WHERE id={self.key()}"),
            lambda: Statement(f"SELECT id FROM goods WHERE id={(k := self.key())} AND id IN (SELECT goods_id FROM parts WHERE goods_id={self.pick([k, self.key()])})"),
            lambda: Statement(f"SELECT DISTINCT {self.pick(['grp', 'id', 'id,grp', 'small,day'])} FROM goods{w()}"),
            lambda: Statement(f"SELECT COUNT(DISTINCT {self.pick(['grp', 'id'])}) FROM goods{w()}"),
            lambda: Statement(f"WITH c AS (SELECT id,grp FROM goods WHERE {self.key_condition('id')}) SELECT id FROM c"),
            lambda: Statement(f"SELECT word,n FROM words WHERE word={self.pick([self.value('word'), self.lit('0'), self.lit(10)])}"),
            lambda: Statement(f"SELECT word,n FROM words WHERE word IN ({self.value('word')},{self.value('word')},{self.value('word')}) ORDER BY word{self.direction()}{self.limit()}", True),
            lambda: Statement(f"SELECT n,COUNT(*) FROM words WHERE word {self.pick(['>', '<', '<=', '<=>', 'LIKE', '!='])} {self.value('word')} GROUP BY n ORDER BY n", True),
            lambda: Statement(f"SELECT * FROM remarks WHERE id={self.lit(3)}"), lambda: Statement("SELECT g.id FROM goods g JOIN remarks r ON r.goods_id=g.id"),
            lambda: Statement(f"SELECT a.id,b.id FROM goods a JOIN goods b ON a.id=b.id{w('a.')}"),
            lambda: Statement(f"SELECT a.id,b.id FROM goods a JOIN goods b ON a.grp=b.grp WHERE a.id={self.key()} AND b.id={self.key()}"),
            lambda: Statement(f"SELECT a.id,b.id FROM goods a JOIN goods b ON a.id=b.id+{self.random.randint(0, 2)} WHERE a.id={self.key()}"),
            lambda: Statement(f"SELECT p.no,COUNT(*) FROM parts p WHERE {self.key_condition('goods_id')} GROUP BY p.no ORDER BY p.no", True),
            lambda: Statement(f"SELECT goods_id,no FROM parts WHERE (goods_id,no) IN (({self.key()},1),({self.key()},2)) ORDER BY 1,2", True),
            lambda: Statement(f"SELECT nothing FROM goods{w()}"), lambda: Statement(f"SELECT id FROM missing WHERE id={self.key()}"),
            lambda: Statement(f"SELECT id FROM goods WHERE nothing=3 AND id={self.key()}"), lambda: Statement(f"SELECT id FROM goods WHER id={self.key()}"),
            lambda: Statement(f"SELECT id FROM goods ORDER BY nothing"), lambda: Statement("SELECT grp FROM goods GROUP BY nothing"), lambda: Statement("SELECT x.id FROM goods g"),
            lambda: Statement("SELECT id,no FROM goods JOIN parts ON id=goods_id WHERE no=1 ORDER BY id,no", True),
            lambda: Statement("SELECT g.id FROM goods g JOIN parts p ON g.id=p.goods_id JOIN parts q ON q.goods_id=p.goods_id AND q.no=p.no ORDER BY g.id,p.no", True),
            lambda: Statement(f"SELECT SQL_NO_CACHE id FROM goods{w()} ORDER BY id", True), lambda: Statement(f"SELECT ALL id FROM goods{w()} ORDER BY id", True),
            lambda: Statement(f"(SELECT id FROM goods{w()})"), lambda: Statement(f"SELECT id FROM goods{w()} ORDER BY -id", True),
            lambda: Statement(f"SELECT id FROM goods{w()} ORDER BY grp IS NULL,grp,id", True), lambda: Statement(f"SELECT MAX(id)+1 FROM goods{w()}"),
        ])()

    def select(self):
        return self.random.choices([self.plain_select, self.aggregate, self.join, self.nested], [5, 4, 2, 2])[0]()

    # -- writes

    def insert(self):
        verb = self.pick(["INSERT INTO", "INSERT", "REPLACE INTO", "INSERT IGNORE INTO", "REPLACE", "INSERT INTO", "INSERT INTO"])
        ending = ""
        if verb.startswith("INSERT") and "IGNORE" not in verb and self.chance(0.25):
            ending = " ON DUPLICATE KEY UPDATE " + self.pick(["grp=grp+1", "grp=VALUES(grp)", "name=VALUES(name),price=price+1", f"grp={self.value('grp')}", "id=id", f"small={self.lit(3)}", "must=NULL", "goods.grp=7", "price=IFNULL(price,0)+VALUES(id)"])
        roll = self.random.random()
        keys = [self.random.randint(1, SEEDED + 40) for _ in range(self.pick([1, 1, 1, 2, 3, 5, 9]))]
        if roll < 0.12:
            pairs = ",".join(f"{c}={self.value(c) if c != 'must' else self.lit('m')}" for c in self.random.sample(GOODS[1:], 3))
            return Statement(f"{verb} goods SET id={self.lit(keys[0])},{pairs}{ending}")
        if roll < 0.25:
            rows = ",".join(f"({self.lit(k)},{self.random.randint(1, 4)},{self.value('label')},{self.value('cost')})" for k in keys)
            return Statement(f"{verb} parts{self.pick(['', ' (goods_id,no,label,cost)'])} {self.pick(['VALUES', 'VALUE'])} {rows}" + (ending and " ON DUPLICATE KEY UPDATE label=VALUES(label)"))
        if roll < 0.35:
            rows = ",".join(f"({self.lit(self.pick(NAMES) + self.pick(['', 'q']))},{self.random.randint(1, 4)})" for k in keys)
            return Statement(f"{verb} words(word,n) VALUES {rows}" + (ending and " ON DUPLICATE KEY UPDATE n=n+10"))
        if roll < 0.38:
            return Statement(f"{verb} remarks VALUES ({self.lit(keys[0])},{self.lit(3)},'x'),({self.lit(keys[0] + 1)},4,'y')")
        if roll < 0.41:
            return Statement(self.pick([f"INSERT INTO goods SELECT * FROM goods WHERE id={self.key()}", f"INSERT INTO goods(id,grp) SELECT id+1000,grp FROM goods WHERE id={self.key()}",
                                        f"INSERT INTO goods(id,must) VALUES ({self.lit(keys[0])},NULL)", f"INSERT INTO goods(id,nothing) VALUES ({self.lit(keys[0])},1)",
                                        f"INSERT INTO goods(id,grp) VALUES ({self.lit(keys[0])})", f"INSERT INTO goods(id,must) VALUES ({self.lit(keys[0])},'too long for it')",
                                        f"INSERT INTO goods(id,small) VALUES ({self.lit(keys[0])},300)", f"INSERT INTO goods(id,grp) VALUES ('abc',3)", f"INSERT INTO goods(id,grp) VALUES (1.5,3)",
                                        f"INSERT INTO goods(id,id) VALUES (1,2)", f"INSERT INTO goods(id,day) VALUES ({self.lit(keys[0])},'2024-02-31')",
                                        f"INSERT INTO goods(id,grp) VALUES ('{keys[0]}',3)", f"INSERT INTO goods(id,grp) VALUES ({keys[0]}+1,3)",
                                        f"INSERT IGNORE INTO goods(id,must,small) VALUES ({self.lit(keys[0])},'too long for it',999)",
                                        "INSERT INTO parts(no) VALUES (3)", "INSERT INTO parts(goods_id,no) VALUES (NULL,3)", f"INSERT INTO parts VALUES ({keys[0]},3)"]))
        columns = ["id"] + self.random.sample(GOODS[1:], self.random.randint(1, 6))
        self.random.shuffle(columns)
        rows = ",".join(f"({','.join(self.pick(['DEFAULT']) if c != 'id' and self.chance(0.04) else self.row(k, [c]) for c in columns)})" for k in keys)
        quoted = ",".join(self.pick([c, f"`{c}`", c.upper()]) for c in columns)
        return Statement(f"{verb} {self.pick(['goods', 'mix.goods', '`goods`'])} ({quoted}) VALUES {rows}{ending}")

    def change(self):
        where = f" WHERE {self.condition('')}" if self.chance(0.97) else ""
        roll = self.random.random()
        if roll < 0.3:
            return Statement(f"DELETE FROM goods WHERE {self.pick([lambda: 'id=' + self.key(), lambda: f'id IN ({self.key()},{self.key()})', lambda: f'grp={self.random.randint(-5, 9)} AND ' + self.key_condition('id')])()}")
        if roll < 0.36:
            return Statement(f"DELETE FROM parts WHERE {self.key_condition('goods_id')} AND no={self.random.randint(1, 4)}")
        if roll < 0.4:
            return Statement(self.pick([f"UPDATE goods SET id=id+1 WHERE id={self.key()}", f"UPDATE goods SET grp=3{where} ORDER BY id LIMIT 2", f"DELETE FROM goods{where} ORDER BY id LIMIT 1",
                                        f"UPDATE goods SET grp=3 WHERE id={self.key()} LIMIT 1", f"UPDATE goods g JOIN parts p ON g.id=p.goods_id SET g.grp=p.no WHERE g.id={self.key()}",
                                        f"UPDATE goods SET small=small-5{where}",
                                        f"UPDATE goods SET must=NULL{where}", f"UPDATE goods SET nothing=1{where}", f"UPDATE IGNORE goods SET small=300{where}", f"UPDATE goods SET id=3 WHERE id=3"]))
        if roll < 0.5:
            return Statement(f"UPDATE words SET n=n+1 WHERE word {self.pick(['=', '>', '<=>'])} {self.value('word')}")
        column = self.pick(GOODS[1:])
        value = self.value(column) if column != "must" else self.lit("m")
        more = self.pick(["", ",grp=grp+1", ",price=price*1", ",name=code"])
        return Statement(f"UPDATE {self.pick(['goods', 'mix.goods'])} SET {column}={value}{more}{where}")


def as_text(text):
    def literal(source):
        value = eval(source)
        if value is None:
            return "NULL"
        return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
    parts = text.split("\x01")
    return parts[0] + "".join(literal(p.split("\x02")[0]) + p.split("\x02")[1] for p in parts[1:])


def as_prepared(text):
    parts = text.split("\x01")
    return parts[0] + "".join("?" + p.split("\x02")[1] for p in parts[1:]), [eval(p.split("\x02")[0]) for p in parts[1:]]


def seed_rows(writer):
    """INSERT statements, the same for both."""
    yield "DELETE FROM goods"
    yield "DELETE FROM parts"
    yield "DELETE FROM words"
    yield "DELETE FROM remarks"
    for key in [*range(1, SEEDED + 1), (1 << 63) - 1, -3]:
        yield as_text(f"INSERT INTO goods ({','.join(GOODS)}) VALUES ({writer.row(key, GOODS)})")
    for key in range(1, SEEDED + 8):
        for number in range(1, writer.random.randint(1, 4)):
            yield as_text(f"INSERT INTO parts VALUES ({key},{number},{writer.value('label')},{writer.value('cost')})")
    for i, word in enumerate(NAMES):
        yield as_text(f"INSERT INTO words VALUES ({writer.lit(word)},{i % 4},{writer.value('tag')})")
    for i in range(1, 6):
        yield f"INSERT INTO remarks VALUES ({i},{i * 3},'r{i}')"


def compared(columns, prepared):
    """Names and types; a prepared parameter or NULL in the select list has the type that a UNION gives it."""
    return [c[0] if prepared and c[0] in ("v", "NULL") else c[:4] + c[5:] for c in columns]


def difference(got, expected, ordered, prepared=False):
    """"" or what is different."""
    if got.kind != expected.kind:
        return f"expected {expected.kind} {expected.rows if expected.kind not in ('ok','rows') else ''}, got {got.kind} {got.rows if got.kind not in ('ok', 'rows') else ''}"
    if got.kind == "rows":
        a, b = compared(got.columns, prepared), compared(expected.columns, prepared)
        if a != b:
            return f"columns: expected {b} got {a}"
        if got.rows != expected.rows if ordered else collections.Counter(got.rows) != collections.Counter(expected.rows):
            return f"rows: expected {len(expected.rows)} {short(expected.rows)} got {len(got.rows)} {short(got.rows)}"
    elif got.kind == "ok" and got.columns[:1] != expected.columns[:1]:
        return f"ok: expected {expected.columns} got {got.columns}"
    return ""


class Pair:
    """The proxy and the plain server, given the same statements."""

    def __init__(self, env):
        self.proxy, self.truth = env.client("mix"), env.truth("mix")

    def send(self, connection, text, prepared):
        if prepared:
            return send_prepared(connection, *as_prepared(text), "mix")
        return send_text(connection, as_text(text), "mix")

    def compare(self, statement, prepared):
        """(answer of the proxy, what is different); a refused statement is not sent to the truth."""
        got = self.send(self.proxy, statement.text, prepared)
        if got.kind == REFUSED:
            return got, ""
        text = statement.text.replace("mix.", "truth_mix.").replace("`mix`", "`truth_mix`")
        return got, difference(got, self.send(self.truth, text, prepared), statement.ordered, prepared)


def next_statement(writer):
    """Mostly reads; every so often a whole table, so that a wrong write is seen soon."""
    roll = writer.random.random()
    if roll < 0.55:
        return writer.select()
    if roll < 0.72:
        return writer.insert()
    if roll < 0.87:
        return writer.change()
    if roll < 0.92:
        return Statement(writer.pick(["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ROLLBACK TO a", "SAVEPOINT b", "RELEASE SAVEPOINT a",
                                      "ROLLBACK TO b", "START TRANSACTION", "SET autocommit=0", "SET autocommit=1", "COMMIT AND CHAIN"]))
    return Statement("SELECT * FROM " + writer.pick(["goods ORDER BY id", "parts ORDER BY goods_id,no", "words ORDER BY word", "remarks ORDER BY id"]), True)


@test("differential", "random statements, text and prepared, in and outside transactions: as on plain tables or refused", needs_proxy=True)
def random_statements(env):
    writer, pair = Writer(SEED), Pair(env)
    env.fresh("mix")
    for sql in seed_rows(writer):
        check_equal(difference(send_text(pair.proxy, sql, "mix"), send_text(pair.truth, sql, "mix"), False), "", sql)
    kinds, differences = collections.Counter(), []
    for number in range(STATEMENTS):
        statement, prepared = next_statement(writer), writer.chance(0.3)
        got, wrong = pair.compare(statement, prepared)
        kinds[got.kind] += 1
        if wrong:
            differences.append(f"statement {number}{' (prepared)' if prepared else ''}: {as_text(statement.text)}\n      {wrong}")
    check(not differences, f"{len(differences)} of {STATEMENTS} differ (seed {SEED}); the first:\n    " + "\n    ".join(differences[:12]))
    check(kinds["rows"] > STATEMENTS // 4 and kinds["ok"] > STATEMENTS // 8, f"too little was answered to mean anything: {kinds}")
    for table in ("goods", "parts", "words"):
        column = env.table("mix", table).key
        for slot, rows in env.rows_by_slot("mix", table, column).items():
            if table != "words":
                check(all(row[0] % 8 == slot for row in rows), f"{table}: rows outside their slot {slot}")
