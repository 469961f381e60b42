#include "proxy/admin/statements.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/mysql/error_codes.h"

namespace evenkeel::admin {

using answer::Answer;
using answer::Caller;
using answer::Done;
using mysql::ResultTable;
using mysql::Value;

namespace {

Result<Answer> as_answer(Result<ResultTable> table) {
  if (!table) return fail(std::move(table.error()));
  return Answer{std::move(*table)};
}

ResultTable help_table() {
  ResultTable table{{{"statement"}, {"meaning"}}, {}};
  for (const auto& line : help_lines()) {
    table.rows.push_back(
        {Value::string(std::string(line.statement)), Value::string(std::string(line.meaning))});
  }
  return table;
}

Error not_allowed(const Command& command, const Caller& caller) {
  return make_error(
      ErrorKind::statement, mysql::er::specific_access_denied,
      fmt::format("Access denied; '{}' has the right to read, and {} needs the right to operate (admin: "
                  "users: rights)",
                  caller.user, to_text(command)));
}

}  // namespace

Result<Answer> AdminStatements::answer(const answer::Phrase& phrase, const Caller& caller) {
  EVENKEEL_ASSIGN(const Command command, parse(phrase));
  return run(command, caller);
}

// The columns of most answers are known only with the answer.
Result<std::vector<mysql::ResultColumn>> AdminStatements::describe(const answer::Phrase& phrase) {
  if (phrase.parameters == 0) {
    EVENKEEL_TRY(parse(phrase));
  }
  return std::vector<mysql::ResultColumn>{};
}

Result<Answer> AdminStatements::run(const Command& command, const Caller& caller) {
  if (caller.rights < rights_of(command)) return fail(not_allowed(command, caller));
  if (rights_of(command) == answer::Rights::operate) {
    log::info("admin '{}' from {}: {}", caller.user, caller.host, to_text(command));
  }
  if (const auto* show = std::get_if<Show>(&command)) {
    switch (show->what) {
      case Show::What::topology:
        return Answer{sources_.topology()};
      case Show::What::generators:
        return Answer{sources_.generators()};
      case Show::What::workers:
        return as_answer(sources_.workers());
      case Show::What::sessions:
        return as_answer(sources_.sessions());
      case Show::What::pools:
        return as_answer(sources_.pools());
      case Show::What::statistics:
        return as_answer(sources_.statistics());
      case Show::What::slow_queries:
        return as_answer(sources_.slow_queries());
    }
  }
  if (const auto* decode = std::get_if<DecodeId>(&command))
    return as_answer(sources_.decode(decode->id, decode->table));
  if (std::holds_alternative<ReloadConfig>(command)) return as_answer(sources_.reload());
  if (const auto* kill = std::get_if<Kill>(&command)) {
    if (sources_.kill(kill->connection_id, kill->query_only)) return Answer{Done{}};
    return fail(make_error(ErrorKind::statement, mysql::er::no_such_thread,
                           fmt::format("Unknown thread id: {}", kill->connection_id)));
  }
  if (std::holds_alternative<Help>(command)) return Answer{help_table()};
  return run_steering(command, caller);
}

Result<Answer> AdminStatements::run_steering(const Command& command, const Caller& caller) {
  if (sources_.skew == nullptr) {
    return fail(
        unsupported("nothing is measured or steered by this proxy: see `steering` in docs/configuration.md"));
  }
  skew::Operations& operations = *sources_.skew;
  if (const auto* show = std::get_if<ShowSkew>(&command))
    return as_answer(operations.skew(show->table, show->by));
  if (const auto* show = std::get_if<ShowSteering>(&command)) {
    return as_answer(show->history ? operations.steering_history() : operations.steering());
  }
  if (const auto* explain = std::get_if<ExplainSteering>(&command)) {
    return as_answer(operations.explain(explain->table, explain->slot));
  }
  const auto* steer = std::get_if<Steer>(&command);
  if (steer == nullptr) return fail(internal_error("a command without an answer"));
  skew::SteerOrder order = steer->order;
  order.ordered_by = fmt::format("admin '{}' from {}", caller.user, caller.host);
  return as_answer(steer->dry_run ? operations.dry_run(order) : operations.steer(order));
}

}  // namespace evenkeel::admin
