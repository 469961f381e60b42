#!/usr/bin/python3
"""The whole system measured: a server directly, through haproxy (which only forwards bytes), and through Evenkeel.

All three alternate inside one run, so that their ratios hold even on a machine that others use; every figure is the
median over the rounds. Then memory of idle clients, start-up with 8192 tables, and a scatter over them.

  run.py --program build/release/evenkeel [--server mariadb|mysql] [--rounds 5] [--seconds 1] [--connections 1,8,64,256]
         [--kinds point,rows,insert,generated] [--prepared] [--only load,memory,start] [--json FILE] [--check]

--check ends with 1 when a mark is missed.
"""
import argparse
import contextlib
import json
import os
import resource
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import pymysql

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tests", "e2e")]
from harness import schemas  # noqa: E402
from harness.cluster import Cluster  # noqa: E402
from harness.proxy import Proxy, free_port, greets  # noqa: E402
from measure import resident_kib, sysbench  # noqa: E402

POINTS, KEYS, ROWS_OF_KEY = 100_000, 1_000, 100
IDLE_FEW, IDLE_MANY = 1_000, 5_000
spread = {"instances": 4, "databases": 4, "tables": 8}
schemas.SCHEMAS["bench"] = [
    schemas.Table("point", "id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL", **spread),
    schemas.Table("many", "id BIGINT NOT NULL, seq INT NOT NULL, c VARCHAR(60) NOT NULL, PRIMARY KEY (id, seq)", **spread),
    schemas.Table("added", "id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL",
                  generated="id", **spread),
]
schemas.SCHEMAS["shop"] = [schemas.Table("orders", schemas.ORDERS, generated="id", instances=4, databases=16, tables=128)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--server", choices=("mariadb", "mysql"), default="mariadb")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--connections", default="1,8,64,256")
    parser.add_argument("--kinds", default="point,rows,insert,generated")
    parser.add_argument("--prepared", action="store_true")
    parser.add_argument("--only", default="load,memory,start")
    parser.add_argument("--json", help="every run's figures, one a line")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def say(text):
    print(f"-- {text}", flush=True)


def fill(cluster):
    """The same rows sharded and in one plain database on the first instance."""
    schemas.create_sharded(cluster, "bench")
    schemas.create_plain(cluster, "bench", "plain", generating=True)
    point, many, _ = schemas.SCHEMAS["bench"]
    c, pad = "evenkeel" * 15, "note" * 15
    for table, rows in ((point, [(key, key % 1000, c, pad) for key in range(1, POINTS + 1)]),
                        (many, [(key, line, pad) for key in range(1, KEYS + 1) for line in range(ROWS_OF_KEY)])):
        insert_all(cluster, 1, "plain", table.name, rows)
        for slot, (instance, database, name) in enumerate(table.places("bench")):
            insert_all(cluster, instance, database, name, [row for row in rows if row[0] % table.slots() == slot])


def insert_all(cluster, instance, database, table, rows):
    connection = cluster.admin(instance, database)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES ({','.join(['%s'] * len(rows[0]))})", rows)
    connection.close()


@contextlib.contextmanager
def haproxy(folder, server_port):
    port, path = free_port(), os.path.join(folder, "haproxy.cfg")
    with open(path, "w") as out:
        out.write(f"global\n  maxconn 4000\n  nbthread {os.cpu_count()}\ndefaults\n  mode tcp\n  maxconn 4000\n  timeout connect 5s\n"
                  f"  timeout client 1h\n  timeout server 1h\nlisten mysql\n  bind 127.0.0.1:{port}\n"
                  f"  server one 127.0.0.1:{server_port}\n")
    process = subprocess.Popen(["haproxy", "-db", "-f", path], stdin=subprocess.DEVNULL, stdout=open(path + ".log", "w"),
                               stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 10
        while not greets(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"haproxy did not start: {open(path + '.log').read()}")
            time.sleep(0.02)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def measure_load(options, cluster, proxy, folder, results):
    plain = {"user": cluster.root["user"], "password": cluster.root["password"], "database": "plain"}
    pids = [instance["pid"] for instance in cluster.instances]
    with haproxy(folder, cluster.ports()[0]) as (port, pid):
        targets = [{"name": "direct", "port": cluster.ports()[0], "pid": None, **plain}, {"name": "haproxy", "port": port, "pid": pid, **plain},
                   {"name": "evenkeel", "port": proxy.port, "pid": proxy.pid, "database": "bench", **proxy.account}]
        items = [(kind, prepared, count) for kind in options.kinds.split(",") for prepared in ([False, True] if options.prepared else [False])
                 for count in map(int, options.connections.split(","))]
        run = secrets.randbelow(100_000)
        for target in targets:  # unrecorded: fills caches, and finds what cannot work before the long part
            for kind in options.kinds.split(","):
                run += 1
                sysbench(target, kind, False, 4, 1, run, pids)
        begun, done, all_runs = time.monotonic(), 0, options.rounds * len(items) * len(targets)
        for turn in range(options.rounds):
            for kind, prepared, count in items:
                for target in targets if turn % 2 == 0 else targets[::-1]:
                    run += 1
                    figures = sysbench(target, kind, prepared, count, options.seconds, run, pids)
                    results.append({"target": target["name"], "kind": kind, "prepared": prepared, "connections": count, "round": turn, **figures})
                    done += 1
            left = (time.monotonic() - begun) / done * (all_runs - done)
            say(f"round {turn + 1} of {options.rounds} done, about {left:.0f} s left")


def median(results, figure, **where):
    values = [result[figure] for result in results if all(result[key] == value for key, value in where.items())]
    return statistics.median(values) if values else None


def print_load(results):
    print("\nProxy CPU in microseconds a query, queries/s against the server directly; medians over the rounds\n")
    print("| query | clients | direct q/s | haproxy q/s | evenkeel q/s | haproxy / direct | evenkeel / direct | haproxy us | evenkeel us "
          "| evenkeel / haproxy | p99 ms direct / haproxy / evenkeel |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind, prepared, count in dict.fromkeys((result["kind"], result["prepared"], result["connections"]) for result in results):
        where = {"kind": kind, "prepared": prepared, "connections": count}
        rate, own, p99 = ({name: median(results, figure, target=name, **where) for name in ("direct", "haproxy", "evenkeel")}
                          for figure in ("rate", "own", "p99"))
        ratio = own["evenkeel"] / own["haproxy"] if own["haproxy"] else 0
        print(f"| {kind}{', prepared' if prepared else ''} | {count} | {rate['direct']:.0f} | {rate['haproxy']:.0f} | {rate['evenkeel']:.0f} "
              f"| {rate['haproxy'] / rate['direct']:.2f} | {rate['evenkeel'] / rate['direct']:.2f} | {own['haproxy']:.1f} "
              f"| {own['evenkeel']:.1f} | {ratio:.2f} | {p99['direct']:.2f} / {p99['haproxy']:.2f} / {p99['evenkeel']:.2f} |")
    foreign = statistics.median(result["foreign"] for result in results)
    print(f"\nOther programs took {foreign:.0%} of the machine (median); above 5 % the rates are not those of a quiet machine, "
          "the ratios still compare like with like.")


def measure_memory(proxy):
    """KiB of the proxy for each idle client that has run one query, without TLS."""
    clients, resident = [], {}
    try:
        for count in (IDLE_FEW, IDLE_MANY):
            while len(clients) < count:
                client = pymysql.connect(host="127.0.0.1", port=proxy.port, database="bench", ssl_disabled=True, autocommit=True, **proxy.account)
                with client.cursor() as cursor:
                    cursor.execute("SELECT c FROM point WHERE id=%s", (len(clients) + 1,))
                    cursor.fetchall()
                clients.append(client)
                if len(clients) % 1000 == 0:
                    say(f"{len(clients)} of {IDLE_MANY} clients")
            time.sleep(2)
            resident[count] = resident_kib(proxy.pid)
    finally:
        for client in clients:
            with contextlib.suppress(Exception):
                client._force_close()
    return (resident[IDLE_MANY] - resident[IDLE_FEW]) / (IDLE_MANY - IDLE_FEW), resident


def measure_start(options, folder):
    """Seconds until clients are let in, with 8192 tables; and a scatter over all of them."""
    say("making 8192 tables on 4 servers")
    cluster = Cluster(options.program, options.server, os.path.join(folder, "large"), layout="4x16x128")
    proxy = None
    try:
        proxy = Proxy(options.program, cluster, os.path.join(folder, "large-proxy"), names=["shop"])
        starts = []
        for _ in range(5):
            starts.append(proxy.start())
            proxy.stop()
        proxy.start()
        pids = [instance["pid"] for instance in cluster.instances]
        before = sum(map(resident_kib, pids))
        scatters = []
        for _ in range(3):
            client = pymysql.connect(host="127.0.0.1", port=proxy.port, database="shop", autocommit=True, **proxy.account)
            begun = time.monotonic()
            with client.cursor() as cursor:
                cursor.execute("SELECT COUNT(*) FROM orders")
                cursor.fetchall()
            scatters.append(time.monotonic() - begun)
            client.close()
        growth = sum(map(resident_kib, pids)) - before
        return statistics.median(starts), scatters, growth / len(pids), resident_kib(proxy.pid)
    finally:
        if proxy:
            proxy.stop()
        cluster.stop()


def mark(name, figure, limit, unit, missed):
    kept = figure <= limit
    print(f"mark: {name}: {figure:.2f} {unit}, at most {limit} {unit}: {'kept' if kept else 'MISSED'}")
    if not kept:
        missed.append(name)


def main():
    options = arguments()
    options.program = os.path.abspath(options.program)
    parts = options.only.split(",")
    wanted = IDLE_MANY * 3
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    folder = tempfile.mkdtemp(prefix="evenkeel-bench-")
    results, missed = [], []
    try:
        if "load" in parts or "memory" in parts:
            say(f"starting 4 servers and filling {POINTS + KEYS * ROWS_OF_KEY} rows twice")
            cluster = Cluster(options.program, options.server, os.path.join(folder, "cluster"), connections=2000)
            proxy = None
            try:
                fill(cluster)
                proxy = Proxy(options.program, cluster, os.path.join(folder, "proxy"), names=["bench"], worker_threads=os.cpu_count(), pool=300)
                proxy.start()
                if "load" in parts:
                    measure_load(options, cluster, proxy, folder, results)
                    print_load(results)
                    for count, limit in ((8, 1.6), (64, 1.8)):
                        where = {"kind": "point", "prepared": False, "connections": count}
                        own, floor = median(results, "own", target="evenkeel", **where), median(results, "own", target="haproxy", **where)
                        if own and floor:
                            mark(f"CPU of a point select at {count} clients", own / floor, limit, "times haproxy's", missed)
                if "memory" in parts:
                    proxy.stop()
                    proxy.start()
                    each, resident = measure_memory(proxy)
                    print(f"\nMemory: {resident[IDLE_FEW]} KiB at {IDLE_FEW} idle clients, {resident[IDLE_MANY]} KiB at {IDLE_MANY}")
                    mark("memory of an idle client", each, 8, "KiB", missed)
            finally:
                if proxy:
                    proxy.stop()
                cluster.stop()
        if "start" in parts:
            start, scatters, growth, resident = measure_start(options, folder)
            print(f"\n8192 tables: clients let in after {start:.3f} s (median of 5), proxy {resident / 1024:.1f} MiB; SELECT COUNT(*) over all: "
                  + ", ".join(f"{seconds:.2f} s" for seconds in scatters) + f", each server grew by {growth / 1024:.1f} MiB")
            mark("start with 8192 tables", start, 0.5, "s", missed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        with open(options.json, "w") as out:
            out.writelines(json.dumps(result) + "\n" for result in results)
    return int(bool(missed) and options.check)


if __name__ == "__main__":
    sys.exit(main())
