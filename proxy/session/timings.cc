#include "proxy/session/timings.h"

#include <algorithm>

namespace evenkeel::session {

std::string_view to_string(StatementClass statement_class) {
  switch (statement_class) {
    case StatementClass::read:
      return "read";
    case StatementClass::write:
      return "write";
    case StatementClass::other:
      return "other";
  }
  return "?";
}

std::string cut_text(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

void SlowLog::note(std::string fingerprint, const std::string& schema, std::chrono::microseconds took,
                   int64_t unix_ms) {
  fingerprint = cut_text(std::move(fingerprint), fingerprint_max);
  const std::string key = schema + '\0' + fingerprint;
  if (shapes_.size() >= shapes_max && !shapes_.contains(key)) {
    shapes_.erase(std::min_element(shapes_.begin(), shapes_.end(), [](const auto& a, const auto& b) {
      return a.second.total_micros < b.second.total_micros;
    }));
  }
  SlowShape& shape = shapes_[key];
  if (shape.count == 0) {
    shape.fingerprint = std::move(fingerprint);
    shape.schema = schema;
  }
  const auto micros = static_cast<uint64_t>(took.count());
  ++shape.count;
  shape.total_micros += micros;
  shape.longest_micros = std::max(shape.longest_micros, micros);
  shape.last_unix_ms = unix_ms;
}

std::vector<SlowShape> SlowLog::shapes() const {
  std::vector<SlowShape> out;
  for (const auto& [key, shape] : shapes_) out.push_back(shape);
  std::sort(out.begin(), out.end(), [](const SlowShape& a, const SlowShape& b) {
    return a.total_micros != b.total_micros ? a.total_micros > b.total_micros : a.fingerprint < b.fingerprint;
  });
  return out;
}

}  // namespace evenkeel::session
