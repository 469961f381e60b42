// Reading a tree of YAML nodes into settings, with every problem kept and placed.
//
// A section is a table of the keys that a map may have; reading, the list of allowed keys in messages and the
// test of the JSON Schema all use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/yaml_tree.h"

namespace evenkeel::config {

// One run over one file: what surrounds it and what was found wrong.
class Reading {
 public:
  Reading(std::string source, const Environment& environment)
      : source_(std::move(source)), environment_(environment) {}

  const std::string& source() const { return source_; }
  const Environment& environment() const { return environment_; }
  void fault(Mark mark, const std::string& path, const std::string& what);
  bool clean() const { return faults_.empty(); }
  // All of them in the order of the file, one a line.
  Error to_error() const;

  // What was read before, for names that refer to it.
  std::vector<std::string> instances;
  std::vector<std::string> generators;
  std::vector<std::string> generator_places;  // Place::where() of each
  bool has_state_directory = false;

 private:
  std::string source_;
  const Environment& environment_;
  std::multimap<Mark, std::string> faults_;
};

// A node and the path that leads to it: "schemas[0].tables[2].key".
class Place {
 public:
  Place(const Node& node, std::string path, Reading& reading)
      : node_(&node), path_(std::move(path)), reading_(&reading) {}

  const Node& node() const { return *node_; }
  const std::string& path() const { return path_; }
  Reading& reading() const { return *reading_; }
  Place member(const KeyedNode& pair) const;
  Place item(size_t index) const;
  void fault(const std::string& what) const { reading_->fault(node_->mark, path_, what); }
  // "expected …, found …": what stands there is named unless `secret`.
  void expected(const std::string& what, bool secret = false) const;
  std::string where() const;  // "file:line:column: path"

 private:
  const Node* node_;
  std::string path_;
  Reading* reading_;
};

// Each leaves `out` alone and reports when the value is not of the kind.
void read(const Place& place, bool& out);
void read(const Place& place, std::string& out);  // not empty
void read(const Place& place, std::vector<std::string>& out);
template <typename Integer>
void read_number(const Place& place, Integer& out, uint64_t least, uint64_t most);
// "250ms", "10s", "5m", "8h", or 0; a bare number other than 0 is refused because its unit would be a guess.
void read_duration(const Place& place, std::chrono::milliseconds& out, std::chrono::milliseconds least,
                   std::chrono::milliseconds most);
// Bytes: 65536, "64KiB", "16MiB", "1GiB".
void read_size(const Place& place, size_t& out, size_t least, size_t most);
// "host:port", "[::1]:3306"; the host of a listener must be an address, not a name.
void read_endpoint(const Place& place, std::string& host, uint16_t& port, bool literal);
// `${NAME}` (an environment variable that must be set) or "" for none. Anything else is refused unseen.
void read_secret(const Place& place, std::string& out);

template <typename Enum>
using Choices = std::vector<std::pair<std::string_view, Enum>>;
std::string join_names(const std::vector<std::string>& names);
template <typename Enum>
void read_choice(const Place& place, Enum& out, const Choices<Enum>& choices) {
  if (place.node().kind == Node::Kind::scalar) {
    for (const auto& [name, value] : choices) {
      if (place.node().text == name) {
        out = value;
        return;
      }
    }
  }
  std::vector<std::string> names;
  for (const auto& choice : choices) names.emplace_back(choice.first);
  place.expected("one of " + join_names(names));
}

// One key of a map.
template <typename Settings>
struct Field {
  std::string_view key;
  void (*read)(const Place& place, Settings& out);
  bool required = false;
};

// A key that earlier versions took, and what to write now.
struct RetiredKey {
  std::string_view key;
  std::string_view instead;
};

// A map that the configuration may hold; `name` is its name under $defs in docs/config.schema.json.
template <typename Settings>
struct Section {
  std::string_view name;
  std::vector<Field<Settings>> fields;
  std::vector<RetiredKey> retired = {};
};

// Reports what is no map, unknown, retired and repeated keys; true when the keys may be read.
bool check_keys(const Place& place, const std::vector<std::string>& allowed,
                const std::vector<std::string>& required, const std::vector<RetiredKey>& retired);

// Fields are read in the order of the section, not of the file: later ones may refer to earlier ones.
template <typename Settings>
void read_section(const Place& place, const Section<Settings>& section, Settings& out) {
  std::vector<std::string> allowed;
  std::vector<std::string> required;
  for (const auto& field : section.fields) {
    allowed.emplace_back(field.key);
    if (field.required) required.emplace_back(field.key);
  }
  if (!check_keys(place, allowed, required, section.retired)) return;
  for (const auto& field : section.fields) {
    for (const auto& pair : place.node().pairs) {
      if (pair.key.text == field.key) field.read(place.member(pair), out);
    }
  }
}

// A list of maps; reports what is no list, and an empty one where `at_least_one`. `check` sees each finished
// element.
template <typename Settings>
void read_list(const Place& place, const Section<Settings>& section, std::vector<Settings>& out,
               void (*check)(const Place& place, Settings& element) = nullptr, bool at_least_one = false) {
  if (place.node().kind != Node::Kind::list) {
    place.expected("a list");
    return;
  }
  if (at_least_one && place.node().items.empty()) place.fault("at least one is needed");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    Settings element;
    read_section(place.item(i), section, element);
    if (check != nullptr) check(place.item(i), element);
    out.push_back(std::move(element));
  }
}

void read_unsigned(const Place& place, uint64_t& out, uint64_t least, uint64_t most);

template <typename Integer>
void read_number(const Place& place, Integer& out, uint64_t least, uint64_t most) {
  auto value = static_cast<uint64_t>(out);
  read_unsigned(place, value, least, most);
  out = static_cast<Integer>(value);
}

}  // namespace evenkeel::config
