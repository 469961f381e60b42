// What a program answers to a statement that it does not pass on: OK, a table of values, or "not yet".
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/mysql/result_table.h"
#include "base/result.h"
#include "proxy/answer/phrase.h"
#include "proxy/answer/settings.h"

namespace evenkeel::answer {

// An OK packet.
struct Done {
  uint64_t affected_rows = 0;
  std::string message;
};

struct Answer;

// The answer is not there before `delay` has passed; then `again` gives it, or says so once more.
struct Later {
  std::chrono::microseconds delay{0};
  std::function<Result<Answer>()> again;
};

struct Answer {
  std::variant<Done, mysql::ResultTable, Later> what;
};

// Who asks.
struct Caller {
  std::string user;
  std::string host;
  uint64_t connection_id = 0;
  Rights rights = Rights::read;
};

// The program behind a conversation. Shared by all conversations and called on their threads: thread-safe.
class Answerer {
 public:
  virtual ~Answerer() = default;

  // Parameters are bound. Nothing of what connectors ask any server comes here (client_questions.h).
  virtual Result<Answer> answer(const Phrase& phrase, const Caller& caller) = 0;
  // The columns that the answer will have, for PREPARE; parameters may be unbound. Empty: not known before,
  // or none.
  virtual Result<std::vector<mysql::ResultColumn>> describe(const Phrase& phrase) = 0;
};

}  // namespace evenkeel::answer
