"""What a test gets: connections through the proxy, the truth, the servers themselves, and comparisons."""
import collections
import contextlib

import pymysql

from harness import schemas
from harness.registry import check_equal


class Environment:
    def __init__(self, cluster, proxy, plain):
        self.cluster = cluster
        self.proxy = proxy        # None when the tests run against a plain server
        self.plain = plain
        self.kind = cluster.kind
        self._open = []

    @property
    def port(self):
        return self.cluster.ports()[0] if self.plain else self.proxy.port

    @property
    def account(self):
        return self.cluster.root if self.plain else self.proxy.account

    def client(self, schema=None, autocommit=True, **options):
        """PyMySQL to the proxy; closed after the test."""
        options.setdefault("charset", "utf8mb4")
        options.setdefault("read_timeout", 90)  # a proxy that stops answering fails the test instead of the run
        connection = pymysql.connect(host="127.0.0.1", port=self.port, user=self.account["user"],
                                     password=self.account["password"], database=schema, autocommit=autocommit,
                                     max_allowed_packet=64 << 20, **options)
        self._open.append(connection)
        return connection

    def truth(self, schema, **options):
        """PyMySQL to the plain tables with the same rows."""
        connection = self.cluster.admin(1, schemas.truth_name(schema), **options)
        self._open.append(connection)
        return connection

    def admin(self, number, database=None):
        connection = self.cluster.admin(number, database)
        self._open.append(connection)
        return connection

    def close_connections(self):
        for connection in self._open:
            with contextlib.suppress(Exception):
                connection.close()
        self._open = []

    def fresh(self, *names):
        for name in names:
            schemas.empty(self.cluster, name, self.plain)

    def table(self, schema, name="orders"):
        return next(table for table in schemas.SCHEMAS[schema] if table.name == name)

    def rows_by_slot(self, schema, name="orders", columns="*"):
        """slot -> rows, read from the servers themselves, in the order of the primary key."""
        table = self.table(schema, name)
        found = {}
        connections = {}
        for slot, (instance, database, actual) in enumerate(table.places(schema)):
            if instance not in connections:
                connections[instance] = self.admin(instance)
            rows = ask(connections[instance], f"SELECT {columns} FROM `{database}`.`{actual}` ORDER BY 1")
            if rows:
                found[slot] = rows
        return found

    def load(self, schema, name, columns, rows, batch=500):
        """The same rows through the proxy and into the truth."""
        places = ",".join(["%s"] * len(columns.split(",")))
        statement = f"INSERT INTO {name} ({columns}) VALUES ({places})"
        for connection in (self.client(schema), self.truth(schema)):
            with connection.cursor() as cursor:
                for start in range(0, len(rows), batch):
                    cursor.executemany(statement, rows[start:start + batch])

    def same(self, schema, statement, parameters=None, ordered=False, connection=None, any_case=False):
        """Runs a query through the proxy and on one plain table, compares names, types and rows; gives the rows.
        `any_case`: of strings that are equal to the server, a DISTINCT or GROUP BY may show any one."""
        got = result_of(connection or self.client(schema), statement, parameters)
        expected = result_of(self.truth(schema), statement, parameters)
        check_equal(got[0], expected[0], f"columns of {statement}")
        if any_case:
            got, expected = ((columns, [folded(row) for row in rows]) for columns, rows in (got, expected))
        if ordered:
            check_equal(got[1], expected[1], f"rows of {statement}")
        else:
            check_equal(collections.Counter(got[1]), collections.Counter(expected[1]), f"rows of {statement}")
        return got[1]

    def same_or_refused(self, schema, statement, parameters=None, ordered=False, any_case=False):
        """Right or refused by name (error 1235); true when it was answered."""
        try:
            self.same(schema, statement, parameters, ordered, any_case=any_case)
        except pymysql.err.MySQLError as refusal:
            check_equal(refusal.args[0], 1235, f"the error that refuses {statement}: {refusal.args}")
            return False
        return True


def folded(row):
    return tuple(value.casefold() if isinstance(value, str) else value for value in row)


def result_of(connection, statement, parameters=None):
    """((name, type code) of every column, rows)"""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        columns = tuple((column[0], column[1]) for column in cursor.description or ())
        return columns, list(cursor.fetchall())


def ask(connection, statement, parameters=None):
    return result_of(connection, statement, parameters)[1]


def run(connection, statement, parameters=None):
    """(affected rows, insert id of the OK packet)"""
    with connection.cursor() as cursor:
        affected = cursor.execute(statement, parameters)
        return affected, cursor.lastrowid


def error_of(connection, statement, parameters=None):
    """The MySQL error number and message of a statement that must fail."""
    try:
        answer = result_of(connection, statement, parameters)
    except pymysql.err.MySQLError as error:
        return error.args
    raise AssertionError(f"{statement} should have failed; it answered {answer}")
