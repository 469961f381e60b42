#include "router/catalog/catalog.h"

#include <algorithm>

namespace evenkeel::catalog {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string folded(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const Column* Table::find_column(std::string_view column) const {
  const auto index = index_of(column);
  return index ? &columns[*index] : nullptr;
}

std::optional<uint32_t> Table::index_of(std::string_view column) const {
  for (uint32_t i = 0; i < columns.size(); ++i) {
    if (same_name(columns[i].name, column)) return i;
  }
  return std::nullopt;
}

void Catalog::add(std::string schema, Table table) {
  auto key = std::make_pair(folded(schema), folded(table.name));
  tables_.insert_or_assign(std::move(key), std::move(table));
}

const Table* Catalog::find(std::string_view schema, std::string_view table) const {
  const auto found = tables_.find(std::make_pair(folded(schema), folded(table)));
  return found == tables_.end() ? nullptr : &found->second;
}

std::vector<const Key*> unique_keys_without(const Table& table, std::string_view key_column) {
  std::vector<const Key*> out;
  const auto wanted = table.index_of(key_column);
  for (const Key& key : table.keys) {
    // A prefix of the sharding column does not tell its whole value, so such a key does not count as having
    // it.
    const bool has = std::any_of(key.parts.begin(), key.parts.end(), [&](const KeyPart& part) {
      return wanted && part.column == *wanted && part.prefix == 0;
    });
    if (key.unique && !has) out.push_back(&key);
  }
  return out;
}

}  // namespace evenkeel::catalog
