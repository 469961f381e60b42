// The two families of servers whose wire facts differ.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel::mysql {

enum class Flavour : uint8_t { mysql, mariadb };

constexpr std::string_view to_string(Flavour flavour) {
  return flavour == Flavour::mysql ? "MySQL" : "MariaDB";
}

}  // namespace evenkeel::mysql
