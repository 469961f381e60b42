// The key spaces of a running id service, and what is asked of them, whichever protocol asks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mysql/result_table.h"
#include "base/result.h"
#include "idgen/generator.h"
#include "idgen/settings.h"
#include "proxy/ids/settings.h"

namespace evenkeel::ids {

struct OpenSpace {
  std::string name;
  uint32_t slots = 1;
  // Of Snowflake ids; nothing where ids have no fields (segments).
  std::optional<idgen::Layout> layout;
  idgen::KeyGenerator* generator = nullptr;

  // What a client compares before it uses ids of this space: idgen::fingerprint of the layout, or "plain".
  std::string fingerprint() const;
};

// Ids for one request while they are drawn.
class Drawing {
 public:
  // `space` must outlive it.
  Drawing(const OpenSpace& space, uint32_t count) : space_(&space), ids_(count) {}

  // Nothing: all are there. Otherwise the time after which it goes on. Errors are the generator's.
  Result<std::optional<std::chrono::microseconds>> go_on();
  const OpenSpace& space() const { return *space_; }
  const std::vector<uint64_t>& ids() const { return ids_; }

 private:
  const OpenSpace* space_;
  std::vector<uint64_t> ids_;
  size_t drawn_ = 0;
};

// Immutable once made, shared by all threads. The generators must outlive it.
class KeySpaces {
 public:
  KeySpaces(std::vector<OpenSpace> spaces, uint32_t max_count)
      : spaces_(std::move(spaces)), max_count_(max_count) {}

  const std::vector<OpenSpace>& all() const { return spaces_; }
  uint32_t max_count() const { return max_count_; }
  // Error 1146 that lists those there are.
  Result<const OpenSpace*> find(std::string_view name) const;
  // For decoding: without a name the only layout that there is; error 1064 when there are several.
  Result<const OpenSpace*> find_for_decode(std::optional<std::string_view> name) const;

 private:
  std::vector<OpenSpace> spaces_;
  uint32_t max_count_;
};

// An id's fields, as columns id, key_space, time, worker, worker_parts, sequence, slot, slots.
std::vector<mysql::ResultColumn> decoded_columns();
Result<mysql::ResultTable> decode(const OpenSpace& space, uint64_t id);

}  // namespace evenkeel::ids
