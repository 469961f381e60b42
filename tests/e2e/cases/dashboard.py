"""DASHBOARD: the page at the admin port's HTTP listener, in a real browser, and the JSON interface behind it."""
import base64
import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import urllib.error
import urllib.request

import pymysql
import yaml

from cases.admin import wait_until
from cases.skew import prefill
from harness.proxy import Proxy, accepts, free_port, greets
from harness.registry import check, check_equal, test

SLOTS = 128
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs")
SPITEFUL = "<img src=x onerror=alert(1)>"
STEERING = """steering:
  reweight: 1s
  exact_interval: 60s
  exact_per_second: 1000
  estimate_interval: 2s
  tables:
    - {table: l1.orders, mode: off, upper: 1.3, lower: 1.01}
"""


class Dashboard:
    """A proxy of its own with an admin port, and what a program asks of its HTTP interface."""

    def __init__(self, env, folder, steering):
        self.sql_port, self.http_port = free_port(), free_port()
        self.password = secrets.token_hex(8)
        os.environ["ADMIN_PASSWORD"] = self.password
        extra = f"""admin:
  listeners: [{{address: "127.0.0.1:{self.sql_port}"}}]
  http: {{listeners: [{{address: "127.0.0.1:{self.http_port}", tls: {{mode: "off"}}}}]}}
  users:
    - {{name: anna, password: "${{ADMIN_PASSWORD}}", rights: operate}}
    - {{name: rita, password: "${{ADMIN_PASSWORD}}"}}
    - {{name: "{SPITEFUL}", password: "${{ADMIN_PASSWORD}}"}}
"""
        self.proxy = Proxy(env.proxy.program, env.cluster, folder, names=["l1", "l2"], extra=extra + steering)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http_port}/"

    def ask(self, method, path, user="anna", password=None, body=None, **headers):
        """(status, JSON or text); headers with _ for -."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if user:
            plain = f"{user}:{password or self.password}"
            headers.setdefault("Authorization", "Basic " + base64.b64encode(plain.encode()).decode())
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, parsed(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, parsed(refusal)

    def sql(self, statement, user="anna"):
        """Rows by the names of their columns."""
        connection = pymysql.connect(host="127.0.0.1", port=self.sql_port, user=user, password=self.password, autocommit=True)
        with contextlib.closing(connection), connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def skew(self):
        """By slot, as the admin port says."""
        return sorted(self.sql("SHOW SKEW FOR l1.orders BY TABLE"), key=lambda row: int(row["slots"]))


def parsed(answer):
    text = answer.read().decode()
    return json.loads(text) if text and answer.headers.get_content_type() == "application/json" else text


@contextlib.contextmanager
def dashboard(env, name, steering=STEERING):
    folder = os.path.join(env.proxy.folder, "dashboard-" + name)
    shutil.rmtree(folder, ignore_errors=True)
    one = Dashboard(env, folder, steering)
    try:
        one.proxy.start()
        wait_until(lambda: greets(one.sql_port) and accepts(one.http_port), patience=60)
        yield one
    finally:
        one.proxy.stop()
    check_equal(one.proxy.status(), 0, f"the proxy's status after TERM\n{one.proxy.last_log_lines(20)}")


def when_counted(one, rows):
    """Waits until every table was counted and nothing is an estimate."""
    wait_until(lambda: [(row["rows"], row["source"]) for row in one.skew()] == [(each, "count") for each in rows], patience=180)


@test("DASHBOARD-http", "the JSON interface: sessions, figures as SHOW SKEW has them, dry runs, orders, who is refused", servers=("mariadb",), needs_proxy=True)
def http_interface(env):
    env.fresh("l2")
    prefill(env, 400, 200)
    with dashboard(env, "http") as one:
        rows = [400] * 32 + [200] * 96
        when_counted(one, rows)
        table = "schema=l1&table=orders"
        for path in ("api/v1/tables", f"api/v1/figures?{table}", "api/v1/steering"):
            check_equal(one.ask("GET", path, user=None)[0], 401, f"{path} without a login")
        check_equal(one.ask("GET", "", user=None)[0], 200, "the page itself")
        status, session = one.ask("POST", "api/v1/session")
        check_equal((status, session["user"], session["rights"]), (200, "anna", "operate"), "a session")
        bearer = {"user": None, "Authorization": f"Bearer {session['token']}"}
        status, figures = one.ask("GET", f"api/v1/figures?{table}", **bearer)
        check_equal((status, figures["rows"], figures["map"]["weights"]), (200, rows, None), "figures")
        check_equal(set(figures["source"]), {"x"}, "where the figures come from")
        said = one.skew()
        check_equal(f"{figures['by_rows']['max_over_mean']:.4f}", str(said[0]["max_over_mean"]), "max/mean, by HTTP and by SQL")
        check_equal(figures["bytes"], [row["bytes"] for row in said], "bytes")
        layout = one.ask("GET", f"api/v1/layout?{table}", **bearer)[1]
        drawn = {slot: (instance["name"], database["name"], name) for instance in layout["instances"] for database in instance["databases"]
                 for slot, name in zip(database["slots"], database["tables"])}
        check_equal(drawn, {int(row["slots"]): (row["instance"], row["database"], row["table"]) for row in said}, "the layout")
        summaries = {f"{each['schema']}.{each['table']}": each for each in one.ask("GET", "api/v1/tables", **bearer)[1]["tables"]}
        check_equal(summaries["l1.orders"]["rows"], sum(rows), "rows in the list of tables")
        check_equal((summaries["l2.orders"]["rows"], summaries["l2.orders"]["bound"]), (0, None), "a table without rows")

        order = {"schema": "l1", "table": "orders", "what": "avoid", "targets": [{"instance": "instance1"}], "duration_s": 3600}
        status, tried = one.ask("POST", "api/v1/dry-run", user="rita", body=order)
        check_equal((status, sum(tried["next_rows"]), sum(tried["next_rows"][:32])), (200, 10_000, 0), "a reader's dry run")
        check_equal(one.ask("POST", "api/v1/steer", user="rita", body=order)[0], 403, "a reader's order")
        check_equal(state_of(one), ("off", 0), "after dry run and refusal")
        form = dict(bearer, body=order, Content_Type="text/plain")
        check_equal(one.ask("POST", "api/v1/steer", **form)[0], 415, "what a form of another page could send")
        check_equal(one.ask("POST", "api/v1/steer", **bearer, body=order, Origin="http://foreign.example")[0], 403, "a page of another origin")
        check_equal(one.ask("GET", "api/v1/tables", Host="foreign.example")[0], 421, "another Host")
        check_equal(one.ask("POST", "api/v1/steer", body=dict(order, what="destroy"))[0], 400, "an unknown order")
        check_equal(one.ask("POST", "api/v1/steer", **bearer, body=dict(order, if_version=tried["version"]))[0], 200, "the order")
        check_equal(state_of(one), ("on, ordered", 1), "SHOW STEERING")
        check_equal(one.ask("POST", "api/v1/steer", **bearer, body=dict(order, if_version=tried["version"]))[0], 409, "an order about an older map")
        check_equal(one.ask("DELETE", "api/v1/session", **bearer)[0], 204, "the session's end")
        check_equal(one.ask("GET", "api/v1/tables", **bearer)[0], 401, "a token that has ended")


def state_of(one, table="l1.orders"):
    row = next(row for row in one.sql("SHOW STEERING") if row["logical_table"] == table)
    return row["state"], row["map_version"]


@test("DASHBOARD-graphs", "Grafana's dashboard and Prometheus' alert rules name metrics that a proxy serves", servers=("mariadb",), needs_proxy=True)
def graphs(env):
    with dashboard(env, "graphs") as one:
        page = one.ask("GET", "metrics", user=None)[1]
    served = {re.split(r"[{ ]", line)[0] for line in page.splitlines() if line and not line.startswith("#")}
    alerts = yaml.safe_load(open(os.path.join(DOCS, "alerts.yml")))
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    check(len(rules) > 5 and all(rule["alert"] and rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in rules), f"{rules}")
    board = json.load(open(os.path.join(DOCS, "grafana", "evenkeel.json")))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for expression in [rule["expr"] for rule in rules] + queries + [board["templating"]["list"][1]["query"]]:
        named = set(re.findall(r"\bevenkeel_\w+", expression))
        check(named <= served, f"{expression} names {named - served}, which /metrics does not serve")
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "rules", os.path.join(DOCS, "alerts.yml")], capture_output=True, text=True)
        check_equal(done.returncode, 0, f"promtool: {done.stdout}{done.stderr}")
