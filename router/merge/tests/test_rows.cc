#include "router/merge/tests/test_rows.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

namespace evenkeel::merge::testing {

using mysql::ColumnType;

namespace {

const std::map<std::string_view, ColumnType>& type_names() {
  static const std::map<std::string_view, ColumnType> names = {{"tinyint", ColumnType::tiny},
                                                               {"smallint", ColumnType::short_},
                                                               {"mediumint", ColumnType::int24},
                                                               {"int", ColumnType::long_},
                                                               {"bigint", ColumnType::longlong},
                                                               {"year", ColumnType::year},
                                                               {"float", ColumnType::float_},
                                                               {"double", ColumnType::double_},
                                                               {"decimal", ColumnType::newdecimal},
                                                               {"date", ColumnType::date},
                                                               {"datetime", ColumnType::datetime},
                                                               {"timestamp", ColumnType::timestamp},
                                                               {"time", ColumnType::time},
                                                               {"varchar", ColumnType::var_string},
                                                               {"char", ColumnType::string},
                                                               {"blob", ColumnType::blob},
                                                               {"bit", ColumnType::bit},
                                                               {"null", ColumnType::null},
                                                               {"geometry", ColumnType::geometry}};
  return names;
}

void put(std::string& row, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) row.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t get(std::string_view row, size_t& at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(row.at(at++))) << (8 * i);
  return value;
}

void put_counted(std::string& row, std::string_view text) {
  if (text.size() < 251) {
    put(row, text.size(), 1);
  } else if (text.size() < 65536) {
    put(row, 0xfc, 1);
    put(row, text.size(), 2);
  } else {
    put(row, 0xfd, 1);
    put(row, text.size(), 3);
  }
  row += text;
}

std::string get_counted(std::string_view row, size_t& at) {
  uint64_t size = get(row, at, 1);
  if (size == 0xfc) size = get(row, at, 2);
  if (size == 0xfd) size = get(row, at, 3);
  std::string text(row.substr(at, size));
  at += size;
  return text;
}

int width(ColumnType type) {
  switch (type) {
    case ColumnType::tiny:
      return 1;
    case ColumnType::short_:
    case ColumnType::year:
      return 2;
    case ColumnType::long_:
    case ColumnType::int24:
      return 4;
    case ColumnType::longlong:
      return 8;
    default:
      return 0;
  }
}

std::string exact_real(double real) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", real);
  return text;
}

void put_date(std::string& row, const std::string& text) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, us = 0;
  char fraction[8] = "";
  std::sscanf(text.c_str(), "%d-%d-%d %d:%d:%d.%6s", &y, &mo, &d, &h, &mi, &s, fraction);
  if (fraction[0] != '\0') us = std::atoi((std::string(fraction) + "000000").substr(0, 6).c_str());
  const int size = us != 0 ? 11 : (h | mi | s) != 0 ? 7 : (y | mo | d) != 0 ? 4 : 0;
  put(row, static_cast<uint64_t>(size), 1);
  if (size >= 4) {
    put(row, static_cast<uint64_t>(y), 2);
    put(row, static_cast<uint64_t>(mo), 1);
    put(row, static_cast<uint64_t>(d), 1);
  }
  if (size >= 7) {
    put(row, static_cast<uint64_t>(h), 1);
    put(row, static_cast<uint64_t>(mi), 1);
    put(row, static_cast<uint64_t>(s), 1);
  }
  if (size == 11) put(row, static_cast<uint64_t>(us), 4);
}

void put_time(std::string& row, const std::string& text) {
  const bool negative = text[0] == '-';
  int h = 0, mi = 0, s = 0, us = 0;
  char fraction[8] = "";
  std::sscanf(text.c_str() + negative, "%d:%d:%d.%6s", &h, &mi, &s, fraction);
  if (fraction[0] != '\0') us = std::atoi((std::string(fraction) + "000000").substr(0, 6).c_str());
  const int size = us != 0 ? 12 : (h | mi | s) != 0 ? 8 : 0;
  put(row, static_cast<uint64_t>(size), 1);
  if (size == 0) return;
  put(row, negative ? 1 : 0, 1);
  put(row, static_cast<uint64_t>(h / 24), 4);
  put(row, static_cast<uint64_t>(h % 24), 1);
  put(row, static_cast<uint64_t>(mi), 1);
  put(row, static_cast<uint64_t>(s), 1);
  if (size == 12) put(row, static_cast<uint64_t>(us), 4);
}

std::string get_date(std::string_view row, size_t& at, ColumnType type, int decimals) {
  const auto size = get(row, at, 1);
  const auto y = size >= 4 ? get(row, at, 2) : 0, mo = size >= 4 ? get(row, at, 1) : 0,
             d = size >= 4 ? get(row, at, 1) : 0, h = size >= 7 ? get(row, at, 1) : 0,
             mi = size >= 7 ? get(row, at, 1) : 0, s = size >= 7 ? get(row, at, 1) : 0,
             us = size == 11 ? get(row, at, 4) : 0;
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", int(y), int(mo), int(d));
  std::string all = text;
  if (type == ColumnType::date) return all;
  std::snprintf(text, sizeof text, " %02d:%02d:%02d.%06d", int(h), int(mi), int(s), int(us));
  all += text;
  return all.substr(0, decimals == 0 ? 19 : static_cast<size_t>(20 + decimals));
}

std::string get_time(std::string_view row, size_t& at, int decimals) {
  const auto size = get(row, at, 1);
  const bool negative = size >= 8 && get(row, at, 1) != 0;
  const auto days = size >= 8 ? get(row, at, 4) : 0, h = size >= 8 ? get(row, at, 1) : 0,
             mi = size >= 8 ? get(row, at, 1) : 0, s = size >= 8 ? get(row, at, 1) : 0,
             us = size == 12 ? get(row, at, 4) : 0;
  char text[80];
  std::snprintf(text, sizeof text, "%s%02d:%02d:%02d.%06d", negative ? "-" : "", int(days * 24 + h), int(mi),
                int(s), int(us));
  const std::string all = text;
  const size_t plain = all.find('.');
  return all.substr(0, decimals == 0 ? plain : plain + 1 + static_cast<size_t>(decimals));
}

void put_cell(std::string& row, const ColumnFacts& column, const std::string& text) {
  if (const int bytes = width(column.type); bytes != 0) {
    put(row,
        column.is_unsigned ? std::strtoull(text.c_str(), nullptr, 10)
                           : static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 10)),
        bytes);
  } else if (column.type == ColumnType::float_) {
    const float real = std::strtof(text.c_str(), nullptr);
    row.append(reinterpret_cast<const char*>(&real), sizeof real);
  } else if (column.type == ColumnType::double_) {
    const double real = std::strtod(text.c_str(), nullptr);
    row.append(reinterpret_cast<const char*>(&real), sizeof real);
  } else if (column.type == ColumnType::time) {
    put_time(row, text);
  } else if (mysql::is_temporal(column.type)) {
    put_date(row, text);
  } else {
    put_counted(row, text);
  }
}

std::string get_cell(std::string_view row, size_t& at, const ColumnFacts& column) {
  if (const int bytes = width(column.type); bytes != 0) {
    const uint64_t bits = get(row, at, bytes);
    if (column.is_unsigned) return std::to_string(bits);
    const int shift = 64 - 8 * bytes;
    return std::to_string(static_cast<int64_t>(bits << shift) >> shift);
  }
  if (column.type == ColumnType::float_ || column.type == ColumnType::double_) {
    const int bytes = column.type == ColumnType::float_ ? 4 : 8;
    const uint64_t bits = get(row, at, bytes);
    double real = 0;
    float single = 0;
    std::memcpy(&real, &bits, sizeof real);
    std::memcpy(&single, &bits, sizeof single);
    return exact_real(bytes == 4 ? single : real);
  }
  if (column.type == ColumnType::time) return get_time(row, at, column.decimals);
  if (mysql::is_temporal(column.type)) return get_date(row, at, column.type, column.decimals);
  return get_counted(row, at);
}

}  // namespace

ColumnFacts column_of(std::string_view text) {
  ColumnFacts column;
  const size_t unsigned_at = text.find(" unsigned");
  column.is_unsigned = unsigned_at != std::string_view::npos;
  text = text.substr(0, unsigned_at);
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const auto found = type_names().find(name);
  if (found == type_names().end()) throw std::invalid_argument("no such type: " + std::string(text));
  column.type = found->second;
  if (mysql::is_floating(column.type)) column.decimals = 31;
  if (open != std::string_view::npos) column.decimals = static_cast<uint8_t>(std::atoi(&text[open + 1]));
  if (column.type == ColumnType::year) column.is_unsigned = true;
  return column;
}

std::string encode(RowFormat format, const std::vector<ColumnFacts>& columns, const TestRow& cells) {
  std::string row;
  if (format == RowFormat::text) {
    for (const TestCell& cell : cells) cell ? put_counted(row, *cell) : put(row, 0xfb, 1);
    return row;
  }
  row.assign(1 + (columns.size() + 9) / 8, '\0');
  for (size_t i = 0; i < columns.size(); ++i) {
    if (cells[i]) {
      put_cell(row, columns[i], *cells[i]);
    } else {
      row[1 + (i + 2) / 8] = static_cast<char>(row[1 + (i + 2) / 8] | 1 << (i + 2) % 8);
    }
  }
  return row;
}

TestRow decode(RowFormat format, const std::vector<ColumnFacts>& columns, std::string_view row) {
  TestRow cells;
  size_t at = format == RowFormat::text ? 0 : 1 + (columns.size() + 9) / 8;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool null = format == RowFormat::text ? static_cast<uint8_t>(row.at(at)) == 0xfb
                                                : (row.at(1 + (i + 2) / 8) >> (i + 2) % 8 & 1) != 0;
    if (null) {
      if (format == RowFormat::text) ++at;
      cells.push_back(std::nullopt);
    } else {
      cells.push_back(format == RowFormat::text ? get_counted(row, at) : get_cell(row, at, columns[i]));
    }
  }
  if (at != row.size()) throw std::runtime_error("bytes left over behind the last cell");
  return cells;
}

TestRow normal(const std::vector<ColumnFacts>& columns, TestRow row) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!row[i] || !mysql::is_floating(columns[i].type)) continue;
    const double real = std::strtod(row[i]->c_str(), nullptr);
    row[i] = exact_real(columns[i].type == ColumnType::float_ ? double(float(real)) : real);
  }
  return row;
}

std::vector<std::string> run(Merger& merger, const std::vector<std::vector<std::string>>& sources,
                             Feeding feeding, std::string* error) {
  const auto count = static_cast<uint32_t>(sources.size());
  std::vector<size_t> fed(count, 0);
  std::vector<bool> finished(count, false);
  const auto feed_one = [&](uint32_t source) {
    if (finished[source]) return;
    if (fed[source] < sources[source].size()) {
      // A copy that is gone at once: the merger must not keep views into what it was fed.
      merger.feed(source, std::string(sources[source][fed[source]++]));
    } else {
      merger.finish(source);
      finished[source] = true;
    }
  };
  if (feeding == Feeding::ahead) {
    for (uint32_t source = count; source-- > 0;) {
      while (!finished[source]) feed_one(source);
    }
  }
  std::vector<std::string> rows;
  for (;;) {
    switch (merger.next()) {
      case Merger::Step::row:
        rows.emplace_back(merger.row());
        break;
      case Merger::Step::need:
        if (finished.at(merger.needed())) throw std::runtime_error("asked for a finished source");
        if (feeding == Feeding::in_turn) {
          for (uint32_t source = 0; source < count; ++source) feed_one(source);
        } else {
          feed_one(merger.needed());
        }
        break;
      case Merger::Step::end:
        return rows;
      case Merger::Step::error:
        if (error == nullptr) throw std::runtime_error(merger.error().message);
        *error = merger.error().message;
        return rows;
    }
  }
}

}  // namespace evenkeel::merge::testing
