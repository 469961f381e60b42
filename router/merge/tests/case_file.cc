#include "router/merge/tests/case_file.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace evenkeel::merge::testing {

namespace {

std::string trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  bool quoted = false;
  std::string part;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (c == separator && !quoted) {
      parts.push_back(trim(part));
      part.clear();
    } else {
      part.push_back(c);
    }
  }
  parts.push_back(trim(part));
  return parts;
}

// 'a\tb\0' without its quotes; anything else as it stands.
TestCell cell_of(const std::string& text) {
  if (text == "NULL") return std::nullopt;
  if (text.size() < 2 || text.front() != '\'') return text;
  std::string cell;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      cell.push_back(text[i]);
      continue;
    }
    const char escaped = text[++i];
    cell.push_back(escaped == 't' ? '\t' : escaped == '0' ? '\0' : escaped);
  }
  return cell;
}

TestRow row_of(const std::string& line) {
  TestRow row;
  for (const std::string& cell : split(line, '|')) row.push_back(cell_of(cell));
  return row;
}

Comparison comparison_of(const std::string& name) {
  if (name == "signed") return Comparison::signed_integer;
  if (name == "unsigned") return Comparison::unsigned_integer;
  if (name == "decimal") return Comparison::decimal;
  if (name == "real") return Comparison::real;
  if (name == "temporal") return Comparison::temporal;
  if (name == "bytes") return Comparison::bytes;
  if (name == "padded") return Comparison::padded_bytes;
  throw std::runtime_error("no such comparison: " + name);
}

SortKey key_of(const std::string& text) {
  SortKey key;
  std::string comparison, direction;
  std::istringstream(text) >> key.column >> comparison >> direction;
  key.comparison = comparison_of(comparison);
  key.descending = direction == "desc";
  return key;
}

OutputColumn output_of(const std::string& text) {
  OutputColumn output;
  std::string what, comparison;
  std::istringstream in(text);
  in >> what >> output.column;
  using What = OutputColumn::What;
  if (what == "first")
    output.what = What::first;
  else if (what == "count")
    output.what = What::count;
  else if (what == "sum")
    output.what = What::sum;
  else if (what == "min" || what == "max") {
    output.what = what == "min" ? What::min : What::max;
    in >> comparison;
    output.comparison = comparison_of(comparison);
  } else if (what == "avg") {
    output.what = What::avg;
    in >> output.count_column;
  } else {
    throw std::runtime_error("no such output: " + what);
  }
  return output;
}

How how_of(const std::string& name) {
  if (name == "pass") return How::pass;
  if (name == "concat") return How::concat;
  if (name == "ordered") return How::ordered;
  if (name == "grouped") return How::grouped;
  throw std::runtime_error("no such merge: " + name);
}

template <typename T, typename F>
std::vector<T> list_of(const std::string& text, F parse) {
  std::vector<T> list;
  for (const std::string& part : split(text, ',')) list.push_back(parse(part));
  return list;
}

// One line that is not a row.
void read_word(Case& c, const std::string& word, const std::string& rest) {
  if (word == "how")
    c.spec.how = how_of(rest);
  else if (word == "columns")
    c.columns = list_of<ColumnFacts>(rest, column_of);
  else if (word == "outputs")
    c.outputs = list_of<ColumnFacts>(rest, column_of);
  else if (word == "order")
    c.spec.order = list_of<SortKey>(rest, key_of);
  else if (word == "group")
    c.spec.group = list_of<SortKey>(rest, key_of);
  else if (word == "aggregates")
    c.spec.outputs = list_of<OutputColumn>(rest, output_of);
  else if (word == "visible")
    c.spec.visible_columns = static_cast<uint16_t>(std::stoul(rest));
  else if (word == "limit")
    c.spec.limit = std::stoull(rest);
  else if (word == "offset")
    c.spec.offset = std::stoull(rest);
  else if (word == "error")
    c.error = rest;
  else if (word == "only")
    c.formats = {rest == "text" ? RowFormat::text : RowFormat::binary};
  else
    throw std::runtime_error("no such word: " + word);
}

void finish(Case& c) {
  if (!c.outputs.empty() || c.spec.how == How::grouped) return;
  const size_t visible = c.spec.visible_columns == 0 ? c.columns.size() : c.spec.visible_columns;
  c.outputs.assign(c.columns.begin(), c.columns.begin() + static_cast<std::ptrdiff_t>(visible));
}

void read_lines(std::istream& in, std::vector<Case>& cases, int& number) {
  std::vector<TestRow>* target = nullptr;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (trim(line).empty()) continue;
    if (line.rfind("# ", 0) == 0) {
      if (!cases.empty()) finish(cases.back());
      cases.emplace_back().title = line.substr(2);
      cases.back().line = number;
      target = nullptr;
      continue;
    }
    if (cases.empty()) throw std::runtime_error("a case begins with # and its title");
    Case& c = cases.back();
    if (line[0] == ' ') {
      if (target == nullptr) throw std::runtime_error("a row outside source or rows");
      target->push_back(row_of(line));
      continue;
    }
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : trim(line.substr(space));
    if (word == "source")
      target = &c.sources.emplace_back();
    else if (word == "rows")
      target = &c.rows;
    else
      read_word(c, word, rest);
  }
  if (!cases.empty()) finish(cases.back());
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read");
  std::vector<Case> cases;
  int number = 0;
  try {
    read_lines(in, cases, number);
  } catch (const std::exception& fault) {
    throw std::runtime_error(path + ":" + std::to_string(number) + ": " + fault.what());
  }
  return cases;
}

}  // namespace evenkeel::merge::testing
