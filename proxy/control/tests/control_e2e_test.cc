// Against two real servers of each kind that this machine has.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "proxy/control/catalog_watch.h"
#include "proxy/control/checks.h"
#include "proxy/demo/cluster.h"
#include "router/catalog/schema_file.h"

namespace evenkeel::control {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Every type that a sharded table may hold.
constexpr const char* all_types =
    "id BIGINT NOT NULL PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED NOT NULL DEFAULT 3, s SMALLINT, m "
    "MEDIUMINT, "
    "i INT, iu INT UNSIGNED, bu BIGINT UNSIGNED, d DECIMAL(12,3), f FLOAT, db DOUBLE, bt BIT(7), da DATE, ti "
    "TIME(3), "
    "dt DATETIME(6), ts TIMESTAMP NULL, y YEAR, c CHAR(10), v VARCHAR(40) CHARACTER SET latin1 COLLATE "
    "latin1_bin, "
    "vb VARBINARY(20), b BINARY(4), tt TINYTEXT, te TEXT, mt MEDIUMTEXT, lt LONGTEXT, bl BLOB, lb LONGBLOB, "
    "e ENUM('a','b') NOT NULL, st SET('x','y'), g INT GENERATED ALWAYS AS (i + 1) VIRTUAL, "
    "UNIQUE KEY both_parts (id, i), KEY on_text (te(12)), KEY on_v (v)";

rule::RuleSetPtr make_rules(bool accept_table_unique = false) {
  rule::TableSettings table;
  table.name = "orders";
  table.key = "id";
  table.topology.instances = {"ds0", "ds1"};
  table.topology.databases = 4;
  table.topology.tables = 8;
  table.topology.database_pattern = "shop_{}";
  table.topology.table_pattern = "orders_{}";
  table.generated_column = "id";
  table.generator = "ids";
  table.unique_scope_table = accept_table_unique;
  rule::Settings settings;
  settings.instances = {"ds0", "ds1"};
  settings.schemas.push_back({"shop", "ds0", {table}, "test"});
  return *rule::RuleSet::build(settings);
}

class Control : public ::testing::TestWithParam<demo::ServerKind> {
 protected:
  void SetUp() override {
    demo::ClusterOptions options;
    options.server = GetParam();
    options.instances = 2;
    options.connections = 50;
    options.folder = std::filesystem::temp_directory_path() / fmt::format("evenkeel-control-{}", getpid());
    auto started = demo::Cluster::start(options);
    if (!started && GetParam() == demo::ServerKind::mysql)
      GTEST_SKIP() << "SKIPPED: " << started.error().message;
    ASSERT_TRUE(started.has_value()) << started.error().message;
    cluster_ = std::move(*started);
    for (size_t i = 0; i < 2; ++i) {
      backend_.instances.push_back({fmt::format("ds{}", i), "127.0.0.1", cluster_->port(i), {}});
      auto client = demo::SqlClient::connect(cluster_->port(i), cluster_->administrator(), "");
      ASSERT_TRUE(client.has_value()) << client.error().message;
      clients_.push_back(std::move(*client));
    }
    backend_.connect_timeout = 3s;
    account_ = {cluster_->proxy_account().user, cluster_->proxy_account().password};
    create_tables();
  }

  void run(size_t instance, const std::string& sql) {
    auto done = clients_[instance].execute(sql);
    ASSERT_TRUE(done.has_value()) << sql << ": " << done.error().message;
  }

  // Databases 0 and 1 on ds0, 2 and 3 on ds1, two tables each.
  void create_tables() {
    run(0, "CREATE DATABASE shop");
    for (size_t database = 0; database < 4; ++database) {
      run(database / 2, fmt::format("CREATE DATABASE shop_{} DEFAULT CHARACTER SET utf8mb4", database));
    }
    for (size_t table = 0; table < 8; ++table)
      run(table / 4, fmt::format("CREATE TABLE {} ({})", actual(table), all_types));
  }

  static std::string actual(size_t table) { return fmt::format("shop_{0}.orders_{1}", table / 2, table); }

  CatalogReader reader(bool accept_table_unique = false) {
    rules_ = make_rules(accept_table_unique);
    return CatalogReader(rules_, backend_, [this](const std::string&) { return account_; });
  }

  std::string read_findings() { return to_text(reader().read().findings); }

  // Findings of a pass over all actual tables.
  std::string verified() {
    CatalogReader all = reader();
    const Reading reading = all.read();
    std::vector<Finding> findings = reading.findings;
    for (const DatabaseTables& database : all.databases()) all.verify(database, reading, findings);
    return to_text(findings);
  }

  std::unique_ptr<demo::Cluster> cluster_;
  std::vector<demo::SqlClient> clients_;
  backend::Settings backend_;
  session::BackendAccount account_;
  rule::RuleSetPtr rules_;
};

// The server's own words and a schema file's come to the same catalog.
TEST_P(Control, ReadsAllTypes) {
  Reading reading = reader().read();
  ASSERT_EQ(to_text(reading.findings), "");
  ASSERT_EQ(reading.facts.size(), 2u);
  const auto flavour =
      GetParam() == demo::ServerKind::mysql ? mysql::Flavour::mysql : mysql::Flavour::mariadb;
  EXPECT_EQ(reading.facts[0].flavour, flavour);
  catalog::Catalog from_file;
  ASSERT_TRUE(
      catalog::read_schema(fmt::format("CREATE TABLE orders ({}) DEFAULT CHARACTER SET utf8mb4;", all_types),
                           "shop", from_file, flavour)
          .has_value());
  const catalog::CatalogPtr read = reading.to_catalog(1);
  const catalog::Table* found = read->find("shop", "orders");
  const catalog::Table* expected = from_file.find("shop", "orders");
  ASSERT_NE(found, nullptr);
  ASSERT_NE(expected, nullptr);
  ASSERT_EQ(found->columns.size(), 30u);
  for (size_t i = 0; i < found->columns.size(); ++i) {
    const catalog::Column& a = found->columns[i];
    const catalog::Column& b = expected->columns[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type) << a.name;
    EXPECT_EQ(a.is_unsigned, b.is_unsigned) << a.name;
    EXPECT_EQ(a.nullable, b.nullable) << a.name;
    EXPECT_EQ(a.has_default, b.has_default) << a.name;
    EXPECT_EQ(a.generated, b.generated) << a.name;
    EXPECT_EQ(a.precision, b.precision) << a.name;
    // Of ENUM and SET the server tells the longest value, of unsigned integers a width of their own.
    if (a.name != "e" && a.name != "st" && !a.is_unsigned) {
      EXPECT_EQ(a.char_length, b.char_length) << a.name;
    }
    EXPECT_EQ(a.decimals, b.decimals) << a.name;
    // The file has no word for the server's default collation of utf8mb4.
    if (a.collation_name.find("utf8mb4") == std::string::npos) {
      EXPECT_EQ(a.collation_name, b.collation_name) << a.name;
    }
  }
  ASSERT_EQ(found->keys.size(), 4u);
  EXPECT_EQ(found->keys[0].name, "PRIMARY");
  EXPECT_TRUE(found->keys[0].unique);
  EXPECT_EQ(found->keys[1].name, "both_parts");
  EXPECT_EQ(found->keys[1].parts.size(), 2u);
  EXPECT_EQ(found->keys[2].name, "on_text");
  EXPECT_EQ(found->keys[2].parts[0].prefix, 12u);
  EXPECT_FALSE(found->keys[3].unique);
}

TEST_P(Control, NamesWhatDrifted) {
  EXPECT_EQ(verified(), "");
  run(1, "ALTER TABLE shop_3.orders_7 ADD COLUMN extra INT");
  run(1, "ALTER TABLE shop_2.orders_5 DROP KEY on_v");
  run(0, "ALTER TABLE shop_0.orders_1 MODIFY c CHAR(12)");
  run(0, "DROP TABLE shop_1.orders_2");
  const std::string found = verified();
  EXPECT_THAT(
      found, HasSubstr("shop_3.orders_7 on ds1 differs from the other tables of shop.orders: column extra is "
                       "additional"));
  EXPECT_THAT(
      found,
      HasSubstr("shop_2.orders_5 on ds1 differs from the other tables of shop.orders: key on_v is missing"));
  EXPECT_THAT(
      found,
      HasSubstr("shop_0.orders_1 on ds0 differs from the other tables of shop.orders: column c is char(12)"));
  EXPECT_THAT(found, HasSubstr("shop_1.orders_2 on ds0, slot 2 of shop.orders, does not exist"));
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 3) << found;
}

TEST_P(Control, RefusesLeftoversAndMissingParts) {
  run(0, "CREATE TABLE shop.Orders (id INT)");
  EXPECT_THAT(read_findings(), HasSubstr("shop.Orders on ds0 is a table with the name of a sharded table"));
  run(0, "DROP DATABASE shop");
  EXPECT_THAT(read_findings(),
              HasSubstr("the logical schema shop does not exist as a database on its default instance ds0"));
  run(0, "CREATE DATABASE shop");
  run(0, "CREATE TABLE shop.single (id INT)");
  EXPECT_EQ(read_findings(), "");
  run(0, "DROP TABLE shop_0.orders_0");
  EXPECT_THAT(read_findings(),
              HasSubstr("shop_0.orders_0 on ds0, an actual table of shop.orders, does not exist"));
}

TEST_P(Control, FindsUniqueKeysAndTriggers) {
  run(0, "ALTER TABLE shop_0.orders_0 ADD UNIQUE KEY code (v)");
  EXPECT_THAT(read_findings(),
              HasSubstr("error: unique key code of shop.orders lacks the sharding column id"));
  EXPECT_EQ(to_text(reader(true).read().findings), "");
  run(0, "CREATE TRIGGER shop_0.audit BEFORE INSERT ON shop_0.orders_0 FOR EACH ROW SET NEW.t = 1");
  EXPECT_TRUE(reader(true).read().to_catalog(1)->find("shop", "orders")->has_triggers);
}

TEST_P(Control, AnInstanceThatIsAwayIsAWarning) {
  cluster_->stop_instance(0);
  CatalogReader all = reader();
  Reading reading = all.read();
  EXPECT_FALSE(has_errors(reading.findings)) << to_text(reading.findings);
  EXPECT_THAT(to_text(reading.findings), HasSubstr("warning: not reachable: instance ds0: "));
  EXPECT_EQ(reading.tables.size(), 1u) << "read from the instance that answers";
  ASSERT_TRUE(cluster_->start_instance(0).has_value());
  std::vector<Finding> findings;
  for (const DatabaseTables& database : all.databases()) all.verify(database, reading, findings);
  EXPECT_EQ(to_text(findings), "");
  cluster_->stop_instance(0);
  cluster_->stop_instance(1);
  EXPECT_THAT(read_findings(), HasSubstr("error: no instance answers"));
}

TEST_P(Control, WatchFollowsChanges) {
  CatalogStore store;
  std::vector<Finding> findings;
  rules_ = make_rules();
  auto watch = CatalogWatch::start(
      rules_, backend_, [this](const std::string&) { return account_; }, store, {1h, 0ms, 0ms}, findings);
  ASSERT_TRUE(watch.has_value()) << watch.error().message;
  EXPECT_EQ(store.current()->version(), 1u);
  for (size_t table = 0; table < 8; ++table)
    run(table / 4, fmt::format("ALTER TABLE {} ADD COLUMN extra INT", actual(table)));
  store.request_refresh("ALTER TABLE");
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (store.current()->version() == 1 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(store.current()->version(), 2u);
  EXPECT_NE(store.current()->find("shop", "orders")->find_column("extra"), nullptr);
  const uint64_t passes = (*watch)->passes();
  store.request_refresh("nothing new");
  while ((*watch)->passes() <= passes + 1 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(store.current()->version(), 2u) << "what did not change gets no new version";
  EXPECT_EQ((*watch)->drifted(), 0u);
}

TEST_P(Control, WatchRefusesToStartOnErrors) {
  run(0, "CREATE TABLE shop.orders (id INT)");
  CatalogStore store;
  std::vector<Finding> findings;
  rules_ = make_rules();
  auto watch = CatalogWatch::start(
      rules_, backend_, [this](const std::string&) { return account_; }, store, WatchSettings{}, findings);
  ASSERT_FALSE(watch.has_value());
  EXPECT_THAT(watch.error().message,
              HasSubstr("error: shop.orders on ds0 is a table with the name of a sharded table"));
}

TEST_P(Control, CheckReportsAccountsAndGrants) {
  session::Settings session;
  session::User user;
  user.name = "app";
  user.backend = account_;
  session::User weak;
  weak.name = "reader";
  weak.backend = {"weak", "pw-of-weak-1"};
  session::User unknown;
  unknown.name = "ghost";
  unknown.backend = {"nobody", "pw-of-nobody-1"};
  session.users = {user, weak, unknown};
  for (size_t i = 0; i < 2; ++i) {
    run(i, "CREATE USER weak@'%' IDENTIFIED BY 'pw-of-weak-1'");
    run(i, "GRANT SELECT ON `shop%`.* TO weak@'%'");
  }
  run(1, "GRANT INSERT, UPDATE, DELETE ON `shop\\_2`.* TO weak@'%'");
  rules_ = make_rules();
  const CheckReport report = check_instances(rules_, backend_, session, {});
  const std::string found = to_text(report.findings);
  EXPECT_THAT(found,
              HasSubstr("warning: account weak on ds0 lacks INSERT, UPDATE, DELETE on shop, shop_0, shop_1"));
  EXPECT_THAT(found, HasSubstr("warning: account weak on ds1 lacks INSERT, UPDATE, DELETE on shop_3"));
  EXPECT_THAT(found, HasSubstr("error: account nobody of user ghost: instance ds0: "));
  EXPECT_EQ(found.find(account_.user + " on"), std::string::npos) << found;
  ASSERT_EQ(report.lines.size(), 4u);
  EXPECT_THAT(report.lines[0], HasSubstr("ds0: "));
  EXPECT_EQ(report.lines[2], "8 actual tables in 4 databases compared");
  EXPECT_EQ(report.lines[3], "4 accounts log in");
}

INSTANTIATE_TEST_SUITE_P(Servers, Control,
                         ::testing::Values(demo::ServerKind::mariadb, demo::ServerKind::mysql),
                         [](const auto& of) { return std::string(to_string(of.param)); });

}  // namespace
}  // namespace evenkeel::control
