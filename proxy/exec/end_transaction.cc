#include "proxy/exec/end_transaction.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

using protocol::Part;

namespace {

Error error_of(std::string_view payload) {
  auto err = protocol::Err::decode(payload);
  return err ? err->to_error() : err.error();
}

}  // namespace

void EndTransaction::on_part(Lane& lane, const Step&, Part part, std::string_view payload) {
  if (part == Part::err) flow_.on_error(lane, error_of(payload));
}

void EndTransaction::on_step_done(Lane& lane, const Step& step, bool failed) {
  flow_.on_step_done(lane, step, failed);
}

void EndTransaction::on_lost(Lane& lane, const std::string& reason) {
  const bool awaited = !lane.abandon().empty();
  flow_.on_lost(lane, reason, awaited);
}

void EndTransaction::advance() {
  if (done_ || !flow_.done()) return;
  done_ = true;
  state_.transaction = Transaction{};
}

void BranchStatement::start() {
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->begun || lane->connection().lost) continue;
    lane->query(sql_, Purpose::user_savepoint);
    port_.flush(&lane->connection());
  }
}

void BranchStatement::on_part(Lane&, const Step&, Part part, std::string_view payload) {
  if (part == Part::err && !error_) error_ = error_of(payload);
}

void BranchStatement::on_lost(Lane& lane, const std::string& reason) {
  if (lane.abandon().empty()) return;
  state_.transaction.poisoned = fmt::format("a connection was lost in it ({})", reason);
  if (!error_) {
    error_ = make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                        fmt::format("Lost connection to an instance ({})", reason));
  }
}

void BranchStatement::advance() {
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->idle()) return;
  }
  done_ = true;
}

}  // namespace evenkeel::exec
