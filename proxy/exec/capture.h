// Reads the rows of a query that the proxy itself sent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

// Splits raw frames of rows into row payloads, however they are cut.
class RowSplitter {
 public:
  // Before the first row of a result: the sequence id that its frame carries.
  void begin(uint8_t sequence);
  // Calls `row(payload)` for each whole row.
  template <typename Row>
  Status feed(std::string_view frames, Row&& row) {
    std::string joined;
    if (!partial_.empty()) {
      joined = std::move(partial_);
      partial_.clear();
      joined.append(frames);
      frames = joined;
    }
    while (!frames.empty()) {
      auto read = reader_.read_packet(frames);
      if (!read) return fail(read.error());
      if (read->complete) row(read->payload);
      frames.remove_prefix(read->consumed);
      if (!read->complete) break;
    }
    // A long row arrives in many pieces: it is not copied for each of them.
    if (!joined.empty() && frames.size() == joined.size()) {
      partial_ = std::move(joined);
    } else {
      partial_.assign(frames);
    }
    return {};
  }

 private:
  protocol::FrameReader reader_;
  std::string partial_;
};

// A small text result held whole.
class Capture {
 public:
  using Row = std::vector<std::optional<std::string>>;

  void begin(uint8_t sequence);
  Status feed(std::string_view frames);
  Status define(std::string_view column_definition, protocol::Capabilities capabilities);

  const std::vector<protocol::ColumnDefinition>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  RowSplitter splitter_;
  std::vector<protocol::ColumnDefinition> columns_;
  std::vector<Row> rows_;
};

}  // namespace evenkeel::exec
