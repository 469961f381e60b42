// Bound statements by shape: a statement is parsed and bound once, however often it is sent with other
// values.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "router/plan/planner.h"
#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::session {

// What is kept for a shape. A refusal is kept too: it depends on the shape alone.
struct CachedStatement {
  sql::StatementPtr statement;
  plan::BoundPtr bound;  // null: not planned (SET, BEGIN …) or refused
  std::optional<Error> refusal;
  // The shape in words, literals left out, at most SlowLog::fingerprint_max bytes.
  std::shared_ptr<const std::string> fingerprint;
};

// Of one event loop. The key holds the normalised tokens and all that binding depends on; it is compared byte
// by byte, never by hash alone. Least recently used out.
class StatementCache {
 public:
  explicit StatementCache(size_t limit) : limit_(limit) {}

  // Begins a look-up: the key is built in memory that is reused. `structural` texts are compared as well.
  const CachedStatement* find(const sql::Tokens& tokens, sql::Span part, const plan::SessionFacts& facts,
                              uint64_t catalog_version);
  // Stores under the key of the last find().
  void insert(const sql::Tokens& tokens, CachedStatement statement);
  size_t size() const { return index_.size(); }

 private:
  struct Node {
    std::string key;
    std::vector<std::pair<uint32_t, std::string>> structural;
    CachedStatement statement;
  };
  using Nodes = std::list<Node>;

  size_t limit_;
  Nodes order_;
  std::unordered_multimap<uint64_t, Nodes::iterator> index_;
  std::string key_;
  uint64_t hash_ = 0;
};

}  // namespace evenkeel::session
