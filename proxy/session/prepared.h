// A client's prepared statements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/protocol/statement_messages.h"
#include "proxy/session/statement_cache.h"
#include "router/sql/lexer.h"

namespace evenkeel::session {

struct PreparedStatement {
  std::string sql;
  sql::Tokens tokens;  // of `sql`
  sql::LexRules lex;   // by which it was lexed
  CachedStatement statement;
  // What `statement` was bound with; bound anew when one of them has changed.
  uint64_t catalog_version = 0;
  std::string database;
  uint16_t parameters = 0;
  std::vector<protocol::WireType> types;              // of the last execute
  std::vector<std::optional<std::string>> long_data;  // empty, or one a parameter
  size_t long_data_bytes = 0;
  std::optional<Error> long_data_error;  // told at the next execute
};

// Ids are the session's own, never an instance's.
class PreparedStatements {
 public:
  // Null when the limit is reached.
  PreparedStatement* add(size_t limit, uint32_t& id);
  PreparedStatement* find(uint32_t id);
  void remove(uint32_t id) { statements_.erase(id); }
  void clear() { statements_.clear(); }
  size_t size() const { return statements_.size(); }

 private:
  std::map<uint32_t, std::unique_ptr<PreparedStatement>> statements_;
  uint32_t last_id_ = 0;
};

}  // namespace evenkeel::session
