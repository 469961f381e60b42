// Names of schemas and tables: comparison, and the patterns that make them from numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::rule {

// ASCII letters in lower case; other bytes as they are.
std::string fold_case(std::string_view name);

// Orders names without regard to the case of ASCII letters; takes views without copying.
struct FoldedLess {
  using is_transparent = void;
  bool operator()(std::string_view left, std::string_view right) const;
};

// What is wrong with `name` as the name of a schema, table or column; empty: nothing.
std::string name_fault(std::string_view name);

// "orders_{:03}": text with at most one place for a number, `{}` or `{:0N}` (at least N digits, N 1 to 9).
class NamePattern {
 public:
  static Result<NamePattern> parse(std::string_view text);

  bool has_number() const { return has_number_; }
  std::string format(uint64_t number) const;

 private:
  std::string before_;
  std::string after_;
  int digits_ = 0;
  bool has_number_ = false;
};

}  // namespace evenkeel::rule
