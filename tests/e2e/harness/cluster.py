"""Real servers, started by `evenkeel cluster` and stopped when its standard input closes."""
import json
import os
import subprocess

import pymysql


class Cluster:
    def __init__(self, program, kind, folder, instances=4, connections=1000, layout=None):
        self.kind = kind
        command = [program, "cluster", "--dir", folder, "--server", {"mariadb": "mariadbd", "mysql": "mysqld"}[kind],
                   "--instances", str(instances), "--connections", str(connections)]
        if layout:
            command += ["--layout", layout]
        self.log = folder + ".log"
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=open(self.log, "w"), text=True)
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise RuntimeError(f"the servers did not start: {open(self.log).read().strip()}")
        facts = json.loads(line)
        self.version = facts["version"]
        self.root = facts["administrator"]
        self.proxy_account = facts["proxy_account"]
        self.instances = facts["instances"]

    def ports(self):
        return [instance["port"] for instance in self.instances]

    def admin(self, number, database=None, **options):
        """A connection to instance `number` (from 1) that may do everything."""
        return pymysql.connect(host="127.0.0.1", port=self.instances[number - 1]["port"], user=self.root["user"],
                               password=self.root["password"], database=database, autocommit=True,
                               charset="utf8mb4", **options)

    def command(self, verb, number):
        """kill, stop or start an instance."""
        self._process.stdin.write(f"{verb} {number}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if not answer["ok"]:
            raise RuntimeError(f"{verb} {number}: {answer['reason']}")
        if "pid" in answer:
            self.instances[number - 1]["pid"] = answer["pid"]

    def stop(self):
        if self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait(timeout=120)
        if os.path.exists(self.log):
            os.remove(self.log)
