// Rows of several sources -> one stream of rows, by a Spec; streaming, exact, with back-pressure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/types.h"
#include "base/result.h"
#include "router/merge/spec.h"

namespace evenkeel::merge {

enum class RowFormat : uint8_t { text, binary };

// What is known of a result column from its definition packet.
struct ColumnFacts {
  mysql::ColumnType type = mysql::ColumnType::long_;
  bool is_unsigned = false;
  uint8_t decimals = 0;
  uint16_t collation = 63;
};

// A pull machine; one owner, no IO. The caller feeds row payloads (text or binary result rows, without the
// frame header) into the sources it is asked for.
//
//   for (;;) switch (merger.next()) {
//     case Step::row:  merger.row() is valid until the next call
//     case Step::need: feed or finish source merger.needed(), then call next() again
//     case Step::end:  no more rows; sources not finished may be cancelled
//   }
class Merger {
 public:
  enum class Step : uint8_t { row, need, end, error };

  virtual ~Merger() = default;
  // Appends one row of `source`, in that source's order. The bytes are copied into memory that is reused.
  virtual void feed(uint32_t source, std::string_view row) = 0;
  // No more rows of `source`.
  virtual void finish(uint32_t source) = 0;
  virtual Step next() = 0;
  virtual uint32_t needed() const = 0;
  virtual std::string_view row() const = 0;
  virtual const Error& error() const = 0;
  // Bytes held by rows that were fed and not yet given out.
  virtual size_t held_bytes() const = 0;
};

// `inputs`: the units' result columns, equal over all sources (checked by the caller). `outputs`: the columns
// that the client was told of; differs from `inputs` when grouped (AVG) or when hidden columns are cut.
// Errors: a spec that names columns out of range, a comparison that does not fit the type.
Result<std::unique_ptr<Merger>> make_merger(const Spec& spec, RowFormat format,
                                            std::vector<ColumnFacts> inputs, std::vector<ColumnFacts> outputs,
                                            uint32_t sources);

}  // namespace evenkeel::merge
