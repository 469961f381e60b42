#include "proxy/session/tests/script.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>
#include <utility>

#include "base/mysql/error_codes.h"
#include "idgen/layout.h"
#include "idgen/snowflake_generator.h"
#include "idgen/tick_source.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/messages.h"
#include "proxy/session/tests/answer_text.h"

namespace evenkeel::session::testing {

namespace cap = protocol::capability;

namespace {

constexpr std::string_view world_text = R"(
instances ds0 ds1
schema shop ds0
table orders key=id generated=id databases=2 tables=4
table items key=order_id generated=id databases=2 tables=4
CREATE TABLE orders (
  id BIGINT NOT NULL PRIMARY KEY,
  user_id BIGINT,
  note VARCHAR(200)
);
CREATE TABLE items (
  id BIGINT NOT NULL,
  order_id BIGINT NOT NULL,
  amount INT,
  PRIMARY KEY (id, order_id)
);
)";

// The first word of `line`, taken off with the blanks behind it.
std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

uint64_t number(std::string_view text) { return std::stoull(std::string(text)); }

}  // namespace

Script::Script(const Weather& weather) : weather_(weather) {
  world_ = plan::testing::read_world(world_text).value();
  user_.name = "app";
  login_.user = "app";
  login_.database = "shop";
  login_.collation = 45;
  login_.capabilities = cap::protocol_41 | cap::transactions | cap::secure_connection | cap::multi_results |
                        cap::ps_multi_results | cap::plugin_auth | cap::long_flag;
  environment_.settings = &settings_;
  environment_.clock = &clock_;
  environment_.rules = world_.rules;
  environment_.instance_names = world_.rules->instances();
  environment_.server.version = "10.11.6-MariaDB";
  environment_.server.sql_mode = "STRICT_TRANS_TABLES";
  environment_.catalog = [this] { return world_.catalog; };
  environment_.refresh_catalog = [this](const std::string& reason) { say("refresh catalog: " + reason); };
  environment_.statements = &statements_;
  environment_.counters = &counters_;
}

Script::~Script() = default;

void Script::say(std::string line) {
  if (!quiet_) trace_ += "  " + line + "\n";
}

void Script::complain(std::string what) { complaints_.push_back(std::move(what)); }

std::optional<rule::InstanceId> Script::instance_of(std::string_view word) const {
  for (size_t i = 0; i < environment_.instance_names.size(); ++i)
    if (environment_.instance_names[i] == word) return static_cast<rule::InstanceId>(i);
  return std::nullopt;
}

// Ids may be made from `keys_after_` on.
void Script::make_generators() {
  const idgen::Layout layout;
  const auto now = static_cast<uint64_t>(idgen::tick_at(layout, clock_.unix_millis()));
  const auto window = std::make_shared<idgen::TickWindow>(5, now + keys_after_, UINT64_MAX >> 1);
  for (const auto& table : world_.rules->schemas().front().tables) {
    idgen::GeneratorSettings settings;
    settings.worker.fixed_id = 5;
    auto made = idgen::SnowflakeGenerator::create({settings, table->name, table->slot_count(), window,
                                                   std::make_shared<idgen::DirectTicks>(clock_), 7});
    environment_.generators[table.get()] = made->get();
    generators_.push_back(std::move(*made));
  }
}

void Script::begin() {
  if (session_) return;
  make_generators();
  session_ = std::make_unique<Session>(environment_, *this, login_, 77, user_, "10.0.0.9");
}

void Script::option(std::string_view line) {
  const std::string_view name = take_word(line);
  if (name == "deprecate_eof") login_.capabilities |= cap::deprecate_eof;
  if (name == "multi_statements") login_.capabilities |= cap::multi_statements;
  if (name == "found_rows") login_.capabilities |= cap::found_rows;
  if (name == "single_instance") settings_.transactions = Transactions::single_instance;
  if (name == "timeout") settings_.query_timeout = std::chrono::milliseconds(number(line));
  if (name == "database") login_.database = line;
  if (name == "no_database") login_.database.clear();
  if (name == "lease_later") lease_later_ = true;
  if (name == "keys_after") keys_after_ = number(line);
  if (name == "rows_held") settings_.max_rows_held = number(line);
  if (name == "prepared") settings_.max_prepared_statements = static_cast<uint32_t>(number(line));
}

void Script::add_rule(std::string_view line) {
  Rule rule;
  std::string_view word = take_word(line);
  if (word == "once") {
    rule.once = true;
    word = take_word(line);
  }
  rule.where = word;
  const size_t arrow = line.find(" => ");
  ASSERT_NE(arrow, std::string_view::npos) << line;
  rule.prefix = line.substr(0, arrow);
  rule.answer = read_answer(line.substr(arrow + 4));
  rules_.push_back(std::move(rule));
}

Answer Script::answer_for(const FakeConnection& instance, const Received& command) {
  for (size_t i = rules_.size(); i-- > 0;) {
    Rule& rule = rules_[i];
    const std::string& text =
        rule.prefix.starts_with("PREPARE") || rule.prefix.starts_with("INIT_DB") ? command.text : command.sql;
    if (rule.used && rule.once) continue;
    if (rule.where != "*" && rule.where != name(instance.connection.instance)) continue;
    if (!text.starts_with(rule.prefix)) continue;
    rule.used = true;
    return rule.answer;
  }
  return default_answer(command.sql);
}

// The client's side.

void Script::send(protocol::Command command, std::string_view body, bool binary) {
  begin();
  if (client_closed_ || !session_) return;
  std::string bytes;
  protocol::PacketWriter packets(bytes, 0);
  std::string payload(1, static_cast<char>(command));
  payload += body;
  packets.write_payload(payload);
  if (!protocol::has_no_answer(command)) {
    Command& waiting = commands_.emplace_back();
    waiting.command = command;
    waiting.tracker.reset(protocol::shape_of(command), login_.capabilities);
    waiting.binary = binary;
    waiting.is_write = binary || body.starts_with("INSERT") || body.starts_with("UPDATE");
  }
  if (weather_.piece == 0) {
    session_->on_client_bytes(bytes);
    return;
  }
  for (size_t at = 0; at < bytes.size() && session_; at += weather_.piece)
    session_->on_client_bytes(std::string_view(bytes).substr(at, weather_.piece));
}

void Script::execute(std::string_view line) {
  protocol::StmtExecute execute;
  std::string_view id = take_word(line);
  const bool remembered = id.ends_with('~');
  if (remembered) id.remove_suffix(1);
  execute.statement_id = static_cast<uint32_t>(number(id));
  if (!line.empty()) execute.values = plan::testing::read_values(line);
  std::string body;
  protocol::WireWriter out(body);
  if (!remembered) {
    execute.encode(out, login_.capabilities);
  } else {
    protocol::encode_execute(out, execute.statement_id, 0, execute.values, login_.capabilities);
    // As a client that has sent the types before: the flag is 0 and the types are left out.
    const size_t nulls = (execute.values.size() + 7) / 8;
    const size_t flag = 1 + 4 + 1 + 4 + nulls;
    body[flag] = '\0';
    body.erase(flag + 1, 2 * execute.values.size());
  }
  send(protocol::Command::stmt_execute, std::string_view(body).substr(1), true);
}

// A column more: what was bound before must be bound anew.
void Script::change_catalog() {
  auto changed = std::make_shared<catalog::Catalog>(world_.catalog->version() + 1);
  for (const auto& [key, table] : world_.catalog->tables()) {
    catalog::Table copy = table;
    catalog::Column column = copy.columns.back();
    column.name = "added";
    copy.columns.push_back(column);
    changed->add(key.first, copy);
  }
  world_.catalog = changed;
}

void Script::run_command(std::string_view line) {
  using protocol::Command;
  const std::string_view word = take_word(line);
  begin();
  if (word == "ping") send(Command::ping, "");
  if (word == "quit") send(Command::quit, "");
  if (word == "init_db") send(Command::init_db, line);
  if (word == "reset") send(Command::reset_connection, "");
  if (word == "change_user") send(Command::change_user, line);
  if (word == "set_option")
    send(Command::set_option, line == "on" ? std::string_view("\0\0", 2) : std::string_view("\1\0", 2));
  if (word == "field_list") send(Command::field_list, std::string(line) + '\0');
  if (word == "statistics") send(Command::statistics, "");
  if (word == "bad_command") send(Command::table_dump, "");
  if (word == "prepare") send(Command::stmt_prepare, line);
  if (word == "execute") execute(line);
  if (word == "close" || word == "stmt_reset" || word == "long_data" || word == "fetch") {
    const uint32_t id = static_cast<uint32_t>(number(take_word(line)));
    std::string body;
    protocol::WireWriter out(body);
    if (word == "close") protocol::StmtClose{id}.encode(out, 0);
    if (word == "stmt_reset") protocol::StmtReset{id}.encode(out, 0);
    if (word == "fetch") protocol::StmtFetch{id, 1}.encode(out, 0);
    if (word == "long_data") {
      const auto parameter = static_cast<uint16_t>(number(take_word(line)));
      protocol::StmtSendLongData{id, parameter, line}.encode(out, 0);
    }
    send(protocol::command_of(body), std::string_view(body).substr(1));
  }
  if (!session_) return;
  if (word == "kill_query" || word == "late_kill") {
    kills_arrive_ = word == "kill_query";
    const bool ran = session_->kill_query(
        make_error(ErrorKind::statement, mysql::er::query_interrupted, "Query execution was interrupted"));
    say(ran ? "killed" : "nothing to kill");
    kills_arrive_ = true;
  }
  if (word == "timer" || word == "late_timer") {
    kills_arrive_ = word == "timer";
    if (!timer_) return say("no timer");
    clock_.advance(*timer_);
    timer_.reset();
    session_->on_timer();
    kills_arrive_ = true;
  }
  if (word == "lose") {
    for (const auto& connection : connections_) {
      if (connection->ended || !connection->lent || name(connection->connection.instance) != line) continue;
      lose(*connection, "reset by peer");
      break;
    }
  }
  if (word == "grant" || word == "refuse") {
    if (asked_.empty()) return say("no lease is asked for");
    const Asked asked = asked_.front();
    asked_.pop_front();
    if (word == "grant") {
      grant(asked);
    } else {
      session_->on_lease(asked.ticket,
                         fail(make_error(ErrorKind::limit, mysql::er::con_count, "all are busy")));
    }
  }
  if (word == "unhold") {
    for (const auto& connection : connections_) {
      for (const auto& command : std::exchange(connection->held, {}))
        connection->answer(command, default_answer(command.sql), Fault::none);
    }
  }
  if (word == "vanish") vanish();
  if (word == "window") window_bytes_ = number(line);
  if (word == "client_stops") client_reads_ = false;
  if (word == "client_reads") client_reads_ = true;
  if (word == "catalog") change_catalog();
  if (word == "counter") {
#define EVENKEEL_SAY(name) \
  if (line == #name) say(fmt::format("{} = {}", #name, counters_.name.load()));
    EVENKEEL_SESSION_COUNTERS(EVENKEEL_SAY)
#undef EVENKEEL_SAY
  }
}

void Script::run(std::string_view text) {
  std::istringstream in{std::string(text)};
  for (std::string whole; std::getline(in, whole);) {
    std::string_view line = whole;
    if (line.empty() || line[0] == '#') {
      trace_ += whole + "\n";
      continue;
    }
    if (line[0] == ' ') continue;  // the trace of an earlier run
    trace_ += whole + "\n";
    if (line.starts_with("option ")) {
      option(line.substr(7));
    } else if (line.starts_with("answer ")) {
      add_rule(line.substr(7));
    } else if (line.starts_with("> ") || line.starts_with("+ ")) {
      send(protocol::Command::query, line.substr(2));
      if (line[0] == '>') settle_world();
    } else if (line[0] == '!') {
      run_command(line.substr(1));
      settle_world();
    } else {
      ADD_FAILURE() << "not a script line: " << line;
    }
  }
}

// The end.

void Script::settle() {
  begin();
  settle_world();
  if (weather_.vanish_at != SIZE_MAX) vanish();
  quiet_ = true;
  rules_.clear();
  weather_.fault_at = SIZE_MAX;
  weather_.fault_every = UINT64_MAX;
  weather_.refuse_lease = SIZE_MAX;
  lease_later_ = false;
  client_reads_ = true;
  while (session_ && !asked_.empty()) {
    const Asked asked = asked_.front();
    asked_.pop_front();
    grant(asked);
    settle_world();
  }
  if (session_ && timer_ && session_->busy()) run_command("timer");
  if (session_) run_command("unhold");
  settle_world();
  if (!session_ || client_closed_) {
    vanish();
  } else {
    if (!commands_.empty() || session_->busy()) {
      complain(fmt::format("the session hangs: {} command(s) without a complete answer, {}", commands_.size(),
                           session_->busy() ? "busy" : "not busy"));
    }
    const auto ask = [&](std::string_view sql, std::string_view expected) {
      const size_t before = client_answers_.size();
      send(protocol::Command::query, sql);
      settle_world();
      if (client_answers_.size() != before + 1)
        return complain(
            fmt::format("afterwards, `{}` gets {} answers", sql, client_answers_.size() - before));
      const std::string got = std::exchange(client_answers_.back(), {});
      client_answers_.pop_back();
      if (!got.starts_with(expected)) complain(fmt::format("afterwards, `{}` gets {}", sql, got));
    };
    if (complaints_.empty()) {
      ask("ROLLBACK", "OK");
      ask("SELECT LAST_INSERT_ID()", "");
      ask("SELECT id FROM shop.orders WHERE id = 6", "");
      ask("SELECT id FROM shop.orders WHERE id = 6", "ROWS");
      ask("UPDATE shop.orders SET note = 'after' WHERE id = 6", "OK");
      ask("ROLLBACK", "OK");
      if (session_ && !session_->at_rest()) complain("the session is not at rest");
      for (const auto& connection : connections_) {
        if (connection->lent && connection->paused) complain("a lane is left paused");
      }
    }
    vanish();
  }
  for (const auto& connection : connections_)
    if (connection->lent) complain("a lease is never given back");
}

Verdict Script::verdict() {
  Verdict verdict;
  verdict.complaints = complaints_;
  verdict.answers = answers_;
  verdict.leases = leases_;
  verdict.trace = trace_;
  verdict.client_answers = client_answers_;
  return verdict;
}

Verdict run_script(std::string_view text, const Weather& weather) {
  Script script(weather);
  script.run(text);
  script.settle();
  return script.verdict();
}

}  // namespace evenkeel::session::testing
