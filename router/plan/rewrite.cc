#include "router/plan/rewrite.h"

#include <algorithm>

#include "router/sql/literal.h"

namespace evenkeel::plan {

void Piece::append(const Piece& other) {
  text += other.text;
  parameters.insert(parameters.end(), other.parameters.begin(), other.parameters.end());
}

std::string qualified(const rule::ActualTable& table) {
  std::string out;
  out.reserve(table.database.size() + table.table.size() + 8);
  sql::append_identifier(table.database, out);
  out += '.';
  sql::append_identifier(table.table, out);
  return out;
}

Rewrite::Rewrite(const Arguments& arguments, std::span<const uint32_t> parameter_tokens)
    : arguments_(arguments), parameter_tokens_(parameter_tokens) {}

void Rewrite::replace(sql::Span span, std::string text) { replace(span, Piece{std::move(text), {}}); }

void Rewrite::replace(sql::Span span, Piece piece) {
  edits_.push_back(Edit{span, std::move(piece), nullptr, NameStyle::bare, {}});
}

void Rewrite::insert(uint32_t before, Piece piece) { replace(sql::Span{before, before}, std::move(piece)); }

void Rewrite::name(sql::Span span, const rule::LogicalTable& table, NameStyle style, std::string_view shown) {
  edits_.push_back(Edit{span, {}, &table, style, shown});
}

Piece Rewrite::literal(const mysql::Value& value) const {
  Piece piece;
  sql::append_literal(value, arguments_.facts.lex, piece.text);
  return piece;
}

Piece Rewrite::value(const mysql::Value& value) {
  if (!arguments_.binary) return literal(value);
  extra_.push_back(value);
  return Piece{"?", {static_cast<uint32_t>(parameter_tokens_.size() + extra_.size() - 1)}};
}

void Rewrite::seal() {
  // An insertion before a token comes before an edit that begins there.
  std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
    return a.span.first != b.span.first ? a.span.first < b.span.first : a.span.empty() && !b.span.empty();
  });
}

void Rewrite::point_at(rule::Slot slot) {
  for (Edit& edit : edits_) {
    if (edit.table == nullptr) continue;
    edit.piece.text = qualified(edit.table->slots[slot]);
    if (edit.style == NameStyle::with_alias) {
      edit.piece.text += " AS ";
      sql::append_identifier(edit.shown, edit.piece.text);
    }
  }
}

// Bytes that no edit touches; a ? among them is a parameter, or its value where text is executed.
void Rewrite::copy(uint32_t from_byte, uint32_t to_byte, uint32_t first_token, uint32_t last_token,
                   bool unwrap, Piece& out) const {
  auto at = std::lower_bound(parameter_tokens_.begin(), parameter_tokens_.end(), first_token);
  for (; at != parameter_tokens_.end() && *at < last_token; ++at) {
    const uint32_t index = static_cast<uint32_t>(at - parameter_tokens_.begin());
    if (arguments_.binary || index >= arguments_.parameters.size()) {
      out.parameters.push_back(index);
      continue;
    }
    const sql::Token& token = arguments_.tokens[*at];
    copy_bytes(from_byte, token.begin, unwrap, out);
    sql::append_literal(arguments_.parameters[index], arguments_.facts.lex, out.text);
    from_byte = token.end;
  }
  copy_bytes(from_byte, to_byte, unwrap, out);
}

void Rewrite::copy_bytes(uint32_t from, uint32_t to, bool unwrap, Piece& out) const {
  const sql::Tokens& tokens = arguments_.tokens;
  if (unwrap) {
    for (const auto& marker : tokens.markers) {
      if (marker.begin < from || marker.end > to) continue;
      out.text += tokens.text.substr(from, marker.begin - from);
      out.text += ' ';
      from = marker.end;
    }
  }
  out.text += tokens.text.substr(from, to - from);
}

// Whether an edit replaces one delimiter of an executed comment without the other.
bool Rewrite::edits_cross_markers() const {
  const sql::Tokens& tokens = arguments_.tokens;
  return std::any_of(edits_.begin(), edits_.end(), [&](const Edit& edit) {
    if (edit.span.empty()) return false;
    const uint32_t begin = tokens[edit.span.first].begin;
    const uint32_t end = tokens[edit.span.last - 1].end;
    return std::any_of(tokens.markers.begin(), tokens.markers.end(),
                       [&](const auto& marker) { return marker.begin > begin && marker.end < end; });
  });
}

// A part may hold one delimiter of an executed comment without the other.
void Rewrite::write(sql::Span part, std::span<const Edit> also, Piece& out) const {
  write_part(part, also, !arguments_.tokens.markers.empty(), out);
}

void Rewrite::write_part(sql::Span part, std::span<const Edit> also, bool unwrap, Piece& out) const {
  if (part.empty()) return;
  const sql::Tokens& tokens = arguments_.tokens;
  auto own = std::lower_bound(edits_.begin(), edits_.end(), part.first,
                              [](const Edit& edit, uint32_t first) { return edit.span.first < first; });
  auto extra = also.begin();
  uint32_t token = part.first;
  uint32_t byte = tokens[part.first].begin;
  for (;;) {
    const bool own_left = own != edits_.end() && own->span.first <= part.last && own->span.last <= part.last;
    const bool extra_left = extra != also.end();
    if (!own_left && !extra_left) break;
    // At one place: insertions of its own, then further edits, then replacements.
    const bool take_extra = extra_left && (!own_left || extra->span.first < own->span.first ||
                                           (extra->span.first == own->span.first && !own->span.empty()));
    const Edit& edit = take_extra ? *extra : *own;
    if (take_extra)
      ++extra;
    else
      ++own;
    if (edit.span.first < token) continue;  // inside a span that was replaced
    if (edit.span.empty()) {
      // Close to the token before, so that blanks stay where the client put them.
      const uint32_t at =
          edit.span.first == part.first ? tokens[part.first].begin : tokens[edit.span.first - 1].end;
      if (at > byte) {
        copy(byte, at, token, edit.span.first, unwrap, out);
        byte = at;
        token = edit.span.first;
      }
      out.append(edit.piece);
      continue;
    }
    copy(byte, tokens[edit.span.first].begin, token, edit.span.first, unwrap, out);
    out.append(edit.piece);
    token = edit.span.last;
    byte = tokens[edit.span.last - 1].end;
  }
  const uint32_t end = tokens[part.last - 1].end;
  if (end > byte) copy(byte, end, token, part.last, unwrap, out);
}

void Rewrite::write_statement(sql::Span statement, Piece& out) const {
  const sql::Tokens& tokens = arguments_.tokens;
  const bool alone = statement.first == 0 && statement.last + 1 == tokens.size();
  if (!alone || statement.empty()) return write(statement, out);
  out.text.reserve(out.text.size() + tokens.text.size() + 64);
  const bool unwrap = edits_cross_markers();
  copy_bytes(0, tokens[0].begin, unwrap, out);
  write_part(statement, {}, unwrap, out);
  copy_bytes(tokens[statement.last - 1].end, static_cast<uint32_t>(tokens.text.size()), unwrap, out);
}

}  // namespace evenkeel::plan
