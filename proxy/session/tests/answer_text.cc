#include "proxy/session/tests/answer_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/mysql/types.h"
#include "proxy/protocol/messages.h"
#include "proxy/protocol/rows.h"
#include "router/plan/tests/planning.h"

namespace evenkeel::session::testing {

using mysql::ColumnType;
using protocol::Part;

namespace {

std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

// "name:type" or "table.name:type".
protocol::ColumnDefinition read_column(std::string_view word) {
  protocol::ColumnDefinition column;
  const size_t colon = word.find(':');
  std::string_view name = word.substr(0, colon);
  const std::string_view type = word.substr(colon + 1);
  const size_t point = name.find('.');
  if (point != std::string_view::npos) {
    column.table = name.substr(0, point);
    column.original_table = column.table;
    column.schema = "shop_0";
    name.remove_prefix(point + 1);
  }
  column.name = name;
  column.original_name = name;
  column.collation = 63;
  column.length = 20;
  if (type == "bigint") {
    column.type = ColumnType::longlong;
    column.flags = mysql::column_flag::binary;
  } else if (type == "decimal") {
    column.type = ColumnType::newdecimal;
    column.flags = mysql::column_flag::binary;
  } else if (type == "null") {  // a parameter without a value: an expression, so without a name of its own
    column.type = ColumnType::null;
    column.original_name.clear();
  } else {
    column.type = ColumnType::var_string;
    column.collation = 45;
    column.length = 800;
  }
  return column;
}

std::string flags_text(uint16_t status) {
  namespace flag = mysql::server_status;
  std::string text;
  const auto add = [&](uint16_t bit, std::string_view name) {
    if ((status & bit) == 0) return;
    text += text.empty() ? "" : "+";
    text += name;
  };
  add(flag::autocommit, "ac");
  add(flag::in_trans, "trans");
  add(flag::more_results, "more");
  add(flag::no_backslash_escapes, "nbe");
  return text.empty() ? "-" : text;
}

void append_ok(std::string& text, std::string_view payload, protocol::Capabilities capabilities) {
  const auto ok = protocol::Ok::decode(payload, capabilities);
  if (!ok) {
    ADD_FAILURE() << ok.error().message;
    return;
  }
  text +=
      fmt::format("OK affected={} id={} {}", ok->affected_rows, ok->last_insert_id, flags_text(ok->status));
  if (ok->warnings > 0) text += fmt::format(" warnings={}", ok->warnings);
  if (!ok->message.empty()) text += fmt::format(" '{}'", ok->message);
}

}  // namespace

Answer read_answer(std::string_view text) {
  Answer answer;
  const std::string_view kind = take_word(text);
  if (kind == "FILE") answer.kind = Answer::Kind::file;
  if (kind == "HOLD") answer.kind = Answer::Kind::hold;
  if (kind == "LOSE") answer.kind = Answer::Kind::lose;
  if (kind == "ERR") {
    answer.kind = Answer::Kind::err;
    answer.code = static_cast<uint16_t>(std::stoul(std::string(take_word(text))));
    answer.message = text;
  }
  if (kind == "OK") {
    while (!text.empty()) {
      if (text.starts_with("message=")) {
        answer.message = text.substr(8);
        break;
      }
      const std::string word(take_word(text));
      const uint64_t value = std::stoull(word.substr(word.find('=') + 1));
      if (word.starts_with("affected=")) answer.affected = value;
      if (word.starts_with("insert_id=")) answer.insert_id = value;
      if (word.starts_with("warnings=")) answer.warnings = static_cast<uint16_t>(value);
    }
  }
  if (kind == "ROWS" || kind == "MANY") {
    answer.kind = Answer::Kind::rows;
    size_t count = 0;
    size_t size = 0;
    if (kind == "MANY") {
      count = std::stoul(std::string(take_word(text)));
      size = std::stoul(std::string(take_word(text)));
    }
    while (!text.empty() && text[0] != '|') {
      if (text.starts_with("warnings=")) {
        answer.warnings = static_cast<uint16_t>(std::stoul(std::string(take_word(text).substr(9))));
      } else {
        answer.columns.push_back(read_column(take_word(text)));
      }
    }
    while (!text.empty()) {
      text.remove_prefix(1);
      const size_t end = std::min(text.find('|'), text.size());
      answer.rows.push_back(plan::testing::read_values(text.substr(0, end)));
      text.remove_prefix(end);
    }
    for (size_t i = 0; i < count; ++i) {
      std::vector<mysql::Value> row{mysql::Value::int64(static_cast<int64_t>(i + 1))};
      while (row.size() < answer.columns.size())
        row.push_back(mysql::Value::string(std::string(size, static_cast<char>('a' + i % 26))));
      answer.rows.push_back(std::move(row));
    }
  }
  return answer;
}

Answer default_answer(std::string_view sql) {
  Answer answer;
  if (sql.starts_with("SELECT") || sql.starts_with("(SELECT") || sql.starts_with("SHOW")) {
    answer.kind = Answer::Kind::rows;
    answer.columns.push_back(read_column("id:bigint"));
    answer.rows.push_back({mysql::Value::int64(6)});
  } else if (sql.starts_with("INSERT") || sql.starts_with("UPDATE") || sql.starts_with("DELETE")) {
    answer.affected = 1;
  }
  return answer;
}

void append_part(std::string& text, Part part, std::string_view payload,
                 protocol::Capabilities capabilities) {
  if (!text.empty() && (part == Part::ok || part == Part::err || part == Part::column_count)) text += "; ";
  switch (part) {
    case Part::ok:
      return append_ok(text, payload, capabilities);
    case Part::err: {
      const auto err = protocol::Err::decode(payload);
      text += fmt::format("ERR {} ({}) {}", err->code, err->sqlstate, err->message);
      return;
    }
    case Part::column_count:
      text += "ROWS";
      return;
    case Part::column_definition: {
      const auto column = protocol::ColumnDefinition::decode(payload, capabilities);
      text += fmt::format(" {}{}", column->table.empty() ? "" : column->table + ".", column->name);
      return;
    }
    case Part::parameter_definition:
      text += " ?";
      return;
    case Part::row: {
      text += " |";
      protocol::TextRow row(payload);
      for (protocol::Cell cell; row.next(cell);) {
        if (!cell) {
          text += " NULL";
        } else if (cell->size() > 24) {
          text += fmt::format(" {}…({})", cell->substr(0, 4), cell->size());
        } else {
          text += fmt::format(" {}", *cell);
        }
      }
      return;
    }
    case Part::definitions_end:
      return;
    case Part::rows_end: {
      text += " | end ";
      if (protocol::has(capabilities, protocol::capability::deprecate_eof)) {
        append_ok(text, payload, capabilities);
        return;
      }
      const auto eof = protocol::Eof::decode(payload);
      text += flags_text(eof->status);
      if (eof->warnings > 0) text += fmt::format(" warnings={}", eof->warnings);
      return;
    }
    case Part::prepare_ok: {
      const auto head = protocol::StmtPrepareOk::decode(payload);
      text += fmt::format("PREPARED #{}", head->statement_id);
      return;
    }
    case Part::text:
      text += fmt::format("TEXT {}", payload);
      return;
    case Part::local_infile:
      text += "LOCAL INFILE";
      return;
  }
}

}  // namespace evenkeel::session::testing
