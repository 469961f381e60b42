#include "proxy/ids/key_spaces.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "base/mysql/error_codes.h"
#include "idgen/layout.h"
#include "idgen/steering_map.h"

namespace evenkeel::ids {

using mysql::Value;

namespace {

std::string names_of(const std::vector<OpenSpace>& spaces) {
  std::string names;
  for (const auto& space : spaces) names += (names.empty() ? "" : ", ") + space.name;
  return names;
}

}  // namespace

std::string OpenSpace::fingerprint() const { return layout ? idgen::fingerprint(*layout) : "plain"; }

Result<std::optional<std::chrono::microseconds>> Drawing::go_on() {
  const auto rest = std::span(ids_).subspan(drawn_);
  if (rest.empty()) return std::nullopt;
  idgen::KeyDemand demand;
  demand.rows = static_cast<uint32_t>(rest.size());
  EVENKEEL_ASSIGN(const idgen::DrawnKeys drawn, space_->generator->draw(demand, rest));
  drawn_ += drawn.drawn;
  if (drawn.complete()) return std::nullopt;
  return std::chrono::microseconds(std::max<int64_t>(1, drawn.wait.micros));
}

Result<const OpenSpace*> KeySpaces::find(std::string_view name) const {
  for (const auto& space : spaces_) {
    if (space.name == name) return &space;
  }
  return fail(make_error(ErrorKind::statement, mysql::er::no_such_table,
                         fmt::format("there is no key space '{}'; there are {}", name, names_of(spaces_))));
}

Result<const OpenSpace*> KeySpaces::find_for_decode(std::optional<std::string_view> name) const {
  if (name) return find(*name);
  const bool one_layout = std::all_of(spaces_.begin(), spaces_.end(), [&](const OpenSpace& space) {
    return space.fingerprint() == spaces_.front().fingerprint() && space.slots == spaces_.front().slots;
  });
  if (one_layout) return &spaces_.front();
  return fail(make_error(ErrorKind::statement, mysql::er::parse_error,
                         fmt::format("key spaces differ in layout or slots: say which one the id is of ({})",
                                     names_of(spaces_))));
}

std::vector<mysql::ResultColumn> decoded_columns() {
  return {{"id", Value::Kind::uint64},
          {"key_space"},
          {"time"},
          {"worker", Value::Kind::uint64},
          {"worker_parts"},
          {"sequence", Value::Kind::uint64},
          {"slot", Value::Kind::uint64},
          {"slots", Value::Kind::uint64}};
}

Result<mysql::ResultTable> decode(const OpenSpace& space, uint64_t id) {
  mysql::ResultTable table{decoded_columns(), {}};
  Value time, worker, parts, sequence;
  if (space.layout) {
    EVENKEEL_ASSIGN(const idgen::DecodedId decoded, idgen::decode(*space.layout, id));
    time = Value::string(decoded.time);
    worker = Value::uint64(decoded.parts.worker);
    parts = Value::string(decoded.worker);
    sequence = Value::uint64(decoded.parts.sequence);
  }
  table.rows.push_back({Value::uint64(id), Value::string(space.name), time, worker, parts, sequence,
                        Value::uint64(idgen::Modulus(space.slots).of(id)), Value::uint64(space.slots)});
  return table;
}

}  // namespace evenkeel::ids
