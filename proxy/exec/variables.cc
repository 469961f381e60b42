#include "proxy/exec/variables.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace evenkeel::exec {
namespace {

std::string_view server_name(std::string_view name, mysql::Flavour flavour) {
  if (flavour != mysql::Flavour::mariadb) return name;
  if (name == "transaction_isolation") return "tx_isolation";
  if (name == "transaction_read_only") return "tx_read_only";
  return name;
}

// "name = value" of a SET; an empty value means back to the default.
void append_assignment(std::string& out, std::string_view name, std::string_view value) {
  out += out.empty() ? "SET " : ", ";
  const std::string_view back = name.front() == '@' ? "NULL" : "DEFAULT";
  out += fmt::format("{} = {}", name, value.empty() ? back : value);
}

}  // namespace

Variables::Variables(std::vector<Item> items) : items_(std::move(items)) {
  std::sort(items_.begin(), items_.end());
}

std::string_view Variables::find(std::string_view name) const {
  const auto found =
      std::lower_bound(items_.begin(), items_.end(), name,
                       [](const Item& item, std::string_view key) { return item.first < key; });
  return found != items_.end() && found->first == name ? std::string_view(found->second) : std::string_view();
}

VariablesPtr with(const VariablesPtr& base, const std::vector<Variables::Item>& changes) {
  std::vector<Variables::Item> items = base->items();
  for (const auto& change : changes) {
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const Variables::Item& item) { return item.first == change.first; });
    if (found != items.end()) items.erase(found);
    if (!change.second.empty()) items.push_back(change);
  }
  return std::make_shared<const Variables>(std::move(items));
}

std::string difference(const Variables& from, const Variables& to, mysql::Flavour flavour) {
  std::string statement;
  const auto change = [&](const std::string& name, std::string_view value) {
    append_assignment(statement, server_name(name, flavour), value);
  };
  auto old = from.items().begin();
  auto now = to.items().begin();
  while (old != from.items().end() || now != to.items().end()) {
    if (now == to.items().end() || (old != from.items().end() && old->first < now->first)) {
      change(old->first, {});
      ++old;
    } else if (old == from.items().end() || now->first < old->first) {
      change(now->first, now->second);
      ++now;
    } else {
      if (old->second != now->second) change(now->first, now->second);
      ++old;
      ++now;
    }
  }
  return statement;
}

}  // namespace evenkeel::exec
