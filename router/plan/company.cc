#include "router/plan/company.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <string>

namespace evenkeel::plan {
namespace {

std::string_view schema_of(const sql::TableName& name, const SessionFacts& facts) {
  return name.schema ? name.schema.text : facts.database;
}

Error refusal_by_kind(const sql::Statement& statement, const sql::TableName& name) {
  if (statement.query == nullptr && statement.insert == nullptr && statement.update == nullptr &&
      statement.del == nullptr) {
    std::string words(statement.words);
    std::transform(words.begin(), words.end(), words.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    return unsupported(fmt::format("{} on sharded table '{}'", words, name.table.text));
  }
  return unsupported(
      fmt::format("sharded table '{}' in a part of the statement that is not understood", name.table.text));
}

}  // namespace

Status check_names(Analysis& analysis, const sql::Statement& whole, const SessionFacts& facts,
                   const std::set<uint32_t>& met) {
  const rule::LogicalSchema* home = analysis.rules->find_schema(facts.database);
  bool named = false;
  for (const sql::TableName& name : whole.tables) {
    const rule::LogicalSchema* schema = analysis.rules->find_schema(schema_of(name, facts));
    if (schema != nullptr && name.schema) {
      if (named && home != nullptr && home->default_instance != schema->default_instance) {
        return fail(
            unsupported(fmt::format("schemas '{}' and '{}' in one statement: they lie on different instances",
                                    home->name, schema->name)));
      }
      home = schema;
    }
    named |= schema != nullptr;
    if (met.contains(name.table.token)) continue;
    if (analysis.rules->find_table(schema_of(name, facts), name.table.text) == nullptr) continue;
    return fail(refusal_by_kind(*analysis.statement, name));
  }
  if (home != nullptr) {
    analysis.home = home->default_instance;
  } else if (!analysis.rules->schemas().empty()) {
    analysis.home = analysis.rules->schemas().front().default_instance;
  }
  return {};
}

Status check_company(const Analysis& analysis, bool opaque_table) {
  const sql::Statement& statement = *analysis.statement;
  const TableUse& first = analysis.uses.front();
  if (!analysis.others.empty()) {
    return fail(unsupported(fmt::format("sharded table '{}' together with table '{}', which is not sharded",
                                        first.rule->name, analysis.others.front())));
  }
  for (const TableUse& use : analysis.uses) {
    const bool bound = use.rule == first.rule ||
                       (use.rule->binding_group != 0 && use.rule->binding_group == first.rule->binding_group);
    if (!bound) {
      return fail(
          unsupported(fmt::format("sharded tables '{}' and '{}' in one statement: they are not bound to "
                                  "each other (binding)",
                                  first.rule->name, use.rule->name)));
    }
  }
  if (opaque_table) {
    return fail(unsupported(fmt::format("a table expression that is not understood beside sharded table '{}'",
                                        first.rule->name)));
  }
  if (analysis.user_variable != nullptr) {
    return fail(unsupported(fmt::format("user variable @{} in a statement on sharded table '{}'",
                                        analysis.user_variable->name, first.rule->name)));
  }
  if (analysis.leaves_state) {
    return fail(unsupported(
        fmt::format("a lock or sequence function in a statement on sharded table '{}'", first.rule->name)));
  }
  const bool with = (statement.update != nullptr && !statement.update->with_span.empty()) ||
                    (statement.del != nullptr && !statement.del->with_span.empty());
  if (with) {
    return fail(
        unsupported(fmt::format("WITH in an UPDATE or DELETE of sharded table '{}'", first.rule->name)));
  }
  return {};
}

}  // namespace evenkeel::plan
