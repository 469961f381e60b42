// What clients, drivers and tools ask of any server when they connect: SET NAMES, @@version_comment, SHOW
// VARIABLES, SELECT 1, BEGIN … They get the answers of a server that keeps nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/answer/answer.h"

namespace evenkeel::answer {

// The system variables of one conversation: what clients look at, and what they have set since.
class ClientVariables {
 public:
  ClientVariables(std::string server_version, std::string version_comment, size_t max_packet);

  const mysql::Value* find(const std::string& name) const;
  // False: there is no such variable.
  bool set(const std::string& name, mysql::Value value);
  void set_user_variable(const std::string& name, mysql::Value value);
  const mysql::Value* find_user_variable(const std::string& name) const;
  const std::map<std::string, mysql::Value>& all() const { return values_; }

 private:
  std::map<std::string, mysql::Value> values_;  // names in lower case
  std::map<std::string, mysql::Value> user_values_;
};

// Of one conversation.
struct ClientState {
  ClientVariables variables;
  std::string database;
};

// nullopt: the statement is none of these and belongs to the program. `parameters` may be unbound; where a
// value would be needed then, the column is told and the row left out.
std::optional<Result<Answer>> answer_client_question(const Phrase& phrase, const Caller& caller,
                                                     ClientState& state);

}  // namespace evenkeel::answer
