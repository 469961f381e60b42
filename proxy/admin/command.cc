#include "proxy/admin/command.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/limits.h"
#include "router/sql/literal.h"

namespace evenkeel::admin {
namespace {

using answer::Phrase;
using answer::PhraseReader;
using answer::Word;
using skew::Grouping;
using skew::SteerOrder;
using skew::TableName;
using skew::Target;
using What = SteerOrder::What;

constexpr std::string_view first_words =
    "SHOW, STEER, DRY RUN, EXPLAIN STEERING, DECODE ID, RELOAD CONFIG, KILL, HELP";
constexpr std::string_view show_words =
    "TOPOLOGY, SKEW, STEERING, GENERATORS, WORKERS, SESSIONS, POOLS, STATISTICS, SLOW QUERIES, HELP";
constexpr std::string_view steer_words = "AVOID, ONLY, WEIGHTS, AUTO, ADVISE, OFF";
constexpr std::string_view target_words = "INSTANCE, DATABASE, TABLE, TABLES";
constexpr uint64_t longest_seconds = 366 * 86'400;
constexpr uint64_t largest_weight = 1'000'000;

// A name, quoted in any way where it is no plain word.
Result<std::string> read_name(PhraseReader& reader, std::string_view what) {
  if (reader.peek().kind == Word::Kind::string) return reader.next().text;
  return reader.expect_name(what);
}

// orders or shop.orders.
Result<TableName> read_table(PhraseReader& reader) {
  TableName name;
  EVENKEEL_ASSIGN(name.table, read_name(reader, "a logical table's name"));
  if (!reader.take_symbol(".")) return name;
  name.schema = std::move(name.table);
  EVENKEEL_ASSIGN(name.table, read_name(reader, "a logical table's name"));
  return name;
}

Result<uint32_t> read_slot(PhraseReader& reader) {
  EVENKEEL_ASSIGN(const uint64_t slot, reader.expect_integer("a table's number", 0, limits::slots_max - 1));
  return static_cast<uint32_t>(slot);
}

// 5 or 0-31.
Result<Target> read_range(PhraseReader& reader) {
  Target target;
  EVENKEEL_ASSIGN(target.first, read_slot(reader));
  target.last = target.first;
  if (!reader.take_symbol("-")) return target;
  EVENKEEL_ASSIGN(const uint64_t last,
                  reader.expect_integer("the last table's number", target.first, limits::slots_max - 1));
  target.last = static_cast<uint32_t>(last);
  return target;
}

// INSTANCE i0 | DATABASE d | TABLES 0-31, 40; appended to `out`, because TABLES takes a list of its own.
Status append_target(PhraseReader& reader, std::vector<Target>& out) {
  Target target;
  if (reader.take("INSTANCE")) {
    target.kind = Target::Kind::instance;
    EVENKEEL_ASSIGN(target.name, read_name(reader, "an instance's name"));
    out.push_back(std::move(target));
    return {};
  }
  if (reader.take("DATABASE")) {
    target.kind = Target::Kind::database;
    EVENKEEL_ASSIGN(target.name, read_name(reader, "a database's name"));
    out.push_back(std::move(target));
    return {};
  }
  if (!reader.take("TABLES") && !reader.take("TABLE")) return fail(reader.unexpected(target_words));
  do {
    EVENKEEL_ASSIGN(Target range, read_range(reader));
    out.push_back(std::move(range));
    // A comma before a number goes on with this list, before a word with the next target.
  } while (reader.peek().is_symbol(",") && reader.peek(1).kind == Word::Kind::integer &&
           reader.take_symbol(","));
  return {};
}

Status read_targets(PhraseReader& reader, SteerOrder& order) {
  do {
    EVENKEEL_TRY(append_target(reader, order.targets));
  } while (reader.take_symbol(","));
  return {};
}

Status read_weights(PhraseReader& reader, SteerOrder& order) {
  do {
    std::vector<Target> targets;
    EVENKEEL_TRY(append_target(reader, targets));
    EVENKEEL_TRY(reader.expect_symbol("="));
    EVENKEEL_ASSIGN(const uint64_t weight, reader.expect_integer("a weight", 0, largest_weight));
    for (Target& target : targets)
      order.weights.push_back({std::move(target), static_cast<uint32_t>(weight)});
  } while (reader.take_symbol(","));
  return {};
}

// FOR 2 HOURS.
Status read_duration(PhraseReader& reader, SteerOrder& order) {
  EVENKEEL_ASSIGN(const uint64_t count, reader.expect_integer("a number", 1, longest_seconds));
  uint64_t unit = 0;
  if (reader.take("SECONDS") || reader.take("SECOND"))
    unit = 1;
  else if (reader.take("MINUTES") || reader.take("MINUTE"))
    unit = 60;
  else if (reader.take("HOURS") || reader.take("HOUR"))
    unit = 3'600;
  else if (reader.take("DAYS") || reader.take("DAY"))
    unit = 86'400;
  else
    return fail(reader.unexpected("SECONDS, MINUTES, HOURS, DAYS"));
  if (count > longest_seconds / unit) {
    return fail(make_error(ErrorKind::statement, 1064, "a steering order lasts at most 366 days"));
  }
  order.duration = std::chrono::seconds(count * unit);
  return {};
}

Result<Command> read_steer(PhraseReader& reader, bool dry_run) {
  Steer steer;
  steer.dry_run = dry_run;
  SteerOrder& order = steer.order;
  EVENKEEL_ASSIGN(order.table, read_table(reader));
  if (reader.take("AVOID") || reader.peek().is("ONLY")) {
    order.what = reader.take("ONLY") ? What::only : What::avoid;
    EVENKEEL_TRY(read_targets(reader, order));
  } else if (reader.take("WEIGHTS")) {
    order.what = What::weights;
    EVENKEEL_TRY(read_weights(reader, order));
  } else if (reader.take("AUTO")) {
    order.what = What::automatic;
  } else if (reader.take("ADVISE")) {
    order.what = What::advise;
  } else if (reader.take("OFF")) {
    order.what = What::off;
  } else {
    return fail(reader.unexpected(steer_words));
  }
  if (reader.take("FOR")) EVENKEEL_TRY(read_duration(reader, order));
  if (!reader.at_end())
    return fail(
        reader.unexpected(order.duration ? "the end of the statement" : "FOR, the end of the statement"));
  return Command{std::move(steer)};
}

Result<Command> read_show_skew(PhraseReader& reader) {
  ShowSkew show;
  if (reader.take("FOR")) {
    EVENKEEL_ASSIGN(show.table, read_table(reader));
  }
  if (reader.take("BY")) {
    if (reader.take("TABLE"))
      show.by = Grouping::table;
    else if (reader.take("DATABASE"))
      show.by = Grouping::database;
    else if (reader.take("INSTANCE"))
      show.by = Grouping::instance;
    else
      return fail(reader.unexpected("TABLE, DATABASE, INSTANCE"));
  } else if (!reader.at_end()) {
    return fail(
        reader.unexpected(show.table ? "BY, the end of the statement" : "FOR, BY, the end of the statement"));
  }
  EVENKEEL_TRY(reader.expect_end());
  return Command{std::move(show)};
}

Result<Command> read_show(PhraseReader& reader) {
  if (reader.take("SKEW")) return read_show_skew(reader);
  // The mariadb client keeps a plain HELP for itself.
  if (reader.take("HELP")) {
    EVENKEEL_TRY(reader.expect_end());
    return Command{Help{}};
  }
  if (reader.take("STEERING")) {
    const bool history = reader.take("HISTORY");
    if (!reader.at_end())
      return fail(
          reader.unexpected(history ? "the end of the statement" : "HISTORY, the end of the statement"));
    return Command{ShowSteering{history}};
  }
  Show show;
  if (reader.take("TOPOLOGY"))
    show.what = Show::What::topology;
  else if (reader.take("GENERATORS"))
    show.what = Show::What::generators;
  else if (reader.take("WORKERS"))
    show.what = Show::What::workers;
  else if (reader.take("SESSIONS") || reader.take("PROCESSLIST"))
    show.what = Show::What::sessions;
  else if (reader.take("POOLS"))
    show.what = Show::What::pools;
  else if (reader.take("STATISTICS") || reader.take("STATUS"))
    show.what = Show::What::statistics;
  else if (reader.take("SLOW")) {
    EVENKEEL_TRY(reader.expect("QUERIES"));
    show.what = Show::What::slow_queries;
  } else {
    return fail(reader.unexpected(show_words));
  }
  EVENKEEL_TRY(reader.expect_end());
  return Command{show};
}

Result<Command> read_explain(PhraseReader& reader) {
  EVENKEEL_TRY(reader.expect("STEERING"));
  ExplainSteering explain;
  EVENKEEL_ASSIGN(explain.table, read_table(reader));
  if (reader.take("TABLE")) {
    EVENKEEL_ASSIGN(explain.slot, read_slot(reader));
  } else if (!reader.at_end()) {
    return fail(reader.unexpected("TABLE, the end of the statement"));
  }
  EVENKEEL_TRY(reader.expect_end());
  return Command{std::move(explain)};
}

Result<Command> read_decode(PhraseReader& reader) {
  EVENKEEL_TRY(reader.expect("ID"));
  DecodeId decode;
  EVENKEEL_ASSIGN(decode.id, reader.expect_integer("an id", 0, UINT64_MAX));
  if (reader.take("FOR")) {
    EVENKEEL_ASSIGN(decode.table, read_table(reader));
  } else if (!reader.at_end()) {
    return fail(reader.unexpected("FOR, the end of the statement"));
  }
  EVENKEEL_TRY(reader.expect_end());
  return Command{std::move(decode)};
}

std::string name_text(const std::string& name) {
  std::string out;
  sql::append_identifier(name, out);
  return out;
}

std::string table_text(const TableName& name) {
  return name.schema.empty() ? name_text(name.table) : name_text(name.schema) + "." + name_text(name.table);
}

std::string target_text(const Target& target) {
  switch (target.kind) {
    case Target::Kind::instance:
      return "INSTANCE " + name_text(target.name);
    case Target::Kind::database:
      return "DATABASE " + name_text(target.name);
    case Target::Kind::slots:
      return target.first == target.last ? fmt::format("TABLES {}", target.first)
                                         : fmt::format("TABLES {}-{}", target.first, target.last);
  }
  return "";
}

std::string order_text(const SteerOrder& order) {
  std::string text = "STEER " + table_text(order.table);
  switch (order.what) {
    case What::avoid:
      text += " AVOID ";
      break;
    case What::only:
      text += " ONLY ";
      break;
    case What::weights:
      text += " WEIGHTS ";
      break;
    case What::automatic:
      text += " AUTO";
      break;
    case What::advise:
      text += " ADVISE";
      break;
    case What::off:
      text += " OFF";
      break;
  }
  for (size_t i = 0; i < order.targets.size(); ++i)
    text += (i > 0 ? ", " : "") + target_text(order.targets[i]);
  for (size_t i = 0; i < order.weights.size(); ++i) {
    text += fmt::format("{}{} = {}", i > 0 ? ", " : "", target_text(order.weights[i].target),
                        order.weights[i].weight);
  }
  if (order.duration) text += fmt::format(" FOR {} SECONDS", order.duration->count());
  return text;
}

std::string show_text(Show::What what) {
  switch (what) {
    case Show::What::topology:
      return "SHOW TOPOLOGY";
    case Show::What::generators:
      return "SHOW GENERATORS";
    case Show::What::workers:
      return "SHOW WORKERS";
    case Show::What::sessions:
      return "SHOW SESSIONS";
    case Show::What::pools:
      return "SHOW POOLS";
    case Show::What::statistics:
      return "SHOW STATISTICS";
    case Show::What::slow_queries:
      return "SHOW SLOW QUERIES";
  }
  return "";
}

std::string skew_text(const ShowSkew& show) {
  static constexpr std::string_view groupings[] = {"TABLE", "DATABASE", "INSTANCE"};
  return fmt::format("SHOW SKEW{} BY {}", show.table ? " FOR " + table_text(*show.table) : "",
                     groupings[static_cast<size_t>(show.by)]);
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Result<Command> parse(const Phrase& phrase) {
  PhraseReader reader(phrase);
  if (reader.take("SHOW")) return read_show(reader);
  if (reader.take("STEER")) return read_steer(reader, false);
  if (reader.take("DRY")) {
    EVENKEEL_TRY(reader.expect("RUN"));
    EVENKEEL_TRY(reader.expect("STEER"));
    return read_steer(reader, true);
  }
  if (reader.take("EXPLAIN")) return read_explain(reader);
  if (reader.take("DECODE")) return read_decode(reader);
  if (reader.take("RELOAD")) {
    EVENKEEL_TRY(reader.expect("CONFIG"));
    EVENKEEL_TRY(reader.expect_end());
    return Command{ReloadConfig{}};
  }
  if (reader.take("KILL")) {
    Kill kill;
    kill.query_only = reader.take("QUERY");
    if (!kill.query_only) reader.take("CONNECTION");
    EVENKEEL_ASSIGN(kill.connection_id, reader.expect_integer("a session's number", 1, UINT64_MAX));
    EVENKEEL_TRY(reader.expect_end());
    return Command{kill};
  }
  if (reader.take("HELP")) {
    EVENKEEL_TRY(reader.expect_end());
    return Command{Help{}};
  }
  return fail(reader.unexpected(first_words));
}

answer::Rights rights_of(const Command& command) {
  const auto* steer = std::get_if<Steer>(&command);
  const bool operates = (steer != nullptr && !steer->dry_run) ||
                        std::holds_alternative<ReloadConfig>(command) ||
                        std::holds_alternative<Kill>(command);
  return operates ? answer::Rights::operate : answer::Rights::read;
}

std::string to_text(const Command& command) {
  return std::visit(
      Overloaded{
          [](const Show& show) { return show_text(show.what); },
          [](const ShowSkew& show) { return skew_text(show); },
          [](const ShowSteering& show) {
            return std::string(show.history ? "SHOW STEERING HISTORY" : "SHOW STEERING");
          },
          [](const Steer& steer) { return (steer.dry_run ? "DRY RUN " : "") + order_text(steer.order); },
          [](const ExplainSteering& explain) {
            return fmt::format("EXPLAIN STEERING {}{}", table_text(explain.table),
                               explain.slot ? fmt::format(" TABLE {}", *explain.slot) : "");
          },
          [](const DecodeId& decode) {
            return fmt::format("DECODE ID {}{}", decode.id,
                               decode.table ? " FOR " + table_text(*decode.table) : "");
          },
          [](const ReloadConfig&) { return std::string("RELOAD CONFIG"); },
          [](const Kill& kill) {
            return fmt::format("KILL {} {}", kill.query_only ? "QUERY" : "CONNECTION", kill.connection_id);
          },
          [](const Help&) { return std::string("HELP"); },
      },
      command);
}

const std::vector<HelpLine>& help_lines() {
  static const std::vector<HelpLine> lines = {
      {"SHOW TOPOLOGY", "which actual table each slot of each logical table is"},
      {"SHOW SKEW [FOR t] [BY TABLE|DATABASE|INSTANCE]",
       "rows, bytes and unevenness, with source and age of the figures"},
      {"SHOW STEERING", "mode and map of each logical table, and which proxy runs which"},
      {"SHOW STEERING HISTORY", "every change with its reason"},
      {"STEER t AVOID INSTANCE i | DATABASE d | TABLES 0-31, … [FOR 2 HOURS]",
       "no new rows there (needs the right to operate)"},
      {"STEER t ONLY INSTANCE i | DATABASE d | TABLES 0-31, … [FOR 2 HOURS]", "new rows only there"},
      {"STEER t WEIGHTS INSTANCE i = 2, TABLES 0-31 = 1, … [FOR 2 HOURS]", "new rows in these proportions"},
      {"STEER t AUTO | ADVISE | OFF", "by the controller; its advice alone; evenly"},
      {"DRY RUN STEER …", "what the order would do; nothing changes"},
      {"EXPLAIN STEERING t [TABLE n]", "why a table gets new rows or not"},
      {"SHOW GENERATORS", "key generators: ids, waits, refusals, rows outside the map"},
      {"SHOW WORKERS", "worker ids in the registry, their holders, the time reserved"},
      {"DECODE ID n [FOR t]", "time, worker, sequence and actual table of an id"},
      {"SHOW SESSIONS", "clients and what they do"},
      {"SHOW POOLS", "connections to the instances"},
      {"SHOW STATISTICS", "everything that is counted"},
      {"SHOW SLOW QUERIES", "shapes of statements that took long, without their literals"},
      {"RELOAD CONFIG", "reads the file again; says what took effect and what needs a restart"},
      {"KILL [QUERY] n", "ends a session, or what it runs"},
      {"HELP, SHOW HELP", "this list"},
  };
  return lines;
}

}  // namespace evenkeel::admin
