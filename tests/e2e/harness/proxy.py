"""The proxy under test: its configuration, its process."""
import os
import secrets
import signal
import socket
import subprocess
import time

from harness import schemas


class Proxy:
    def __init__(self, program, cluster, folder, names=None, **settings):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.program = program
        self._backend_password = cluster.proxy_account["password"]
        self.port = free_port()
        self.account = {"user": "app", "password": secrets.token_hex(8)}
        self.config = os.path.join(folder, "evenkeel.yaml")
        self.log = os.path.join(folder, "proxy.log")
        self._process = None
        with open(self.config, "w") as out:
            out.write(configuration(cluster, self.port, folder, names or list(schemas.SCHEMAS), **settings))

    def start(self, patience=30):
        self._process = subprocess.Popen([self.program, "serve", self.config], stdin=subprocess.DEVNULL, stdout=open(self.log, "a"),
                                         stderr=subprocess.STDOUT, env=self.environment())
        begun = time.monotonic()
        while not greets(self.port):
            if not self.running():
                raise RuntimeError(f"the proxy did not start (status {self.status()}):\n{self.last_log_lines(30)}")
            if time.monotonic() - begun > patience:
                raise RuntimeError(f"the proxy does not answer on port {self.port}:\n{self.last_log_lines(30)}")
            time.sleep(0.01)
        return time.monotonic() - begun

    def environment(self):
        """With the secrets that the configuration names."""
        return dict(os.environ, APP_PASSWORD=self.account["password"], BACKEND_PASSWORD=self._backend_password)

    @property
    def pid(self):
        return self._process.pid

    def running(self):
        return self._process is not None and self._process.poll() is None

    def status(self):
        return None if self._process is None else self._process.poll()

    def signal(self, number):
        self._process.send_signal(number)

    def stop(self):
        if not self.running():
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def resident_kib(self):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0

    def last_log_lines(self, count):
        try:
            return "".join(open(self.log, errors="replace").readlines()[-count:])
        except OSError:
            return ""


def free_port():
    """Below 32768, where the kernel does not hand ports to clients."""
    for _ in range(200):
        port = 10_000 + secrets.randbelow(9_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port was found")


def greets(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            return len(connection.recv(1)) == 1
    except OSError:
        return False


def accepts(port):
    """Whether somebody listens there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False


def configuration(cluster, port, folder, names, worker_threads=2, pool=64, worker_id="lease", state=None, generator_ids=None, gene=None, extra=""):
    lines = [f"state_directory: {state or folder + '/state'}", "log:", "  level: info", "listeners:", f"  - address: 127.0.0.1:{port}", "instances:"]
    for instance in cluster.instances:
        lines += [f"  - name: instance{instance['number']}", f"    address: 127.0.0.1:{instance['port']}"]
    lines += ["users:", "  - name: app", "    password: ${APP_PASSWORD}", "    backend:",
              f"      user: {cluster.proxy_account['user']}", "      password: ${BACKEND_PASSWORD}",
              "generators:"] + (generator_ids or ["  - name: ids", "    layout: classic"]) + ["  - name: wide_ids", "    layout: wide",
              "worker:", f"  id: {worker_id}", "limits:", f"  worker_threads: {worker_threads}", "pool:", f"  connections: {pool}", "schemas:"]
    for schema in names:
        lines += [f"  - name: {schema}", "    default_instance: instance1", "    tables:"]
        for table in schemas.SCHEMAS[schema]:
            if table.key is not None:
                lines += ["      " + line for line in table_rules(schema, table, gene)]
    return "\n".join(lines) + "\n" + extra


def table_rules(schema, table, gene=None):
    instances = ", ".join(f"instance{number + 1}" for number in range(table.instances))
    lines = [f"- name: {table.name}", f"  key: {table.key}", f"  algorithm: {table.algorithm}", "  topology:",
             f"    instances: [{instances}]", f"    databases: {table.instances * table.databases}", f"    tables: {table.slots()}",
             f'    database_pattern: "{table.database_pattern(schema)}"', f'    table_pattern: "{table.table_pattern()}"']
    if table.generated:
        generator = "wide_ids" if table.slots() > 1024 else "ids"
        lines += ["  generated_key:", f"    generator: {generator}", f"    column: {table.generated}"]
        if gene and table.generated != table.key:
            lines.append(f"    gene: {gene}")
    if table.unique_scope_table:
        lines.append("  unique_scope: table")
    if table.binding:
        lines.append(f"  binding: {table.binding}")
    return lines
