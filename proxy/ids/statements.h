// The id service over the MySQL protocol:
//
//   SELECT NEXT_ID('orders')                   one id
//   SELECT * FROM NEXT_IDS('orders', 100)      as many rows, in the order of drawing
//   SELECT * FROM DECODE_ID(12345, 'orders')   an id's fields; the key space may be left out where one layout
//   serves all SHOW KEY SPACES, HELP
#pragma once

#include "proxy/answer/answer.h"
#include "proxy/ids/key_spaces.h"

namespace evenkeel::ids {

// Thread-safe. `spaces` must outlive it.
class IdStatements final : public answer::Answerer {
 public:
  explicit IdStatements(const KeySpaces& spaces) : spaces_(spaces) {}

  Result<answer::Answer> answer(const answer::Phrase& phrase, const answer::Caller& caller) override;
  Result<std::vector<mysql::ResultColumn>> describe(const answer::Phrase& phrase) override;

 private:
  const KeySpaces& spaces_;
};

}  // namespace evenkeel::ids
