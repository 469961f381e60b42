// Result<T>: a value or an Error. No exceptions cross a room's wall.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace evenkeel {

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace evenkeel

// Returns from the calling function when `expr` (a Result or Status) holds an error.
#define EVENKEEL_TRY(expr)                                                          \
  do {                                                                              \
    auto&& evenkeel_try_result = (expr);                                            \
    if (!evenkeel_try_result) return ::evenkeel::fail(evenkeel_try_result.error()); \
  } while (false)

#define EVENKEEL_CONCAT_(a, b) a##b
#define EVENKEEL_CONCAT(a, b) EVENKEEL_CONCAT_(a, b)
// EVENKEEL_ASSIGN(auto x, f()): declares x from the Result's value or returns its error.
#define EVENKEEL_ASSIGN(decl, expr) EVENKEEL_ASSIGN_(EVENKEEL_CONCAT(evenkeel_result_, __LINE__), decl, expr)
#define EVENKEEL_ASSIGN_(tmp, decl, expr)         \
  auto tmp = (expr);                              \
  if (!tmp) return ::evenkeel::fail(tmp.error()); \
  decl = std::move(*tmp)
