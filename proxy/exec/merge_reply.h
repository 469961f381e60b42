// A SELECT over several units: their rows run through a Merger, one result goes to the client.
#pragma once

#include <memory>
#include <vector>

#include "proxy/exec/capture.h"
#include "proxy/exec/reply.h"
#include "router/merge/merger.h"

namespace evenkeel::exec {

class MergeReply final : public Reply {
 public:
  MergeReply(const plan::Plan& plan, SessionState& state, Port& port, AnswerFacts facts, size_t row_limit);

  void on_part(Lane& lane, uint32_t unit, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane& lane, uint32_t unit, std::string_view frames) override;
  void on_metadata(Lane& lane, std::string_view definition) override;
  void on_metadata_done() override;
  void on_drained() override;
  bool holds_rows() const override { return merger_ && !ended_ && !error_; }

 private:
  struct Source {
    std::vector<protocol::ColumnDefinition> columns;
    RowSplitter splitter;
    // Before the metadata is known: rows that came already, and whether they are all.
    std::string early;
    bool finished = false;
  };

  void begin_rows(Lane& lane, uint32_t unit);
  Status check_columns(uint32_t unit) const;
  Status start_merger();
  void feed(uint32_t unit, std::string_view frames);
  void write_head();
  void pump();
  void balance(uint32_t needed);

  size_t row_limit_;
  std::vector<Source> sources_;
  std::vector<protocol::ColumnDefinition> shown_;  // what the client sees; from the metadata if there is any
  bool metadata_known_;
  uint32_t first_unit_ = UINT32_MAX;  // whose definitions the others are compared with
  std::unique_ptr<merge::Merger> merger_;
  uint64_t fed_ = 0;
  bool ended_ = false;
};

}  // namespace evenkeel::exec
