// A write over several units: one OK with the sums.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/exec/reply.h"

namespace evenkeel::exec {

class SumReply final : public Reply {
 public:
  using Reply::Reply;

  void on_part(Lane& lane, uint32_t unit, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane&, uint32_t, std::string_view) override {}
  void complete(uint64_t insert_id, uint32_t warnings) override;

 private:
  void count_row(const protocol::Ok& ok);

  // "Rows matched: 3  Changed: 1  Warnings: 0", summed word by word.
  std::vector<std::pair<std::string, uint64_t>> counts_;
};

// Adds the counts of a message to `counts`; words not seen before are appended.
void add_counts(std::string_view message, std::vector<std::pair<std::string, uint64_t>>& counts);

}  // namespace evenkeel::exec
