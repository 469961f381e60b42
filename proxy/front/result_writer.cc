#include "proxy/front/result_writer.h"

#include <algorithm>

#include "base/mysql/collation.h"
#include "base/mysql/types.h"
#include "proxy/protocol/rows.h"

namespace evenkeel::front {
namespace {

using protocol::ColumnDefinition;
namespace capability = protocol::capability;
namespace flag = mysql::column_flag;
using mysql::ColumnType;
using Kind = mysql::Value::Kind;

constexpr uint8_t decimals_not_fixed = 31;
constexpr uint32_t longlong_digits = 21;
constexpr uint32_t double_digits = 23;
constexpr uint32_t float_digits = 12;

void describe(ColumnDefinition& column, ColumnType type, uint32_t length, uint16_t flags, uint8_t decimals) {
  column.type = type;
  column.length = length;
  column.flags = flags;
  column.decimals = decimals;
  column.collation = mysql::collation_binary;
}

void describe_string(ColumnDefinition& column, size_t size, uint16_t collation) {
  const mysql::Collation* facts = mysql::find_collation(collation);
  const uint32_t width = facts != nullptr ? facts->max_bytes : 1;
  describe(column, ColumnType::var_string, static_cast<uint32_t>(size) * width, 0, decimals_not_fixed);
  column.collation = collation;
}

}  // namespace

ColumnDefinition column_for(std::string_view name, const mysql::Value& sample, uint16_t collation) {
  ColumnDefinition column;
  column.name = name;
  switch (sample.kind()) {
    case Kind::null:
      describe(column, ColumnType::null, 0, flag::binary, 0);
      break;
    case Kind::int64:
      describe(column, ColumnType::longlong, longlong_digits, flag::not_null | flag::binary, 0);
      break;
    case Kind::uint64:
      describe(column, ColumnType::longlong, longlong_digits, flag::not_null | flag::binary | flag::unsigned_,
               0);
      break;
    case Kind::decimal: {
      const std::string& digits = sample.text();
      const size_t point = digits.find('.');
      const size_t scale = point == std::string::npos ? 0 : digits.size() - point - 1;
      describe(column, ColumnType::newdecimal, static_cast<uint32_t>(digits.size()),
               flag::not_null | flag::binary, static_cast<uint8_t>(std::min<size_t>(scale, 30)));
      break;
    }
    case Kind::real:
      describe(column, ColumnType::double_, double_digits, flag::not_null | flag::binary, decimals_not_fixed);
      break;
    case Kind::single_real:
      describe(column, ColumnType::float_, float_digits, flag::not_null | flag::binary, decimals_not_fixed);
      break;
    case Kind::date:
      describe(column, ColumnType::date, 10, flag::binary, 0);
      break;
    case Kind::datetime:
      describe(column, ColumnType::datetime, 26, flag::binary, 6);
      break;
    case Kind::time:
      describe(column, ColumnType::time, 17, flag::binary, 6);
      break;
    case Kind::bytes:
      describe(column, ColumnType::var_string, static_cast<uint32_t>(sample.text().size()), flag::binary,
               decimals_not_fixed);
      break;
    case Kind::string:
      describe_string(column, sample.text().size(), collation);
      break;
  }
  return column;
}

ColumnDefinition parameter_definition() {
  ColumnDefinition column;
  column.name = "?";
  column.collation = mysql::collation_binary;
  column.type = ColumnType::var_string;
  column.flags = flag::binary;
  return column;
}

ResultWriter::ResultWriter(std::string& out, uint8_t sequence, Capabilities capabilities, RowFormat format)
    : packets_(out, sequence), capabilities_(capabilities), format_(format) {}

void ResultWriter::ok(const protocol::Ok& ok) { packets_.write(ok, capabilities_); }

void ResultWriter::error(const Error& error) { packets_.write(protocol::Err::from(error), capabilities_); }

void ResultWriter::eof(uint16_t status, uint16_t warnings) {
  if (protocol::has(capabilities_, capability::deprecate_eof)) {
    protocol::Ok ok;
    ok.status = status;
    ok.warnings = warnings;
    ok.ends_rows = true;
    packets_.write(ok, capabilities_);
  } else {
    packets_.write(protocol::Eof{warnings, status}, capabilities_);
  }
}

void ResultWriter::definitions_end(uint16_t status, uint16_t warnings) {
  if (!protocol::has(capabilities_, capability::deprecate_eof)) {
    packets_.write(protocol::Eof{warnings, status}, capabilities_);
  }
}

void ResultWriter::columns(std::span<const ColumnDefinition> definitions, uint16_t status,
                           uint16_t warnings) {
  types_.clear();
  packets_.write(protocol::ColumnCount{definitions.size()}, capabilities_);
  for (const ColumnDefinition& column : definitions) {
    packets_.write(column, capabilities_);
    types_.push_back(column.wire_type());
  }
  definitions_end(status, warnings);
}

void ResultWriter::row(std::span<const mysql::Value> values) {
  protocol::WireWriter& body = packets_.begin();
  if (values.size() != types_.size()) {
    body.set_error(internal_error("a row with another number of values than columns"));
  } else if (format_ == RowFormat::text) {
    protocol::append_text_row(body, values);
  } else {
    protocol::append_binary_row(body, values, types_);
  }
  packets_.end();
}

void ResultWriter::raw_row(std::string_view payload) { packets_.write_payload(payload); }

void ResultWriter::end(uint16_t status, uint16_t warnings) { eof(status, warnings); }

void ResultWriter::prepared(const protocol::StmtPrepareOk& head, std::span<const ColumnDefinition> parameters,
                            std::span<const ColumnDefinition> columns, uint16_t status) {
  packets_.write(head, capabilities_);
  for (const auto definitions : {parameters, columns}) {
    for (const ColumnDefinition& column : definitions) packets_.write(column, capabilities_);
    if (!definitions.empty()) definitions_end(status, 0);
  }
}

void ResultWriter::field_list(std::span<const ColumnDefinition> definitions, uint16_t status) {
  for (const ColumnDefinition& column : definitions) packets_.write(column, capabilities_);
  eof(status);
}

void ResultWriter::text(std::string_view line) { packets_.write_payload(line); }

}  // namespace evenkeel::front
