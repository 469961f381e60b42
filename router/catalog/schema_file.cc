#include "router/catalog/schema_file.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <vector>

#include "base/mysql/collation.h"
#include "router/sql/parser.h"

namespace evenkeel::catalog {
namespace {

using mysql::ColumnType;

struct TypeFacts {
  std::string_view name;
  ColumnType type;
  uint32_t length;         // characters or display width where none is written
  bool character = false;  // has a character set
};

constexpr std::array<TypeFacts, 29> types = {{
    {"tinyint", ColumnType::tiny, 4},
    {"smallint", ColumnType::short_, 6},
    {"mediumint", ColumnType::int24, 9},
    {"int", ColumnType::long_, 11},
    {"bigint", ColumnType::longlong, 20},
    {"decimal", ColumnType::newdecimal, 10},
    {"float", ColumnType::float_, 12},
    {"double", ColumnType::double_, 22},
    {"bit", ColumnType::bit, 1},
    {"year", ColumnType::year, 4},
    {"date", ColumnType::date, 10},
    {"time", ColumnType::time, 10},
    {"datetime", ColumnType::datetime, 19},
    {"timestamp", ColumnType::timestamp, 19},
    {"char", ColumnType::string, 1, true},
    {"varchar", ColumnType::varchar, 0, true},
    {"binary", ColumnType::string, 1},
    {"varbinary", ColumnType::varchar, 0},
    {"tinytext", ColumnType::tiny_blob, 255, true},
    {"text", ColumnType::blob, 65'535, true},
    {"mediumtext", ColumnType::medium_blob, 16'777'215, true},
    {"longtext", ColumnType::long_blob, UINT32_MAX, true},
    {"tinyblob", ColumnType::tiny_blob, 255},
    {"blob", ColumnType::blob, 65'535},
    {"mediumblob", ColumnType::medium_blob, 16'777'215},
    {"longblob", ColumnType::long_blob, UINT32_MAX},
    {"enum", ColumnType::enum_, 0, true},
    {"set", ColumnType::set, 0, true},
    {"json", ColumnType::json, UINT32_MAX},
}};

const TypeFacts* find_type(std::string_view name) {
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const TypeFacts& known) { return known.name == name; });
  return found == types.end() ? nullptr : &*found;
}

std::string type_text(const sql::ColumnDefinition& definition) {
  std::string out = definition.type;
  if (!definition.members.empty()) {
    out += '(';
    for (size_t i = 0; i < definition.members.size(); ++i) {
      out += fmt::format("{}'{}'", i == 0 ? "" : ",", definition.members[i]);
    }
    out += ')';
  } else if (definition.length) {
    out += definition.decimals ? fmt::format("({},{})", *definition.length, *definition.decimals)
                               : fmt::format("({})", *definition.length);
  }
  if (definition.is_unsigned) out += " unsigned";
  if (definition.zerofill) out += " zerofill";
  return out;
}

// The column's own, else the table's, else the server's.
Result<const mysql::Collation*> collation_of(const sql::ColumnDefinition& column,
                                             const sql::TableDefinition& table, mysql::Flavour flavour) {
  const mysql::Collation* found = nullptr;
  std::string name;
  const auto by_name = [&](const std::string& collate) {
    found = mysql::find_collation(name = collate, flavour);
  };
  const auto by_charset = [&](const std::string& charset) {
    found = mysql::default_collation_of(name = charset, flavour);
  };
  if (!column.collate.empty())
    by_name(column.collate);
  else if (!column.charset.empty())
    by_charset(column.charset);
  else if (!table.collate.empty())
    by_name(table.collate);
  else if (!table.charset.empty())
    by_charset(table.charset);
  else
    by_charset("utf8mb4");
  if (found != nullptr && column.binary)
    found = mysql::find_collation(fmt::format("{}_bin", found->charset), flavour);
  if (found == nullptr) {
    return fail(config_error(fmt::format("column {}: {} knows no character set or collation '{}'",
                                         column.name, to_string(flavour), name)));
  }
  return found;
}

Result<Column> column_of(const sql::ColumnDefinition& definition, const sql::TableDefinition& table,
                         mysql::Flavour flavour) {
  Column column;
  column.name = definition.name;
  column.type_text = type_text(definition);
  const TypeFacts* facts = find_type(definition.type);
  // Types of one server alone (GEOMETRY and its kind, UUID, INET6, VECTOR) are opaque.
  column.type = facts == nullptr ? ColumnType::geometry : facts->type;
  column.is_unsigned = definition.is_unsigned || definition.zerofill;
  column.zerofill = definition.zerofill;
  column.nullable = definition.nullable;
  column.auto_increment = definition.auto_increment;
  column.has_default = definition.has_default || definition.nullable;
  column.generated = definition.generated;
  column.invisible = definition.invisible;
  column.char_length = definition.length.value_or(facts == nullptr ? 0 : facts->length);
  column.collation_name = "binary";
  if (column.type == ColumnType::newdecimal) {
    column.precision = static_cast<uint8_t>(definition.length.value_or(10));
    column.decimals = static_cast<uint8_t>(definition.decimals.value_or(0));
  } else if (mysql::is_floating(column.type)) {
    column.decimals = static_cast<uint8_t>(definition.decimals.value_or(31));  // 31: not fixed
  } else if (mysql::is_temporal(column.type)) {
    column.decimals = static_cast<uint8_t>(definition.length.value_or(0));
    column.char_length = facts->length + (column.decimals == 0 ? 0 : column.decimals + 1u);
  }
  if (facts != nullptr && facts->character) {
    EVENKEEL_ASSIGN(const mysql::Collation* collation, collation_of(definition, table, flavour));
    column.collation = collation->id;
    column.collation_name = collation->name;
  }
  return column;
}

Key key_of(const sql::KeyDefinition& definition, const Table& table) {
  Key key;
  key.unique = definition.kind == sql::KeyKind::primary || definition.kind == sql::KeyKind::unique;
  key.name = definition.name;
  if (key.name.empty() && !definition.columns.empty()) key.name = definition.columns.front().name;
  for (const sql::KeyColumn& part : definition.columns) {
    // A part that is an expression is no column's.
    if (const auto column = table.index_of(part.name)) key.parts.push_back({*column, part.prefix});
  }
  return key;
}

size_t line_of(const sql::Tokens& tokens, uint32_t token) {
  const std::string_view before = tokens.text.substr(0, tokens[token].begin);
  return 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
}

sql::LexRules rules_of(mysql::Flavour flavour) {
  sql::LexRules rules;
  const bool is_mysql = flavour == mysql::Flavour::mysql;
  rules.flavour = is_mysql ? mysql::Flavour::mysql : mysql::Flavour::mariadb;
  rules.version = is_mysql ? 90'700 : 101'100;
  return rules;
}

// Statement by statement, with the current schema and what CREATE TRIGGER says of tables.
class Reader {
 public:
  Reader(const sql::Tokens& tokens, const sql::LexRules& rules, mysql::Flavour flavour,
         std::string_view schema)
      : tokens_(tokens), rules_(rules), flavour_(flavour), schema_(schema) {}

  Status read(sql::Span part) {
    const Result<sql::StatementPtr> parsed = sql::parse(tokens_, rules_, part);
    // A piece of a trigger's or routine's body: nothing that creates a table.
    if (!parsed) return {};
    const sql::StatementPtr& statement = *parsed;
    if (statement->kind == sql::StatementKind::use) schema_ = statement->use_schema.text;
    if (statement->words.starts_with("create trigger")) {
      for (const sql::TableName& name : statement->tables) {
        triggered_.insert(
            {std::string(name.schema ? name.schema.text : schema_), std::string(name.table.text)});
      }
    }
    if (!statement->words.starts_with("create table")) return {};
    EVENKEEL_ASSIGN(const sql::TableDefinition definition, sql::parse_create_table(tokens_, rules_, part));
    EVENKEEL_ASSIGN(Table table, table_of(definition, flavour_));
    tables_.emplace_back(definition.schema.empty() ? schema_ : definition.schema, std::move(table));
    return {};
  }

  void fill(Catalog& catalog) {
    for (auto& [schema, table] : tables_) {
      table.has_triggers = triggered_.contains({schema, table.name});
      catalog.add(schema, std::move(table));
    }
  }

 private:
  const sql::Tokens& tokens_;
  const sql::LexRules& rules_;
  mysql::Flavour flavour_;
  std::string schema_;
  std::vector<std::pair<std::string, Table>> tables_;
  std::set<std::pair<std::string, std::string>> triggered_;
};

}  // namespace

Result<Table> table_of(const sql::TableDefinition& definition, mysql::Flavour flavour) {
  Table table;
  table.name = definition.table;
  for (const sql::ColumnDefinition& column : definition.columns) {
    EVENKEEL_ASSIGN(Column made, column_of(column, definition, flavour));
    table.columns.push_back(std::move(made));
  }
  for (const sql::KeyDefinition& key : definition.keys) table.keys.push_back(key_of(key, table));
  return table;
}

Status read_schema(std::string_view text, std::string_view schema, Catalog& catalog, mysql::Flavour flavour) {
  const sql::LexRules rules = rules_of(flavour);
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(text, rules, tokens));
  Reader reader(tokens, rules, flavour, schema);
  const uint32_t end = static_cast<uint32_t>(tokens.size() - 1);
  for (uint32_t first = 0; first < end;) {
    uint32_t last = first;
    while (last < end && tokens[last].op != sql::Op::semicolon) ++last;
    if (Status read = first == last ? Status{} : reader.read({first, last}); !read) {
      Error error = read.error();
      error.message = fmt::format("line {}: {}", line_of(tokens, first), error.message);
      return fail(std::move(error));
    }
    first = last + 1;
  }
  reader.fill(catalog);
  return {};
}

}  // namespace evenkeel::catalog
