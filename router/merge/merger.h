// Rows of several sources -> one stream of rows, by a Spec; streaming, exact, with back-pressure.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/merge/row.h"
#include "router/merge/spec.h"

namespace evenkeel::merge {

// A pull machine; one owner, no IO. The caller feeds row payloads (text or binary result rows, without the
// frame header) into the sources it is asked for.
//
//   for (;;) switch (merger.next()) {
//     case Step::row:  merger.row() is valid until the next call of next(), feed() or finish()
//     case Step::need: feed or finish source merger.needed(), then call next() again
//     case Step::end:  no more rows; sources not finished may be cancelled
//     case Step::error: merger.error(); stays so
//   }
//
// Sources may also be fed without being asked for, as their rows arrive; held_bytes() says when to stop
// reading.
class Merger {
 public:
  enum class Step : uint8_t { row, need, end, error };

  virtual ~Merger() = default;
  // Appends one row of `source`, in that source's order. The bytes are copied into memory that is reused. A
  // source out of range or finished is a defect of the caller and becomes the error.
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
// that the client was told of; differs from `inputs` when grouped (AVG) or when hidden columns are cut. Where
// a type differs, values are re-encoded (binary rows; integers and reals only).
//
// A grouped merge checks that every source's groups come in ascending order, as far as it sees it: a group
// out of order could otherwise appear twice. Overflow of a sum beyond 65 digits is an error (1690), never a
// wrong number.
//
// Errors: a spec that names columns out of range, a comparison or an output type that does not fit the type;
// kind unsupported: a FLOAT as a key in text rows, which show only six digits of it.
Result<std::unique_ptr<Merger>> make_merger(const Spec& spec, RowFormat format,
                                            std::vector<ColumnFacts> inputs, std::vector<ColumnFacts> outputs,
                                            uint32_t sources);

}  // namespace evenkeel::merge
