// One unit: its answer passes through; rows are never decoded.
#pragma once

#include "proxy/exec/capture.h"
#include "proxy/exec/reply.h"

namespace evenkeel::exec {

class PassReply final : public Reply {
 public:
  using Reply::Reply;

  void on_part(Lane& lane, uint32_t unit, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane& lane, uint32_t unit, std::string_view frames) override;
  void on_drained() override;
  bool cut() const override { return frame_left_ > 0 || row_continues_; }

 private:
  void forward(std::string_view payload);
  void on_definition(Lane& lane, std::string_view payload);
  void end_of_result(Lane& lane, protocol::Part part, std::string_view payload);

  void relay(std::string_view frames);
  void relay_restored(std::string_view frames);
  void restore_cells(std::string_view row);

  Lane* paused_ = nullptr;      // not read from while the client is slow
  RowSplitter splitter_;        // used when Plan::cells names cells to put back
  uint32_t frame_left_ = 0;     // payload bytes of a frame that the client has the front of
  bool row_continues_ = false;  // in the next frame
};

}  // namespace evenkeel::exec
