// A small result set made of values: what the program answers by itself, before anyone has encoded it.
#pragma once

#include <string>
#include <vector>

#include "base/mysql/value.h"

namespace evenkeel::mysql {

// `kind` tells the type of the column when there are no rows; a cell may be NULL whatever it says.
struct ResultColumn {
  std::string name;
  Value::Kind kind = Value::Kind::string;

  bool operator==(const ResultColumn&) const = default;
};

// A plain value. Every row has one cell a column.
struct ResultTable {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<Value>> rows;

  bool operator==(const ResultTable&) const = default;
};

}  // namespace evenkeel::mysql
