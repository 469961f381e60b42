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

    def __init__(self, env, folder, steering, **settings):
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
        self.proxy = Proxy(env.proxy.program, env.cluster, folder, names=["l1", "l2"], extra=extra + steering, **settings)

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
def dashboard(env, name, steering=STEERING, **settings):
    folder = os.path.join(env.proxy.folder, "dashboard-" + name)
    shutil.rmtree(folder, ignore_errors=True)
    one = Dashboard(env, folder, steering, **settings)
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


def metrics_of(one):
    """{(name, (label, value), …): value} of /metrics."""
    status, page = one.ask("GET", "metrics", user=None)
    check_equal(status, 200, "/metrics")
    found = {}
    for line in page.splitlines():
        if line and not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
            found[(name, *re.findall(r'(\w+)="([^"]*)"', labels or ""))] = float(value)
    return found


def check_near(value, said, what):
    """`said` is rounded by the admin port; `value` is what was rounded."""
    step = 10 ** -len(str(said).partition(".")[2])
    check(abs(value - float(said)) <= step * 0.51, f"{what}: {value} in /metrics, {said} at the admin port")


@test("METRICS-skew", "/metrics says of skew and steering what SHOW SKEW and SHOW STEERING say: at rest, by an order, and by its own decision", needs_proxy=True)
def skew_metrics(env):
    env.fresh("l2")
    prefill(env, 400, 200)
    with dashboard(env, "metrics") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        check_metrics(one, "off", active=0)
        one.sql("STEER l1.orders AVOID TABLES 0-31 FOR 2 HOURS")
        told = check_metrics(one, "ordered", active=1)
        check_equal(told[("evenkeel_steering_closed_slots", ("table", "l1.orders"))], 32, "closed tables")
        client = pymysql.connect(host="127.0.0.1", port=one.proxy.port, user=one.proxy.account["user"], password=one.proxy.account["password"],
                                 database="l1", autocommit=True)
        with contextlib.closing(client), client.cursor() as cursor:
            cursor.execute("INSERT INTO orders(user_id) VALUES " + ",".join(["(7)"] * 128))
        new_rows = lambda told: sum(value for name, value in told.items() if name[0] == "evenkeel_slot_group_new_rows_total" and ("table", "l1.orders") in name)
        wait_until(lambda: new_rows(metrics_of(one)) == 128, patience=60)
        check_metrics(one, "ordered", active=1)
        check_equal(metrics_of(one)[("evenkeel_id_rows_outside_map_total", ("table", "l1.orders"))], 32, "rows of the batch outside the map")
        one.sql("STEER l1.orders AUTO")
        wait_until(lambda: state_of(one) == ("on, automatic", one.sql("SHOW STEERING")[0]["map_version"]), patience=60)
        check_metrics(one, "auto", active=1)
        one.sql("STEER l1.orders OFF")
        check_metrics(one, "off", active=0)


def check_metrics(one, mode, active):
    """While the admin port says the same before and after."""
    table = ("table", "l1.orders")

    def said_now():
        steering = next(row for row in one.sql("SHOW STEERING") if row["logical_table"] == "l1.orders")
        return steering, one.skew(), one.sql("SHOW SKEW FOR l1.orders BY INSTANCE"), one.ask("GET", "api/v1/figures?schema=l1&table=orders")[1]

    def unchanged(before, after):
        seen = [(steering["map_version"], [(row["rows"], row["bytes"], row["source"]) for row in tables]) for steering, tables, _, _ in (before, after)]
        return seen[0] == seen[1]

    got = []

    def agree():
        before, told, after = said_now(), metrics_of(one), said_now()
        got[:] = [told, after]
        return unchanged(before, after) and told[("evenkeel_steering_active", table)] == active

    wait_until(agree, patience=60)
    told, (said, by_table, by_instance, figures) = got
    rows = [row["rows"] for row in by_table]
    check_equal(told[("evenkeel_table_rows", table)], sum(rows), "rows")
    check_equal(told[("evenkeel_table_fullest_rows", table)], max(rows), "rows of the fullest")
    check_equal(told[("evenkeel_table_emptiest_rows", table)], min(rows), "rows of the emptiest")
    for row in by_instance:
        check_equal(told[("evenkeel_instance_rows", table, ("instance", row["instance"]))], row["rows"], f"rows of {row['instance']}")
        # Bytes carried forward are no whole numbers; here each table's is rounded, there the sum.
        bytes_told = told[("evenkeel_instance_bytes", table, ("instance", row["instance"]))]
        check(abs(bytes_told - row["bytes"]) <= SLOTS / 4 / 2, f"{bytes_told} bytes of {row['instance']}, not {row['bytes']}")
    for what in ("rows", "bytes"):
        groups = {name[2][1]: value for name, value in told.items() if name[0] == f"evenkeel_slot_group_{what}" and table in name}
        check_equal(groups, {f"{first}-{first + 3}": sum(row[what] for row in by_table[first:first + 4]) for first in range(0, SLOTS, 4)}, f"{what} by slots")
    check_near(told[("evenkeel_skew_max_over_mean_ratio", table, ("by", "rows"))], by_table[0]["max_over_mean"], "max/mean")
    check_near(told[("evenkeel_skew_variation_ratio", table, ("by", "rows"))] * 100, by_table[0]["variation_percent"], "variation")
    check_near(told[("evenkeel_skew_max_over_mean_ratio", table, ("by", "bytes"))], f"{figures['by_bytes']['max_over_mean']:.4f}", "max/mean by bytes")
    source = {"x": "exact", "e": "estimate", "c": "carried", "-": "unknown"}
    for letter, name in source.items():
        check_equal(told[("evenkeel_skew_figures", table, ("source", name))], figures["source"].count(letter), f"figures that are {name}")
    age = max(row["age_seconds"] for row in by_table)
    check(age - 5 <= told[("evenkeel_skew_oldest_figure_age_seconds", table)] <= age, f"age, SHOW SKEW says {age}")
    check_equal({name[2][1] for name, value in told.items() if name[0] == "evenkeel_steering_mode" and table in name and value == 1}, {mode}, "mode")
    check_equal(told[("evenkeel_steering_map_version", table)], said["map_version"], "the map's version")
    check_near(told[("evenkeel_steering_capacity_ratio", table)] * 100, said["capacity_percent"], "capacity")
    runs = {name[2][1] for name in told if name[0] == "evenkeel_steering_proxy_map_version" and table in name}
    check_equal(len(runs) == 1 and said["proxies"].startswith(min(runs) + ": map "), True, f"who runs it: {runs}, {said['proxies']}")
    check_equal(told[("evenkeel_steering_leads",)], 1, "the only proxy leads")
    check_equal(told[("evenkeel_steering_applies", ("table", "l2.orders"))], 0, "what is sharded by user_id cannot be steered")
    if mode == "ordered":  # the others rise until the fullest is as far above the mean as counts as even
        lacking = max(rows) * SLOTS / told[("evenkeel_skew_even_ratio", table)] - sum(rows)
        check(abs(told[("evenkeel_steering_rows_until_even", table)] - lacking) < 1, f"{lacking} rows until even, not {told}")
    return told


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
    for expression in [rule["expr"] for rule in rules] + queries + [each["query"] for each in board["templating"]["list"][1:]]:
        named = set(re.findall(r"\bevenkeel_\w+", expression))
        check(named <= served, f"{expression} names {named - served}, which /metrics does not serve")
    done = subprocess.run(["promtool", "check", "rules", os.path.join(DOCS, "alerts.yml")], capture_output=True, text=True)
    check_equal(done.returncode, 0, f"promtool: {done.stdout}{done.stderr}")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
    check_equal(done.returncode, 0, f"promtool of /metrics: {done.stdout}{done.stderr}")
