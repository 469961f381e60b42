// What the registry keeps of a worker id, and of the generator that it belongs to: text, lines "name value".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {

struct WorkerRecord {
  std::string layout;     // fingerprint
  uint64_t bound = 0;     // the last tick ever reserved
  std::string holder;     // the name of who reserved it last
  std::string token;      // Holder::token of that lease
  bool released = false;  // given back: `bound` is the last tick that was used
};

std::string encode_worker(const WorkerRecord& record, const Layout& layout);
// Kind registry when `text`, found under `key`, is not a worker record.
Result<WorkerRecord> decode_worker(std::string_view key, std::string_view text);

// "workers/orders/5", the key of a worker id of the generator, and "workers/orders/", what all of them start
// with.
std::string worker_key(std::string_view generator, uint32_t worker);
std::string worker_prefix(std::string_view generator);
// The worker id in such a key; nothing when it is none.
std::optional<uint32_t> worker_of_key(std::string_view generator, std::string_view key);
// "generators/orders": the record that holds the layout all holders of this generator must have.
std::string generator_key(std::string_view generator);

}  // namespace evenkeel::idgen
