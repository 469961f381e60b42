#include "router/catalog/schema_file.h"

#include <gtest/gtest.h>

namespace evenkeel::catalog {
namespace {

constexpr std::string_view schema = R"(
SET NAMES utf8mb4;
CREATE TABLE `orders` (
  `id` bigint(20) unsigned NOT NULL,
  user_id INT NOT NULL AUTO_INCREMENT,
  amount DECIMAL(12,2) DEFAULT NULL,
  region VARCHAR(8) NOT NULL DEFAULT 'eu',
  code CHAR(4) CHARACTER SET latin1 COLLATE latin1_bin,
  raw VARBINARY(16),
  price FLOAT(7,2),
  weight DOUBLE,
  made DATETIME(3) NOT NULL,
  total DECIMAL(14,2) AS (amount * 2) STORED,
  note TEXT,
  PRIMARY KEY (id),
  UNIQUE KEY by_user (user_id, region(4)),
  UNIQUE (code),
  KEY (made)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TRIGGER stamp BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = 'x';
USE other;
CREATE TABLE IF NOT EXISTS regions (code VARCHAR(8) PRIMARY KEY);
)";

class SchemaFile : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(read_schema(schema, "shop", catalog_)); }
  const Column& column(std::string_view name) const {
    return *catalog_.find("shop", "orders")->find_column(name);
  }

  Catalog catalog_{1};
};

TEST_F(SchemaFile, KnowsTypesAsTheServerDoes) {
  ASSERT_NE(catalog_.find("SHOP", "Orders"), nullptr);
  EXPECT_EQ(column("ID").type, mysql::ColumnType::longlong);
  EXPECT_TRUE(column("id").is_unsigned);
  EXPECT_FALSE(column("id").nullable);
  EXPECT_EQ(column("id").type_text, "bigint(20) unsigned");
  EXPECT_TRUE(column("user_id").auto_increment);
  EXPECT_EQ(column("amount").precision, 12);
  EXPECT_EQ(column("amount").decimals, 2);
  EXPECT_EQ(column("region").collation_name, "utf8mb4_general_ci");
  EXPECT_EQ(column("region").collation, 45);
  EXPECT_EQ(column("region").char_length, 8u);
  EXPECT_EQ(column("code").collation_name, "latin1_bin");
  EXPECT_EQ(column("raw").collation_name, "binary");
  EXPECT_EQ(column("price").decimals, 2);
  EXPECT_EQ(column("weight").decimals, 31);
  EXPECT_EQ(column("made").decimals, 3);
  EXPECT_TRUE(column("total").generated);
  EXPECT_EQ(column("note").type, mysql::ColumnType::blob);
}

TEST_F(SchemaFile, NamesUniqueKeysThatLackTheShardingColumn) {
  const Table& table = *catalog_.find("shop", "orders");
  const auto by_id = unique_keys_without(table, "ID");
  ASSERT_EQ(by_id.size(), 2u);
  EXPECT_EQ(by_id[0]->name, "by_user");
  EXPECT_EQ(by_id[1]->name, "code");
  // A prefix of the column is not the column.
  EXPECT_EQ(unique_keys_without(table, "region").size(), 3u);
  EXPECT_EQ(unique_keys_without(table, "user_id").size(), 2u);
}

TEST_F(SchemaFile, FollowsUseAndTriggers) {
  EXPECT_TRUE(catalog_.find("shop", "orders")->has_triggers);
  ASSERT_NE(catalog_.find("other", "regions"), nullptr);
  EXPECT_FALSE(catalog_.find("other", "regions")->has_triggers);
  EXPECT_EQ(catalog_.find("shop", "regions"), nullptr);
}

TEST(SchemaFileErrors, NameTheLine) {
  Catalog catalog;
  const Status read = read_schema(
      "CREATE TABLE a (id INT);\nCREATE TABLE b (name VARCHAR(5) COLLATE nothing_ci);\n", "shop", catalog);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("line 2"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("nothing_ci"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace evenkeel::catalog
