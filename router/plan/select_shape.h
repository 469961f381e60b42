// How a SELECT is asked of several tables and its rows put together: found once per shape.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "router/merge/spec.h"
#include "router/plan/analysis.h"

namespace evenkeel::plan {

struct HiddenColumn {
  std::string text;    // the expression; or, when empty:
  sql::Span count_of;  // COUNT(these tokens)
};

struct ScatterShape {
  merge::Spec spec;  // but for offset and limit
  std::vector<HiddenColumn> hidden;
  // Stars that must be spelled out, since merging goes by column positions.
  struct Star {
    sql::Span span;
    std::string columns;
  };
  std::vector<Star> stars;
  std::vector<uint32_t> averages;  // tokens AVG that become SUM
  std::string order;  // "ORDER BY 2 DESC, 5" over a statement's own columns; empty when order does not matter
  // Whether one statement may read several tables by UNION ALL without changing a value.
  bool union_text = true;
  bool union_binary = true;
};

// Errors: unsupported, naming the clause that several tables cannot answer together.
Result<ScatterShape> scatter_shape(const Analysis& analysis, const sql::Tokens& tokens);

}  // namespace evenkeel::plan
