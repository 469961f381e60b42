#include "router/sql/create_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "router/sql/keywords.h"
#include "router/sql/literal.h"
#include "router/sql/syntax_error.h"

namespace evenkeel::sql {
namespace {

constexpr uint16_t er_dup_fieldname = 1060;
constexpr uint16_t er_key_column_does_not_exist = 1072;

struct Spelling {
  std::string_view written;
  std::string_view server;
};
constexpr std::array<Spelling, 21> spellings = {{
    {"integer", "int"},         {"int1", "tinyint"},
    {"int2", "smallint"},       {"int3", "mediumint"},
    {"middleint", "mediumint"}, {"int4", "int"},
    {"int8", "bigint"},         {"dec", "decimal"},
    {"numeric", "decimal"},     {"fixed", "decimal"},
    {"number", "decimal"},      {"float4", "float"},
    {"float8", "double"},       {"real", "double"},
    {"character", "char"},      {"varcharacter", "varchar"},
    {"nchar", "char"},          {"nvarchar", "varchar"},
    {"long", "mediumtext"},     {"geomcollection", "geometrycollection"},
    {"clob", "longtext"},
}};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return out;
}

bool same_name(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

// A cursor over the tokens of one definition. Each rule is false when the text has another form.
class Definition {
 public:
  Definition(const Tokens& tokens, const LexRules& rules, Span part)
      : tokens_(tokens),
        rules_(rules),
        at_(part.first),
        last_(std::min<uint32_t>(part.last, tokens.size() - 1)) {
    while (last_ > at_ && tokens_[last_ - 1].op == Op::semicolon) --last_;
  }

  Result<TableDefinition> run() {
    if (!head()) return error("no CREATE TABLE statement");
    if (keyword() == Keyword::like || (op() == Op::lparen && keyword(1) == Keyword::like)) {
      return fail(unsupported("CREATE TABLE … LIKE does not say what the columns are"));
    }
    if (op() != Op::lparen) return without_columns();
    ++at_;
    do {
      if (!element()) return error("a column or key that is not understood");
    } while (accept(Op::comma));
    if (!accept(Op::rparen)) return error("a column or key that is not understood");
    if (!options()) return fail(unsupported("CREATE TABLE … SELECT does not say what the columns are"));
    return checked();
  }

 private:
  const Token& token(uint32_t ahead = 0) const {
    static constexpr Token end{};
    return at_ + ahead < last_ ? tokens_[at_ + ahead] : end;
  }
  Keyword keyword(uint32_t ahead = 0) const { return token(ahead).keyword; }
  Op op(uint32_t ahead = 0) const { return token(ahead).op; }
  bool at_end() const { return at_ >= last_; }
  bool accept(Keyword word) {
    if (keyword() != word) return false;
    ++at_;
    return true;
  }
  bool accept(Op wanted) {
    if (op() != wanted) return false;
    ++at_;
    return true;
  }
  bool accept(Keyword first, Keyword second) {
    if (keyword() != first || keyword(1) != second) return false;
    at_ += 2;
    return true;
  }
  Error syntax(std::string_view reason) const {
    return syntax_error(tokens_.text, at_end() ? tokens_.text.size() : token().begin, reason);
  }
  tl::unexpected<Error> error(std::string_view reason) const { return fail(syntax(reason)); }

  bool name(std::string& out) {
    const std::string_view text = tokens_.text_of(std::min(at_, last_));
    switch (token().kind) {
      case TokenKind::quoted_identifier:
        out = unquote_identifier(text, rules_);
        break;
      case TokenKind::identifier:
      case TokenKind::introducer:
        out = text;
        break;
      default:
        return false;
    }
    ++at_;
    return true;
  }
  // A word or a string: the name of a character set, a collation or an engine.
  bool word(std::string& out) {
    if (token().kind != TokenKind::string) return name(out);
    out = unescape_string(tokens_.text_of(at_++), rules_);
    return true;
  }
  bool number(std::optional<uint32_t>& out) {
    if (token().kind != TokenKind::integer) return false;
    const std::string_view digits = tokens_.text_of(at_++);
    uint32_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    out = value;
    return result.ec == std::errc{};
  }
  // One token, or a parenthesis with all that is in it.
  void skip() {
    if (op() != Op::lparen) {
      if (!at_end()) ++at_;
      return;
    }
    int depth = 0;
    do {
      if (op() == Op::lparen) ++depth;
      if (op() == Op::rparen) --depth;
      ++at_;
    } while (depth > 0 && !at_end());
  }
  void skip_element() {
    while (!at_end() && op() != Op::comma && op() != Op::rparen) skip();
  }

  bool head() {
    if (!accept(Keyword::create)) return false;
    accept(Keyword::or_, Keyword::replace);
    table_.temporary = accept(Keyword::temporary);
    if (!accept(Keyword::table)) return false;
    if (accept(Keyword::if_)) table_.if_not_exists = accept(Keyword::not_, Keyword::exists);
    if (!name(table_.table)) return false;
    if (!accept(Op::dot)) return true;
    table_.schema = std::move(table_.table);
    return name(table_.table);
  }

  Result<TableDefinition> without_columns() {
    if (!options() || keyword() == Keyword::as) {
      return fail(unsupported("CREATE TABLE … SELECT does not say what the columns are"));
    }
    return error("a table without columns");
  }

  bool element() {
    KeyDefinition key;
    if (accept(Keyword::constraint)) {
      const bool named = keyword() != Keyword::primary && keyword() != Keyword::unique &&
                         keyword() != Keyword::foreign && keyword() != Keyword::check;
      if (named && !name(key.name)) return false;
    }
    switch (keyword()) {
      case Keyword::foreign:
      case Keyword::check:
        skip_element();
        return true;
      case Keyword::period:
        if (keyword(1) != Keyword::for_) break;
        skip_element();
        return true;
      case Keyword::primary:
        key.kind = KeyKind::primary;
        break;
      case Keyword::unique:
        key.kind = KeyKind::unique;
        break;
      case Keyword::fulltext:
        key.kind = KeyKind::fulltext;
        break;
      case Keyword::spatial:
        key.kind = KeyKind::spatial;
        break;
      case Keyword::index:
      case Keyword::key:
        break;
      default:
        return column();
    }
    return key_element(key);
  }

  // PRIMARY KEY | UNIQUE [KEY] | FULLTEXT | SPATIAL | KEY [name] [USING x] (a(10) DESC, (a + b), …) …
  bool key_element(KeyDefinition& key) {
    if (key.kind != KeyKind::plain) ++at_;
    const bool word = accept(Keyword::key) || accept(Keyword::index);
    if (!word && (key.kind == KeyKind::plain || key.kind == KeyKind::primary)) return false;
    if (accept(Keyword::if_)) accept(Keyword::not_, Keyword::exists);
    if (op() != Op::lparen && keyword() != Keyword::using_ && !name(key.name)) return false;
    if (key.kind == KeyKind::primary) key.name = "PRIMARY";
    if (accept(Keyword::using_)) ++at_;
    if (!accept(Op::lparen)) return false;
    do {
      KeyColumn part;
      if (op() == Op::lparen) {
        skip();
      } else {
        std::optional<uint32_t> prefix;
        if (!name(part.name)) return false;
        if (accept(Op::lparen) && (!number(prefix) || !accept(Op::rparen))) return false;
        part.prefix = prefix.value_or(0);
      }
      if (!accept(Keyword::asc)) accept(Keyword::desc);
      key.columns.push_back(std::move(part));
    } while (accept(Op::comma));
    if (!accept(Op::rparen)) return false;
    skip_element();
    table_.keys.push_back(std::move(key));
    return true;
  }

  bool column() {
    ColumnDefinition column;
    if (!name(column.name) || !type(column)) return false;
    while (!at_end() && op() != Op::comma && op() != Op::rparen) {
      if (!attribute(column)) return false;
    }
    table_.columns.push_back(std::move(column));
    return true;
  }

  bool type(ColumnDefinition& column) {
    bool national = accept(Keyword::national);
    if (token().kind != TokenKind::identifier) return false;
    column.type = lower(tokens_.text_of(at_++));
    national = national || column.type == "nchar" || column.type == "nvarchar";
    if (column.type == "bool" || column.type == "boolean") {
      column.type = "tinyint";
      column.length = 1;
    } else if (column.type == "serial") {
      column.type = "bigint";
      column.is_unsigned = column.auto_increment = true;
      column.nullable = false;
      table_.keys.push_back({KeyKind::unique, {}, {{column.name, 0}}});
    } else if (column.type == "double") {
      accept(Keyword::precision);
    } else if (column.type == "long") {
      if (accept(Keyword::varbinary)) column.type = "mediumblob";
      if (!accept(Keyword::varchar)) accept(Keyword::char_, Keyword::varying);
    } else if (column.type == "char" || column.type == "character" || column.type == "nchar") {
      if (accept(Keyword::varying) || accept(Keyword::varchar)) column.type = "varchar";
    }
    for (const Spelling& spelling : spellings) {
      if (column.type == spelling.written) column.type = spelling.server;
    }
    if (national) column.charset = "utf8";
    return !accept(Op::lparen) || type_arguments(column);
  }

  bool type_arguments(ColumnDefinition& column) {
    if (column.type == "enum" || column.type == "set") {
      do {
        if (token().kind == TokenKind::introducer) ++at_;
        if (token().kind != TokenKind::string) return false;
        column.members.push_back(unescape_string(tokens_.text_of(at_++), rules_));
      } while (accept(Op::comma));
      return accept(Op::rparen);
    }
    if (!number(column.length)) return false;
    if (accept(Op::comma) && !number(column.decimals)) return false;
    return accept(Op::rparen);
  }

  bool attribute(ColumnDefinition& column) {
    switch (keyword()) {
      case Keyword::unsigned_:
        column.is_unsigned = true;
        break;
      case Keyword::zerofill:
        column.zerofill = column.is_unsigned = true;
        break;
      case Keyword::binary:
        column.binary = true;
        break;
      case Keyword::byte:
        if (column.type != "char" && column.type != "varchar") return false;
        column.type = column.type == "char" ? "binary" : "varbinary";
        break;
      case Keyword::ascii:
        column.charset = "latin1";
        break;
      case Keyword::unicode:
        column.charset = "ucs2";
        break;
      case Keyword::char_:
      case Keyword::character:
        if (keyword(1) != Keyword::set) return false;
        at_ += 2;
        return word(column.charset);
      case Keyword::charset:
        ++at_;
        return word(column.charset);
      case Keyword::collate:
        ++at_;
        return word(column.collate);
      case Keyword::not_:
        if (keyword(1) != Keyword::null) return false;
        column.nullable = false;
        ++at_;
        break;
      case Keyword::auto_increment:
        column.auto_increment = true;
        break;
      case Keyword::default_:
        return default_value(column);
      case Keyword::on:  // UPDATE CURRENT_TIMESTAMP
        at_ += 3;
        if (op() == Op::lparen) skip();
        return true;
      case Keyword::primary:
      case Keyword::unique:
      case Keyword::key:
        return column_key(column);
      case Keyword::generated:
        ++at_;
        if (!accept(Keyword::always) || keyword() != Keyword::as) return false;
        return generated(column);
      case Keyword::as:
        return generated(column);
      case Keyword::invisible:
        column.invisible = true;
        break;
      case Keyword::references:
        skip_element();  // the server reads and ignores it, with its ON DELETE …
        return true;
      case Keyword::comment:
        at_ += 2;
        return true;
      default:
        break;  // SIGNED, VISIBLE, COMPRESSED, COLUMN_FORMAT x, STORAGE x, SRID n, CHECK (…), CONSTRAINT c
    }
    skip();
    return true;
  }

  bool default_value(ColumnDefinition& column) {
    ++at_;
    column.has_default = true;
    column.default_is_null = keyword() == Keyword::null;
    if (op() == Op::minus || op() == Op::plus) ++at_;
    const bool string = token().kind == TokenKind::introducer || token().kind == TokenKind::string;
    skip();
    while (string && token().kind == TokenKind::string) ++at_;
    if (op() == Op::lparen) skip();  // CURRENT_TIMESTAMP(6), uuid()
    return true;
  }

  bool column_key(ColumnDefinition& column) {
    const bool unique = accept(Keyword::unique);
    const bool primary = !unique && (accept(Keyword::primary), true);
    const bool word = accept(Keyword::key);
    if (primary && !word) return false;
    table_.keys.push_back(
        {unique ? KeyKind::unique : KeyKind::primary, unique ? "" : "PRIMARY", {{column.name, 0}}});
    return true;
  }

  bool generated(ColumnDefinition& column) {
    ++at_;
    column.generated = true;
    if (op() != Op::lparen && keyword() != Keyword::row) return false;
    skip();  // (expression), or ROW of ROW START
    return true;
  }

  // Table options up to the end; false when a query follows.
  bool options() {
    while (!at_end()) {
      accept(Keyword::default_);
      if (keyword() == Keyword::select || keyword() == Keyword::with || keyword() == Keyword::values ||
          (keyword() == Keyword::as)) {
        if (keyword() != Keyword::with || keyword(1) != Keyword::system) return false;
      }
      std::string* target = nullptr;
      if (accept(Keyword::charset) || accept(Keyword::character, Keyword::set) ||
          accept(Keyword::char_, Keyword::set)) {
        target = &table_.charset;
      } else if (accept(Keyword::collate)) {
        target = &table_.collate;
      } else if (accept(Keyword::engine)) {
        target = &table_.engine;
      }
      if (target == nullptr) {
        skip();
      } else {
        accept(Op::eq);
        if (!word(*target)) return true;
      }
    }
    return true;
  }

  Result<TableDefinition> checked() {
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!same_name(table_.columns[i].name, table_.columns[j].name)) continue;
        return fail(make_error(ErrorKind::statement, er_dup_fieldname,
                               fmt::format("Duplicate column name '{}'", table_.columns[i].name)));
      }
    }
    for (const KeyDefinition& key : table_.keys) {
      for (const KeyColumn& part : key.columns) {
        if (part.name.empty()) continue;
        const auto column =
            std::find_if(table_.columns.begin(), table_.columns.end(),
                         [&](const ColumnDefinition& c) { return same_name(c.name, part.name); });
        if (column == table_.columns.end()) {
          return fail(make_error(ErrorKind::statement, er_key_column_does_not_exist,
                                 fmt::format("Key column '{}' doesn't exist in table", part.name)));
        }
        if (key.kind == KeyKind::primary) column->nullable = false;
      }
    }
    return std::move(table_);
  }

  const Tokens& tokens_;
  const LexRules& rules_;
  uint32_t at_;
  uint32_t last_;
  TableDefinition table_;
};

}  // namespace

Result<TableDefinition> parse_create_table(const Tokens& tokens, const LexRules& rules, Span part) {
  return Definition(tokens, rules, part).run();
}

}  // namespace evenkeel::sql
