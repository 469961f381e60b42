#include "proxy/exec/errand.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/exec/prelude.h"

namespace evenkeel::exec {

using protocol::Part;

void Errand::start() {
  if (state_.lanes.find(instance_) == nullptr) {
    leasing_ = true;
    port_.lease(instance_, state_.capability, instance_);
    return;
  }
  send();
}

void Errand::on_lease(rule::InstanceId, Result<Connection*> connection) {
  leasing_ = false;
  if (!connection) {
    error_ = connection.error();
    done_ = true;
    return;
  }
  state_.lanes.add(*connection);
  send();
}

void Errand::send() {
  sent_ = true;
  Lane& lane = *state_.lanes.find(instance_);
  bring_to_state(lane, state_);
  select_database(lane, database_);
  if (what_ == What::query) lane.query(sql_, Purpose::capture);
  if (what_ == What::prepare) lane.prepare(sql_, Purpose::metadata);
  port_.flush(&lane.connection());
}

void Errand::on_part(Lane& lane, const Step& step, Part part, std::string_view payload) {
  if (part == Part::err) {
    auto err = protocol::Err::decode(payload);
    if (!error_) error_ = err ? err->to_error() : err.error();
    // What the session believed and what the server did are apart now.
    if (step.purpose == Purpose::state) lane.connection().retire = true;
    return;
  }
  if (part == Part::column_definition) {
    auto defined = result_.define(payload, lane.connection().capabilities);
    if (!defined && !error_) error_ = defined.error();
  }
  if (step.purpose == Purpose::capture) result_.begin(lane.next_sequence());
}

void Errand::on_rows(Lane&, const Step&, std::string_view frames) {
  auto fed = result_.feed(frames);
  if (!fed && !error_) error_ = fed.error();
}

void Errand::on_step_done(Lane& lane, const Step& step, bool failed) {
  if (step.purpose != Purpose::metadata || failed) return;
  parameters_ = lane.tracker().parameters();
  lane.close_statement(lane.tracker().statement_id());
  port_.flush(&lane.connection());
}

void Errand::on_lost(Lane& lane, const std::string& reason) {
  if (lane.instance() != instance_) return;
  lane.abandon();
  if (!error_) {
    error_ = make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                        fmt::format("Lost connection to an instance ({})", reason));
  }
}

void Errand::cancel(Error error) {
  if (!error_) error_ = std::move(error);
  if (leasing_) {
    port_.cancel_lease(instance_);
    leasing_ = false;
    done_ = true;
    return;
  }
  Lane* lane = state_.lanes.find(instance_);
  if (lane != nullptr && !lane->idle()) port_.kill_query(&lane->connection());
}

void Errand::advance() {
  if (done_ || leasing_ || !sent_) return;
  Lane* lane = state_.lanes.find(instance_);
  if (lane == nullptr || lane->idle()) done_ = true;
}

}  // namespace evenkeel::exec
