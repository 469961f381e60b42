#include "router/plan/tests/planning.h"

#include <fmt/format.h>
#include <sstream>

#include "base/mysql/collation.h"
#include "router/catalog/schema_file.h"
#include "router/sql/lexer.h"
#include "router/sql/literal.h"
#include "router/sql/parser.h"

namespace evenkeel::plan::testing {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<int64_t> integers_of(const std::string& text) {
  std::vector<int64_t> integers;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) integers.push_back(std::stoll(word));
  return integers;
}

rule::TableSettings table_settings(const std::vector<std::string>& words, const std::string& schema,
                                   const std::vector<std::string>& instances) {
  rule::TableSettings table;
  table.name = words[1];
  table.where = "test";
  table.topology.instances = instances;
  table.topology.database_pattern = schema + "_{}";
  table.topology.table_pattern = table.name + "_{}";
  for (size_t i = 2; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const std::string value = words[i].substr(equals + 1);
    if (name == "key") table.key = value;
    if (name == "generated") table.generated_column = value;
    if (name == "algorithm") table.algorithm = value;
    if (name == "gene") table.gene.routes = value == "routes";
    if (name == "bounds") table.algorithm_parameters.bounds = integers_of(value);
    if (name == "start") table.algorithm_parameters.start = value;
    if (name == "months") {
      table.algorithm_parameters.every = static_cast<uint32_t>(std::stoul(value));
      table.algorithm_parameters.unit = rule::AlgorithmParameters::Unit::month;
    }
    // Slots by '|', values by ','.
    if (name == "lists") {
      std::istringstream lists(value);
      for (std::string list; std::getline(lists, list, '|');) {
        auto& values = table.algorithm_parameters.lists.emplace_back();
        for (const int64_t integer : integers_of(list)) values.emplace_back(integer);
      }
    }
    if (name == "databases") table.topology.databases = static_cast<uint32_t>(std::stoul(value));
    if (name == "tables") table.topology.tables = static_cast<uint32_t>(std::stoul(value));
    if (name == "binding") table.binding = value;
    if (name == "unique_scope") table.unique_scope_table = value == "table";
  }
  if (!table.generated_column.empty()) table.generator = "snowflake";
  return table;
}

}  // namespace

Result<World> read_world(std::string_view text) {
  rule::Settings settings;
  std::string definitions;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    const auto words = words_of(line);
    if (!definitions.empty() || (!words.empty() && words[0] == "CREATE")) {
      definitions += line + "\n";
    } else if (!words.empty() && words[0] == "instances") {
      settings.instances.assign(words.begin() + 1, words.end());
    } else if (!words.empty() && words[0] == "schema") {
      settings.schemas.push_back({words[1], words[2], {}, "test"});
    } else if (!words.empty() && words[0] == "table") {
      auto& schema = settings.schemas.back();
      schema.tables.push_back(table_settings(words, schema.name, settings.instances));
    }
  }
  World world;
  EVENKEEL_ASSIGN(world.rules, rule::RuleSet::build(settings));
  auto catalog = std::make_shared<catalog::Catalog>(1);
  EVENKEEL_TRY(catalog::read_schema(definitions, settings.schemas.front().name, *catalog));
  world.catalog = std::move(catalog);
  return world;
}

Result<Plan> answer(const World& world, const Question& question) {
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(question.sql, question.facts.lex, tokens));
  EVENKEEL_ASSIGN(sql::StatementPtr statement, sql::parse(tokens, question.facts.lex));
  EVENKEEL_ASSIGN(BoundPtr bound, plan::bind(statement, tokens, world.catalog, world.rules, question.facts));
  const Arguments arguments{tokens, question.parameters, question.facts, question.binary};
  if (question.prototype) return prototype(*bound, arguments);
  EVENKEEL_ASSIGN(const KeyDemand demand, key_demand(*bound, arguments));
  std::vector<uint64_t> keys;
  uint64_t next = question.first_key;
  for (const RowDemand& row : demand.rows) {
    while (row.slot && next % demand.table->slot_count() != *row.slot) ++next;
    keys.push_back(next++);
  }
  return plan(*bound, arguments, keys);
}

std::string answer_text(const World& world, const Question& question) {
  const Result<Plan> plan = answer(world, question);
  if (plan) return to_text(*plan, *world.rules);
  return fmt::format("refused: {} ({}): {}\n", plan.error().code, plan.error().sqlstate,
                     plan.error().message);
}

std::vector<mysql::Value> read_values(std::string_view text) {
  std::vector<mysql::Value> values;
  const std::string list = fmt::format("SELECT {}", text);
  const sql::LexRules rules;
  sql::Tokens tokens;
  if (!sql::lex(list, rules, tokens)) return values;
  const auto statement = sql::parse(tokens, rules);
  if (!statement) return values;
  for (const sql::SelectItem& item : (*statement)->query->block->items) {
    const auto value = sql::literal_value(*item.expr, tokens, rules);
    values.push_back(value ? *value : mysql::Value::null());
  }
  return values;
}

}  // namespace evenkeel::plan::testing
