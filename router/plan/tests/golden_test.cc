// Runs every file of tests/cases: a world, then questions with the plan text or refusal that is expected. A
// file that no longer fits is written anew into the build folder, with the command that takes it over.
//
//   # comment
//   > SQL                  more lines starting with > go on
//   ? 5, 'a', NULL         parameters: binary execution
//   ! 5, 'a', NULL         parameters: as text with the values put in
//   @ last_insert_id=7     facts of the session, or `prototype`
//   the expected text, up to an empty line
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "router/plan/tests/planning.h"

namespace evenkeel::plan::testing {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void set_fact(const std::string& word, Question& question) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  SessionFacts& facts = question.facts;
  if (name == "prototype")
    question.prototype = true;
  else if (name == "last_insert_id")
    facts.last_insert_id = std::stoull(value);
  else if (name == "no_auto_value_on_zero")
    facts.no_auto_value_on_zero = true;
  else if (name == "no_database")
    facts.database = {};
  else if (name == "unix_micros")
    facts.unix_micros = std::stoll(value);
  else if (name == "max_statement_bytes")
    facts.max_statement_bytes = std::stoull(value);
  else if (name == "first_key")
    question.first_key = std::stoull(value);
  else if (name == "row_count")
    facts.row_count = std::stoll(value);
  else
    FAIL() << "unknown fact " << name;
}

// Feeds the file line by line and writes it out again with the answers of today.
std::string answered(const std::string& text, const World& world) {
  std::istringstream in(text);
  std::string out;
  Question question;
  const auto reset = [&] {
    question = Question{};
    question.facts.database = "shop";
    question.facts.connection_id = 12;
    question.facts.user = "app@127.0.0.1";
    question.facts.unix_micros = 1'700'000'000'123'456;
  };
  reset();
  bool header = true;
  bool asked = false;
  for (std::string line; std::getline(in, line);) {
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (header || line.empty() || line[0] == '#') {
      header = header && line != "----";
      if (asked && line.empty()) {
        out += answer_text(world, question);
        reset();
        asked = false;
      }
      out += line + "\n";
    } else if (line[0] == '>') {
      question.sql += (question.sql.empty() ? "" : "\n") + rest;
      asked = true;
      out += line + "\n";
    } else if (line[0] == '?' || line[0] == '!') {
      question.parameters = read_values(rest);
      question.binary = line[0] == '?';
      out += line + "\n";
    } else if (line[0] == '@') {
      std::istringstream words(rest);
      for (std::string word; words >> word;) set_fact(word, question);
      out += line + "\n";
    }
  }
  if (asked) out += answer_text(world, question);
  return out;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, PlansAsWritten) {
  const fs::path path = fs::path("router/plan/tests/cases") / (GetParam() + ".txt");
  const std::string text = read_file(path);
  ASSERT_FALSE(text.empty()) << path;
  const auto world = read_world(text.substr(0, text.find("\n----")));
  ASSERT_TRUE(world) << world.error().message;
  const std::string today = answered(text, *world);
  if (today == text) return;
  const fs::path folder = fs::path(EVENKEEL_BINARY_DIR) / "golden";
  fs::create_directories(folder);
  const fs::path written = folder / path.filename();
  std::ofstream(written) << today;
  std::istringstream expected(text);
  std::istringstream got(today);
  std::string a;
  std::string b;
  int number = 0;
  do {
    a.clear();
    b.clear();
    ++number;
    std::getline(expected, a);
    std::getline(got, b);
  } while (a == b && expected && got);
  FAIL() << path << ":" << number << "\n  expected: " << a << "\n  got:      " << b << "\ntake it over: cp "
         << written << " " << path;
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("router/plan/tests/cases")) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(files()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace evenkeel::plan::testing
