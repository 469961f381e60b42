#include <algorithm>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "idgen/library/evenkeel_idgen.h"
#include "idgen/library/leased_generator.h"

// What the opaque handle is.
struct evenkeel_idgen {
  std::unique_ptr<evenkeel::idgen::LeasedGenerator> generator;
};

namespace {

using evenkeel::ErrorKind;
using evenkeel::Status;
namespace idgen = evenkeel::idgen;

std::string& error_of_thread() {
  thread_local std::string text;
  return text;
}

int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::config:
      return EVENKEEL_IDGEN_BAD_ARGUMENT;
    case ErrorKind::clock:
      return EVENKEEL_IDGEN_CLOCK;
    case ErrorKind::registry:
      return EVENKEEL_IDGEN_LEASE;
    default:
      return EVENKEEL_IDGEN_INTERNAL;
  }
}

// Runs `work`, and turns what it returns or throws into a code and a text.
template <typename Work>
int guarded(const char* function, Work work) noexcept {
  try {
    const Status done = work();
    if (done) return EVENKEEL_IDGEN_OK;
    error_of_thread() = fmt::format("{}: {}", function, done.error().message);
    return code_of(done.error().kind);
  } catch (const std::exception& thrown) {
    try {
      error_of_thread() = thrown.what();
    } catch (...) {
      error_of_thread().clear();
    }
    return EVENKEEL_IDGEN_INTERNAL;
  }
}

tl::unexpected<evenkeel::Error> bad_argument(std::string_view what) {
  return evenkeel::fail(evenkeel::config_error(std::string(what)));
}

// The caller's structure may be shorter or longer than ours, by its version.
evenkeel_idgen_options read(const evenkeel_idgen_options& given) {
  evenkeel_idgen_options options = EVENKEEL_IDGEN_OPTIONS;
  std::memcpy(&options, &given, std::min(given.size, sizeof(options)));
  return options;
}

evenkeel::Result<idgen::LeasedGeneratorOptions> options_from(const evenkeel_idgen_options* given) {
  if (given == nullptr || given->size < offsetof(evenkeel_idgen_options, worker_id))
    return bad_argument("options must begin with their size: initialise them with EVENKEEL_IDGEN_OPTIONS");
  const evenkeel_idgen_options from = read(*given);
  idgen::LeasedGeneratorOptions options;
  if (from.name != nullptr) options.settings.name = from.name;
  const std::string layout = from.layout == nullptr ? "classic" : from.layout;
  const auto named = idgen::named_layout(layout);
  if (!named)
    return bad_argument(fmt::format("there is no layout '{}'; there are: {}", layout,
                                    "classic, business, wide, js_safe, js_safe_wide"));
  options.settings.layout = *named;
  if (from.epoch_unix_ms >= 0) options.settings.layout.epoch_unix_ms = from.epoch_unix_ms;
  if (from.directory != nullptr) options.directory = from.directory;
  if (from.worker_id < -1 || from.worker_id > UINT32_MAX)
    return bad_argument(fmt::format("worker id {} does not fit layout {}: 0 to {}, or -1 for a leased one",
                                    from.worker_id, layout,
                                    idgen::worker_count(options.settings.layout) - 1));
  if (from.worker_id >= 0) options.settings.worker.fixed_id = static_cast<uint32_t>(from.worker_id);
  options.slots = from.slots;
  return options;
}

}  // namespace

extern "C" {

int evenkeel_idgen_open(const evenkeel_idgen_options* options, evenkeel_idgen** ids) {
  return guarded("evenkeel_idgen_open", [&]() -> Status {
    if (ids == nullptr) return bad_argument("no place for the handle");
    *ids = nullptr;
    EVENKEEL_ASSIGN(auto from, options_from(options));
    EVENKEEL_ASSIGN(auto generator, idgen::LeasedGenerator::open(std::move(from)));
    *ids = new evenkeel_idgen{std::move(generator)};
    return {};
  });
}

int evenkeel_idgen_next(evenkeel_idgen* ids, uint64_t* id) {
  return guarded("evenkeel_idgen_next", [&]() -> Status {
    if (ids == nullptr || id == nullptr) return bad_argument("no handle, or no place for the id");
    EVENKEEL_ASSIGN(*id, ids->generator->next());
    return {};
  });
}

int evenkeel_idgen_next_batch(evenkeel_idgen* ids, uint64_t* out, size_t count) {
  return guarded("evenkeel_idgen_next_batch", [&]() -> Status {
    if (ids == nullptr || (out == nullptr && count > 0))
      return bad_argument("no handle, or no place for the ids");
    return ids->generator->next_batch({out, count});
  });
}

int evenkeel_idgen_decode(const evenkeel_idgen* ids, uint64_t id, evenkeel_idgen_fields* fields) {
  return guarded("evenkeel_idgen_decode", [&]() -> Status {
    if (ids == nullptr || fields == nullptr || fields->size < sizeof(fields->size))
      return bad_argument("no handle, or fields that do not begin with their size");
    EVENKEEL_ASSIGN(const auto decoded, ids->generator->decode(id));
    evenkeel_idgen_fields all{};
    all.size = fields->size;
    all.unix_ms = decoded.unix_ms;
    all.tick = decoded.parts.tick;
    all.sequence = decoded.parts.sequence;
    all.worker = decoded.parts.worker;
    all.slot = static_cast<uint32_t>(id % ids->generator->generator().slots());
    std::memcpy(fields, &all, std::min(fields->size, sizeof(all)));
    return {};
  });
}

int evenkeel_idgen_close(evenkeel_idgen* ids) {
  return guarded("evenkeel_idgen_close", [&]() -> Status {
    if (ids == nullptr) return {};
    const std::unique_ptr<evenkeel_idgen> owned(ids);
    return owned->generator->close();
  });
}

const char* evenkeel_idgen_last_error(void) { return error_of_thread().c_str(); }

const char* evenkeel_idgen_version(void) { return EVENKEEL_VERSION; }

}  // extern "C"
