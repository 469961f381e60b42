// The shared store of worker leases, steering maps, counts and commit decisions, whatever keeps it. Small on
// purpose: a directory of files, a MySQL table, ZooKeeper and etcd can all provide it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::idgen {

struct Record {
  std::string value;
  // 1 for the first value of a key, then rising by one with every change.
  uint64_t version = 0;

  bool operator==(const Record&) const = default;
};

struct KeyedRecord {
  std::string key;
  Record record;

  bool operator==(const KeyedRecord&) const = default;
};

// What a compare-and-put did.
struct Put {
  bool stored = false;
  // The key's version now; when not stored, the one that stood in the way (0: absent).
  uint64_t version = 0;
};

// Proof that this process, and no other, holds a key. Destroying it lets go; so does the end of the process,
// however it ends.
class Hold {
 public:
  virtual ~Hold() = default;
};

// The outcome of trying to hold a key: the hold, or else the name of who has it.
struct HoldAttempt {
  std::unique_ptr<Hold> hold;
  std::string holder;
};

// The versions of the records that a watcher has seen, by key.
using SeenVersions = std::map<std::string, uint64_t, std::less<>>;

// Thread-safe. Calls may block on IO: only the control thread makes them. All errors have kind registry.
// Keys are made of [a-z A-Z 0-9 _ - . /], with '/' between levels, at most `key_length_max` long.
class Registry {
 public:
  static constexpr size_t key_length_max = 200;

  virtual ~Registry() = default;

  virtual Result<std::optional<Record>> get(std::string_view key) = 0;
  // Stores `value` when the key's version is `expected` (0: the key must be absent). When it returns with
  // `stored`, the value survives a crash of the machine.
  virtual Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) = 0;
  // All records whose key starts with `prefix`, ordered by key.
  virtual Result<std::vector<KeyedRecord>> list(std::string_view prefix) = 0;
  // The records under `prefix` that are new or changed since `seen`, which is brought up to date. Cheap
  // enough to be called once a second; a provider with a native watch overrides it.
  virtual Result<std::vector<KeyedRecord>> changes(std::string_view prefix, SeenVersions& seen);
  // Takes the key exclusively while this process lives, under the name `holder`. Returns at once, without a
  // hold and with the present holder's name, when another one has it (another Registry object of this process
  // counts as another).
  virtual Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder) = 0;
  // The store's own clock, in Unix milliseconds.
  virtual Result<int64_t> now_unix_ms() = 0;
};

// An Error of kind registry that may reach a client.
Error registry_error(std::string message);

// Kind registry when `key` is not as described above.
Status check_key(std::string_view key);

}  // namespace evenkeel::idgen
