// What the id service gives out. Plain values: config/ fills them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::ids {

// One stream of ids. Key spaces of one generator share its worker id and are unique each by itself.
struct KeySpace {
  std::string name;
  std::string generator;
  uint32_t slots = 1;  // ids are spread over them, and `decode` names the one of an id
};

struct Settings {
  std::vector<KeySpace> key_spaces;
  uint32_t max_count = 10'000;  // ids of one request
};

}  // namespace evenkeel::ids
