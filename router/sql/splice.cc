#include "router/sql/splice.h"

#include <algorithm>

namespace evenkeel::sql {
namespace {

using Marker = Tokens::Marker;

// Copies source bytes [begin, end) to `out`, delimiters of executed comments replaced by a blank if `unwrap`.
class Copier {
 public:
  Copier(const Tokens& tokens, bool unwrap, std::string& out) : tokens_(tokens), unwrap_(unwrap), out_(out) {}

  void copy(uint32_t begin, uint32_t end) {
    if (begin >= end) return;
    if (unwrap_) {
      for (const Marker& marker : tokens_.markers) {
        if (marker.begin < begin || marker.end > end) continue;
        out_ += tokens_.text.substr(begin, marker.begin - begin);
        out_ += ' ';
        begin = marker.end;
      }
    }
    out_ += tokens_.text.substr(begin, end - begin);
  }

 private:
  const Tokens& tokens_;
  const bool unwrap_;
  std::string& out_;
};

// Text inside an executed comment runs like any other, so its delimiters can go where an edit or a cut would
// leave one without the other.
bool must_unwrap(const Tokens& tokens, bool whole, const std::vector<Edit>& edits) {
  if (tokens.markers.empty()) return false;
  if (!whole) return true;
  return std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) {
    if (edit.span.last - edit.span.first < 2) return false;
    const uint32_t begin = tokens[edit.span.first].begin;
    const uint32_t end = tokens[edit.span.last - 1].end;
    return std::any_of(tokens.markers.begin(), tokens.markers.end(),
                       [&](const Marker& marker) { return marker.begin > begin && marker.end < end; });
  });
}

}  // namespace

void splice(const Tokens& tokens, Span part, const std::vector<Edit>& edits, std::string& out) {
  const auto end_token = static_cast<uint32_t>(tokens.size() - 1);
  part.last = std::min(part.last, end_token);
  const bool whole = part.first == 0 && part.last == end_token;
  if (part.empty() && !whole) return;
  const uint32_t begin = whole ? 0 : tokens[part.first].begin;
  const uint32_t end = whole ? static_cast<uint32_t>(tokens.text.size()) : tokens[part.last - 1].end;
  Copier copier(tokens, must_unwrap(tokens, whole, edits), out);
  uint32_t copied = begin;
  for (const Edit& edit : edits) {
    // At the end an insertion goes right behind the last token: a comment up to the end of the text may
    // follow.
    const bool at_end = edit.span.first >= part.last;
    const uint32_t from = !at_end                  ? tokens[edit.span.first].begin
                          : part.last > part.first ? tokens[part.last - 1].end
                                                   : begin;
    copier.copy(copied, from);
    copied = std::max(copied, from);
    out += edit.text;
    if (!edit.span.empty() && !at_end) copied = tokens[edit.span.last - 1].end;
  }
  copier.copy(copied, end);
}

}  // namespace evenkeel::sql
