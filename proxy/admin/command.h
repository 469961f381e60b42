// What an operator orders, understood: statement -> value. A recursive-descent parser over the words of a
// phrase; docs/admin.md has the grammar for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "proxy/answer/answer.h"
#include "proxy/skew/operations.h"

namespace evenkeel::admin {

// SHOW TOPOLOGY, SHOW GENERATORS … : what takes no arguments.
struct Show {
  enum class What : uint8_t {
    topology,
    generators,
    workers,
    sessions,
    pools,
    statistics,
    slow_queries
  } what = What::topology;
  bool operator==(const Show&) const = default;
};
struct ShowSkew {
  std::optional<skew::TableName> table;
  skew::Grouping by = skew::Grouping::table;
  bool operator==(const ShowSkew&) const = default;
};
struct ShowSteering {
  bool history = false;
  bool operator==(const ShowSteering&) const = default;
};
struct Steer {
  skew::SteerOrder order;  // `ordered_by` is filled by who runs it
  bool dry_run = false;
  bool operator==(const Steer&) const = default;
};
struct ExplainSteering {
  skew::TableName table;
  std::optional<uint32_t> slot;
  bool operator==(const ExplainSteering&) const = default;
};
struct DecodeId {
  uint64_t id = 0;
  std::optional<skew::TableName> table;  // none: of every layout in use
  bool operator==(const DecodeId&) const = default;
};
struct ReloadConfig {
  bool operator==(const ReloadConfig&) const = default;
};
struct Kill {
  uint64_t connection_id = 0;
  bool query_only = false;
  bool operator==(const Kill&) const = default;
};
struct Help {
  bool operator==(const Help&) const = default;
};

using Command =
    std::variant<Show, ShowSkew, ShowSteering, Steer, ExplainSteering, DecodeId, ReloadConfig, Kill, Help>;

// Errors: 1064 that names the word that was not expected, where it stands, and what may stand there.
Result<Command> parse(const answer::Phrase& phrase);

// What its caller must be allowed.
answer::Rights rights_of(const Command& command);

// The statement in its one canonical form, for logs and tests.
std::string to_text(const Command& command);

// Every statement with its meaning, for HELP.
struct HelpLine {
  std::string_view statement;
  std::string_view meaning;
};
const std::vector<HelpLine>& help_lines();

}  // namespace evenkeel::admin
