// The shared store of worker leases, steering maps, counts and commit decisions, whatever keeps it. Small on
// purpose: a directory of files, a MySQL table, Redis, ZooKeeper and etcd all provide it (open_registry.h).
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

// Thread-safe. Calls block on IO, each for a bounded time (RegistrySettings::timeout_ms), so that no thread
// of the data path makes them. A lost connection is opened again by the next call. All errors have kind
// registry and name the store. Keys are made of [a-z A-Z 0-9 _ - . /], with '/' between levels, at most
// `key_length_max` long; values have at most `value_size_max` bytes.
class Registry {
 public:
  static constexpr size_t key_length_max = 200;
  // Below what every provider takes in one record (ZooKeeper: 1 MiB, etcd: 1.5 MiB with its request).
  static constexpr size_t value_size_max = 512 * 1024;

  virtual ~Registry() = default;

  // The newest value: what any process was told is stored is seen by every later get of any other.
  virtual Result<std::optional<Record>> get(std::string_view key) = 0;
  // Stores `value` when the key's version is `expected` (0: the key must be absent). When it returns with
  // `stored`, the value survives a crash of the store's machine, as far as shortcomings() has nothing to say.
  // After an error the value may have been stored or not, and may still be stored a little later: read before
  // deciding.
  virtual Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) = 0;
  // All records whose key starts with `prefix`, ordered by key.
  virtual Result<std::vector<KeyedRecord>> list(std::string_view prefix) = 0;
  // The records under `prefix` that are new or changed since `seen`, which is brought up to date. Cheap
  // enough to be called once a second; a provider with a native watch overrides it.
  virtual Result<std::vector<KeyedRecord>> changes(std::string_view prefix, SeenVersions& seen);
  // The store's own clock, in Unix milliseconds.
  virtual Result<int64_t> now_unix_ms() = 0;
  // now_unix_ms() is true to half of this.
  virtual int64_t time_granularity_ms() const { return 1; }

  // Whether try_hold() works: the provider can prove that a process lives (files of one machine). Elsewhere
  // only the reserved time tells who holds a worker id.
  virtual bool proves_life() const { return false; }
  // Takes the key exclusively while this process lives, under the name `holder`. Returns at once, without a
  // hold and with the present holder's name, when another one has it (another Registry object of this process
  // counts as another). Only where proves_life().
  virtual Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder);

  // What the store is set up to do less than compare_and_put() promises, one sentence each with its remedy;
  // empty when nothing is known to be wrong.
  virtual Result<std::vector<std::string>> shortcomings();
};

// An Error of kind registry that may reach a client.
Error registry_error(std::string message);

// Kind registry when `key`, or the value, is not as described above.
Status check_key(std::string_view key);
Status check_value(std::string_view key, std::string_view value);

}  // namespace evenkeel::idgen
