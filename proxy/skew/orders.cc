// What an operator orders: names are resolved, what cannot be done is refused with its reason, and the record
// is changed.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "base/mysql/error_codes.h"
#include "proxy/skew/steering.h"
#include "router/rule/names.h"

namespace evenkeel::skew {
namespace {

Error refused(std::string message) {
  return make_error(ErrorKind::statement, mysql::er::unknown_error, std::move(message));
}

bool same(const std::string& a, const std::string& b) { return rule::fold_case(a) == rule::fold_case(b); }

bool is_map(SteerOrder::What what) {
  return what == SteerOrder::What::avoid || what == SteerOrder::What::only ||
         what == SteerOrder::What::weights;
}

std::string text_of(const Target& target) {
  switch (target.kind) {
    case Target::Kind::instance:
      return "instance " + target.name;
    case Target::Kind::database:
      return "database " + target.name;
    case Target::Kind::slots:
      return target.first == target.last ? fmt::format("table {}", target.first)
                                         : fmt::format("tables {}-{}", target.first, target.last);
  }
  return {};
}

std::string text_of(const SteerOrder& order) {
  std::vector<std::string> parts;
  for (const Target& target : order.targets) parts.push_back(text_of(target));
  for (const WeightedTarget& each : order.weights)
    parts.push_back(fmt::format("{} weigh {}", text_of(each.target), each.weight));
  switch (order.what) {
    case SteerOrder::What::avoid:
      return fmt::format("avoid {}", fmt::join(parts, ", "));
    case SteerOrder::What::only:
      return fmt::format("only {}", fmt::join(parts, ", "));
    case SteerOrder::What::weights:
      return fmt::format("weights: {}", fmt::join(parts, ", "));
    case SteerOrder::What::automatic:
      return "auto";
    case SteerOrder::What::advise:
      return "advise";
    case SteerOrder::What::off:
      return "off";
  }
  return {};
}

Mode mode_of(SteerOrder::What what) {
  if (what == SteerOrder::What::automatic) return Mode::automatic;
  return what == SteerOrder::What::advise ? Mode::advise : Mode::off;
}

}  // namespace

Result<TableSteering*> Steering::find(const TableName& name) const {
  std::vector<TableSteering*> found;
  std::vector<std::string> all;
  for (const auto& table : tables_) {
    all.push_back(table->name());
    if (!same(table->table().name, name.table)) continue;
    if (name.schema.empty() || same(table->table().schema, name.schema)) found.push_back(table.get());
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(make_error(
        ErrorKind::statement, mysql::er::no_such_table,
        fmt::format("there is no sharded table {}{}{}; there {}", name.schema, name.schema.empty() ? "" : ".",
                    name.table,
                    all.empty() ? "is none at all" : fmt::format("are {}", fmt::join(all, ", ")))));
  }
  std::vector<std::string> names;
  for (const TableSteering* table : found) names.push_back(table->name());
  return fail(refused(
      fmt::format("{} is a table of several schemas: name one of {}", name.table, fmt::join(names, ", "))));
}

Result<std::vector<bool>> Steering::slots_of(const TableSteering& table,
                                             const std::vector<Target>& targets) const {
  std::vector<bool> named(table.slots(), false);
  for (const Target& target : targets) {
    if (target.kind == Target::Kind::slots) {
      if (target.first > target.last || target.last >= table.slots()) {
        return fail(refused(
            fmt::format("{}: {} has the tables 0 to {}", text_of(target), table.name(), table.slots() - 1)));
      }
      for (uint32_t slot = target.first; slot <= target.last; ++slot) named[slot] = true;
      continue;
    }
    bool any = false;
    std::set<std::string> there;
    for (rule::Slot slot = 0; slot < table.slots(); ++slot) {
      const std::string& name = target.kind == Target::Kind::instance ? table.instance_of(slot)
                                                                      : table.table().slots[slot].database;
      there.insert(name);
      if (!same(name, target.name)) continue;
      named[slot] = true;
      any = true;
    }
    if (!any)
      return fail(refused(fmt::format("{} holds no table of {}; those that do are {}", text_of(target),
                                      table.name(), fmt::join(there, ", "))));
  }
  return named;
}

Result<SlotWeights> Steering::weights_of_order(const TableSteering& table, const SteerOrder& order) const {
  if (order.what == SteerOrder::What::weights) {
    if (table.parts().levels == 0) {
      return fail(
          refused(fmt::format("weights need a sequence of at least as many numbers as {} has tables; "
                              "AVOID and ONLY work without",
                              table.name())));
    }
    std::vector<uint32_t> wanted(table.slots(), 1);
    for (const WeightedTarget& each : order.weights) {
      EVENKEEL_ASSIGN(const std::vector<bool> named, slots_of(table, {each.target}));
      for (rule::Slot slot = 0; slot < table.slots(); ++slot) {
        if (named[slot]) wanted[slot] = each.weight;
      }
    }
    if (std::all_of(wanted.begin(), wanted.end(), [](uint32_t weight) { return weight == 0; }))
      return fail(refused(fmt::format("{}: with these weights no table would get new rows", table.name())));
    return weights_of_shares(wanted, table.parts().levels);
  }
  EVENKEEL_ASSIGN(std::vector<bool> open, slots_of(table, order.targets));
  if (order.what == SteerOrder::What::avoid) open.flip();
  if (std::find(open.begin(), open.end(), true) == open.end())
    return fail(
        refused(fmt::format("{}: {} would leave no table for new rows", table.name(), text_of(order))));
  return weights_of(open);
}

Result<Steering::Planned> Steering::plan(const SteerOrder& order) const {
  EVENKEEL_ASSIGN(TableSteering * table, find(order.table));
  const bool wants_steering = order.what != SteerOrder::What::off;
  if (wants_steering && !table->steerable())
    return fail(refused(
        fmt::format("steering does not apply to {}: {}", table->name(), table->parts().inapplicable)));
  const int64_t at = now();
  const int64_t duration = order.duration ? std::chrono::milliseconds(*order.duration).count() : 0;
  if (order.duration && duration <= 0) return fail(refused("FOR wants a time above 0"));
  const Observation seen = table->observe(at, parts_.settings.sampling, seconds_ahead());
  Planned planned;
  planned.table = table;
  planned.record = table->record();
  SteeringRecord& record = planned.record;
  const std::string until = order.duration ? fmt::format(" for {}", duration_text(duration)) : std::string();
  Change change{0,  at, is_map(order.what) ? "ordered" : "mode", order.ordered_by, text_of(order) + until,
                {}, 1};
  if (is_map(order.what)) {
    EVENKEEL_ASSIGN(planned.weights, weights_of_order(*table, order));
    if (const auto lacks = lacks_capacity(planned.weights, seen))
      return fail(refused(fmt::format("{}: inserts would have to wait: {}", table->name(), *lacks)));
    EVENKEEL_TRY(compile(planned.weights, *table->table().algorithm));
    record.since_unix_ms = at;
    record.until_unix_ms = at + (duration > 0 ? duration : table->settings().max_duration.count());
    record.ratio_at_start = record.best_ratio = spread_of(seen.figures).ratio;
    record.best_unix_ms = at;
    put_in_force(record, planned.weights, Origin::ordered, std::move(change), table->slots());
    return planned;
  }
  record.mode_ordered = true;
  record.mode = mode_of(order.what);
  record.mode_until_unix_ms = duration > 0 ? at + duration : 0;
  record.rests_until_unix_ms = 0;
  record.refusal.clear();
  const bool controller_keeps =
      order.what == SteerOrder::What::automatic && record.origin == Origin::automatic;
  planned.may_even = order.what == SteerOrder::What::automatic;
  if (controller_keeps) {
    put_in_force(record, record.weights, Origin::automatic, std::move(change), table->slots());
  } else {
    put_in_force(record, SlotWeights{}, Origin::none, std::move(change), table->slots());
  }
  if (wants_steering) {
    const SlotWeights automatic = automatic_weights(table->settings(), seen);
    if (automatic.levels != 0) planned.weights = automatic;
    if (lacks_capacity(planned.weights, seen)) planned.weights = flattened(planned.weights);
  }
  return planned;
}

// Stores what was planned; the caller holds the lock, so the record is the one that it was planned on.
Status Steering::put(TableSteering& table, const SteeringRecord& record) {
  uint64_t version = table.record_version();
  if (parts_.registry != nullptr) {
    EVENKEEL_ASSIGN(
        const idgen::Put put,
        parts_.registry->compare_and_put("skew/steering/" + key_part(table.name()), version, encode(record)));
    if (!put.stored)
      return fail(refused("another proxy has changed the map in this moment; look at it and order again"));
    version = put.version;
  }
  table.take_record(record, version);
  return table.obey(now());
}

Result<mysql::ResultTable> Steering::steer(const SteerOrder& order) {
  {
    const std::lock_guard lock(mutex_);
    // The latest record, not the one of a second ago.
    if (parts_.registry != nullptr) hear_records();
    EVENKEEL_ASSIGN(const Planned planned, plan(order));
    EVENKEEL_TRY(put(*planned.table, planned.record));
    const Change& change = planned.record.history.back();
    tell(fmt::format("{}: {} by {}: {} (map {}: {})", planned.table->name(), change.what, change.who,
                     change.reason, change.map_version, change.map));
  }
  return steering();
}

}  // namespace evenkeel::skew
