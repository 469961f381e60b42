#include "proxy/skew/record.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mysql/error_codes.h"

namespace evenkeel::skew {
namespace {

using Json = nlohmann::json;

Error damaged(std::string_view what) {
  return make_error(ErrorKind::registry, mysql::er::unknown_error,
                    fmt::format("a {} record of the registry cannot be read", what));
}

// Equal neighbours are written once: [32, 96] [value, how often].
template <typename Number>
Json runs_of(const std::vector<Number>& values) {
  Json runs = Json::array();
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    if (end - i == 1) {
      runs.push_back(values[i]);
    } else {
      runs.push_back(Json::array({values[i], end - i}));
    }
    i = end;
  }
  return runs;
}

template <typename Number>
std::vector<Number> from_runs(const Json& runs) {
  constexpr size_t most = 65'536;  // limits::slots_max
  std::vector<Number> values;
  for (const Json& run : runs) {
    if (!run.is_array()) {
      values.push_back(run.get<Number>());
      continue;
    }
    const auto times = run.at(1).get<size_t>();
    if (times > most || values.size() + times > most) return {};
    values.insert(values.end(), times, run.at(0).get<Number>());
  }
  return values;
}

// nlohmann's library throws; nothing leaves this file.
template <typename Record, typename Read>
Result<Record> decode_with(std::string_view text, std::string_view what, Read read) {
  try {
    Record record;
    read(Json::parse(text), record);
    return record;
  } catch (const Json::exception&) {
    return fail(damaged(what));
  }
}

// Three digits are enough for rates and ratios, and keep records short.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json to_json(const Change& change) {
  return {
      {"version", change.map_version}, {"at", change.unix_ms}, {"what", change.what},  {"who", change.who},
      {"reason", change.reason},       {"map", change.map},    {"times", change.times}};
}

Change change_of(const Json& json) {
  Change change;
  change.map_version = json.at("version").get<uint64_t>();
  change.unix_ms = json.at("at").get<int64_t>();
  change.what = json.at("what").get<std::string>();
  change.who = json.at("who").get<std::string>();
  change.reason = json.at("reason").get<std::string>();
  change.map = json.at("map").get<std::string>();
  change.times = json.at("times").get<uint64_t>();
  return change;
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::none:
      return "none";
    case Origin::automatic:
      return "auto";
    case Origin::ordered:
      return "ordered";
  }
  return "none";
}

Origin origin_of(const std::string& name) {
  if (name == "auto") return Origin::automatic;
  return name == "ordered" ? Origin::ordered : Origin::none;
}

}  // namespace

void SteeringRecord::note(Change change) {
  const bool repeats = !history.empty() && history.back().what == change.what &&
                       history.back().who == change.who &&
                       (change.what == "re-weighted" || change.what == "refused");
  if (repeats) {
    change.times = history.back().times + 1;
    history.back() = std::move(change);
    return;
  }
  history.push_back(std::move(change));
  if (history.size() > history_max) history.erase(history.begin());
}

std::string encode(const SteeringRecord& record) {
  Json history = Json::array();
  for (const Change& change : record.history) history.push_back(to_json(change));
  const Json json = {{"map_version", record.map_version},
                     {"weights", runs_of(record.weights.by_slot)},
                     {"levels", record.weights.levels},
                     {"origin", name_of(record.origin)},
                     {"mode_ordered", record.mode_ordered},
                     {"mode", to_string(record.mode)},
                     {"mode_until", record.mode_until_unix_ms},
                     {"since", record.since_unix_ms},
                     {"until", record.until_unix_ms},
                     {"valid_until", record.valid_until_unix_ms},
                     {"ended", record.ended_unix_ms},
                     {"rests_until", record.rests_until_unix_ms},
                     {"ratio_at_start", record.ratio_at_start},
                     {"best_ratio", record.best_ratio},
                     {"best_at", record.best_unix_ms},
                     {"refusal", record.refusal},
                     {"history", history}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SteeringRecord> decode_steering(std::string_view text) {
  return decode_with<SteeringRecord>(text, "steering", [](const Json& json, SteeringRecord& out) {
    out.map_version = json.at("map_version").get<uint64_t>();
    out.weights.by_slot = from_runs<uint32_t>(json.at("weights"));
    out.weights.levels = json.at("levels").get<uint32_t>();
    out.origin = origin_of(json.at("origin").get<std::string>());
    out.mode_ordered = json.at("mode_ordered").get<bool>();
    out.mode = parse_mode(json.at("mode").get<std::string>()).value_or(Mode::off);
    out.mode_until_unix_ms = json.at("mode_until").get<int64_t>();
    out.since_unix_ms = json.at("since").get<int64_t>();
    out.until_unix_ms = json.at("until").get<int64_t>();
    out.valid_until_unix_ms = json.at("valid_until").get<int64_t>();
    out.ended_unix_ms = json.at("ended").get<int64_t>();
    out.rests_until_unix_ms = json.at("rests_until").get<int64_t>();
    out.ratio_at_start = json.at("ratio_at_start").get<double>();
    out.best_ratio = json.at("best_ratio").get<double>();
    out.best_unix_ms = json.at("best_at").get<int64_t>();
    out.refusal = json.at("refusal").get<std::string>();
    for (const Json& change : json.at("history")) out.history.push_back(change_of(change));
  });
}

std::string encode(const CountsRecord& record) {
  const Json json = {{"by", record.by},
                     {"since", record.since_unix_ms},
                     {"at", record.unix_ms},
                     {"map_version", record.map_version},
                     {"ids", record.ids},
                     {"outside", record.rows_outside},
                     {"per_second", rounded(record.ids_per_second)},
                     {"peak", rounded(record.peak_per_second)},
                     {"rows", runs_of(record.rows)},
                     {"inserted", runs_of(record.inserted)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CountsRecord> decode_counts(std::string_view text) {
  return decode_with<CountsRecord>(text, "counts", [](const Json& json, CountsRecord& out) {
    out.by = json.at("by").get<std::string>();
    out.since_unix_ms = json.at("since").get<int64_t>();
    out.unix_ms = json.at("at").get<int64_t>();
    out.map_version = json.at("map_version").get<uint64_t>();
    out.ids = json.at("ids").get<uint64_t>();
    out.rows_outside = json.at("outside").get<uint64_t>();
    out.ids_per_second = json.at("per_second").get<double>();
    out.peak_per_second = json.at("peak").get<double>();
    out.rows = from_runs<int64_t>(json.at("rows"));
    out.inserted = from_runs<int64_t>(json.at("inserted"));
  });
}

// Column by column, since columns are alike from slot to slot.
std::string encode(const SizesRecord& record) {
  std::vector<int64_t> rows, bytes, sources, sampled, counted, errors;
  for (const Figure& figure : record.figures) {
    rows.push_back(std::llround(figure.rows));
    bytes.push_back(std::llround(figure.bytes));
    sources.push_back(static_cast<int64_t>(figure.source));
    sampled.push_back(figure.sampled_unix_ms / 1000);
    counted.push_back(figure.counted_since);
    errors.push_back(std::llround(figure.error));
  }
  const Json json = {{"at", record.unix_ms},        {"by", record.by},
                     {"standing", record.standing}, {"rows", runs_of(rows)},
                     {"bytes", runs_of(bytes)},     {"sources", runs_of(sources)},
                     {"sampled", runs_of(sampled)}, {"counted", runs_of(counted)},
                     {"errors", runs_of(errors)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SizesRecord> decode_sizes(std::string_view text) {
  bool whole = true;
  auto decoded = decode_with<SizesRecord>(text, "sizes", [&](const Json& json, SizesRecord& out) {
    out.unix_ms = json.at("at").get<int64_t>();
    out.by = json.at("by").get<std::string>();
    out.standing = json.at("standing").get<std::string>();
    const auto column = [&](const char* name) { return from_runs<int64_t>(json.at(name)); };
    const auto rows = column("rows"), bytes = column("bytes"), sources = column("sources"),
               sampled = column("sampled"), counted = column("counted"), errors = column("errors");
    for (const auto* each : {&bytes, &sources, &sampled, &counted, &errors})
      whole = whole && each->size() == rows.size();
    for (size_t slot = 0; whole && slot < rows.size(); ++slot) {
      Figure figure;
      figure.rows = static_cast<double>(rows[slot]);
      figure.bytes = static_cast<double>(bytes[slot]);
      figure.source = sources[slot] == 2   ? Source::exact
                      : sources[slot] == 1 ? Source::estimate
                                           : Source::none;
      figure.sampled_unix_ms = sampled[slot] * 1000;
      figure.counted_since = counted[slot];
      figure.error = static_cast<double>(errors[slot]);
      out.figures.push_back(figure);
    }
  });
  if (decoded && !whole) return fail(damaged("sizes"));
  return decoded;
}

std::string key_part(std::string_view name) {
  std::string part;
  for (const unsigned char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (plain) {
      part += static_cast<char>(c);
    } else {
      part += fmt::format("-{:02x}", c);
    }
  }
  return part;
}

}  // namespace evenkeel::skew
