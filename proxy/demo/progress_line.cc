#include "proxy/demo/progress_line.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace evenkeel::demo {
namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(100);
constexpr auto log_interval = std::chrono::seconds(2);

}  // namespace

ProgressLine::ProgressLine(std::string_view name, DrawingStyle style)
    : name_(name), rewrite_(style.color && isatty(STDOUT_FILENO) != 0), shown_(begun_ - terminal_interval) {}

ProgressLine::~ProgressLine() {
  if (open_) fmt::print("\n");
  std::fflush(stdout);
}

bool ProgressLine::is_due() const {
  if (rewrite_) return Steady::now() - shown_ >= terminal_interval;
  return Steady::now() - std::max(shown_, begun_) >= log_interval;
}

void ProgressLine::update(std::string_view what) {
  if (!is_due()) return;
  shown_ = Steady::now();
  if (rewrite_) {
    fmt::print("\r\033[K{:<8} {}", name_, what);
    open_ = true;
  } else {
    fmt::print("{:<8} {}\n", name_, what);
  }
  std::fflush(stdout);
}

void ProgressLine::finish(std::string_view what) {
  const double seconds = std::chrono::duration<double>(Steady::now() - begun_).count();
  fmt::print("{}{:<8} {} ({:.1f} s)\n", rewrite_ ? "\r\033[K" : "", name_, what, seconds);
  std::fflush(stdout);
  open_ = false;
}

}  // namespace evenkeel::demo
