#include "base/mysql/collation.h"

#include <algorithm>
#include <array>
#include <span>
#include <strings.h>

namespace evenkeel::mysql {
namespace {

// The rows are what the servers themselves say. MariaDB:
//   select a.ID, a.FULL_COLLATION_NAME, a.CHARACTER_SET_NAME, c.MAXLEN, a.IS_DEFAULT
//   from information_schema.collation_character_set_applicability a
//   join information_schema.character_sets c using (CHARACTER_SET_NAME) order by a.ID
// padding by its names (*_nopad_*), verified by comparing 'a' with 'a ' in each; MySQL:
// information_schema.collations with PAD_ATTRIBUTE.
constexpr Collation mariadb_rows[] = {
#include "base/mysql/collations_mariadb.inc"
};
constexpr Collation mysql_rows[] = {
#include "base/mysql/collations_mysql.inc"
};

constexpr bool ascending(std::span<const Collation> rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i - 1].id >= rows[i].id) return false;
  }
  return true;
}
static_assert(ascending(mariadb_rows) && ascending(mysql_rows));

// The longest name has 38 letters; anything longer than this is unknown.
constexpr size_t name_max = 64;

// In lower case, "utf8" spelled "utf8mb3". Empty when too long.
class FoldedName {
 public:
  explicit FoldedName(std::string_view name) {
    constexpr std::string_view old_name = "utf8";
    if (name.size() > name_max) return;
    std::transform(name.begin(), name.end(), text_.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    size_ = name.size();
    const std::string_view folded = view();
    if (!folded.starts_with(old_name)) return;
    if (size_ != old_name.size() && text_[old_name.size()] != '_') return;
    constexpr std::string_view insert = "mb3";
    std::copy_backward(text_.begin() + old_name.size(), text_.begin() + size_,
                       text_.begin() + size_ + insert.size());
    std::copy(insert.begin(), insert.end(), text_.begin() + old_name.size());
    size_ += insert.size();
  }
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, name_max + 3> text_{};
  size_t size_ = 0;
};

// Positions of a flavour's rows, ordered by name.
template <size_t N>
class ByName {
 public:
  explicit ByName(const Collation (&rows)[N]) : rows_(rows) {
    for (size_t i = 0; i < N; ++i) order_[i] = &rows[i];
    std::sort(order_.begin(), order_.end(),
              [](const Collation* a, const Collation* b) { return a->name < b->name; });
  }
  const Collation* find(std::string_view name) const {
    const auto at = std::lower_bound(order_.begin(), order_.end(), name,
                                     [](const Collation* row, std::string_view n) { return row->name < n; });
    return at != order_.end() && (*at)->name == name ? *at : nullptr;
  }
  std::span<const Collation> rows() const { return rows_; }

 private:
  std::span<const Collation> rows_;
  std::array<const Collation*, N> order_{};
};

const auto& mariadb_by_name() {
  static const ByName index(mariadb_rows);
  return index;
}
const auto& mysql_by_name() {
  static const ByName index(mysql_rows);
  return index;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::span<const Collation> collations(Flavour flavour) {
  if (flavour == Flavour::mariadb) return mariadb_rows;
  return mysql_rows;
}

const Collation* find_collation(uint16_t id, Flavour flavour) {
  const std::span<const Collation> rows = collations(flavour);
  const auto at = std::lower_bound(rows.begin(), rows.end(), id,
                                   [](const Collation& row, uint16_t i) { return row.id < i; });
  return at != rows.end() && at->id == id ? &*at : nullptr;
}

const Collation* find_collation(std::string_view name, Flavour flavour) {
  const FoldedName folded(name);
  return flavour == Flavour::mariadb ? mariadb_by_name().find(folded.view())
                                     : mysql_by_name().find(folded.view());
}

const Collation* default_collation_of(std::string_view charset, Flavour flavour) {
  const FoldedName folded(charset);
  // Nearly all defaults have ids below 100: the scan ends early.
  for (const Collation& row : collations(flavour)) {
    if (row.is_default && row.charset == folded.view()) return &row;
  }
  return nullptr;
}

const Collation* find_collation(uint16_t id) {
  const Collation* row = find_collation(id, Flavour::mariadb);
  return row != nullptr ? row : find_collation(id, Flavour::mysql);
}

const Collation* find_collation(std::string_view name) {
  const Collation* row = find_collation(name, Flavour::mariadb);
  return row != nullptr ? row : find_collation(name, Flavour::mysql);
}

const Collation* default_collation_of(std::string_view charset) {
  const Collation* row = default_collation_of(charset, Flavour::mariadb);
  return row != nullptr ? row : default_collation_of(charset, Flavour::mysql);
}

CharsetStep step_of(std::string_view charset) {
  if (same(charset, "gbk")) return CharsetStep::gbk;
  if (same(charset, "gb18030")) return CharsetStep::gb18030;
  if (same(charset, "big5")) return CharsetStep::big5;
  if (same(charset, "sjis") || same(charset, "cp932")) return CharsetStep::sjis;
  for (const std::string_view wide : {"ucs2", "utf16", "utf16le", "utf32"}) {
    if (same(charset, wide)) return CharsetStep::not_allowed;
  }
  return CharsetStep::bytewise;
}

}  // namespace evenkeel::mysql
