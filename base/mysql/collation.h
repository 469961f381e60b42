// Facts about character sets and collations that routing, lexing and merging need.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/mysql/flavour.h"

namespace evenkeel::mysql {

// A row of one flavour's table: all collations of MariaDB 10.11 (ids up to 3271) and MySQL 9.7 (up to 323).
struct Collation {
  uint16_t id;               // as on the wire
  std::string_view name;     // "utf8mb4_general_ci"
  std::string_view charset;  // "utf8mb4"
  uint8_t max_bytes;         // bytes of the longest character
  bool pad_space;            // trailing spaces do not count in comparisons
  bool binary;               // compares by code: "binary" and *_bin
  bool is_default;           // the character set's default collation (of this flavour's server as delivered)
};

inline constexpr uint16_t collation_binary = 63;
inline constexpr uint16_t collation_utf8mb4_general_ci = 45;

// Where the flavours differ:
// - An id means the same order of characters on both, but 122, 149, 181, 213 and 245 are named *_croatian_ci
// by MySQL
//   and *_croatian_mysql561_ci by MariaDB, whose own *_croatian_ci have the ids 576, 608, 640, 672 and 736:
//   that name names two collations.
// - utf8mb4's default is utf8mb4_0900_ai_ci (255) on MySQL, utf8mb4_general_ci (45) on MariaDB.
// - 76, 248..250 and 255..323 are MySQL's alone, 576..747, *_nopad_* (1025 and up) and uca1400 (2048 and up)
//   MariaDB's.
//
// Null when this flavour does not know the id or name. Names are compared without regard to letter case, and
// "utf8" is understood as "utf8mb3", alone and at the front of a name, as both servers do. O(log n), no
// allocation.
const Collation* find_collation(uint16_t id, Flavour flavour);
const Collation* find_collation(std::string_view name, Flavour flavour);
const Collation* default_collation_of(std::string_view charset, Flavour flavour);

// As any flavour knows it: MariaDB's row, else MySQL's. For facts that do not differ (charset, width,
// padding).
const Collation* find_collation(uint16_t id);
const Collation* find_collation(std::string_view name);
const Collation* default_collation_of(std::string_view charset);

// All rows of one flavour, ascending by id.
std::span<const Collation> collations(Flavour flavour);

// How a lexer steps through text of this character set.
enum class CharsetStep : uint8_t {
  bytewise,  // single-byte sets and utf8: no trailing byte is ever a quote or backslash
  gbk,
  gb18030,
  big5,
  sjis,         // sjis and cp932
  not_allowed,  // ucs2, utf16, utf16le, utf32: not possible as a client character set
};
CharsetStep step_of(std::string_view charset);

}  // namespace evenkeel::mysql
