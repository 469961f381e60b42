// One line of a tour that says what is going on: rewritten in place on a terminal, else printed now and then.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/demo/drawing.h"

namespace evenkeel::demo {

// Prints to standard output; one at a time.
class ProgressLine {
 public:
  ProgressLine(std::string_view name, DrawingStyle style);
  // Ends the line if finish() did not: an error message follows.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // True when enough time has passed for update() to show something.
  bool is_due() const;
  void update(std::string_view what);
  // The last word of this line, with the seconds it took.
  void finish(std::string_view what);

 private:
  using Steady = std::chrono::steady_clock;

  std::string name_;
  bool rewrite_;
  Steady::time_point begun_ = Steady::now();
  Steady::time_point shown_;
  bool open_ = false;  // something stands on the terminal's current line
};

}  // namespace evenkeel::demo
