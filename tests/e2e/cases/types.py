"""All column types, text and binary, one table and scattered: as one plain table gives them."""
import json
import subprocess

from harness import clients
from harness.environment import run
from harness.registry import check_equal, test

NAMES = ("id,c_tiny,c_tinyu,c_bool,c_small,c_medium,c_int,c_intu,c_zero,c_big,c_bigu,c_dec,c_float,c_double,c_bit,c_date,c_time,c_datetime,"
         "c_timestamp,c_year,c_char,c_varchar,c_bin,c_varbin,c_text,c_tinytext,c_longtext,c_blob,c_mediumblob,c_enum,c_set,c_latin,c_bincol,"
         "c_json,c_point")


def row(key):
    sign = -1 if key % 2 else 1
    return (key, sign * key, 200 + key, key % 2, sign * 300 * key, sign * 70_000 * key, sign * 2_000_000_00 * key, 4_000_000_000 + key, 7 * key,
            sign * (1 << 60) + key, (1 << 63) + key, f"{sign * key}12345678901234.0123456789", key / 4, sign * key / 3, bytes([key % 16, key]),
            f"2024-02-{10 + key}", f"{'-' if sign < 0 else ''}1{key}:02:03.456", f"2024-03-0{1 + key % 9} 04:05:06.789012",
            f"2024-06-0{1 + key % 9} 04:05:06.78", 2000 + key, f"c{key}", f"é{key}", b"b\0%d" % key, b"\xff\0%d" % key, "text" * key,
            f"tiny{key}", "long" * 50 * key, b"\0\x01blob", b"m" * 300, ("zulu", "alpha", "mike")[key % 3], ("x", "a,b", "", "b")[key % 4],
            f"ö{key}", f"B{key}", json.dumps({"k": key, "a": [1, "x"]}))


@test("types", "every column type: value, type, length, flags and names, text and binary, one slot and scattered")
def matrix(env):
    env.fresh("types")
    columns = NAMES.split(",")
    places = ",".join(["%s"] * (len(columns) - 1)) + ",ST_GeomFromText('POINT(1 2)')"
    for connection in (env.client("types"), env.truth("types")):
        run(connection, "SET SESSION time_zone='+00:00'")
        for key in range(1, 9):
            run(connection, f"INSERT INTO t({NAMES}) VALUES ({places})", row(key))
        run(connection, "INSERT INTO t(id) VALUES (17)")  # the rest NULL
    probe = clients.c_program("columns")
    statements = [f"SELECT {NAMES} FROM t WHERE id=5", "SELECT * FROM t WHERE id=6", "SELECT * FROM t WHERE id=17",
                  f"SELECT {NAMES} FROM t ORDER BY id", "SELECT * FROM t ORDER BY id", "SELECT * FROM t x WHERE x.id IN (1,2,17) ORDER BY id"]
    statements += [f"SELECT id,{name} FROM t ORDER BY {name},id" for name in
                   ("c_tiny", "c_tinyu", "c_bool", "c_zero", "c_bigu", "c_dec", "c_float", "c_double", "c_date", "c_time", "c_datetime",
                    "c_timestamp", "c_year")]
    statements += [f"SELECT MIN({name}),MAX({name}),COUNT({name}) FROM t" for name in
                   ("c_tiny", "c_bigu", "c_dec", "c_double", "c_date", "c_time", "c_datetime", "c_year")]
    statements += [f"SELECT SUM({name}),AVG({name}) FROM t" for name in ("c_tiny", "c_bigu", "c_dec", "c_year", "c_bool", "c_zero")]
    differences = []
    for binary in ("text", "binary"):
        for statement in statements:
            got, expected = (subprocess.run([probe, str(port), account["user"], schema, binary, statement], capture_output=True,
                                            timeout=60, env={"MYSQL_PWD": account["password"]}).stdout.decode("utf-8", "replace")
                             for port, account, schema in ((env.port, env.account, "types"),
                                                           (env.cluster.ports()[0], env.cluster.root, "truth_types")))
            got = got.replace("truth_types", "types")
            if got != expected.replace("truth_types", "types") and not got.startswith("error 1235"):
                differences.append(f"{binary}: {statement}\n" + first_difference(got, expected.replace("truth_types", "types")))
    check_equal(differences and "\n".join(differences[:4]), [], f"{len(differences)} of {2 * len(statements)} results differ; the first")


def first_difference(got, expected):
    for one, other in zip(got.splitlines() + ["(end)"], expected.splitlines() + ["(end)"]):
        if one != other:
            return f"    expected {other[:300]}\n    got      {one[:300]}"
    return "    (no line differs)"


@test("types-order", "ENUM and SET order by their number, or the statement is refused")
def enum_order(env):
    env.fresh("types")
    rows = [(key, ("zulu", "alpha", "mike")[key % 3], ("x", "a", "b", "x,a")[key % 4]) for key in range(1, 30)]
    env.load("types", "t", "id,c_enum,c_set", rows)
    for statement in ("SELECT id,c_enum FROM t ORDER BY c_enum,id", "SELECT id,c_set FROM t ORDER BY c_set DESC,id",
                      "SELECT c_enum,COUNT(*) FROM t GROUP BY c_enum ORDER BY c_enum"):
        env.same_or_refused("types", statement, ordered=True)
