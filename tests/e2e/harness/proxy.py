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
        self._program = program
        self.port = free_port()
        self.account = {"user": "app", "password": secrets.token_hex(8)}
        self.config = os.path.join(folder, "evenkeel.yaml")
        self.log = os.path.join(folder, "proxy.log")
        self._process = None
        with open(self.config, "w") as out:
            out.write(configuration(cluster, self.port, folder, names or list(schemas.SCHEMAS), **settings))

    def start(self, patience=30):
        environment = dict(os.environ, APP_PASSWORD=self.account["password"])
        self._process = subprocess.Popen([self._program, "serve", self.config], stdin=subprocess.DEVNULL, stdout=open(self.log, "a"),
                                         stderr=subprocess.STDOUT, env=environment)
        begun = time.monotonic()
        while not greets(self.port):
            if not self.running():
                raise RuntimeError(f"the proxy did not start (status {self.status()}):\n{self.last_log_lines(30)}")
            if time.monotonic() - begun > patience:
                raise RuntimeError(f"the proxy does not answer on port {self.port}:\n{self.last_log_lines(30)}")
            time.sleep(0.01)
        return time.monotonic() - begun

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


def configuration(cluster, port, folder, names, **settings):
    raise NotImplementedError
