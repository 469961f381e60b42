// The words and tables that Operations answers with.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "proxy/skew/steering.h"

namespace evenkeel::skew {
namespace {

using mysql::ResultTable;
using mysql::Value;
using Row = std::vector<Value>;

Value text(std::string value) { return Value::string(std::move(value)); }
Value whole(double value) { return Value::int64(std::llround(value)); }
Value number(double value, int digits) { return Value::decimal(fmt::format("{:.{}f}", value, digits)); }
Value text_or_null(std::string value) { return value.empty() ? Value::null() : text(std::move(value)); }

std::string time_text(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}
Value time_or_null(int64_t unix_ms) { return unix_ms == 0 ? Value::null() : text(time_text(unix_ms)); }

mysql::ResultColumn words(std::string name) { return {std::move(name), Value::Kind::string}; }
mysql::ResultColumn count(std::string name) { return {std::move(name), Value::Kind::int64}; }
mysql::ResultColumn part(std::string name) { return {std::move(name), Value::Kind::decimal}; }

// "count, 12 s old, 40 counted since".
std::string source_text(const Figure& figure) {
  if (figure.source == Source::none) return "not known";
  return figure.counted_since == 0 ? std::string(to_string(figure.source))
                                   : fmt::format("{} and rows counted since", to_string(figure.source));
}

// Slots that are shown as one row.
struct Group {
  std::string instance, database, table;
  std::vector<rule::Slot> slots;
};

std::vector<Group> groups_of(const TableSteering& table, Grouping by) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (rule::Slot slot = 0; slot < table.slots(); ++slot) {
    const rule::ActualTable& actual = table.table().slots[slot];
    Group group{table.instance_of(slot), actual.database, actual.table, {slot}};
    if (by == Grouping::table) {
      groups.push_back(std::move(group));
      continue;
    }
    group.table.clear();
    if (by == Grouping::instance) group.database.clear();
    const auto [place, is_new] = known.try_emplace({group.instance, group.database}, groups.size());
    if (is_new) {
      groups.push_back(std::move(group));
    } else {
      groups[place->second].slots.push_back(slot);
    }
  }
  return groups;
}

std::string slots_text(const Group& group, uint32_t slots) {
  std::vector<bool> named(slots, false);
  for (const rule::Slot slot : group.slots) named[slot] = true;
  return ranges_of(named);
}

void add_skew(const TableSteering& table, Grouping by, int64_t now, ResultTable& out) {
  const std::vector<double> rows = table.samples().rows();
  const std::vector<double> bytes = table.samples().bytes();
  const double all = std::accumulate(rows.begin(), rows.end(), 0.0);
  const std::vector<double> shares = table.applied().shares(table.slots());
  const std::vector<Group> groups = groups_of(table, by);
  std::vector<double> sums;
  for (const Group& group : groups) {
    double sum = 0;
    for (const rule::Slot slot : group.slots) sum += rows[slot];
    sums.push_back(sum);
  }
  const Spread spread = spread_of(sums);
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    double group_bytes = 0, rate = 0, share = 0;
    Figure oldest = table.samples().at(group.slots.front());
    for (const rule::Slot slot : group.slots) {
      group_bytes += bytes[slot];
      rate += table.rate_of(slot);
      share += shares[slot];
      const Figure figure = table.samples().at(slot);
      if (figure.source < oldest.source || figure.sampled_unix_ms < oldest.sampled_unix_ms) oldest = figure;
    }
    const bool dated = oldest.sampled_unix_ms > 0;
    out.rows.push_back(Row{
        text(table.name()), text(slots_text(group, table.slots())), text(group.instance),
        text_or_null(group.database), text_or_null(group.table), whole(sums[i]), whole(group_bytes),
        number(all > 0 ? sums[i] * 100 / all : 0, 3), text(source_text(oldest)),
        dated ? Value::int64(std::max<int64_t>(0, now - oldest.sampled_unix_ms) / 1000) : Value::null(),
        number(rate, 1), number(share * 100, 3), number(spread.ratio, 4), number(spread.variation * 100, 2)});
  }
}

std::string order_of(const SteeringRecord& record, std::string Change::*field) {
  std::string found;
  for (const Change& change : record.history) {
    if (change.map_version == record.map_version) found = change.*field;
  }
  return found;
}

std::string state_text(const TableSteering& table, int64_t now) {
  if (!table.steerable()) return "does not apply";
  if (!in_force(table.record(), now)) return table.record().on() ? "over" : "off";
  return table.record().origin == Origin::ordered ? "on, ordered" : "on, automatic";
}

}  // namespace

Result<ResultTable> Steering::skew(const std::optional<TableName>& name, Grouping by) const {
  const std::lock_guard lock(mutex_);
  ResultTable out;
  out.columns = {words("logical_table"),
                 words("slots"),
                 words("instance"),
                 words("database"),
                 words("table"),
                 count("rows"),
                 count("bytes"),
                 part("percent_of_rows"),
                 words("source"),
                 count("age_seconds"),
                 part("new_rows_per_second"),
                 part("percent_of_new_rows"),
                 part("max_over_mean"),
                 part("variation_percent")};
  if (name) {
    EVENKEEL_ASSIGN(const TableSteering* table, find(*name));
    add_skew(*table, by, now(), out);
    return out;
  }
  for (const auto& table : tables_) add_skew(*table, by, now(), out);
  return out;
}

Result<ResultTable> Steering::steering() const {
  const std::lock_guard lock(mutex_);
  const int64_t at = now();
  ResultTable out;
  out.columns = {words("logical_table"),
                 words("state"),
                 words("mode"),
                 count("map_version"),
                 words("map"),
                 part("max_over_mean"),
                 part("upper_bound"),
                 part("lower_bound"),
                 words("since"),
                 words("until"),
                 words("ordered_by"),
                 words("reason"),
                 part("capacity_percent"),
                 part("rows_per_second"),
                 count("rows_outside_map"),
                 words("proxies"),
                 words("leader")};
  for (const auto& each : tables_) {
    const TableSteering& table = *each;
    const SteeringRecord& record = table.record();
    std::string proxies;
    uint64_t outside = 0;
    for (const auto& [proxy, counts] : table.live_proxies(at)) {
      outside += counts->rows_outside;
      proxies += fmt::format("{}{}: map {}", proxies.empty() ? "" : ", ", counts->by, counts->map_version);
    }
    const bool on = in_force(record, at);
    const Mode mode = mode_of(table.settings(), record);
    const double upper =
        std::max(table.settings().upper, noise_floor(spread_of(table.samples().rows()).mean));
    std::string reason = !table.steerable() ? table.parts().inapplicable
                         : on               ? order_of(record, &Change::reason)
                                            : table.standing();
    const bool leads_here = leading();
    out.rows.push_back(Row{
        text(table.name()), text(state_text(table, at)),
        text(fmt::format("{}{}", to_string(mode), record.mode_ordered ? " (ordered)" : "")),
        Value::uint64(record.map_version), text(describe(table.applied(), table.slots())),
        number(spread_of(table.judged()).ratio, 4), std::isfinite(upper) ? number(upper, 4) : Value::null(),
        number(table.settings().lower, 4), on ? time_or_null(record.since_unix_ms) : Value::null(),
        on ? time_or_null(record.until_unix_ms) : Value::null(),
        on ? text_or_null(order_of(record, &Change::who)) : Value::null(), text_or_null(std::move(reason)),
        number(table.applied().capacity() * 100, 1), number(table.rows_per_second(), 1),
        Value::uint64(outside), text_or_null(std::move(proxies)),
        text(leads_here ? parts_.process : leader_)});
  }
  return out;
}

Result<ResultTable> Steering::steering_history() const {
  const std::lock_guard lock(mutex_);
  ResultTable out;
  out.columns = {words("logical_table"), words("time"), words("what"),  words("by"),
                 count("map_version"),   words("map"),  count("times"), words("reason")};
  std::vector<std::pair<int64_t, Row>> rows;
  for (const auto& table : tables_) {
    for (const Change& change : table->record().history) {
      rows.emplace_back(change.unix_ms,
                        Row{text(table->name()), text(time_text(change.unix_ms)), text(change.what),
                            text(change.who), Value::uint64(change.map_version), text(change.map),
                            Value::uint64(change.times), text(change.reason)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [at, row] : rows) out.rows.push_back(std::move(row));
  return out;
}

Result<ResultTable> Steering::explain(const TableName& name, std::optional<uint32_t> slot) const {
  const std::lock_guard lock(mutex_);
  EVENKEEL_ASSIGN(TableSteering * table, find(name));
  if (slot && *slot >= table->slots()) {
    return fail(make_error(ErrorKind::statement, 1105,
                           fmt::format("{} has the tables 0 to {}", table->name(), table->slots() - 1)));
  }
  const int64_t at = now();
  const SteeringRecord& record = table->record();
  const Spread spread = spread_of(table->judged());
  const std::string measure(to_string(table->settings().by));
  std::vector<std::string> lines;
  if (!table->steerable())
    lines.push_back(
        fmt::format("Steering does not apply to {}: {}.", table->name(), table->parts().inapplicable));
  lines.push_back(fmt::format(
      "{}: {} tables, mean {:.1f} {}, fullest {:.0f}, emptiest {:.0f}; max/mean {:.4f}, variation {:.2f} %.",
      table->name(), table->slots(), spread.mean, measure, spread.most, spread.fewest, spread.ratio,
      spread.variation * 100));
  if (slot) {
    const Figure figure = table->samples().at(*slot);
    const double size = table->judged()[*slot];
    const rule::ActualTable& actual = table->table().slots[*slot];
    lines.push_back(fmt::format(
        "Table {} is {}.{} on {}: {:.0f} {}, {:.4f} of the mean ({}{}); it gets {:.1f} new rows a second.",
        *slot, actual.database, actual.table, table->instance_of(*slot), size, measure,
        spread.mean > 0 ? size / spread.mean : 1.0, source_text(figure),
        figure.sampled_unix_ms > 0 ? fmt::format(", asked {} ago", duration_text(at - figure.sampled_unix_ms))
                                   : "",
        table->rate_of(*slot)));
  }
  if (table->steerable()) {
    const bool on = table->steers();
    if (!on) {
      lines.push_back(
          fmt::format("No map is in force (version {}): every table gets the same part of new rows.",
                      record.map_version));
    } else {
      lines.push_back(fmt::format("Map {} is in force: {}; set by {} at {}, until {} at the latest.",
                                  record.map_version, describe(table->applied(), table->slots()),
                                  order_of(record, &Change::who), time_text(record.since_unix_ms),
                                  time_text(record.until_unix_ms)));
      lines.push_back(fmt::format("Its reason: {}.", order_of(record, &Change::reason)));
    }
    if (slot && on) {
      const uint32_t weight = table->applied().of(*slot);
      const double share = table->applied().share(*slot, table->slots());
      const double lacks = spread.most - table->judged()[*slot];
      if (weight == 0) {
        lines.push_back(
            fmt::format("Table {} gets no new rows (weight 0 of {}): {}. Batches that do not fit elsewhere "
                        "may still touch it.",
                        *slot, table->applied().levels,
                        record.origin == Origin::ordered
                            ? "so it was ordered"
                            : fmt::format("it lacks {:.0f} {} to the fullest, too little to be steered by",
                                          lacks, measure)));
      } else {
        lines.push_back(fmt::format(
            "Table {} gets {:.3f} % of new rows, {:.2f} times an even part (weight {} of {}); it lacks "
            "{:.0f} {} to the fullest.",
            *slot, share * 100, share * table->slots(), weight, table->applied().levels, lacks, measure));
      }
    }
    const double floor = noise_floor(spread_of(table->samples().rows()).mean);
    lines.push_back(
        fmt::format("Mode {}{}: steering begins above max/mean {:.4f} and ends at {:.4f}; below {:.4f} "
                    "chance alone makes such a ratio.",
                    to_string(mode_of(table->settings(), record)), record.mode_ordered ? " (ordered)" : "",
                    std::max(table->settings().upper, floor), table->settings().lower, floor));
    if (!table->standing().empty()) lines.push_back(fmt::format("At the last look: {}.", table->standing()));
    const Outlook expected = outlook(*table, table->applied());
    lines.push_back(expected.until_even
                        ? fmt::format("Even in about {}: {}.",
                                      duration_text(expected.until_even->count() * 1000), expected.remark)
                        : fmt::format("When it will be even is not known: {}.", expected.remark));
  }
  ResultTable out;
  out.columns = {words("explanation")};
  for (std::string& line : lines) out.rows.push_back(Row{text(std::move(line))});
  return out;
}

Result<ResultTable> Steering::dry_run(const SteerOrder& order) const {
  const std::lock_guard lock(mutex_);
  EVENKEEL_ASSIGN(const Planned planned, plan(order));
  TableSteering& table = *planned.table;
  const std::vector<uint32_t> next = next_rows(table, planned.weights);
  const std::vector<double> rows = table.samples().rows();
  ResultTable out;
  out.columns = {words("part"),          words("name"),      count("rows_now"),
                 count("of_next_10000"), count("rows_then"), words("remark")};
  const auto say = [&](std::string remark) {
    out.rows.push_back(Row{text("remark"), text(table.name()), Value::null(), Value::null(), Value::null(),
                           text(std::move(remark))});
  };
  say(fmt::format("map: {}", describe(planned.weights, table.slots())));
  for (std::string& remark : remarks(table, planned)) say(std::move(remark));
  const Outlook expected = outlook(table, planned.weights);
  say(expected.until_even ? fmt::format("even in about {}: {}",
                                        duration_text(expected.until_even->count() * 1000), expected.remark)
                          : fmt::format("when it will be even is not known: {}", expected.remark));
  for (const auto& [by, part_name] :
       {std::pair{Grouping::instance, "instance"}, std::pair{Grouping::database, "database"},
        std::pair{Grouping::table, "table"}}) {
    for (const Group& group : groups_of(table, by)) {
      double sum = 0;
      uint64_t more = 0;
      for (const rule::Slot slot : group.slots) {
        sum += rows[slot];
        more += next[slot];
      }
      const std::string name = by == Grouping::table      ? fmt::format("{}.{}", group.database, group.table)
                               : by == Grouping::database ? group.database
                                                          : group.instance;
      out.rows.push_back(Row{text(part_name), text(name), whole(sum), Value::uint64(more),
                             whole(sum + static_cast<double>(more)), Value::null()});
    }
  }
  return out;
}

}  // namespace evenkeel::skew
