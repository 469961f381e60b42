#!/usr/bin/python3
"""What does UNION ALL over equal tables change, in column definitions and in row bytes?

    union_types.py SOCKET...        prints a Markdown table per server

For every column type (NULL and NOT NULL) and a list of expressions, over two equal tables t0, t1 and a table u
that holds the rows of both, four ways to put the branches together are compared with the plain statements, text
and binary, byte by byte:

  stream   (SELECT x, id FROM t0) UNION ALL (SELECT x, id FROM t1)
  limited  the same with LIMIT inside each branch and outside
  sorted   ORDER BY x, id and LIMIT inside each branch and outside; the order of ids must be that of table u
  grouped  SELECT x, COUNT(*) … GROUP BY x in each branch, ORDER BY x outside

Two flags are left out of the comparison, because they follow a rule that the text beside the tables gives:
NO_DEFAULT (any UNION drops it) and NUM (MariaDB sets it at EXECUTE for nullable columns, not at PREPARE, not in text).
"""

import sys

from raw_client import Connection, ServerError, lenenc

TYPES = [
    # name, column type, values
    ("TINYINT(1)", "TINYINT(1)", ["0", "1", "-128", "127"]),
    ("BOOL", "BOOL", ["0", "1"]),
    ("TINYINT", "TINYINT", ["0", "-128", "127"]),
    ("TINYINT UNSIGNED", "TINYINT UNSIGNED", ["0", "1", "255"]),
    ("TINYINT(3) ZEROFILL", "TINYINT(3) UNSIGNED ZEROFILL", ["0", "1", "255"]),
    ("SMALLINT", "SMALLINT", ["0", "-32768", "32767"]),
    ("SMALLINT UNSIGNED", "SMALLINT UNSIGNED", ["0", "65535"]),
    ("SMALLINT(5) ZEROFILL", "SMALLINT(5) UNSIGNED ZEROFILL", ["0", "7", "65535"]),
    ("MEDIUMINT", "MEDIUMINT", ["0", "-8388608", "8388607"]),
    ("MEDIUMINT UNSIGNED", "MEDIUMINT UNSIGNED", ["0", "16777215"]),
    ("MEDIUMINT(8) ZEROFILL", "MEDIUMINT(8) UNSIGNED ZEROFILL", ["0", "7", "16777215"]),
    ("INT", "INT", ["0", "-2147483648", "2147483647"]),
    ("INT UNSIGNED", "INT UNSIGNED", ["0", "4294967295"]),
    ("INT(10) ZEROFILL", "INT(10) UNSIGNED ZEROFILL", ["0", "7", "4294967295"]),
    ("INT(4) ZEROFILL", "INT(4) UNSIGNED ZEROFILL", ["0", "7", "4294967295"]),
    ("BIGINT", "BIGINT", ["0", "-9223372036854775808", "9223372036854775807"]),
    ("BIGINT UNSIGNED", "BIGINT UNSIGNED", ["0", "18446744073709551615"]),
    ("BIGINT(20) ZEROFILL", "BIGINT(20) UNSIGNED ZEROFILL", ["0", "7", "18446744073709551615"]),
    ("FLOAT", "FLOAT", ["0", "-0.1", "3.4028e38", "16777217", "1.1754944e-38", "1e6", "123456.7"]),
    ("FLOAT UNSIGNED", "FLOAT UNSIGNED", ["0", "0.1", "3.4028e38"]),
    ("FLOAT(7,2)", "FLOAT(7,2)", ["0", "-0.1", "12345.67", "99999.99"]),
    ("FLOAT(7,2) ZEROFILL", "FLOAT(7,2) UNSIGNED ZEROFILL", ["0", "0.1", "12345.67"]),
    ("DOUBLE", "DOUBLE", ["0", "-0.1", "1.7976931348623157e308", "5e-324", "1e15", "1e16", "0.1e0+0.2e0"]),
    ("DOUBLE(10,3)", "DOUBLE(10,3)", ["0", "-0.1", "1234567.891"]),
    ("DOUBLE ZEROFILL", "DOUBLE UNSIGNED ZEROFILL", ["0", "0.5", "1e16"]),
    ("DECIMAL(10,0)", "DECIMAL(10,0)", ["0", "-1", "9999999999"]),
    ("DECIMAL(10,2)", "DECIMAL(10,2)", ["0", "-0.01", "99999999.99"]),
    ("DECIMAL(65,30)", "DECIMAL(65,30)", ["0", "-0.000000000000000000000000000001", "9" * 35 + "." + "9" * 30]),
    ("DECIMAL(10,2) UNSIGNED", "DECIMAL(10,2) UNSIGNED", ["0", "0.01", "99999999.99"]),
    ("DECIMAL(10,2) ZEROFILL", "DECIMAL(10,2) UNSIGNED ZEROFILL", ["0", "0.01", "99999999.99"]),
    ("BIT(1)", "BIT(1)", ["b'0'", "b'1'"]),
    ("BIT(8)", "BIT(8)", ["b'0'", "b'1'", "b'11111111'"]),
    ("BIT(12)", "BIT(12)", ["b'0'", "b'1'", "b'111111111111'"]),
    ("BIT(64)", "BIT(64)", ["b'0'", "b'1'", "0xffffffffffffffff"]),
    ("YEAR", "YEAR", ["0", "1901", "2026", "2155"]),
    ("DATE", "DATE", ["'0000-00-00'", "'2026-00-00'", "'2026-11-30'", "'9999-12-31'"]),
    ("TIME", "TIME", ["'00:00:00'", "'-00:00:01'", "'838:59:59'", "'-838:59:59'", "'12:00:00'"]),
    ("TIME(3)", "TIME(3)", ["'00:00:00'", "'-00:00:01.5'", "'838:59:58.999'", "'12:00:00.001'"]),
    ("TIME(6)", "TIME(6)", ["'00:00:00'", "'-00:00:00.000001'", "'838:59:58.999999'", "'12:00:00'"]),
    ("DATETIME", "DATETIME", ["'0000-00-00'", "'2026-11-30'", "'2026-11-30 12:00:01'", "'9999-12-31 23:59:59'"]),
    ("DATETIME(3)", "DATETIME(3)", ["'2026-11-30'", "'2026-11-30 12:00:01'", "'2026-11-30 12:00:01.5'"]),
    ("DATETIME(6)", "DATETIME(6)", ["'0000-00-00'", "'2026-11-30 12:00:01'", "'2026-11-30 12:00:01.000001'"]),
    ("TIMESTAMP", "TIMESTAMP", ["'1970-01-02'", "'2026-11-30 12:00:01'", "'2038-01-18 00:00:00'"]),
    ("TIMESTAMP(3)", "TIMESTAMP(3)", ["'1970-01-02'", "'2026-11-30 12:00:01.5'"]),
    ("TIMESTAMP(6)", "TIMESTAMP(6)", ["'1970-01-02'", "'2026-11-30 12:00:01.000001'"]),
    ("CHAR(10)", "CHAR(10)", ["''", "'a'", "'B'", "'é'", "'ab  '", "'zzzzzzzzzz'"]),
    ("CHAR(10) latin1", "CHAR(10) CHARACTER SET latin1", ["''", "'a'", "'é'", "'B'"]),
    ("CHAR(10) utf8mb4_bin", "CHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ["''", "'a'", "'B'", "'é'"]),
    ("VARCHAR(100)", "VARCHAR(100)", ["''", "'a'", "'B'", "'é'", "'ab  '", "repeat('z', 100)"]),
    ("VARCHAR(100) latin1", "VARCHAR(100) CHARACTER SET latin1", ["''", "'a'", "'é'", "'B'"]),
    ("VARCHAR(100) utf8mb4_bin", "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ["''", "'a'", "'B'"]),
    ("VARCHAR(5000)", "VARCHAR(5000)", ["''", "'a'", "repeat('z', 5000)"]),
    ("BINARY(8)", "BINARY(8)", ["''", "'a'", "x'00ff'", "'12345678'"]),
    ("VARBINARY(100)", "VARBINARY(100)", ["''", "'a'", "x'00ff'", "'a '"]),
    ("TINYTEXT", "TINYTEXT", ["''", "'a'", "'B'", "repeat('z', 255)"]),
    ("TEXT", "TEXT", ["''", "'a'", "'B'", "repeat('z', 60000)"]),
    ("MEDIUMTEXT", "MEDIUMTEXT", ["''", "'a'", "'B'", "repeat('z', 70000)"]),
    ("LONGTEXT", "LONGTEXT", ["''", "'a'", "'B'", "repeat('z', 70000)"]),
    ("TEXT latin1", "TEXT CHARACTER SET latin1", ["''", "'a'", "'é'", "'B'"]),
    ("TINYBLOB", "TINYBLOB", ["''", "'a'", "x'00ff'"]),
    ("BLOB", "BLOB", ["''", "'a'", "x'00ff'", "repeat('z', 60000)"]),
    ("MEDIUMBLOB", "MEDIUMBLOB", ["''", "'a'", "x'00ff'"]),
    ("LONGBLOB", "LONGBLOB", ["''", "'a'", "x'00ff'"]),
    ("ENUM", "ENUM('z','b','a')", ["'z'", "'b'", "'a'"]),
    ("SET", "SET('z','b','a')", ["''", "'z'", "'b'", "'a'", "'z,a'"]),
    ("JSON", "JSON", ["'1'", "'{\"b\": 1, \"a\": [1, 2.50]}'", "'\"x\"'", "'10'", "'2'"]),
    ("GEOMETRY", "GEOMETRY", ["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('LINESTRING(0 0,1 1)')"]),
    ("POINT", "POINT", ["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(0 0)')"]),
    ("INET6", "INET6", ["'::'", "'::1'", "'2001:db8::ff00:42:8329'"]),
    ("INET4", "INET4", ["'0.0.0.0'", "'10.1.2.3'", "'9.255.255.255'"]),
    ("UUID", "UUID", ["'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000001'"]),
    ("VECTOR(3)", "VECTOR(3)", ["STRING_TO_VECTOR('[1,2,3]')", "STRING_TO_VECTOR('[0,-1,2.5]')"]),
]

# Columns of the expression tables.
EXPRESSION_COLUMNS = (
    "i INT, iu INT UNSIGNED, t TINYINT, b BIGINT, bu BIGINT UNSIGNED, z INT(6) UNSIGNED ZEROFILL, f FLOAT, f2 FLOAT(7,2), "
    "d DOUBLE, m DECIMAL(10,2), s VARCHAR(20), x TEXT, y YEAR, dd DATE, tt TIME(2), dt DATETIME(3), ts TIMESTAMP NULL, "
    "e ENUM('z','b','a'), st SET('z','b','a'), bt BIT(12), j JSON, n INT NOT NULL, bl BLOB"
)
EXPRESSION_ROWS = [
    "1, 2, 3, 4, 5, 6, 1.25, 1.25, 0.1, 12.34, 'abc', 'text', 2026, '2026-11-30', '-12:00:00.25', '2026-11-30 01:02:03.5',"
    " '2026-11-30 01:02:03', 'z', 'z,a', b'101', '{\"a\": 1}', 7, x'00ff'",
    "-1, 4000000000, -3, -4, 18446744073709551615, 7, -0.1, 99999.99, 1e20, -0.01, 'Abd', '', 1999, '1999-01-02',"
    " '800:00:00', '1999-01-02 00:00:00', '1999-01-02 03:04:05', 'a', '', b'1', '[1, 2]', 8, ''",
    ", ".join(["NULL"] * 21) + ", 9, NULL",
]
EXPRESSIONS = [
    "1", "-1", "4294967296", "18446744073709551615", "1.50", "1e3", "'abc'", "''", "NULL", "TRUE", "x'41ff'", "b'101'",
    "_latin1'a'", "DATE'2026-11-30'", "TIME'-01:02:03.5'", "TIMESTAMP'2026-11-30 01:02:03.25'",
    "t+1", "i+1", "i+iu", "-i", "b*2", "bu+0", "i*m", "i/3", "i DIV 3", "i % 3", "m+1", "-m", "m/3", "m*m", "ROUND(m,1)", "f+0", "f*2",
    "f2+0", "d+1", "d/3", "z+0", "ABS(i)", "i=1", "i IS NULL", "i AND t", "NOT i", "i IN (1,2)", "i & 6", "bt+0", "e+0",
    "st+0", "y+0", "CONCAT(s,'x')", "CONCAT(i,s)", "UPPER(s)", "LENGTH(s)", "SUBSTRING(s,2)", "CONCAT(x,'y')", "HEX(bl)",
    "IFNULL(e,'z')", "COALESCE(f,0)", "COALESCE(f,f)", "COALESCE(f2,f2)", "COALESCE(dt,dd)", "COALESCE(y,y)", "COALESCE(bt,bt)",
    "COALESCE(z,z)", "NULLIF(i,1)", "CASE WHEN i>0 THEN dd ELSE NULL END", "CASE WHEN i>0 THEN 1 ELSE 2.50 END",
    "GREATEST(i,t)", "LEAST(m,i)", "dd + INTERVAL 1 DAY", "dt + INTERVAL 1 SECOND", "DATE(dt)", "TIME(dt)", "YEAR(dd)",
    "DATE_FORMAT(dt,'%Y')", "UNIX_TIMESTAMP(ts)", "UNIX_TIMESTAMP(dt)", "TIMEDIFF(dt,dt)", "SEC_TO_TIME(i)", "dd+0", "tt+0",
    "CAST(i AS CHAR)", "CAST(s AS BINARY)", "CAST(i AS UNSIGNED)", "CAST(m AS DECIMAL(20,4))", "CAST(dt AS DATE)",
    "CAST(i AS DOUBLE)", "JSON_EXTRACT(j,'$.a')", "JSON_OBJECT('a',i)", "WEIGHT_STRING(s)", "WEIGHT_STRING(s AS CHAR(20))", "RAND(1)",
]
AGGREGATES = [
    "COUNT(*)", "COUNT(i)", "COUNT(DISTINCT i)", "SUM(i)", "SUM(b)", "SUM(bu)", "SUM(m)", "SUM(f)", "SUM(d)", "SUM(s)", "SUM(y)",
    "SUM(e)", "SUM(bt)", "SUM(z)", "AVG(i)", "AVG(m)", "AVG(d)", "AVG(f)", "MIN(i)", "MAX(t)", "MIN(bu)", "MIN(z)", "MIN(f)",
    "MIN(f2)", "MAX(d)", "MIN(m)", "MIN(s)", "MAX(x)", "MIN(bl)", "MIN(y)", "MIN(dd)", "MIN(tt)", "MAX(tt)", "MIN(dt)", "MAX(ts)",
    "MIN(e)", "MIN(st)", "MIN(bt)", "BIT_AND(i)", "BIT_OR(i)", "STD(i)", "GROUP_CONCAT(s)", "JSON_ARRAYAGG(i)",
]

TYPE_NAMES = {0: "DECIMAL", 1: "TINY", 2: "SHORT", 3: "LONG", 4: "FLOAT", 5: "DOUBLE", 6: "NULL", 7: "TIMESTAMP", 8: "LONGLONG",
              9: "INT24", 10: "DATE", 11: "TIME", 12: "DATETIME", 13: "YEAR", 15: "VARCHAR", 16: "BIT", 242: "VECTOR", 245: "JSON",
              246: "NEWDECIMAL", 247: "ENUM", 248: "SET", 249: "TINY_BLOB", 250: "MEDIUM_BLOB", 251: "LONG_BLOB", 252: "BLOB",
              253: "VAR_STRING", 254: "STRING", 255: "GEOMETRY"}
IGNORED_FLAGS = 4096 | 32768
FLAGS = {1: "NOT_NULL", 2: "PRI", 4: "UNIQUE", 8: "KEY", 16: "BLOB", 32: "UNSIGNED", 64: "ZEROFILL", 128: "BINARY", 256: "ENUM",
         512: "AUTO_INC", 1024: "TIMESTAMP", 2048: "SET", 4096: "NO_DEFAULT", 8192: "ON_UPDATE", 32768: "NUM"}


def show(column):
    flags = "+".join(name for bit, name in FLAGS.items() if column.flags & bit)
    return f"{TYPE_NAMES.get(column.type, column.type)}({column.length}) d{column.decimals} c{column.charset} {flags}".strip()


def difference(plain, union):
    """What differs between two column definitions, old -> new."""
    parts = []
    if plain.type != union.type:
        parts.append(f"type {TYPE_NAMES.get(plain.type)}→{TYPE_NAMES.get(union.type)}")
    if plain.length != union.length:
        parts.append(f"length {plain.length}→{union.length}")
    lost = plain.flags & ~union.flags & ~IGNORED_FLAGS
    won = union.flags & ~plain.flags & ~IGNORED_FLAGS
    parts += ["−" + name for bit, name in FLAGS.items() if lost & bit]
    parts += ["+" + name for bit, name in FLAGS.items() if won & bit]
    if plain.decimals != union.decimals:
        parts.append(f"decimals {plain.decimals}→{union.decimals}")
    if plain.charset != union.charset:
        parts.append(f"charset {plain.charset}→{union.charset}")
    return ", ".join(parts)


def first_cell(row, binary, column_type):
    """For messages: the first cell's bytes (text), or the row after its header (binary)."""
    if not binary:
        if row[0] == 0xFB:
            return "NULL"
        size, at = lenenc(row, 0)
        return repr(row[at : at + size][:40])
    return row[1:].hex()[:48]


def ways(expression, order_by):
    """mode -> (plain statements whose rows are put one after the other, the union statement)"""
    def branch(table, tail=""):
        return f"SELECT {expression} AS v, id FROM {table}{tail}"

    result = {
        "stream": ([branch("t0"), branch("t1")], f"({branch('t0')}) UNION ALL ({branch('t1')})"),
        "limited": ([branch("t0"), branch("t1")],
                    f"({branch('t0', ' LIMIT 1000')}) UNION ALL ({branch('t1', ' LIMIT 1000')}) LIMIT 1000"),
        "one id": ([branch("u", " ORDER BY id LIMIT 1000")],
                   f"({branch('t0', ' ORDER BY id LIMIT 1000')}) UNION ALL ({branch('t1', ' ORDER BY id LIMIT 1000')})"
                   " ORDER BY id LIMIT 1000"),
    }
    if order_by:
        tail = " ORDER BY v, id LIMIT 1000"
        result["sorted"] = ([branch("u", tail)], f"({branch('t0', tail)}) UNION ALL ({branch('t1', tail)}){tail}")
        grouped = f"SELECT {expression} AS v, COUNT(*) FROM %s GROUP BY v"
        result["grouped"] = ([grouped % "t0", grouped % "t1"],
                             f"({grouped % 't0'}) UNION ALL ({grouped % 't1'}) ORDER BY v")
    return result


def aggregate_ways(expression):
    def branch(table):
        return f"SELECT {expression} AS v, 1 AS id FROM {table}"

    def groups(table, tail=""):
        return f"SELECT {expression} AS v, id AS k FROM {table} GROUP BY k ORDER BY k{tail}"

    return {
        "stream": ([branch("t0"), branch("t1")], f"({branch('t0')}) UNION ALL ({branch('t1')})"),
        "sorted": ([groups("u", " LIMIT 1000")],
                   f"({groups('t0', ' LIMIT 1000')}) UNION ALL ({groups('t1', ' LIMIT 1000')}) ORDER BY k LIMIT 1000"),
    }


def measure(connection, name, statements, report):
    plain_column, prepared_difference, by_mode, values = None, "", {}, {}
    for mode, (plain_sql, union_sql) in statements.items():
        for binary in (False, True):
            protocol = "binary" if binary else "text"
            try:
                plain = []
                for sql in plain_sql:
                    if binary:
                        prepared, answer = connection.binary(sql)
                        prepared_difference = prepared_difference or difference(answer.columns[0], prepared[0])
                    else:
                        answer = connection.query(sql)
                    plain += answer.rows
                    plain_column = plain_column or answer.columns[0]
                union = connection.binary(union_sql)[1] if binary else connection.query(union_sql)
            except ServerError as error:
                values[mode, protocol] = f"error: {error}"[:90]
                continue
            by_mode[mode] = by_mode.get(mode) or difference(answer.columns[0], union.columns[0])
            if plain == union.rows:
                values[mode, protocol] = ""
            elif sorted(plain) == sorted(union.rows):
                values[mode, protocol] = "" if mode == "grouped" else "order differs"
            else:
                pair = next(((a, b) for a, b in zip(plain, union.rows) if a != b), (b"\0", b"\0"))
                kind = union.columns[0].type
                values[mode, protocol] = f"{first_cell(pair[0], binary, kind)} → {first_cell(pair[1], binary, kind)}"
    report.append((name, plain_column, by_mode, values, prepared_difference))


def fill(connection, definition, rows):
    for table in ("t0", "t1", "u"):
        connection.query(f"DROP TABLE IF EXISTS {table}")
        connection.query(f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, {definition}) CHARACTER SET utf8mb4 "
                         "COLLATE utf8mb4_general_ci")
    for number, row in enumerate(rows):
        for table in (f"t{number % 2}", "u"):
            connection.query(f"INSERT INTO {table} VALUES ({number}, {row})")


def cell(by_mode):
    texts = {}
    for mode, text in by_mode.items():
        texts.setdefault(text, []).append(mode)
    if len(texts) == 1:
        return next(iter(texts)) or "same"
    return "; ".join(f"{'/'.join(modes)}: {text or 'same'}" for text, modes in texts.items())


def print_table(title, report):
    print(f"\n### {title}\n")
    print("| what | plain definition | definition under UNION ALL | value bytes |\n|---|---|---|---|")
    nullable = None
    for name, plain, by_mode, values, prepared in report:
        if name.endswith(" NOT NULL") and nullable == (by_mode, {key: bool(text) for key, text in values.items()}):
            continue
        nullable = by_mode, {key: bool(text) for key, text in values.items()}
        wrong = {}
        for (mode, protocol), text in values.items():
            if text:
                wrong.setdefault(text, []).append(f"{mode} {protocol}")
        verdict = "; ".join(f"**{', '.join(where)}**: `{text}`" for text, where in wrong.items()) or "equal"
        definition = show(plain) if plain else "none"
        if prepared:
            definition += f" (at PREPARE: {prepared})"
        print(f"| {name} | {definition} | {cell(by_mode) if by_mode else ''} | {verdict} |")


def main():
    for path in sys.argv[1:]:
        connection = Connection(path)
        for sql in ("SET sql_mode=''", "CREATE DATABASE IF NOT EXISTS union_types", "USE union_types", "SET NAMES utf8mb4"):
            connection.query(sql)
        print(f"\n## {connection.version}")
        types = []
        for name, column_type, values in TYPES:
            for nullable in (True, False):
                rows = (["NULL"] if nullable else []) + values + values[::-1]
                try:
                    fill(connection, f"c {column_type} {'NULL' if nullable else 'NOT NULL'}", rows)
                except ServerError as error:
                    if nullable:
                        print(f"\n{name}: not on this server ({error})")
                    break
                measure(connection, name + ("" if nullable else " NOT NULL"), ways("c", True), types)
        print_table("Columns", types)
        fill(connection, EXPRESSION_COLUMNS, EXPRESSION_ROWS + EXPRESSION_ROWS[:2])
        expressions = []
        for expression in EXPRESSIONS:
            measure(connection, f"`{expression}`", ways(expression, False), expressions)
        print_table("Expressions and literals", expressions)
        aggregates = []
        for expression in AGGREGATES:
            measure(connection, f"`{expression}`", aggregate_ways(expression), aggregates)
        print_table("Aggregates", aggregates)


main()
