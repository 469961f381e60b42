#include "proxy/exec/reply.h"

#include <algorithm>
#include <strings.h>

#include "base/mysql/collation.h"
#include "proxy/exec/merge_reply.h"
#include "proxy/exec/pass_reply.h"
#include "proxy/exec/sum_reply.h"
#include "proxy/front/result_writer.h"

namespace evenkeel::exec {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

uint16_t Reply::final_status() const {
  uint16_t status = state_.status() | tally_.flags;
  if (facts_.more_results) status |= mysql::server_status::more_results;
  return status;
}

void Reply::set_error(Error error) {
  if (!error_) error_ = std::move(error);
}

void Reply::complete(uint64_t insert_id, uint32_t warnings) {
  front::ResultWriter answer(port_.client_out(), facts_.sequence, facts_.capabilities);
  const auto warning_count = static_cast<uint16_t>(std::min<uint32_t>(warnings, 0xffff));
  if (rows_open_) {
    answer.end(final_status(), warning_count);
  } else {
    protocol::Ok ok;
    ok.affected_rows = tally_.affected_rows;
    ok.last_insert_id = insert_id;
    ok.status = final_status();
    ok.warnings = warning_count;
    ok.message = tally_.message;
    answer.ok(ok);
  }
  rows_open_ = false;
  facts_.sequence = answer.next_sequence();
}

void Reply::fail(const Error& error) {
  front::ResultWriter answer(port_.client_out(), facts_.sequence, facts_.capabilities);
  answer.error(error);
  rows_open_ = false;
  facts_.sequence = answer.next_sequence();
}

bool reports_other_collation(uint16_t reported, uint16_t results_collation) {
  if (reported == results_collation || reported == mysql::collation_binary || results_collation == 0)
    return false;
  const auto* sent = mysql::find_collation(reported);
  const auto* wanted = mysql::find_collation(results_collation);
  return sent != nullptr && wanted != nullptr && sent->charset == wanted->charset;
}

void restore_definition(protocol::ColumnDefinition& column, const std::vector<plan::NameRestore>& restore,
                        uint16_t results_collation) {
  if (reports_other_collation(column.collation, results_collation)) column.collation = results_collation;
  for (const auto& names : restore) {
    const bool actual = std::any_of(names.actual_tables.begin(), names.actual_tables.end(),
                                    [&](const auto& name) { return same_name(name, column.original_table); });
    if (!actual) continue;
    if (!column.schema.empty()) column.schema = names.schema;
    if (same_name(column.table, column.original_table)) column.table = names.table;
    column.original_table = names.table;
    return;
  }
  // A column of a common table.
  for (const auto& names : restore) {
    if (same_name(column.schema, names.actual_database)) column.schema = names.schema;
  }
}

std::unique_ptr<Reply> make_reply(const plan::Plan& plan, SessionState& state, Port& port, AnswerFacts facts,
                                  size_t row_limit) {
  if (plan.kind == plan::PlanKind::scatter) {
    return std::make_unique<MergeReply>(plan, state, port, facts, row_limit);
  }
  if (plan.units.size() > 1) return std::make_unique<SumReply>(plan, state, port, facts);
  return std::make_unique<PassReply>(plan, state, port, facts);
}

}  // namespace evenkeel::exec
