"""PROTO: how clients log in."""
import os
import subprocess

import pymysql

from harness import clients
from harness.environment import ask
from harness.registry import check, check_equal, test


@test("tls", "a client that wants TLS gets it", needs_proxy=True)
def tls(env):
    status, output, errors = clients.run_cli(env.port, env.account, ["--ssl", "--batch", "--skip-column-names", "-e",
                                                                     "SELECT 1; \\s"], "l3")
    check_equal((status, output.splitlines()[0] if output else ""), (0, "1"), f"over TLS: {errors}")
    check("Cipher in use is" in output, f"TLS is in use:\n{output}")
    connection = env.client("l3", ssl={"check_hostname": False})
    check_equal(ask(connection, "SELECT 1"), [(1,)], "PyMySQL over TLS")


@test("auth-plugins", "both plugins, asked for by the client", needs_proxy=True)
def plugins(env):
    for plugin in ("mysql_native_password", "caching_sha2_password"):
        status, output, errors = clients.run_cli(env.port, env.account, [f"--default-auth={plugin}", "--batch",
                                                                         "--skip-column-names", "-e", "SELECT CURRENT_USER() <> ''"])
        check_equal((status, output.strip()), (0, "1"), f"{plugin}: {errors}")
    for attempt in ("first", "second, with the fast path"):
        connection = env.client("l3")
        check_equal(ask(connection, "SELECT 1"), [(1,)], f"PyMySQL, {attempt}")


@test("mysql-cli", "MySQL's own 9.7 command line client, with and without TLS", servers=("mysql",), needs_proxy=True)
def mysql_cli(env):
    tree = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "evenkeel", "mysql", "root")
    libraries = f"{tree}/usr/lib/x86_64-linux-gnu:{tree}/usr/lib/mysql/private"
    base = [f"{tree}/lib64/ld-linux-x86-64.so.2", "--library-path", libraries, f"{tree}/usr/bin/mysql", "--no-defaults",
            f"--plugin-dir={tree}/usr/lib/mysql/plugin", "-h", "127.0.0.1", "-P", str(env.port), "-u", env.account["user"], "--batch",
            "--skip-column-names", "-e", "SELECT 1", "l3"]
    for options in ([], ["--ssl-mode=DISABLED", "--get-server-public-key"], ["--ssl-mode=REQUIRED"]):
        done = subprocess.run(base + options, capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, MYSQL_PWD=env.account["password"]))
        check_equal((done.returncode, done.stdout.strip()), (0, "1"), f"{options}: {done.stderr}")


@test("wrong-login", "wrong passwords, unknown users and no password are refused alike", needs_proxy=True)
def wrong(env):
    for user, password in ((env.account["user"], "wrong"), (env.account["user"], ""), ("nobody", "x"), ("", "")):
        try:
            pymysql.connect(host="127.0.0.1", port=env.port, user=user or "anonymous", password=password)
        except pymysql.err.OperationalError as error:
            check_equal(error.args[0], 1045, f"{user!r} with {password!r}")
        else:
            raise AssertionError(f"{user!r} with {password!r} was let in")
