// The first byte of a fuzz input chooses the rules, the rest is the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "router/sql/lexer.h"

namespace evenkeel::sql {

struct FuzzInput {
  LexRules rules;
  std::string_view text;
};

inline FuzzInput fuzz_input(const uint8_t* bytes, size_t size) {
  FuzzInput input;
  if (size == 0) return input;
  const uint8_t choice = bytes[0];
  constexpr mysql::CharsetStep steps[] = {mysql::CharsetStep::bytewise, mysql::CharsetStep::gbk,
                                          mysql::CharsetStep::gb18030,  mysql::CharsetStep::big5,
                                          mysql::CharsetStep::sjis,     mysql::CharsetStep::bytewise,
                                          mysql::CharsetStep::bytewise, mysql::CharsetStep::bytewise};
  input.rules.step = steps[choice & 7];
  input.rules.ansi_quotes = (choice & 8) != 0;
  input.rules.no_backslash_escapes = (choice & 16) != 0;
  input.rules.pipes_as_concat = (choice & 32) != 0;
  input.rules.flavour = (choice & 64) != 0 ? mysql::Flavour::mysql : mysql::Flavour::mariadb;
  input.rules.version = (choice & 64) != 0 ? 80036 : 101119;
  input.rules.high_not_precedence = (choice & 128) != 0;
  input.text = {reinterpret_cast<const char*>(bytes) + 1, size - 1};
  return input;
}

}  // namespace evenkeel::sql
