// The vectors of golden/remap.txt: which sequences of a tick a steering map permits. Made by
// golden/make_remap_vectors.py, which tries every one.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "idgen/layout.h"
#include "idgen/steering_map.h"

namespace evenkeel::idgen::testing {

inline std::vector<uint32_t> numbers(const std::string& text) {
  std::vector<uint32_t> found;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const auto low = static_cast<uint32_t>(std::stoul(part.substr(0, dash)));
    const auto high =
        dash == std::string::npos ? low : static_cast<uint32_t>(std::stoul(part.substr(dash + 1)));
    for (uint32_t value = low; value <= high; ++value) found.push_back(value);
  }
  return found;
}

// One line of golden/remap.txt.
struct Vector {
  std::map<std::string, std::string> fields;

  uint64_t number(const std::string& name) const { return std::stoull(fields.at(name)); }
  SteeringMap map() const {
    if (fields.contains("permit"))
      return SteeringMap::permitting(static_cast<uint32_t>(number("slots")), numbers(fields.at("permit")))
          .value();
    return SteeringMap::weighted(numbers(fields.at("weights")), static_cast<uint32_t>(number("levels")))
        .value();
  }
  Layout layout() const {
    Layout layout;
    layout.worker_bits = static_cast<uint8_t>(number("worker_bits"));
    layout.sequence_bits = static_cast<uint8_t>(number("sequence_bits"));
    return layout;
  }
  uint64_t base() const {
    return compose(layout(), {number("tick"), static_cast<uint32_t>(number("worker")), 0});
  }
};

inline std::vector<Vector> golden_vectors() {
  std::ifstream file("idgen/tests/golden/remap.txt");
  std::vector<Vector> vectors;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    Vector vector;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      vector.fields[word.substr(0, equals)] = word.substr(equals + 1);
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace evenkeel::idgen::testing
