#include "proxy/admin/dashboard/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string>

#include "base/mysql/error_codes.h"

namespace evenkeel::admin {

using nlohmann::json;
using skew::SteerOrder;
using skew::Target;

namespace {

std::string_view mode_text(skew::SteeringMode mode) {
  switch (mode) {
    case skew::SteeringMode::off:
      return "off";
    case skew::SteeringMode::ordered:
      return "ordered";
    case skew::SteeringMode::advise:
      return "advise";
    case skew::SteeringMode::automatic:
      return "auto";
  }
  return "";
}

char source_letter(skew::FigureSource source) {
  switch (source) {
    case skew::FigureSource::exact:
      return 'x';
    case skew::FigureSource::estimate:
      return 'e';
    case skew::FigureSource::carried:
      return 'c';
    case skew::FigureSource::unknown:
      return '-';
  }
  return '-';
}

int64_t millis(skew::WallTime at) { return at.time_since_epoch().count(); }

json time_json(const std::optional<skew::WallTime>& at) { return at ? json(millis(*at)) : json(); }

json unevenness_json(const skew::Unevenness& value) {
  return {{"max_over_mean", value.max_over_mean}, {"variation", value.variation}};
}

json outlook_json(const skew::Outlook& outlook) {
  return {{"rows_per_s", outlook.rows_per_second},
          {"ids_per_s_possible", outlook.ids_per_second_possible},
          {"until_even_s", outlook.until_even ? json(outlook.until_even->count()) : json()},
          {"remark", outlook.remark}};
}

// A table without rows has no bound: whatever comes first is uneven.
json bound_json(double bound) { return std::isfinite(bound) ? json(bound) : json(); }

json weights_json(const std::vector<uint32_t>& weights) { return weights.empty() ? json() : json(weights); }

template <typename Field>
json column_of(const skew::TableFigures& figures, Field field) {
  json::array_t column;
  column.reserve(figures.slots.size());
  for (const skew::SlotFigures& slot : figures.slots) column.emplace_back(field(slot));
  return column;
}

json value_json(const mysql::Value& value) {
  using Kind = mysql::Value::Kind;
  // Above it JavaScript rounds.
  constexpr uint64_t exact_max = uint64_t{1} << 53;
  switch (value.kind()) {
    case Kind::null:
      return nullptr;
    case Kind::int64:
      if (std::abs(static_cast<double>(value.as_int64())) > static_cast<double>(exact_max)) break;
      return value.as_int64();
    case Kind::uint64:
      if (value.as_uint64() > exact_max) break;
      return value.as_uint64();
    case Kind::real:
      return value.as_real();
    case Kind::single_real:
      return value.as_single_real();
    default:
      return value.text();
  }
  return mysql::to_string(value);
}

Error bad_field(std::string_view field, std::string_view allowed) {
  return make_error(ErrorKind::statement, mysql::er::parse_error,
                    fmt::format("field '{}' must be {}", field, allowed));
}

Error unknown_field(std::string_view field, std::string_view allowed) {
  return make_error(ErrorKind::statement, mysql::er::parse_error,
                    fmt::format("field '{}' is not known here; allowed are {}", field, allowed));
}

Result<uint64_t> whole_number(const json& value, std::string_view field, uint64_t most) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most)
    return fail(bad_field(field, fmt::format("a whole number from 0 to {}", most)));
  return value.get<uint64_t>();
}

Result<std::string> text_field(const json& object, const std::string& field) {
  if (!object.contains(field) || !object[field].is_string() ||
      object[field].get_ref<const std::string&>().empty())
    return fail(bad_field(field, "a text that is not empty"));
  return object[field].get<std::string>();
}

// {"instance": "ds0"}, {"database": "shop_00"} or {"first": 0, "last": 31}, in orders of weights with
// "weight".
Result<skew::WeightedTarget> target_of(const json& value, bool weighted) {
  const std::string_view list = weighted ? "weights" : "targets";
  if (!value.is_object()) return fail(bad_field(list, "a list of objects"));
  skew::WeightedTarget out;
  int kinds = 0;
  for (const auto& [field, content] : value.items()) {
    if (field == "instance" || field == "database") {
      EVENKEEL_ASSIGN(out.target.name, text_field(value, field));
      out.target.kind = field == "instance" ? Target::Kind::instance : Target::Kind::database;
      ++kinds;
    } else if (field == "first" || field == "last") {
      EVENKEEL_ASSIGN(const uint64_t number, whole_number(content, field, UINT32_MAX));
      (field == "first" ? out.target.first : out.target.last) = static_cast<uint32_t>(number);
      kinds += field == "first" ? 1 : 0;
    } else if (field == "weight" && weighted) {
      EVENKEEL_ASSIGN(const uint64_t number, whole_number(content, field, UINT32_MAX));
      out.weight = static_cast<uint32_t>(number);
    } else {
      return fail(unknown_field(
          field, weighted ? "instance, database, first, last, weight" : "instance, database, first, last"));
    }
  }
  if (kinds != 1 || value.contains("first") != value.contains("last"))
    return fail(
        bad_field(list, "a list in which each element has one of: instance; database; first and last"));
  if (weighted && !value.contains("weight"))
    return fail(bad_field("weight", "given for each of the weights"));
  if (out.target.first > out.target.last) return fail(bad_field("last", "at least `first`"));
  return out;
}

Result<std::vector<skew::WeightedTarget>> targets_of(const json& body, const std::string& field) {
  if (!body.contains(field) || !body[field].is_array() || body[field].empty())
    return fail(bad_field(field, "a list that is not empty for this order"));
  std::vector<skew::WeightedTarget> targets;
  for (const json& value : body[field]) {
    EVENKEEL_ASSIGN(skew::WeightedTarget target, target_of(value, field == "weights"));
    targets.push_back(std::move(target));
  }
  return targets;
}

std::optional<SteerOrder::What> what_of(std::string_view text) {
  using What = SteerOrder::What;
  static constexpr std::array<std::pair<std::string_view, What>, 6> words{{{"avoid", What::avoid},
                                                                           {"only", What::only},
                                                                           {"weights", What::weights},
                                                                           {"auto", What::automatic},
                                                                           {"advise", What::advise},
                                                                           {"off", What::off}}};
  for (const auto& [word, what] : words) {
    if (word == text) return what;
  }
  return std::nullopt;
}

Status read_targets(const json& body, SteerOrder& order) {
  using What = SteerOrder::What;
  const bool by_weight = order.what == What::weights;
  const bool by_name = order.what == What::avoid || order.what == What::only;
  if (body.contains("weights") && !by_weight) return fail(bad_field("weights", "left away for this order"));
  if (body.contains("targets") && !by_name) return fail(bad_field("targets", "left away for this order"));
  if (!by_weight && !by_name) return {};
  EVENKEEL_ASSIGN(auto targets, targets_of(body, by_weight ? "weights" : "targets"));
  for (skew::WeightedTarget& target : targets) {
    if (by_weight) {
      order.weights.push_back(std::move(target));
    } else {
      order.targets.push_back(std::move(target.target));
    }
  }
  return {};
}

}  // namespace

json table_of_values(const mysql::ResultTable& table) {
  json::array_t columns;
  for (const auto& column : table.columns) columns.emplace_back(column.name);
  json::array_t rows;
  for (const auto& row : table.rows) {
    json::array_t cells;
    for (const auto& value : row) cells.push_back(value_json(value));
    rows.emplace_back(std::move(cells));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

json layout_json(const rule::RuleSet& rules, const rule::LogicalTable& table) {
  // Instance -> database -> slots, in the order in which the slots name them.
  std::vector<std::pair<std::string, json>> instances;
  for (uint32_t slot = 0; slot < table.slot_count(); ++slot) {
    const rule::ActualTable& actual = table.slots[slot];
    const std::string& name = rules.instances()[actual.instance];
    auto instance = std::find_if(instances.begin(), instances.end(),
                                 [&](const auto& known) { return known.first == name; });
    if (instance == instances.end()) instance = instances.insert(instance, {name, json::array()});
    json& databases = instance->second;
    auto database = std::find_if(databases.begin(), databases.end(),
                                 [&](const json& known) { return known["name"] == actual.database; });
    if (database == databases.end()) {
      databases.push_back({{"name", actual.database}, {"slots", json::array()}, {"tables", json::array()}});
      database = std::prev(databases.end());
    }
    (*database)["slots"].push_back(slot);
    (*database)["tables"].push_back(actual.table);
  }
  json::array_t shown;
  for (auto& [name, databases] : instances)
    shown.push_back({{"name", name}, {"databases", std::move(databases)}});
  return {{"schema", table.schema},
          {"table", table.name},
          {"slots", table.slot_count()},
          {"instances", std::move(shown)}};
}

json figures_json(const skew::TableFigures& figures) {
  std::string sources;
  for (const skew::SlotFigures& slot : figures.slots) sources += source_letter(slot.source);
  json::array_t proxies;
  for (const skew::ProxyMapVersion& proxy : figures.proxies)
    proxies.push_back({{"proxy", proxy.proxy}, {"version", proxy.version}});
  return {{"at_ms", millis(figures.at)},
          {"rows", column_of(figures, [](const auto& slot) { return slot.rows; })},
          {"bytes", column_of(figures, [](const auto& slot) { return slot.bytes; })},
          {"inserted", column_of(figures, [](const auto& slot) { return slot.inserted; })},
          {"age_s", column_of(figures, [](const auto& slot) { return slot.age.count(); })},
          {"source", sources},
          {"by_rows", unevenness_json(figures.by_rows)},
          {"by_bytes", unevenness_json(figures.by_bytes)},
          {"bound", bound_json(figures.bound)},
          {"mode", mode_text(figures.mode)},
          {"not_steerable_because", figures.not_steerable_because},
          {"map",
           {{"version", figures.map.version},
            {"weights", weights_json(figures.map.weights)},
            {"ordered_by", figures.map.ordered_by},
            {"reason", figures.map.reason},
            {"since_ms", time_json(figures.map.since)},
            {"until_ms", time_json(figures.map.until)}}},
          {"outlook", outlook_json(figures.outlook)},
          {"proxies", std::move(proxies)}};
}

json summary_json(const skew::TableFigures& figures) {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  for (const skew::SlotFigures& slot : figures.slots) {
    rows += slot.rows;
    bytes += slot.bytes;
  }
  return {{"schema", figures.name.schema},
          {"table", figures.name.table},
          {"slots", figures.slots.size()},
          {"rows", rows},
          {"bytes", bytes},
          {"by_rows", unevenness_json(figures.by_rows)},
          {"by_bytes", unevenness_json(figures.by_bytes)},
          {"bound", bound_json(figures.bound)},
          {"mode", mode_text(figures.mode)},
          {"steering", !figures.map.weights.empty()},
          {"not_steerable_because", figures.not_steerable_because}};
}

json history_json(std::span<const skew::SkewPoint> points) {
  json::array_t shown;
  for (const skew::SkewPoint& point : points) {
    shown.push_back({millis(point.at), point.rows_max_over_mean, point.bytes_max_over_mean,
                     point.rows_variation, point.steering ? 1 : 0});
  }
  return {{"points", std::move(shown)}};
}

json dry_run_json(const skew::DryRunFigures& figures, uint64_t version) {
  return {{"version", version},
          {"next_rows", figures.next_rows},
          {"weights", weights_json(figures.weights)},
          {"outlook", outlook_json(figures.outlook)},
          {"remarks", figures.remarks}};
}

Result<OrderRequest> order_of(std::string_view text) {
  const json body = json::parse(text, nullptr, false);
  if (!body.is_object()) {
    return fail(make_error(ErrorKind::statement, mysql::er::parse_error, "the body is not a JSON object"));
  }
  static constexpr std::string_view allowed = "schema, table, what, targets, weights, duration_s, if_version";
  OrderRequest request;
  SteerOrder& order = request.order;
  for (const auto& [field, content] : body.items()) {
    if (field == "duration_s") {
      constexpr uint64_t longest = 366 * 86'400;
      EVENKEEL_ASSIGN(const uint64_t seconds, whole_number(content, field, longest));
      order.duration = std::chrono::seconds(seconds);
    } else if (field == "if_version") {
      EVENKEEL_ASSIGN(request.if_version, whole_number(content, field, UINT64_MAX));
    } else if (field != "schema" && field != "table" && field != "what" && field != "targets" &&
               field != "weights") {
      return fail(unknown_field(field, allowed));
    }
  }
  EVENKEEL_ASSIGN(order.table.schema, text_field(body, "schema"));
  EVENKEEL_ASSIGN(order.table.table, text_field(body, "table"));
  EVENKEEL_ASSIGN(const std::string word, text_field(body, "what"));
  const auto what = what_of(word);
  if (!what) return fail(bad_field("what", "one of avoid, only, weights, auto, advise, off"));
  order.what = *what;
  EVENKEEL_TRY(read_targets(body, order));
  return request;
}

}  // namespace evenkeel::admin
