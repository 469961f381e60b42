#include <fmt/format.h>

#include "base/clock.h"
#include "config/config.h"
#include "config/read_file.h"
#include "proxy/commands.h"
#include "router/catalog/schema_file.h"
#include "router/plan/planner.h"
#include "router/sql/literal.h"
#include "router/sql/parser.h"

namespace evenkeel {
namespace {

Result<catalog::CatalogPtr> read_catalog(const PlanOptions& options, const std::string& schema) {
  auto catalog = std::make_shared<catalog::Catalog>(1);
  if (!options.schema_path) return catalog;
  EVENKEEL_ASSIGN(const std::string text, config::read_file(*options.schema_path));
  EVENKEEL_TRY(catalog::read_schema(text, schema, *catalog));
  return catalog;
}

// One SQL literal: 12, -3, 1.5, 'text', x'00ff', NULL.
Result<mysql::Value> read_parameter(const std::string& text, const sql::LexRules& rules) {
  const std::string statement_text = "SELECT " + text;
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(statement_text, rules, tokens));
  EVENKEEL_ASSIGN(const sql::StatementPtr statement, sql::parse(tokens, rules));
  const auto& query = statement->query;
  if (query != nullptr && query->block != nullptr && query->block->items.size() == 1 &&
      query->block->items[0].expr != nullptr) {
    if (auto value = sql::literal_value(*query->block->items[0].expr, tokens, rules)) return *value;
  }
  return fail(
      config_error(fmt::format("parameter {}: a literal is wanted, such as 12, 'text' or NULL", text)));
}

// Ids that this plan would draw, made up: the first one is that of slot 0 of a fresh table.
std::vector<uint64_t> example_keys(const plan::KeyDemand& demand) {
  std::vector<uint64_t> keys;
  uint64_t next = 0;
  for (const plan::RowDemand& row : demand.rows) {
    ++next;
    while (row.slot && next % demand.table->slot_count() != *row.slot) ++next;
    keys.push_back(next);
  }
  return keys;
}

Result<std::string> plan_text(const PlanOptions& options, const config::Config& config) {
  if (config.rules->schemas().empty()) return fail(config_error("the configuration has no logical schema"));
  const std::string schema = options.schema.empty() ? config.rules->schemas().front().name : options.schema;
  EVENKEEL_ASSIGN(const catalog::CatalogPtr catalog, read_catalog(options, schema));
  plan::SessionFacts facts;
  facts.database = schema;
  facts.user = "app@localhost";
  facts.unix_micros = SystemClock().unix_micros();
  std::vector<mysql::Value> parameters;
  for (const std::string& text : options.parameters) {
    EVENKEEL_ASSIGN(mysql::Value value, read_parameter(text, facts.lex));
    parameters.push_back(std::move(value));
  }
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(options.sql, facts.lex, tokens));
  EVENKEEL_ASSIGN(sql::StatementPtr statement, sql::parse(tokens, facts.lex));
  if (statement->parameters != parameters.size()) {
    return fail(config_error(fmt::format("the statement has {} of ?, and {} --param were given",
                                         statement->parameters, parameters.size())));
  }
  EVENKEEL_ASSIGN(const plan::BoundPtr bound, plan::bind(statement, tokens, catalog, config.rules, facts));
  const plan::Arguments arguments{tokens, parameters, facts, !parameters.empty()};
  EVENKEEL_ASSIGN(const plan::KeyDemand demand, plan::key_demand(*bound, arguments));
  const std::vector<uint64_t> keys = example_keys(demand);
  EVENKEEL_ASSIGN(const plan::Plan plan, plan::plan(*bound, arguments, keys));
  std::string text = plan::to_text(plan, *config.rules);
  if (!keys.empty()) text += "(generated keys stand for the ids that would be drawn)\n";
  return text;
}

}  // namespace

int run_plan(const PlanOptions& options) {
  auto config = config::load(options.config_path, config::process_environment(), SystemClock().unix_millis());
  if (!config) return complain(config.error().message);
  const auto text = plan_text(options, *config);
  if (!text) {
    return complain(fmt::format("refused: error {} ({}): {}", text.error().code, text.error().sqlstate,
                                text.error().message));
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace evenkeel
