"""Client programs that nobody here wrote, and the small programs that drive them."""
import functools
import json
import os
import shutil
import subprocess
import tempfile

from harness.registry import Skipped

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients")
BUILT = tempfile.mkdtemp(prefix="evenkeel-clients-")


def remove_built():
    shutil.rmtree(BUILT, ignore_errors=True)


@functools.cache
def c_program(name):
    """clients/c/NAME.c, compiled against libmariadb."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libmariadb"], capture_output=True, text=True, check=True).stdout.split()
    program = os.path.join(BUILT, name)
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", os.path.join(HERE, "c", name + ".c"), "-o", program, *flags], check=True)
    return program


def run_c(name, arguments, password, expect_success=True, timeout=120):
    done = subprocess.run([c_program(name), *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          env={"MYSQL_PWD": password})
    if expect_success and done.returncode != 0:
        raise AssertionError(f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def installed_packages(name, what):
    """clients/NAME with its packages (`what` in words) installed in a scratch copy, as the lock file pins them."""
    source = os.path.join(HERE, name)
    folder = os.path.join(BUILT, name)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
    if not shutil.which("npm"):
        raise Skipped("npm is not installed (apt-get install nodejs npm)")
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped(f"npm could not fetch {what}: {done.stderr.strip()[-200:]}", excused=True)
    return folder


def run_node(script, port, account, schema, timeout=120):
    """Runs clients/node/SCRIPT.js; its last line of output is JSON."""
    folder = installed_packages("node", "mysql2 and mariadb")
    environment = dict(os.environ, DB_PORT=str(port), DB_USER=account["user"], DB_PASSWORD=account["password"], DB_NAME=schema)
    done = subprocess.run(["node", script + ".js"], cwd=folder, capture_output=True, text=True, timeout=timeout, env=environment)
    if done.returncode != 0:
        raise AssertionError(f"{script}.js ended with {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_cli(port, account, arguments, schema=None, text=None, timeout=120):
    """The mariadb command line client; (status, standard output, standard error)."""
    command = ["mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(port), "-u", account["user"], *arguments]
    if schema:
        command.append(schema)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout,
                          env=dict(os.environ, MYSQL_PWD=account["password"]))
    return done.returncode, done.stdout, done.stderr
