#include "idgen/registry/worker_record.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "idgen/layout.h"
#include "idgen/registry/registry.h"

namespace evenkeel::idgen {
namespace {

constexpr std::string_view state_held = "held";
constexpr std::string_view state_released = "released";

std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ' ') return std::nullopt;
  text.remove_prefix(name.size() + 1);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end + 1);
  return value;
}

template <typename Number>
bool whole_number(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string encode_worker(const WorkerRecord& record, const Layout& layout) {
  return fmt::format("layout {}\nbound {}\nbound_time {}\nholder {}\ntoken {}\nstate {}\n", record.layout,
                     record.bound, format_utc(tick_start_unix_ms(layout, record.bound)),
                     one_line(record.holder), record.token, record.released ? state_released : state_held);
}

Result<WorkerRecord> decode_worker(std::string_view key, std::string_view text) {
  const auto layout = take_line(text, "layout");
  const auto bound = layout ? take_line(text, "bound") : std::nullopt;
  const auto time = bound ? take_line(text, "bound_time") : std::nullopt;
  const auto holder = time ? take_line(text, "holder") : std::nullopt;
  const auto token = holder ? take_line(text, "token") : std::nullopt;
  const auto state = token ? take_line(text, "state") : std::nullopt;
  WorkerRecord record;
  if (!state || !text.empty() || (*state != state_held && *state != state_released) ||
      !whole_number(*bound, record.bound))
    return fail(registry_error(fmt::format("registry record {} is not a worker record", key)));
  record.layout = *layout;
  record.holder = *holder;
  record.token = *token;
  record.released = *state == state_released;
  return record;
}

std::string worker_prefix(std::string_view generator) { return fmt::format("workers/{}/", generator); }

std::string worker_key(std::string_view generator, uint32_t worker) {
  return fmt::format("{}{}", worker_prefix(generator), worker);
}

std::optional<uint32_t> worker_of_key(std::string_view generator, std::string_view key) {
  const std::string prefix = worker_prefix(generator);
  uint32_t worker = 0;
  if (!key.starts_with(prefix) || !whole_number(key.substr(prefix.size()), worker)) return std::nullopt;
  return worker;
}

std::string generator_key(std::string_view generator) { return fmt::format("generators/{}", generator); }

}  // namespace evenkeel::idgen
