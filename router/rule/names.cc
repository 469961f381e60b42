#include "router/rule/names.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::rule {
namespace {

constexpr size_t name_characters_max = 64;  // MySQL's limit for schema, table and column names

char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t count_characters(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string fold_case(std::string_view name) {
  std::string folded(name);
  std::transform(folded.begin(), folded.end(), folded.begin(), fold);
  return folded;
}

bool FoldedLess::operator()(std::string_view left, std::string_view right) const {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [](char a, char b) { return fold(a) < fold(b); });
}

std::string name_fault(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (count_characters(name) > name_characters_max) {
    return fmt::format("the name has more than {} characters", name_characters_max);
  }
  if (name.back() == ' ') return "the name ends with a space";
  for (char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "the name holds a control character";
    if (c == '/' || c == '\\' || c == '.' || c == '`')
      return fmt::format("the name holds the character {}", c);
  }
  return {};
}

Result<NamePattern> NamePattern::parse(std::string_view text) {
  NamePattern pattern;
  const auto refuse = [&](std::string_view why) {
    return fail(config_error(
        fmt::format("name pattern \"{}\": {}; write for example orders_{{}} or orders_{{:03}}", text, why)));
  };
  const size_t open = text.find('{');
  if (open == std::string_view::npos) {
    if (text.find('}') != std::string_view::npos) return refuse("} without {");
    pattern.before_ = text;
    return pattern;
  }
  const size_t close = text.find('}', open);
  if (close == std::string_view::npos) return refuse("{ without }");
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  if (!inside.empty()) {
    if (inside.size() != 3 || inside.substr(0, 2) != ":0" || inside[2] < '1' || inside[2] > '9') {
      return refuse(fmt::format("{{{}}} is not a place for a number", inside));
    }
    pattern.digits_ = inside[2] - '0';
  }
  pattern.before_ = text.substr(0, open);
  pattern.after_ = text.substr(close + 1);
  if (pattern.before_.find('}') != std::string::npos) return refuse("} without {");
  if (pattern.after_.find_first_of("{}") != std::string::npos)
    return refuse("more than one place for a number");
  pattern.has_number_ = true;
  return pattern;
}

std::string NamePattern::format(uint64_t number) const {
  if (!has_number_) return before_;
  return fmt::format("{}{:0{}}{}", before_, number, digits_ == 0 ? 1 : digits_, after_);
}

}  // namespace evenkeel::rule
