#include "router/sql/keywords.h"

#include <array>
#include <bit>
#include <cstring>

namespace evenkeel::sql {
namespace {

enum class ReservedIn : uint8_t { nowhere, both, mysql, mysql84, mariadb };

struct Entry {
  std::string_view word;
  ReservedIn reserved;
};

constexpr Entry entries[] = {
#define EVENKEEL_SQL_KEYWORD(name, word, reserved) {word, ReservedIn::reserved},
#include "router/sql/keyword_list.inc"
#undef EVENKEEL_SQL_KEYWORD
};
constexpr size_t word_count = std::size(entries);

// Setting this bit in every byte folds letters to lower case and keeps the other identifier bytes apart from
// each other ('_' becomes 0x7f), so that folded words are equal exactly when the words are.
constexpr uint64_t fold = 0x2020202020202020;

static_assert(std::endian::native == std::endian::little, "words are loaded lowest byte first");

// The first and the last eight bytes of a word, folded; together they are the whole of a word of up to 16.
struct Ends {
  uint64_t head = 0;
  uint64_t tail = 0;
  bool operator==(const Ends&) const = default;
};

constexpr uint64_t bytes_of(std::string_view part) {
  uint64_t value = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(part[i])) << (8 * i);
  }
  return value;
}

constexpr Ends ends_of_constant(std::string_view word) {
  Ends ends{bytes_of(word.substr(0, 8)) | fold, fold};
  if (word.size() > 8) ends.tail = bytes_of(word.substr(word.size() - 8)) | fold;
  return ends;
}

uint64_t load(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// As ends_of_constant. A short word is cut out of one load of eight bytes where that many can be read,
// without a branch on its length.
Ends ends_of(std::string_view word, size_t readable) {
  const char* at = word.data();
  const size_t size = word.size();
  if (size > 8) return {load(at) | fold, load(at + size - 8) | fold};
  if (readable < 8) return ends_of_constant(word);
  return {(load(at) & (~uint64_t{0} >> (8 * (8 - size)))) | fold, fold};
}

constexpr size_t slot_bits = 11;
constexpr size_t slot_count = size_t{1} << slot_bits;
static_assert(word_count * 2 < slot_count);

constexpr size_t slot_of(const Ends& ends, size_t size) {
  uint64_t mixed = (ends.head ^ (ends.tail * 0x9e3779b97f4a7c15)) + size;
  mixed *= 0xd6e8feb86659fd93;
  return static_cast<size_t>(mixed >> (64 - slot_bits));
}

constexpr size_t longest_word() {
  size_t longest = 0;
  for (const Entry& entry : entries) longest = entry.word.size() > longest ? entry.word.size() : longest;
  return longest;
}
constexpr size_t word_length_max = longest_word();

// Open addressing, at most half full: a word that is not in the list mostly meets an empty slot at once.
struct Table {
  std::array<uint16_t, slot_count> slots{};  // index into entries + 1 = the Keyword's value; 0 is empty
  std::array<Ends, word_count> ends{};

  constexpr Table() {
    for (size_t i = 0; i < word_count; ++i) {
      ends[i] = ends_of_constant(entries[i].word);
      size_t slot = slot_of(ends[i], entries[i].word.size());
      while (slots[slot] != 0) slot = (slot + 1) % slot_count;
      slots[slot] = static_cast<uint16_t>(i + 1);
    }
  }
};
constexpr Table table;

bool equal_folded(std::string_view word, std::string_view lower) {
  for (size_t i = 0; i < word.size(); ++i) {
    if ((word[i] | 0x20) != (lower[i] | 0x20)) return false;
  }
  return true;
}

}  // namespace

Keyword find_keyword(std::string_view word, size_t readable) {
  if (word.empty() || word.size() > word_length_max) return Keyword::none;
  const Ends ends = ends_of(word, readable);
  for (size_t slot = slot_of(ends, word.size()); table.slots[slot] != 0; slot = (slot + 1) % slot_count) {
    const size_t index = table.slots[slot] - 1u;
    if (table.ends[index] != ends || entries[index].word.size() != word.size()) continue;
    if (word.size() > 16 && !equal_folded(word, entries[index].word)) continue;
    return static_cast<Keyword>(index + 1);
  }
  return Keyword::none;
}

std::string_view to_string(Keyword keyword) {
  if (keyword == Keyword::none) return {};
  return entries[static_cast<size_t>(keyword) - 1].word;
}

bool is_reserved(Keyword keyword, mysql::Flavour flavour, uint32_t version) {
  if (keyword == Keyword::none) return false;
  switch (entries[static_cast<size_t>(keyword) - 1].reserved) {
    case ReservedIn::nowhere:
      return false;
    case ReservedIn::both:
      return true;
    case ReservedIn::mysql:
      return flavour == mysql::Flavour::mysql;
    case ReservedIn::mysql84:
      return flavour == mysql::Flavour::mysql && version >= 80400;
    case ReservedIn::mariadb:
      return flavour == mysql::Flavour::mariadb;
  }
  return false;
}

}  // namespace evenkeel::sql
