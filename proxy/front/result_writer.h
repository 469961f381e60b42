// Answers that the proxy itself gives: OK, ERR, and result sets made of values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::front {

using protocol::Capabilities;

enum class RowFormat : uint8_t { text, binary };

// A column of a local result as MySQL would describe one computed by an expression: type, length and flags
// follow from the value (64-bit integers, strings in `collation`, NULL as a string of no length).
protocol::ColumnDefinition column_for(std::string_view name, const mysql::Value& sample,
                                      uint16_t collation = 45);

// Appends an answer to the client's output buffer. One for each answer; no memory of its own but the column
// types.
//
//   ResultWriter answer(out, 1, capabilities);
//   answer.columns(definitions); answer.row(values); …; answer.end(status, warnings);
// or
//   answer.ok(ok);   answer.error(error);
class ResultWriter {
 public:
  // `sequence`: one more than the command's last.
  ResultWriter(std::string& out, uint8_t sequence, Capabilities capabilities,
               RowFormat format = RowFormat::text);

  void ok(const protocol::Ok& ok);
  void error(const Error& error);
  // The EOF that answers SET_OPTION (an OK with 0xfe under capability::deprecate_eof).
  void eof(uint16_t status, uint16_t warnings = 0);

  // Head of a result set: count, definitions, and EOF where the client expects one (with `status`).
  void columns(std::span<const protocol::ColumnDefinition> definitions, uint16_t status,
               uint16_t warnings = 0);
  // One a column, in their order. In the binary format a value must fit its column's type.
  void row(std::span<const mysql::Value> values);
  // A row payload that another made, in this format.
  void raw_row(std::string_view payload);
  // Ends the rows. With server_status::more_results in `status` another answer follows in the same writer.
  void end(uint16_t status, uint16_t warnings = 0);

  // The answer to PREPARE, with definitions of parameters and columns.
  void prepared(const protocol::StmtPrepareOk& head, std::span<const protocol::ColumnDefinition> parameters,
                std::span<const protocol::ColumnDefinition> columns, uint16_t status);
  // The answer to FIELD_LIST.
  void field_list(std::span<const protocol::ColumnDefinition> definitions, uint16_t status);
  // The answer to STATISTICS.
  void text(std::string_view line);

  uint8_t next_sequence() const { return packets_.next_sequence(); }
  // The first value or field that could not be encoded.
  Status status() const { return packets_.status(); }

 private:
  void definitions_end(uint16_t status, uint16_t warnings);

  protocol::PacketWriter packets_;
  Capabilities capabilities_;
  RowFormat format_;
  std::vector<protocol::WireType> types_;
};

// What column definition a `?` has in the answer to PREPARE (as MySQL sends it).
protocol::ColumnDefinition parameter_definition();

}  // namespace evenkeel::front
