// Where an INSERT's keys stand, and what its column list must become: found once per shape.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "router/plan/analysis.h"

namespace evenkeel::plan {

struct InsertShape {
  uint32_t rows = 0;  // 1 for INSERT … SET
  // Catalog columns by position in a row.
  std::vector<uint32_t> columns;
  std::optional<uint32_t> key_position;        // of the sharding column
  std::optional<uint32_t> generated_position;  // of the generated column; unset: not listed
  bool generates = false;                      // the table has a key generator

  // Inserted before token `columns_at`: the list that the client left out, or what it lacks.
  std::string columns_text;
  uint32_t columns_at = 0;
  // Before this token a row alias' column list gets a name for the added column.
  std::optional<uint32_t> alias_at;

  // A unique key without the sharding column, and whether this statement acts on rows that are there already.
  std::string table_unique_key;
  bool looks_for_duplicates = false;

  std::optional<uint32_t> position_of(uint32_t catalog_column) const;
  // The row's expression; null when the position is not listed.
  const sql::Expr* value(const sql::Insert& insert, uint32_t row, std::optional<uint32_t> position) const;
};

// Errors: forms that are refused, unknown columns (1054), rows of wrong length (1136).
Result<InsertShape> insert_shape(const Analysis& analysis);

// In a write that goes out as several statements NOW() and its like are the same everywhere, or refused.
Status check_time_calls(const Analysis& analysis, const Arguments& arguments);
void fix_time(const Analysis& analysis, const Arguments& arguments, Rewrite& rewrite);

}  // namespace evenkeel::plan
