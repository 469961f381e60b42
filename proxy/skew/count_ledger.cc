#include "proxy/skew/count_ledger.h"

namespace evenkeel::skew {

void CountLedger::note(const std::string& proxy, const CountsRecord& counts) {
  if (counts.rows.size() != rows_.size() || counts.inserted.size() != rows_.size()) return;
  const auto [known, is_new] = last_.try_emplace(proxy);
  const bool same_process = !is_new && known->second.since_unix_ms == counts.since_unix_ms;
  if (same_process && known->second.unix_ms >= counts.unix_ms) return;
  if (!is_new && !same_process && known->second.since_unix_ms > counts.since_unix_ms) return;
  // A process that is older than the ledger has counts from before it.
  const bool from_before = is_new && counts.since_unix_ms < began_unix_ms_;
  for (size_t slot = 0; slot < rows_.size(); ++slot) {
    const int64_t rows_base = same_process ? known->second.rows[slot] : from_before ? counts.rows[slot] : 0;
    const int64_t inserted_base = same_process  ? known->second.inserted[slot]
                                  : from_before ? counts.inserted[slot]
                                                : 0;
    rows_[slot] += counts.rows[slot] - rows_base;
    inserted_[slot] += counts.inserted[slot] - inserted_base;
  }
  known->second = counts;
}

void CountLedger::rename(const std::string& from, const std::string& to) {
  const auto known = last_.find(from);
  if (known == last_.end() || from == to) return;
  last_[to] = std::move(known->second);
  last_.erase(known);
}

}  // namespace evenkeel::skew
