#include "config/reader.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <fmt/format.h>
#include <set>

namespace evenkeel::config {
namespace {

using std::chrono::milliseconds;

constexpr size_t faults_shown_max = 20;

// What stands at a node, short enough for a message.
std::string found_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::scalar:
      break;
  }
  constexpr size_t shown_max = 60;
  return node.text.size() <= shown_max ? fmt::format("\"{}\"", node.text)
                                       : fmt::format("\"{}…\"", node.text.substr(0, shown_max));
}

struct Unit {
  std::string_view suffix;
  uint64_t factor;
};

// "10s" with units {ms, s, …}: digits and one of the suffixes; nullopt when it is not that or does not fit.
std::optional<uint64_t> parse_with_unit(std::string_view text, const std::vector<Unit>& units) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    uint64_t product = 0;
    if (unit.suffix == suffix && !__builtin_mul_overflow(number, unit.factor, &product)) return product;
  }
  return std::nullopt;
}

std::string duration_text(milliseconds time) {
  const int64_t ms = time.count();
  if (ms == 0) return "0";
  if (ms % 3'600'000 == 0) return fmt::format("{}h", ms / 3'600'000);
  if (ms % 60'000 == 0) return fmt::format("{}m", ms / 60'000);
  if (ms % 1'000 == 0) return fmt::format("{}s", ms / 1'000);
  return fmt::format("{}ms", ms);
}

std::string size_text(size_t bytes) {
  for (const Unit& unit : {Unit{"GiB", 1 << 30}, Unit{"MiB", 1 << 20}, Unit{"KiB", 1 << 10}}) {
    if (bytes != 0 && bytes % unit.factor == 0) return fmt::format("{}{}", bytes / unit.factor, unit.suffix);
  }
  return std::to_string(bytes);
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

// The allowed key that a mistyped one most likely meant: one edit away, or the same but for case and - for _.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string meant(std::string_view key, const std::vector<std::string>& allowed) {
  for (const std::string& name : allowed) {
    if (edit_distance(key, name) <= std::max<size_t>(1, name.size() / 4)) {
      return fmt::format(" (did you mean {}?)", name);
    }
  }
  return {};
}

}  // namespace

void Reading::fault(Mark mark, const std::string& path, const std::string& what) {
  const std::string at = path.empty() ? "" : path + ": ";
  faults_.emplace(mark, fmt::format("{}:{}:{}: {}{}", source_, mark.line, mark.column, at, what));
}

Error Reading::to_error() const {
  std::string text;
  size_t shown = 0;
  for (const auto& [mark, line] : faults_) {
    if (shown == faults_shown_max) {
      text += fmt::format("\nand {} more", faults_.size() - shown);
      break;
    }
    text += (shown++ > 0 ? "\n" : "") + line;
  }
  return config_error(std::move(text));
}

Place Place::member(const KeyedNode& pair) const {
  // A value left empty has no place of its own worth showing.
  return Place(pair.value, path_.empty() ? pair.key.text : path_ + "." + pair.key.text, *reading_);
}

Place Place::item(size_t index) const {
  return Place(node_->items[index], fmt::format("{}[{}]", path_, index), *reading_);
}

void Place::expected(const std::string& what, bool secret) const {
  fault(fmt::format("expected {}, found {}", what,
                    secret && node_->kind == Node::Kind::scalar ? "something else" : found_text(*node_)));
}

std::string Place::where() const {
  return fmt::format("{}:{}:{}: {}", reading_->source(), node_->mark.line, node_->mark.column, path_);
}

void read(const Place& place, bool& out) {
  const Node& node = place.node();
  if (node.kind == Node::Kind::scalar && !node.quoted && (node.text == "true" || node.text == "false")) {
    out = node.text == "true";
  } else {
    place.expected("true or false");
  }
}

void read(const Place& place, std::string& out) {
  const Node& node = place.node();
  if (node.kind != Node::Kind::scalar || node.text.empty()) {
    place.expected("a text");
  } else if (node.text.find("${") != std::string::npos) {
    place.fault("environment variables are taken for secrets only");
  } else {
    out = node.text;
  }
}

void read(const Place& place, std::vector<std::string>& out) {
  if (place.node().kind != Node::Kind::list) {
    place.expected("a list of texts");
    return;
  }
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    std::string item;
    read(place.item(i), item);
    out.push_back(std::move(item));
  }
}

void read_unsigned(const Place& place, uint64_t& out, uint64_t least, uint64_t most) {
  const Node& node = place.node();
  const std::string range = fmt::format("a whole number from {} to {}", least, most);
  uint64_t number = 0;
  const char* begin = node.text.data();
  const char* end = begin + node.text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (node.kind != Node::Kind::scalar || node.quoted || error != std::errc() || stop != end ||
      number < least || number > most) {
    place.expected(range);
    return;
  }
  out = number;
}

void read_duration(const Place& place, milliseconds& out, milliseconds least, milliseconds most) {
  const Node& node = place.node();
  static const std::vector<Unit> units = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};
  std::optional<uint64_t> found;
  if (node.kind == Node::Kind::scalar) {
    found = node.text == "0" ? 0 : parse_with_unit(node.text, units);
  }
  if (!found || *found < static_cast<uint64_t>(least.count()) ||
      *found > static_cast<uint64_t>(most.count())) {
    place.expected(fmt::format("a time from {} to {} with its unit (ms, s, m, h)", duration_text(least),
                               duration_text(most)));
    return;
  }
  out = milliseconds(*found);
}

void read_size(const Place& place, size_t& out, size_t least, size_t most) {
  const Node& node = place.node();
  static const std::vector<Unit> units = {{"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  std::optional<uint64_t> found;
  if (node.kind == Node::Kind::scalar) found = parse_with_unit(node.text, units);
  if (!found || *found < least || *found > most) {
    place.expected(
        fmt::format("a size from {} to {} (bytes, KiB, MiB, GiB)", size_text(least), size_text(most)));
    return;
  }
  out = *found;
}

void read_endpoint(const Place& place, std::string& host, uint16_t& port, bool literal) {
  const std::string shape = literal ? "an IP address and port such as 127.0.0.1:3306 or \"[::1]:3306\""
                                    : "a host and port such as db1.example.com:3306 or \"[::1]:3306\"";
  const std::string& text = place.node().text;
  const size_t colon = text.rfind(':');
  if (place.node().kind != Node::Kind::scalar || colon == std::string::npos || colon == 0) {
    return place.expected(shape);
  }
  std::string name = text.substr(0, colon);
  const bool bracketed = name.size() > 2 && name.front() == '[' && name.back() == ']';
  if (bracketed) name = name.substr(1, name.size() - 2);
  const bool has_colon = name.find(':') != std::string::npos;
  uint16_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  // Port 0 lets the kernel choose: good for a listener, nothing to connect to.
  if (error != std::errc() || stop != end || (number == 0 && !literal) || has_colon != bracketed ||
      ((literal || bracketed) && !is_address(name)) || name.find_first_of(" /@${}") != std::string::npos) {
    return place.expected(shape);
  }
  host = std::move(name);
  port = number;
}

void read_secret(const Place& place, std::string& out) {
  const Node& node = place.node();
  if (node.kind == Node::Kind::scalar && node.text.empty()) {
    out.clear();
    return;
  }
  const std::string& text = node.text;
  if (node.kind != Node::Kind::scalar || text.size() < 4 || text.compare(0, 2, "${") != 0 ||
      text.back() != '}') {
    return place.expected("${NAME}, an environment variable that holds the secret", true);
  }
  const std::string name = text.substr(2, text.size() - 3);
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
  if (!plain) return place.expected("${NAME}, an environment variable that holds the secret", true);
  auto value = place.reading().environment()(name);
  if (!value)
    return place.fault(fmt::format(
        "the environment variable {} is not set, nor does {}_FILE name a readable file", name, name));
  out = std::move(*value);
}

std::string join_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

bool check_keys(const Place& place, const std::vector<std::string>& allowed,
                const std::vector<std::string>& required, const std::vector<RetiredKey>& retired) {
  if (place.node().kind != Node::Kind::map) {
    place.expected("a map with the keys " + join_names(allowed));
    return false;
  }
  std::set<std::string> seen;
  for (const auto& pair : place.node().pairs) {
    const Node& key = pair.key;
    const Place at = place.member(pair);
    const auto old = std::find_if(retired.begin(), retired.end(),
                                  [&](const RetiredKey& known) { return known.key == key.text; });
    if (old != retired.end()) {
      place.reading().fault(key.mark, at.path(),
                            fmt::format("the key {} is no more: write {}", old->key, old->instead));
    } else if (std::find(allowed.begin(), allowed.end(), key.text) == allowed.end()) {
      place.reading().fault(
          key.mark, at.path(),
          fmt::format("unknown key{}; allowed here: {}", meant(key.text, allowed), join_names(allowed)));
    } else if (!seen.insert(key.text).second) {
      place.reading().fault(key.mark, at.path(), "the key stands here for the second time");
    }
  }
  for (const std::string& key : required) {
    if (seen.count(key) == 0) place.fault(fmt::format("the key {} is missing", key));
  }
  return true;
}

}  // namespace evenkeel::config
