// Adds up what all proxies counted for one logical table, whichever of them come, go and start anew.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "proxy/skew/record.h"

namespace evenkeel::skew {

// One thread at a time. Only differences of the sums mean anything: they begin when the ledger does.
class CountLedger {
 public:
  // What was counted before the ledger began is in the tables already.
  CountLedger(uint32_t slots, int64_t began_unix_ms)
      : began_unix_ms_(began_unix_ms), rows_(slots, 0), inserted_(slots, 0) {}

  // What `proxy` last said; older and repeated words are dropped.
  void note(const std::string& proxy, const CountsRecord& counts);

  // The same process under another name.
  void rename(const std::string& from, const std::string& to);

  // By slot: put in less taken out, and put in.
  std::span<const int64_t> rows() const { return rows_; }
  std::span<const int64_t> inserted() const { return inserted_; }
  const std::map<std::string, CountsRecord, std::less<>>& proxies() const { return last_; }

 private:
  int64_t began_unix_ms_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> inserted_;
  std::map<std::string, CountsRecord, std::less<>> last_;
};

}  // namespace evenkeel::skew
