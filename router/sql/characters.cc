#include "router/sql/characters.h"

namespace evenkeel::sql {
namespace {

using Byte = unsigned char;

constexpr bool within(Byte c, Byte low, Byte high) { return c >= low && c <= high; }

size_t gb18030_length(const Byte* at, size_t left) {
  if (!within(at[0], 0x81, 0xfe) || left < 2) return 1;
  if (within(at[1], 0x40, 0x7e) || within(at[1], 0x80, 0xfe)) return 2;
  const bool four =
      left >= 4 && within(at[1], 0x30, 0x39) && within(at[2], 0x81, 0xfe) && within(at[3], 0x30, 0x39);
  return four ? 4 : 1;
}

}  // namespace

size_t character_length(mysql::CharsetStep step, const char* at, const char* end) {
  const Byte* byte = reinterpret_cast<const Byte*>(at);
  const size_t left = static_cast<size_t>(end - at);
  if (byte[0] < 0x80 || left < 2) return 1;
  bool two = false;
  switch (step) {
    case mysql::CharsetStep::gbk:
      two = within(byte[0], 0x81, 0xfe) && (within(byte[1], 0x40, 0x7e) || within(byte[1], 0x80, 0xfe));
      break;
    case mysql::CharsetStep::big5:
      two = within(byte[0], 0xa1, 0xf9) && (within(byte[1], 0x40, 0x7e) || within(byte[1], 0xa1, 0xfe));
      break;
    case mysql::CharsetStep::sjis:
      two = (within(byte[0], 0x81, 0x9f) || within(byte[0], 0xe0, 0xfc)) &&
            (within(byte[1], 0x40, 0x7e) || within(byte[1], 0x80, 0xfc));
      break;
    case mysql::CharsetStep::gb18030:
      return gb18030_length(byte, left);
    case mysql::CharsetStep::bytewise:
    case mysql::CharsetStep::not_allowed:
      break;
  }
  return two ? 2 : 1;
}

}  // namespace evenkeel::sql
