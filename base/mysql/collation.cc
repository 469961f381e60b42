#include "base/mysql/collation.h"

#include <strings.h>

namespace evenkeel::mysql {
namespace {

constexpr Collation table[] = {
    {8, "latin1_swedish_ci", "latin1", 1, true, false, true},
    {47, "latin1_bin", "latin1", 1, true, true, false},
    {11, "ascii_general_ci", "ascii", 1, true, false, true},
    {28, "gbk_chinese_ci", "gbk", 2, true, false, true},
    {33, "utf8mb3_general_ci", "utf8mb3", 3, true, false, true},
    {45, "utf8mb4_general_ci", "utf8mb4", 4, true, false, true},
    {46, "utf8mb4_bin", "utf8mb4", 4, true, true, false},
    {63, "binary", "binary", 1, false, true, true},
    {224, "utf8mb4_unicode_ci", "utf8mb4", 4, true, false, false},
    {255, "utf8mb4_0900_ai_ci", "utf8mb4", 4, false, false, false},
};

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

const Collation* find_collation(uint16_t id) {
  for (const auto& row : table) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

const Collation* find_collation(std::string_view name) {
  for (const auto& row : table) {
    if (same(row.name, name)) return &row;
  }
  return nullptr;
}

const Collation* default_collation_of(std::string_view charset) {
  for (const auto& row : table) {
    if (row.is_default && same(row.charset, charset)) return &row;
  }
  return nullptr;
}

CharsetStep step_of(std::string_view charset) {
  if (same(charset, "gbk")) return CharsetStep::gbk;
  if (same(charset, "gb18030")) return CharsetStep::gb18030;
  if (same(charset, "big5")) return CharsetStep::big5;
  if (same(charset, "sjis") || same(charset, "cp932")) return CharsetStep::sjis;
  for (const std::string_view wide : {"ucs2", "utf16", "utf16le", "utf32"}) {
    if (same(charset, wide)) return CharsetStep::not_allowed;
  }
  return CharsetStep::bytewise;
}

}  // namespace evenkeel::mysql
