"""The schemas of the tests: as sharded tables on a cluster, as plain tables for the truth, and as rules."""
import dataclasses
import re

ORDERS = ("id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT, amount DECIMAL(12,2), qty INT, region VARCHAR(8), "
          "ref_no VARCHAR(32), created_at DATETIME(3)")


@dataclasses.dataclass
class Table:
    name: str
    columns: str
    key: str = "id"            # None: a single table, on the default instance only
    generated: str = None      # the column the proxy fills
    algorithm: str = "mod"
    instances: int = 2
    databases: int = 2         # of one instance
    tables: int = 2            # of one database
    binding: str = None
    unique_scope_table: bool = False
    auto_increment: bool = False  # the actual tables' own column says AUTO_INCREMENT

    def slots(self):
        return self.instances * self.databases * self.tables

    def place(self, schema, slot):
        """(instance from 1, database, table) of a slot: contiguous, the first instance holds the lowest."""
        database = slot // self.tables
        return (database // self.databases + 1, self.database_pattern(schema).format(database), self.table_pattern().format(slot))

    # As the configuration writes them, which is as Python's format() reads them.
    def database_pattern(self, schema):
        return schema + "_{:02}"

    def table_pattern(self):
        return f"{self.name}_{{:0{max(3, len(str(self.slots() - 1)))}}}"

    def places(self, schema):
        return [self.place(schema, slot) for slot in range(self.slots())]

    def actual_columns(self):
        if self.auto_increment:
            return self.columns.replace("id BIGINT NOT NULL PRIMARY KEY", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY")
        return self.columns

    def generating_columns(self):
        """For one table without a proxy: the server generates."""
        if not self.generated:
            return self.columns
        definition = rf"\b{self.generated} BIGINT NOT NULL"
        primary = re.search(definition + " PRIMARY KEY", self.columns)
        return re.sub(definition, f"{self.generated} BIGINT NOT NULL AUTO_INCREMENT" + ("" if primary else " UNIQUE"), self.columns)


TYPES = """id BIGINT NOT NULL PRIMARY KEY, c_tiny TINYINT, c_tinyu TINYINT UNSIGNED, c_bool TINYINT(1), c_small SMALLINT,
  c_medium MEDIUMINT, c_int INT, c_intu INT UNSIGNED, c_zero INT(6) UNSIGNED ZEROFILL, c_big BIGINT, c_bigu BIGINT UNSIGNED,
  c_dec DECIMAL(30,10), c_float FLOAT, c_double DOUBLE, c_bit BIT(12), c_date DATE, c_time TIME(3), c_datetime DATETIME(6),
  c_timestamp TIMESTAMP(2) NULL, c_year YEAR, c_char CHAR(10), c_varchar VARCHAR(50), c_bin BINARY(6),
  c_varbin VARBINARY(20), c_text TEXT, c_tinytext TINYTEXT, c_longtext LONGTEXT, c_blob BLOB, c_mediumblob MEDIUMBLOB,
  c_enum ENUM('zulu','alpha','mike'), c_set SET('x','b','a'), c_latin VARCHAR(20) CHARACTER SET latin1,
  c_bincol VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c_json JSON, c_point POINT"""

# Columns of many types and collations, none of them needed, for random statements.
GOODS = ("id BIGINT NOT NULL PRIMARY KEY, grp INT, name VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, "
         "code VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, uni VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, "
         "latin VARCHAR(12) CHARACTER SET latin1, price DECIMAL(10,3), weight DOUBLE, day DATE, made DATETIME(3), span TIME(2), "
         "small TINYINT UNSIGNED, must VARCHAR(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL DEFAULT 'none', big BIGINT UNSIGNED")

SCHEMAS = {
    # The reference layout: 4 instances, 16 databases, 128 tables.
    "l1": [Table("orders", ORDERS, generated="id", instances=4, databases=4, tables=8)],
    # The same with AUTO_INCREMENT on the actual tables.
    "l1a": [Table("orders", ORDERS, generated="id", auto_increment=True)],
    # A unique key without the sharding column, accepted.
    "l1u": [Table("orders", ORDERS + ", UNIQUE KEY ref (ref_no)", generated="id", unique_scope_table=True)],
    # Without a generator.
    "bare": [Table("orders", ORDERS)],
    # Sharded by user_id, the id generated.
    "l2": [Table("orders", ORDERS.replace("user_id BIGINT,", "user_id BIGINT NOT NULL,").replace(
        "id BIGINT NOT NULL PRIMARY KEY", "id BIGINT NOT NULL") +
        ", PRIMARY KEY (user_id, id), UNIQUE KEY ref (user_id, ref_no)", key="user_id", generated="id")],
    "l3": [
        Table("orders", ORDERS, generated="id", binding="order"),
        Table("order_lines", "order_id BIGINT NOT NULL, line INT NOT NULL, user_id BIGINT, sku VARCHAR(16), "
              "PRIMARY KEY (order_id, line)", key="order_id", binding="order"),
        Table("labels", "code VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, text VARCHAR(64)", key="code", algorithm="hash_mod"),
        Table("files", "id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(64), body LONGBLOB", generated="id"),
        Table("notes", "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, text VARCHAR(64)", key=None),
    ],
    "types": [Table("t", TYPES)],
    "mix": [
        Table("goods", GOODS, generated="id", binding="goods"),
        Table("parts", "goods_id BIGINT NOT NULL, no INT NOT NULL, label VARCHAR(12), cost DECIMAL(8,2), PRIMARY KEY (goods_id, no)",
              key="goods_id", binding="goods"),
        Table("words", "word VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, n INT, tag VARCHAR(10)",
              key="word", algorithm="hash_mod"),
        Table("remarks", "id INT NOT NULL PRIMARY KEY, goods_id BIGINT, text VARCHAR(20)", key=None),
    ],
}


def truth_name(schema):
    return f"truth_{schema}"


def create_sharded(cluster, schema):
    statements = {number: [] for number in range(1, len(cluster.instances) + 1)}
    statements[1].append(f"CREATE DATABASE `{schema}`")
    made = set()
    for table in SCHEMAS[schema]:
        if table.key is None:
            statements[1].append(f"CREATE TABLE `{schema}`.`{table.name}` ({table.columns})")
            continue
        for instance, database, name in table.places(schema):
            if database not in made:
                made.add(database)
                statements[instance].append(f"CREATE DATABASE `{database}`")
            statements[instance].append(f"CREATE TABLE `{database}`.`{name}` ({table.actual_columns()})")
    for number, texts in statements.items():
        run_all(cluster, number, texts)


def create_plain(cluster, schema, name, generating=False):
    texts = [f"CREATE DATABASE `{name}`"]
    for table in SCHEMAS[schema]:
        columns = table.generating_columns() if generating else table.actual_columns()
        texts.append(f"CREATE TABLE `{name}`.`{table.name}` ({columns})")
    run_all(cluster, 1, texts)


def run_all(cluster, number, statements):
    connection = cluster.admin(number)
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    connection.close()


def empty(cluster, schema, plain):
    """Removes every row of the schema and of its truth."""
    statements = {number: [] for number in range(1, len(cluster.instances) + 1)}
    for table in SCHEMAS[schema]:
        statements[1].append(f"DELETE FROM `{truth_name(schema)}`.`{table.name}`")
        if plain or table.key is None:
            statements[1].append(f"DELETE FROM `{schema}`.`{table.name}`")
        else:
            for instance, database, name in table.places(schema):
                statements[instance].append(f"DELETE FROM `{database}`.`{name}`")
    for number, texts in statements.items():
        run_all(cluster, number, texts)
