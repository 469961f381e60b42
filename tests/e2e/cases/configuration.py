"""What needs no server: the program's own checks of a configuration, and its small commands."""
import os
import re
import subprocess
import tempfile
import urllib.request

from harness.registry import check, check_equal, test

HEAD = """
listeners:
  - address: 127.0.0.1:3306
    tls: {mode: "off"}
instances:
  - {name: instance1, address: "127.0.0.1:3401"}
  - {name: instance2, address: "127.0.0.1:3402"}
  - {name: instance3, address: "127.0.0.1:3403"}
  - {name: instance4, address: "127.0.0.1:3404"}
users:
  - name: app
    password: ${APP_PASSWORD}
    backend: {user: app, password: "${APP_PASSWORD}"}
"""

ORDERS_8192 = """
schemas:
  - name: shop
    default_instance: instance1
    tables:
      - name: orders
        key: id
        generated_key: {generator: ids}
        topology:
          databases: 64
          tables: 8192
          database_pattern: "shop_{:02}"
          table_pattern: "orders_{:04}"
"""


def evenkeel(program, *arguments, text=None):
    """Runs a command; {} in an argument is a file with `text`. (status, both outputs together)"""
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        path = os.path.join(folder, "evenkeel.yaml")
        if text is not None:
            with open(path, "w") as out:
                out.write(text.replace("STATE", os.path.join(folder, "state")))
        done = subprocess.run([program, *(path if argument == "{}" else argument for argument in arguments)], capture_output=True,
                              text=True, timeout=60, env=dict(os.environ, APP_PASSWORD="secret-of-the-test"))
        return done.returncode, done.stdout + done.stderr


@test("C03", "workers that cannot reach every table: a warning that names the tables, or refused with leased ids", servers=())
def unreachable(program):
    generator = "state_directory: STATE\ngenerators: [{name: ids, layout: classic}]\n"
    status, output = evenkeel(program, "check", "{}", text=HEAD + generator + "worker: {id: 4, peers: [6]}" + ORDERS_8192)
    check_equal(status, 0, f"fixed worker ids are a warning:\n{output}")
    check("4096" in output and "8191" in output, f"the warning names the slots out of reach, 4096-8191:\n{output}")
    status, output = evenkeel(program, "check", "{}", text=HEAD + generator + "worker: {id: lease}" + ORDERS_8192)
    check(status != 0, f"leased worker ids are refused:\n{output}")
    wide = "state_directory: STATE\ngenerators: [{name: ids, layout: wide}]\n"
    status, output = evenkeel(program, "check", "{}", text=HEAD + wide + "worker: {id: lease}" + ORDERS_8192)
    check_equal(status, 0, f"a long enough sequence is right:\n{output}")


@test("C04", "three moduli of one id leave tables empty: refused, with the form that would do", servers=())
def moduli(program):
    rules = ORDERS_8192.replace("databases: 64", "moduli: {instance: 4, database: 16, table: 128}").replace("          tables: 8192\n", "")
    text = HEAD + "state_directory: STATE\ngenerators: [{name: ids, layout: wide}]\nworker: {id: 1}" + rules
    status, output = evenkeel(program, "check", "{}", text=text)
    check(status != 0, f"it must be refused:\n{output}")
    check("128" in output and "8192" in output and "digits" in output, f"the message names 128 of 8192 and the digit form:\n{output}")


@test("check-errors", "errors name file, line, column, path, what was found and what is allowed; secrets stay out", servers=())
def errors(program):
    text = (HEAD + "generators: []\n" + ORDERS_8192.replace("generated_key", "generated_kee")).replace("backend:", "bakend:")
    status, output = evenkeel(program, "check", "{}", text=text)
    check(status != 0, "unknown keys are errors")
    check("evenkeel.yaml:" in output and "bakend" in output and "generated_kee" in output, f"places and keys:\n{output}")
    check("secret-of-the-test" not in output, "a secret stands in a message")


@test("version", "--version and --help answer; an unknown command ends with an error", servers=())
def version(program):
    status, output = evenkeel(program, "--version")
    check(status == 0 and "." in output, output)
    status, output = evenkeel(program, "--help")
    for command in ("serve", "demo", "check", "decode", "plan"):
        check(command in output, f"--help names {command}:\n{output}")
    status, output = evenkeel(program, "no-such-command")
    check(status != 0 and output, "an unknown command")


@test("plan", "the plan of a statement without connecting anywhere", servers=())
def plan(program):
    text = HEAD + "state_directory: STATE\ngenerators: [{name: ids, layout: wide}]\nworker: {id: 1}" + ORDERS_8192
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as schema:
        schema.write("CREATE DATABASE shop; USE shop; CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT);\n")
        schema.flush()
        status, output = evenkeel(program, "plan", "{}", "SELECT user_id FROM orders WHERE id=8191", "--schema", schema.name, text=text)
    check_equal(status, 0, f"status:\n{output}")
    check("orders_8191" in output and "instance4" in output, f"the table and its instance:\n{output}")


@test("decode", "the parts of an id", servers=())
def decode(program):
    key = (123_456_789_000 << 22) | (5 << 12) | 77
    status, output = evenkeel(program, "decode", str(key))
    check_equal(status, 0, f"status:\n{output}")
    check("77" in output and "5" in output and "2027" in output, f"time, worker and sequence:\n{output}")


@test("demo-skew", "the tour of skew: uneven, steered by itself, even, off by itself; the dashboard is served meanwhile, and nothing is left behind", servers=())
def demo_skew(program):
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-") as state:
        process = subprocess.Popen([program, "demo", "--skew", "--once", "--rows", "6400"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=dict(os.environ, XDG_STATE_HOME=state))
        lines, page = [], None
        for line in process.stdout:
            lines.append(line)
            served = re.match(r"Watch it: (http://127\.0\.0\.1:\d+/) as operator with the password \w+$", line)
            if served:
                with urllib.request.urlopen(served[1], timeout=20) as answer:
                    page = answer.read().decode()
        output = "".join(lines)
        check_equal(process.wait(timeout=60), 0, f"status:\n{output}")
        check(page and "<title>Evenkeel" in page, f"the dashboard's page: {page and page[:300]}")
        left = [name for _, folders, files in os.walk(state) for name in files + folders if name.startswith("demo-")]
        check_equal(left, [], "what is left behind")
    for said in ("1,000 rows in each table of instance1, 500 in each of the others", "max/mean is 1.6000", "steering on, map 1 (96 of 128 tables alike; none for 0-31)",
                 "steering off", "until it ended by itself"):
        check(said in output, f"{said!r} in\n{output}")
    spreads = re.findall(r"Rows in each table: fewest ([\d,]+), mean ([\d.]+), most ([\d,]+)", output)
    check_equal(len(spreads), 2, f"pictures, before and after:\n{output}")
    fewest, mean, most = (float(text.replace(",", "")) for text in spreads[1])
    check(most / mean < 1.1 and fewest / mean > 0.85, f"at the end {spreads[1]}")
    check("Kept" not in output and "password" not in output.split("What the proxy said")[1], f"after --once nothing is offered that is gone:\n{output}")
