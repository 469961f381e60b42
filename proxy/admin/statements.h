// The admin port's answers: a command is understood, its caller's rights are checked, and the source that
// knows gives a table of values.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/mysql/result_table.h"
#include "base/result.h"
#include "proxy/admin/command.h"
#include "proxy/answer/answer.h"
#include "proxy/skew/operations.h"

namespace evenkeel::admin {

// Where the answers come from. All are set but `skew`, which is null where nothing is steered. Thread-safe,
// as the functions are called on the admin port's threads.
struct Sources {
  std::function<mysql::ResultTable()> topology;
  std::function<mysql::ResultTable()> generators;
  std::function<Result<mysql::ResultTable>()> workers;
  std::function<Result<mysql::ResultTable>()> sessions;
  std::function<Result<mysql::ResultTable>()> pools;
  std::function<Result<mysql::ResultTable>()> statistics;
  std::function<Result<mysql::ResultTable>()> slow_queries;
  std::function<Result<mysql::ResultTable>(uint64_t id, const std::optional<skew::TableName>& table)> decode;
  std::function<Result<mysql::ResultTable>()> reload;
  // False: there is no such session.
  std::function<bool(uint64_t connection_id, bool query_only)> kill;
  skew::Operations* skew = nullptr;
};

// Thread-safe; shared by all conversations.
class AdminStatements final : public answer::Answerer {
 public:
  explicit AdminStatements(Sources sources) : sources_(std::move(sources)) {}

  Result<answer::Answer> answer(const answer::Phrase& phrase, const answer::Caller& caller) override;
  Result<std::vector<mysql::ResultColumn>> describe(const answer::Phrase& phrase) override;
  // A command that another port has understood; the same checks.
  Result<answer::Answer> run(const Command& command, const answer::Caller& caller);

 private:
  Result<answer::Answer> run_steering(const Command& command, const answer::Caller& caller);

  Sources sources_;
};

}  // namespace evenkeel::admin
