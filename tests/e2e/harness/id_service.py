"""One `evenkeel ids` process: its configuration, its clients."""
import base64
import json
import os
import secrets
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pymysql

from harness.proxy import accepts, free_port, greets


class IdService:
    def __init__(self, program, folder, registry, name="a", tls=False, max_count=1000):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.program = program
        self.port, self.http_port = free_port(), free_port()
        self.account = {"user": "shop", "password": secrets.token_hex(8)}
        self.token = secrets.token_hex(16)
        self.config = os.path.join(self.folder, "ids.yaml")
        self.log = os.path.join(self.folder, "ids.log")
        self._process = None
        mode = "generated" if tls else '"off"'
        with open(self.config, "w") as out:
            out.write(f"""state_directory: {self.folder}/state
generators: [{{name: order_ids, layout: classic}}]
worker: {{id: lease}}
registry: {{provider: file, directory: {registry}}}
ids:
  listeners: [{{address: "127.0.0.1:{self.port}"}}]
  http: {{listeners: [{{address: "127.0.0.1:{self.http_port}", tls: {{mode: {mode}}}}}]}}
  users: [{{name: shop, password: "${{IDS_PASSWORD}}"}}]
  tokens: [{{name: robot, secret: "${{IDS_TOKEN}}"}}]
  key_spaces: [{{name: orders, generator: order_ids, slots: 128}}, {{name: lines, generator: order_ids}}]
  max_count: {max_count}
""")

    def start(self, patience=30):
        environment = dict(os.environ, IDS_PASSWORD=self.account["password"], IDS_TOKEN=self.token)
        self._process = subprocess.Popen([self.program, "ids", self.config], stdin=subprocess.DEVNULL, stdout=open(self.log, "a"),
                                         stderr=subprocess.STDOUT, env=environment)
        begun = time.monotonic()
        while not (greets(self.port) and accepts(self.http_port)):
            if self._process.poll() is not None or time.monotonic() - begun > patience:
                raise RuntimeError(f"the id service did not start (status {self._process.poll()}):\n{open(self.log).read()[-2000:]}")
            time.sleep(0.01)
        return self

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self):
        """The status with which it ended after TERM."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                raise RuntimeError("the id service did not stop on TERM") from None
        return self._process.returncode

    def connect(self, **settings):
        return pymysql.connect(host="127.0.0.1", port=self.port, user=self.account["user"], password=self.account["password"], **settings)

    def request(self, method, target, token=None, basic=None, headers=None, context=None):
        """(status, headers, body); the body parsed where it is JSON."""
        scheme = "https" if context else "http"
        asked = urllib.request.Request(f"{scheme}://127.0.0.1:{self.http_port}{target}", method=method, headers=headers or {})
        if token:
            asked.add_header("Authorization", f"Bearer {token}")
        if basic:
            asked.add_header("Authorization", "Basic " + base64.b64encode(":".join(basic).encode()).decode())
        try:
            with urllib.request.urlopen(asked, timeout=20, context=context) as answer:
                status, got, body = answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, got, body = error.code, error.headers, error.read().decode()
        return status, got, json.loads(body) if "json" in got.get("Content-Type", "") else body
