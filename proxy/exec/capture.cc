#include "proxy/exec/capture.h"

#include "proxy/protocol/rows.h"

namespace evenkeel::exec {

void RowSplitter::begin(uint8_t sequence) {
  reader_ = protocol::FrameReader();
  reader_.expect_sequence(sequence);
  partial_.clear();
}

void Capture::begin(uint8_t sequence) { splitter_.begin(sequence); }

Status Capture::feed(std::string_view frames) {
  return splitter_.feed(frames, [&](std::string_view payload) {
    protocol::TextRow cells(payload);
    Row& row = rows_.emplace_back();
    for (protocol::Cell cell; cells.next(cell);) {
      row.push_back(cell ? std::optional<std::string>(*cell) : std::nullopt);
    }
  });
}

Status Capture::define(std::string_view column_definition, protocol::Capabilities capabilities) {
  EVENKEEL_ASSIGN(auto column, protocol::ColumnDefinition::decode(column_definition, capabilities));
  columns_.push_back(std::move(column));
  return {};
}

}  // namespace evenkeel::exec
