#include "router/plan/session_functions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

using mysql::Value;

struct Named {
  std::string_view name;
  SessionFunction function;
};

constexpr Named functions[] = {
    {"last_insert_id", SessionFunction::last_insert_id},
    {"connection_id", SessionFunction::connection_id},
    {"row_count", SessionFunction::row_count},
    {"found_rows", SessionFunction::found_rows},
    {"database", SessionFunction::database},
    {"schema", SessionFunction::database},
    {"user", SessionFunction::user},
    {"current_user", SessionFunction::user},
    {"session_user", SessionFunction::user},
    {"system_user", SessionFunction::user},
};

constexpr Named variables[] = {
    {"identity", SessionFunction::last_insert_id},     {"last_insert_id", SessionFunction::last_insert_id},
    {"autocommit", SessionFunction::autocommit},       {"pseudo_thread_id", SessionFunction::connection_id},
    {"warning_count", SessionFunction::warning_count}, {"error_count", SessionFunction::error_count},
};

std::optional<SessionFunction> find(std::span<const Named> names, std::string_view name) {
  for (const Named& row : names) {
    if (row.name == name) return row.function;
  }
  return std::nullopt;
}

// name() or name: in parts that were not understood the parser gives no arguments, but the tokens tell.
bool has_no_arguments(const sql::Expr& call) {
  return call.args.empty() && call.span.last - call.span.first <= 3;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_now(std::string_view name) {
  return is_one_of(name, {"now", "current_timestamp", "localtime", "localtimestamp"});
}
bool is_today(std::string_view name) { return is_one_of(name, {"curdate", "current_date"}); }
bool is_time_of_day(std::string_view name) { return is_one_of(name, {"curtime", "current_time"}); }

}  // namespace

std::optional<SessionFunction> session_function(const sql::Expr& call) {
  if (call.kind == sql::ExprKind::function) {
    if (!has_no_arguments(call)) return std::nullopt;
    return find(functions, call.name);
  }
  if (call.kind == sql::ExprKind::system_variable && call.scope != "global")
    return find(variables, call.name);
  return std::nullopt;
}

Value session_value(SessionFunction function, const SessionFacts& facts) {
  switch (function) {
    case SessionFunction::last_insert_id:
      return Value::uint64(facts.last_insert_id);
    case SessionFunction::connection_id:
      return Value::uint64(facts.connection_id);
    case SessionFunction::row_count:
      return Value::int64(facts.row_count);
    case SessionFunction::found_rows:
      return Value::int64(static_cast<int64_t>(facts.found_rows));
    case SessionFunction::database:
      return facts.database.empty() ? Value::null() : Value::string(std::string(facts.database));
    case SessionFunction::user:
      return Value::string(std::string(facts.user));
    case SessionFunction::autocommit:
      return Value::int64(facts.autocommit ? 1 : 0);
    case SessionFunction::warning_count:
      return Value::int64(facts.warning_count);
    case SessionFunction::error_count:
      return Value::int64(facts.error_count);
  }
  return Value::null();
}

bool is_last_insert_id_of(const sql::Expr& call) {
  return call.kind == sql::ExprKind::function && call.name == "last_insert_id" && !has_no_arguments(call);
}

bool reads_time(const sql::Expr& call) {
  if (call.kind != sql::ExprKind::function) return false;
  const std::string_view name = call.name;
  return is_now(name) || is_today(name) || is_time_of_day(name) ||
         is_one_of(name, {"utc_timestamp", "utc_date", "utc_time"}) ||
         (name == "unix_timestamp" && has_no_arguments(call));
}

std::optional<std::string> fixed_time(const sql::Expr& call, int64_t unix_micros,
                                      const Arguments& arguments) {
  int64_t digits = 0;
  if (!has_no_arguments(call)) {
    if (call.args.size() != 1 || !sql::is_literal(*call.args[0])) return std::nullopt;
    const auto value = sql::literal_value(*call.args[0], arguments.tokens, arguments.facts.lex);
    if (!value || !value->is_integer() || value->as_uint64() > 6) return std::nullopt;
    digits = value->as_int64();
  }
  const int64_t seconds = unix_micros / 1'000'000;
  if (call.name == "unix_timestamp") return fmt::format("{}", seconds);
  std::string moment = fmt::format("{}", seconds);
  if (digits > 0) {
    const std::string fraction = fmt::format("{:06}", unix_micros % 1'000'000);
    moment += '.' + fraction.substr(0, static_cast<size_t>(digits));
  }
  if (is_now(call.name)) return fmt::format("FROM_UNIXTIME({})", moment);
  if (is_today(call.name)) return fmt::format("DATE(FROM_UNIXTIME({}))", moment);
  if (is_time_of_day(call.name)) return fmt::format("TIME(FROM_UNIXTIME({}))", moment);
  return std::nullopt;
}

bool leaves_state(const sql::Expr& call) {
  return call.kind == sql::ExprKind::function &&
         is_one_of(call.name,
                   {"get_lock", "release_lock", "release_all_locks", "nextval", "lastval", "setval"});
}

}  // namespace evenkeel::plan
