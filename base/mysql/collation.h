// Facts about character sets and collations that routing, lexing and merging need.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::mysql {

struct Collation {
  uint16_t id;               // as on the wire
  std::string_view name;     // "utf8mb4_general_ci"
  std::string_view charset;  // "utf8mb4"
  uint8_t max_bytes;         // bytes of the longest character
  bool pad_space;            // trailing spaces do not count in comparisons
  bool binary;               // compares by code: "binary" and *_bin
  bool is_default;           // the character set's default collation
};

inline constexpr uint16_t collation_binary = 63;
inline constexpr uint16_t collation_utf8mb4_general_ci = 45;

// Null when the id or name is unknown. Names are compared without regard to letter case.
const Collation* find_collation(uint16_t id);
const Collation* find_collation(std::string_view name);
const Collation* default_collation_of(std::string_view charset);

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
