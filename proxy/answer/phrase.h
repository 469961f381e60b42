// A statement for the program itself as a row of words, and a reader that says what it did not expect.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"

namespace evenkeel::answer {

struct Word {
  enum class Kind : uint8_t {
    bare,             // SHOW, orders
    quoted,           // `orders`
    string,           // 'orders', or a bound parameter
    integer,          // 128, or a bound parameter
    number,           // 1.5, 1e3
    parameter,        // ?, not yet bound
    user_variable,    // @abc
    system_variable,  // @@abc
    symbol,           // ( ) , . = …
    end,
  } kind = Kind::end;
  std::string text;    // bare as written; quotes and the signs @ and @@ removed
  uint32_t begin = 0;  // bytes of the statement where it stands
  uint32_t end = 0;

  bool is(std::string_view keyword) const;  // a bare word, letter case does not count
  bool is_symbol(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  // A name of something: bare or quoted.
  bool is_name() const { return kind == Kind::bare || kind == Kind::quoted; }
  bool operator==(const Word&) const = default;
};

// A plain value. The last word has kind `end`.
struct Phrase {
  std::string text;
  std::vector<Word> words;
  uint16_t parameters = 0;

  bool empty() const { return words.size() <= 1; }
  // One statement; a closing semicolon is dropped. Errors: 1064 for what the lexer refuses and for a second
  // statement.
  static Result<Phrase> read(std::string_view text);
  // With the parameters in the places of ?, as many as there are.
  Result<Phrase> bind(std::span<const mysql::Value> values) const;
};

// Borrows the phrase.
class PhraseReader {
 public:
  explicit PhraseReader(const Phrase& phrase) : phrase_(phrase) {}

  const Word& peek(size_t ahead = 0) const;
  const Word& next();
  bool at_end() const { return peek().kind == Word::Kind::end; }
  // Takes the word, or leaves all as it is. `take_words`: all of them or none.
  bool take(std::string_view keyword);
  bool take_words(std::initializer_list<std::string_view> keywords);
  bool take_symbol(std::string_view symbol);

  // Error 1064 that names the word at hand, or the one `ahead` of it, and what may stand there.
  Error unexpected(std::string_view allowed, size_t ahead = 0) const;
  Status expect(std::string_view keyword);
  Status expect_symbol(std::string_view symbol);
  Status expect_end();
  Result<std::string> expect_name(std::string_view what);
  // Digits, in least..most. `what` names it in the errors.
  Result<uint64_t> expect_integer(std::string_view what, uint64_t least, uint64_t most);

 private:
  const Phrase& phrase_;
  size_t at_ = 0;
};

// Whether two words are the same when letter case does not count (ASCII).
bool same_word(std::string_view a, std::string_view b);

}  // namespace evenkeel::answer
