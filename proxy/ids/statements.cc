#include "proxy/ids/statements.h"

#include <fmt/format.h>
#include <memory>
#include <utility>

namespace evenkeel::ids {

using answer::Answer;
using answer::Phrase;
using answer::PhraseReader;
using answer::Word;
using mysql::ResultTable;
using mysql::Value;

namespace {

constexpr std::string_view allowed_select =
    "NEXT_ID('space'), * FROM NEXT_IDS('space', count), * FROM DECODE_ID(id [, 'space'])";

// A statement that was understood; names and numbers may be parameters without a value yet.
struct Asked {
  enum class What : uint8_t { next_id, next_ids, decode, key_spaces, help } what = What::help;
  std::vector<mysql::ResultColumn> columns;
  // What stands between the parentheses.
  std::vector<Word> arguments;
};

Result<std::vector<Word>> read_arguments(PhraseReader& reader, size_t least, size_t most) {
  EVENKEEL_TRY(reader.expect_symbol("("));
  std::vector<Word> arguments;
  do {
    if (reader.peek().kind == Word::Kind::symbol || reader.at_end())
      return fail(reader.unexpected("a value"));
    arguments.push_back(reader.next());
  } while (arguments.size() < most && reader.take_symbol(","));
  if (arguments.size() < least) return fail(reader.unexpected(", and another value"));
  EVENKEEL_TRY(reader.expect_symbol(")"));
  return arguments;
}

// An alias, LIMIT n where n does not cut, or nothing.
Status read_tail(PhraseReader& reader, std::string* column) {
  if (reader.take("AS") || reader.peek().is_name()) {
    EVENKEEL_ASSIGN(std::string alias, reader.expect_name("an alias"));
    if (column != nullptr) *column = std::move(alias);
  }
  return reader.expect_end();
}

Result<Asked> read_select(const Phrase& phrase, PhraseReader& reader) {
  Asked asked;
  if (reader.peek().is("NEXT_ID") || reader.peek().is("DECODE_ID")) {
    const uint32_t begin = reader.peek().begin;
    const bool decode = reader.next().is("DECODE_ID");
    EVENKEEL_ASSIGN(asked.arguments, read_arguments(reader, 1, decode ? 2 : 1));
    asked.what = decode ? Asked::What::decode : Asked::What::next_id;
    std::string name = phrase.text.substr(begin, reader.peek().begin - begin);
    while (name.ends_with(' ') || name.ends_with(';')) name.pop_back();
    EVENKEEL_TRY(read_tail(reader, decode ? nullptr : &name));
    asked.columns =
        decode ? decoded_columns() : std::vector<mysql::ResultColumn>{{std::move(name), Value::Kind::uint64}};
    return asked;
  }
  const bool one_column = reader.take("id");
  if (!one_column && !reader.take_symbol("*")) return fail(reader.unexpected(allowed_select));
  EVENKEEL_TRY(reader.expect("FROM"));
  if (reader.take("NEXT_IDS")) {
    EVENKEEL_ASSIGN(asked.arguments, read_arguments(reader, 2, 2));
    asked.what = Asked::What::next_ids;
    asked.columns = {{"id", Value::Kind::uint64}};
  } else if (!one_column && reader.take("DECODE_ID")) {
    EVENKEEL_ASSIGN(asked.arguments, read_arguments(reader, 1, 2));
    asked.what = Asked::What::decode;
    asked.columns = decoded_columns();
  } else {
    return fail(reader.unexpected("NEXT_IDS, DECODE_ID"));
  }
  EVENKEEL_TRY(read_tail(reader, nullptr));
  return asked;
}

Result<Asked> read(const Phrase& phrase) {
  PhraseReader reader(phrase);
  if (reader.take("SELECT")) return read_select(phrase, reader);
  Asked asked;
  if (reader.take_words({"SHOW", "KEY", "SPACES"})) {
    asked.what = Asked::What::key_spaces;
    asked.columns = {{"key_space"}, {"layout"}, {"slots", Value::Kind::uint64}, {"ids", Value::Kind::uint64}};
  } else if (reader.take("HELP")) {
    asked.columns = {{"statement"}, {"meaning"}};
  } else {
    return fail(reader.unexpected("SELECT, SHOW KEY SPACES, HELP"));
  }
  EVENKEEL_TRY(reader.expect_end());
  return asked;
}

// The arguments as a phrase of their own, so that errors name them as they stand.
class Arguments {
 public:
  Arguments(const Phrase& phrase, const std::vector<Word>& words) : phrase_(phrase), words_(words) {}

  Result<std::string> name(size_t which) const {
    const Word& word = words_[which];
    if (word.kind != Word::Kind::string && !word.is_name())
      return fail(reader_at(which).unexpected("a key space's name, quoted"));
    return word.text;
  }
  Result<uint64_t> number(size_t which, std::string_view what, uint64_t least, uint64_t most) const {
    return reader_at(which).expect_integer(what, least, most);
  }

 private:
  PhraseReader reader_at(size_t which) const {
    PhraseReader reader(phrase_);
    while (!reader.at_end() && !(reader.peek() == words_[which])) reader.next();
    return reader;
  }

  const Phrase& phrase_;
  const std::vector<Word>& words_;
};

ResultTable help_table() {
  ResultTable table{{{"statement"}, {"meaning"}}, {}};
  const auto line = [&](std::string statement, std::string meaning) {
    table.rows.push_back({Value::string(std::move(statement)), Value::string(std::move(meaning))});
  };
  line("SELECT NEXT_ID('orders')", "one id of a key space");
  line("SELECT * FROM NEXT_IDS('orders', 100)", "several, one a row");
  line("SELECT * FROM DECODE_ID(12345, 'orders')", "an id's time, worker, sequence and slot");
  line("SHOW KEY SPACES", "which there are");
  return table;
}

// Again and again until all ids are there.
Result<Answer> give_ids(const std::shared_ptr<Drawing>& drawing,
                        const std::vector<mysql::ResultColumn>& columns) {
  EVENKEEL_ASSIGN(const auto wait, drawing->go_on());
  if (wait) return Answer{answer::Later{*wait, [drawing, columns] { return give_ids(drawing, columns); }}};
  ResultTable table{columns, {}};
  table.rows.reserve(drawing->ids().size());
  for (const uint64_t id : drawing->ids()) table.rows.push_back({Value::uint64(id)});
  return Answer{std::move(table)};
}

}  // namespace

Result<Answer> IdStatements::answer(const Phrase& phrase, const answer::Caller&) {
  EVENKEEL_ASSIGN(const Asked asked, read(phrase));
  const Arguments arguments(phrase, asked.arguments);
  switch (asked.what) {
    case Asked::What::next_id:
    case Asked::What::next_ids: {
      EVENKEEL_ASSIGN(const std::string name, arguments.name(0));
      EVENKEEL_ASSIGN(const OpenSpace* space, spaces_.find(name));
      uint64_t count = 1;
      if (asked.what == Asked::What::next_ids) {
        EVENKEEL_ASSIGN(count, arguments.number(1, "how many ids", 1, spaces_.max_count()));
      }
      return give_ids(std::make_shared<Drawing>(*space, static_cast<uint32_t>(count)), asked.columns);
    }
    case Asked::What::decode: {
      EVENKEEL_ASSIGN(const uint64_t id, arguments.number(0, "an id", 0, UINT64_MAX));
      std::optional<std::string> name;
      if (asked.arguments.size() > 1) {
        EVENKEEL_ASSIGN(name, arguments.name(1));
      }
      EVENKEEL_ASSIGN(const OpenSpace* space, spaces_.find_for_decode(name));
      EVENKEEL_ASSIGN(ResultTable table, decode(*space, id));
      return Answer{std::move(table)};
    }
    case Asked::What::key_spaces: {
      ResultTable table{asked.columns, {}};
      for (const auto& space : spaces_.all()) {
        table.rows.push_back({Value::string(space.name), Value::string(space.fingerprint()),
                              Value::uint64(space.slots), Value::uint64(space.generator->counters().ids)});
      }
      return Answer{std::move(table)};
    }
    case Asked::What::help:
      return Answer{help_table()};
  }
  return fail(internal_error("a statement that was read and is not answered"));
}

Result<std::vector<mysql::ResultColumn>> IdStatements::describe(const Phrase& phrase) {
  EVENKEEL_ASSIGN(Asked asked, read(phrase));
  return std::move(asked.columns);
}

}  // namespace evenkeel::ids
