#include "proxy/exec/sum_reply.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

using protocol::Part;

void add_counts(std::string_view message, std::vector<std::pair<std::string, uint64_t>>& counts) {
  while (true) {
    const size_t colon = message.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view word =
        message.substr(message.find_first_not_of(' '), colon - message.find_first_not_of(' '));
    uint64_t count = 0;
    const auto parsed = std::from_chars(message.data() + colon + 2, message.data() + message.size(), count);
    if (parsed.ec != std::errc()) return;
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](const auto& known) { return known.first == word; });
    if (found == counts.end()) {
      counts.emplace_back(word, count);
    } else {
      found->second += count;
    }
    message.remove_prefix(static_cast<size_t>(parsed.ptr - message.data()));
  }
}

void SumReply::on_part(Lane& lane, uint32_t, Part part, std::string_view payload) {
  if (part == Part::column_count) {
    set_error(unsupported("a write over several tables that returns rows (RETURNING)"));
    return;
  }
  if (part != Part::ok) return;
  auto ok = protocol::Ok::decode(payload, lane.connection().capabilities);
  if (!ok) {
    set_error(ok.error());
    return;
  }
  tally_.affected_rows += ok->affected_rows;
  tally_.warnings += ok->warnings;
  if (ok->message.empty() && plan_.insert_kind != plan::InsertKind::none) {
    count_row(*ok);
  } else {
    add_counts(ok->message, counts_);
  }
}

// A unit of one row says nothing of records and duplicates: they follow from the rows that it affected.
void SumReply::count_row(const protocol::Ok& ok) {
  uint64_t duplicates = 0;
  switch (plan_.insert_kind) {
    case plan::InsertKind::none:
    case plan::InsertKind::plain:
      break;
    case plan::InsertKind::ignore:
      duplicates = ok.affected_rows == 0 ? 1 : 0;
      break;
    case plan::InsertKind::replace:  // the row itself, and those that it took the place of
      duplicates = ok.affected_rows - std::min<uint64_t>(ok.affected_rows, 1);
      break;
    case plan::InsertKind::on_duplicate:  // 2: an existing row was changed
      duplicates = ok.affected_rows == 2 ? 1 : 0;
      break;
  }
  add_counts(fmt::format("Records: 1  Duplicates: {}  Warnings: 0", duplicates), counts_);
}

void SumReply::complete(uint64_t insert_id, uint32_t warnings) {
  for (auto& [word, count] : counts_) {
    if (word == "Warnings") count = warnings;
    tally_.message += fmt::format("{}{}: {}", tally_.message.empty() ? "" : "  ", word, count);
  }
  Reply::complete(insert_id, warnings);
}

}  // namespace evenkeel::exec
