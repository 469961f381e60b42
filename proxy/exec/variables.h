// The state that a client gave its session by SET, and how a backend connection is brought to it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/sql/lexer.h"

namespace evenkeel::exec {

// Immutable: names in lower case ("sql_mode", "@x") with the SQL text of their value, sorted by name. What is
// not named stands at the server's default (user variables: NULL).
class Variables {
 public:
  using Item = std::pair<std::string, std::string>;

  Variables() = default;
  explicit Variables(std::vector<Item> items);

  // Empty when `name` is not set.
  std::string_view find(std::string_view name) const;
  const std::vector<Item>& items() const { return items_; }
  bool operator==(const Variables&) const = default;

 private:
  std::vector<Item> items_;
};
using VariablesPtr = std::shared_ptr<const Variables>;

// `base` with `changes` made; a change with an empty value removes the name.
VariablesPtr with(const VariablesPtr& base, const std::vector<Variables::Item>& changes);

// The SET statement that brings a connection from one state to another; empty when the states are equal.
// MariaDB 10 calls transaction_isolation and transaction_read_only tx_isolation and tx_read_only.
std::string difference(const Variables& from, const Variables& to, mysql::Flavour flavour);

}  // namespace evenkeel::exec
