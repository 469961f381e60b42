#include "proxy/skew/settings.h"

namespace evenkeel::skew {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::off:
      return "off";
    case Mode::advise:
      return "advise";
    case Mode::automatic:
      return "auto";
  }
  return "off";
}

std::optional<Mode> parse_mode(std::string_view text) {
  for (const Mode mode : {Mode::off, Mode::advise, Mode::automatic}) {
    if (text == to_string(mode)) return mode;
  }
  return std::nullopt;
}

std::string_view to_string(Measure measure) { return measure == Measure::rows ? "rows" : "bytes"; }

}  // namespace evenkeel::skew
