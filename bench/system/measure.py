"""One sysbench run against one port, with the processor time that each program took for it."""
import os
import re
import resource
import subprocess

TICK = os.sysconf("SC_CLK_TCK")
HERE = os.path.dirname(os.path.abspath(__file__))


def processor_seconds(pid):
    """User and system time of a process and all its threads, dead ones included, in steps of 10 ms."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def machine_busy_seconds():
    with open("/proc/stat") as stat:
        numbers = [int(field) for field in stat.readline().split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / TICK


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return 0


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def sysbench(target, kind, prepared, connections, seconds, run, server_pids):
    """One run; target has port, user, password, database and pid (None: no process in between).

    Gives queries, queries/s, the median and 99th percentile latency in ms, microseconds of processor time a query of the
    target's process, of the servers and of sysbench, and the part of the machine that other programs took."""
    command = ["sysbench", os.path.join(HERE, "load.lua"), "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={target['port']}",
               f"--mysql-user={target['user']}", f"--mysql-password={target['password']}", f"--mysql-db={target['database']}",
               f"--threads={connections}", f"--time={seconds}", "--histogram=on", "--percentile=99", f"--kind={kind}",
               f"--prepared={int(prepared)}", "--db-ps-mode=auto", f"--run={run}", "run"]
    own = processor_seconds(target["pid"]) if target["pid"] else 0
    servers = sum(map(processor_seconds, server_pids))
    load, machine = children_seconds(), machine_busy_seconds()
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
    load, machine = children_seconds() - load, machine_busy_seconds() - machine
    own = (processor_seconds(target["pid"]) - own) if target["pid"] else 0
    servers = sum(map(processor_seconds, server_pids)) - servers
    counted = re.search(r"queries:\s+(\d+)\s+\(([\d.]+) per sec", done.stdout)
    queries = int(counted[1]) if counted else 0
    if done.returncode != 0 or queries == 0:
        reason = re.search(r"FATAL:.*", done.stdout + done.stderr)
        raise RuntimeError(f"sysbench on {target['name']}, {kind}: {reason[0] if reason else (done.stdout + done.stderr)[-600:]}")
    histogram = [(float(value), int(count)) for value, count in re.findall(r"^\s+([\d.]+) \|\**\s+(\d+)$", done.stdout, re.M)]
    wall = float(re.search(r"total time:\s+([\d.]+)s", done.stdout)[1])
    foreign = max(0.0, machine - own - servers - load) / (wall * os.cpu_count())
    return {"queries": queries, "rate": float(counted[2]), "median": percentile(histogram, 0.5), "p99": percentile(histogram, 0.99),
            "own": own / queries * 1e6, "servers": servers / queries * 1e6, "load": load / queries * 1e6, "foreign": foreign}


def percentile(histogram, part):
    total, seen = sum(count for _, count in histogram), 0
    for value, count in histogram:
        seen += count
        if seen >= total * part:
            return value
    return 0.0
