#include "base/log.h"

#include <memory>
#include <spdlog/sinks/stdout_sinks.h>

namespace evenkeel::log {

bool set_up(const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") return false;
  // Other threads may be writing: the logger that they hold is never taken from them.
  constexpr const char* name = "evenkeel";
  if (spdlog::logger* current = spdlog::default_logger_raw(); current != nullptr && current->name() == name) {
    current->set_level(parsed);
    return true;
  }
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(name, std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %L %v");
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return true;
}

}  // namespace evenkeel::log
