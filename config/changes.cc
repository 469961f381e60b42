#include "config/changes.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::config {
namespace {

// With [] for the place in a list. What lies below applies too …
constexpr std::string_view applying[] = {
    "admin.http.hosts",
    "admin.http.listeners[].tls",
    "admin.http.max_body",
    "admin.listeners[].tls",
    "admin.tokens",
    "admin.users",
    "control",
    "limits",
    "listeners[].tls",
    "log",
    "pool",
    "steering",
    "transactions",
    "users",
};
// … but for these, which threads and memory of the start depend on.
constexpr std::string_view fixed[] = {"limits.statement_cache", "limits.worker_threads"};

bool is_below(std::string_view path, std::string_view top) {
  if (!path.starts_with(top)) return false;
  return path.size() == top.size() || path[top.size()] == '.' || path[top.size()] == '[';
}

// "users[12].hosts[0]" -> "users[].hosts[]"
std::string without_places(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

const Node* member(const Node& map, const std::string& key) {
  for (const KeyedNode& pair : map.pairs) {
    if (pair.key.text == key) return &pair.value;
  }
  return nullptr;
}

class Comparison {
 public:
  std::vector<Change> found;

  void compare(const Node& before, const Node& now, const std::string& path) {
    using Kind = Node::Kind;
    // A section that came or went is told key by key: one of its keys may apply and another not.
    if (now.kind == Kind::map && (before.kind == Kind::map || before.kind == Kind::null))
      return compare_maps(before, now, path);
    if (before.kind == Kind::map && now.kind == Kind::null) return compare_maps(before, now, path);
    if (before.kind != now.kind || before.text != now.text || before.items.size() != now.items.size())
      return add(path, now.mark, false);
    for (size_t i = 0; i < now.items.size(); ++i)
      compare(before.items[i], now.items[i], fmt::format("{}[{}]", path, i));
  }

 private:
  void compare_maps(const Node& before, const Node& now, const std::string& path) {
    const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    static const Node nothing;
    for (const KeyedNode& pair : now.pairs) {
      const Node* old = member(before, pair.key.text);
      const bool is_map = pair.value.kind == Node::Kind::map;
      if (old == nullptr && !is_map) {
        add(below(pair.key.text), pair.key.mark, false);
      } else {
        compare(old == nullptr ? nothing : *old, pair.value, below(pair.key.text));
      }
    }
    for (const KeyedNode& pair : before.pairs) {
      if (member(now, pair.key.text) != nullptr) continue;
      if (pair.value.kind == Node::Kind::map) {
        const size_t first = found.size();
        compare(pair.value, nothing, below(pair.key.text));
        for (size_t i = first; i < found.size(); ++i) found[i].removed = true;
      } else {
        add(below(pair.key.text), pair.key.mark, true);
      }
    }
  }

  void add(const std::string& path, Mark mark, bool removed) {
    Change change;
    change.path = path;
    change.mark = mark;
    change.removed = removed;
    change.foreign = is_below(path, "ids");
    change.applies = applies_at_run_time(path);
    found.push_back(std::move(change));
  }
};

}  // namespace

bool applies_at_run_time(std::string_view path) {
  const std::string general = without_places(path);
  const auto above = [&](std::string_view top) { return is_below(general, top); };
  if (std::any_of(std::begin(fixed), std::end(fixed), above)) return false;
  return std::any_of(std::begin(applying), std::end(applying), above);
}

Result<std::vector<Change>> changes(std::string_view before, std::string_view now,
                                    const std::string& source) {
  EVENKEEL_ASSIGN(const Node old_tree, parse_yaml(before, source));
  EVENKEEL_ASSIGN(const Node new_tree, parse_yaml(now, source));
  Comparison comparison;
  comparison.compare(old_tree, new_tree, "");
  return std::move(comparison.found);
}

}  // namespace evenkeel::config
