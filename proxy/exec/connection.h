// A connection to an instance as conversations see it: bytes to send, what the server remembers of it, and
// what it may be used for. The socket is elsewhere (proxy/net).
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/exec/variables.h"
#include "proxy/protocol/capabilities.h"
#include "router/rule/rule_set.h"
#include "router/sql/lexer.h"

namespace evenkeel::exec {

// Which prepared statements the server holds for this connection: text -> server's statement id, bounded,
// least recently used first out.
class PreparedCache {
 public:
  struct Entry {
    uint32_t server_id = 0;
    // What the server read the text by: another database, sql_mode or character set makes another statement
    // of it.
    std::string database;
    VariablesPtr variables;
    bool fits(const std::string& current_database, const VariablesPtr& current) const;
  };

  explicit PreparedCache(size_t limit) : limit_(limit) {}

  // Null when absent. The pointer lives until the next insert.
  Entry* find(std::string_view sql);
  // In place of the text's entry, if there is one. Returns the server ids of entries that had to go: close
  // them on the server.
  std::vector<uint32_t> insert(std::string sql, Entry entry);
  void clear();
  size_t size() const { return index_.size(); }

 private:
  struct Node {
    std::string sql;
    Entry entry;
  };
  size_t limit_;
  std::list<Node> order_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Node>::iterator> index_;
};

// What is fixed when a connection is made: pools are keyed by it. Few on purpose.
struct CapabilityClass {
  bool found_rows = false;     // affected rows count matched rows
  bool deprecate_eof = false;  // result sets end with OK instead of EOF
  bool no_database = false;    // none was ever selected: once one is, a server knows no way back
  bool operator==(const CapabilityClass&) const = default;
};

// Owned by the driver; lent to one session at a time. One thread.
struct Connection {
  Connection(rule::InstanceId id, CapabilityClass kind, size_t prepared_limit)
      : instance(id), capability(kind), prepared(prepared_limit) {}

  rule::InstanceId instance;
  CapabilityClass capability;
  protocol::Capabilities capabilities = 0;  // negotiated
  mysql::Flavour flavour = mysql::Flavour::mariadb;
  uint64_t server_thread = 0;  // for KILL QUERY
  void* owner = nullptr;       // the driver's own; not looked at here

  std::string out;       // commands to send; the driver sends and clears it on flush
  std::string database;  // what the server has as current; empty: none
  VariablesPtr applied;  // what the session variables of the server stand at
  PreparedCache prepared;

  bool in_transaction = false;  // by the last status flags
  bool autocommit = true;       // by the last status flags
  bool lost = false;            // the socket is gone: nothing can be sent, no answer will come
  bool retire = false;          // not to be used again: its state is not known
  uint32_t awaited = 0;         // commands sent or queued in `out` whose answers have not come in full
};

}  // namespace evenkeel::exec
