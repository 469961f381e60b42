// What a check of the instances found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::control {

struct Finding {
  enum class Severity : uint8_t {
    error,    // the proxy does not start, or would give wrong results
    warning,  // it works, but an operator should know
  } severity = Severity::error;
  std::string text;

  bool operator==(const Finding&) const = default;
};

inline Finding error_finding(std::string text) { return {Finding::Severity::error, std::move(text)}; }
inline Finding warning_finding(std::string text) { return {Finding::Severity::warning, std::move(text)}; }

inline bool has_errors(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.severity == Finding::Severity::error) return true;
  }
  return false;
}

// "error: …" and "warning: …", one a line.
std::string to_text(const std::vector<Finding>& findings);

}  // namespace evenkeel::control
