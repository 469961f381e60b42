// INSERT and REPLACE into a sharded table: keys are filled in, each row goes to the slot that its key names.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/plan/bound.h"
#include "router/plan/constants.h"
#include "router/plan/insert_shape.h"
#include "router/plan/route.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

using sql::Expr;
using sql::ExprKind;

// What one row says of its keys.
struct RowKey {
  bool generates = false;
  std::optional<rule::Slot> slot;  // by the row's own sharding value; unset when that is the generated key
  std::optional<uint32_t> gene;    // what the id must carry, where it is more than the slot
};

class Insert final : public Bound {
 public:
  Insert(Analysis analysis, InsertShape shape) : Bound(std::move(analysis)), shape_(std::move(shape)) {}

  Result<KeyDemand> key_demand(const Arguments& arguments) const override {
    KeyDemand demand;
    EVENKEEL_ASSIGN(const auto rows, read_rows(arguments));
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (rows[row].generates)
        demand.rows.push_back({row, rows[row].gene ? rows[row].gene : rows[row].slot});
      else if (shape_.generates)
        note_explicit_id(row, arguments, demand);
    }
    if (demand.rows.empty() && demand.explicit_ids.empty() && !demand.explicit_unknown) return demand;
    demand.table = &rule();
    EVENKEEL_TRY(check_unique_keys(rows));
    return demand;
  }

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t> keys) const override {
    EVENKEEL_ASSIGN(const auto rows, read_rows(arguments));
    EVENKEEL_ASSIGN(const auto slots, slots_of_rows(rows, keys));
    return write(arguments, rows, slots, keys);
  }

  Result<Plan> prototype(const Arguments& arguments) const override {
    std::vector<RowKey> rows(shape_.rows);
    for (RowKey& row : rows) row.generates = shape_.generates && !shape_.generated_position;
    const std::vector<rule::Slot> slots(shape_.rows, 0);
    const std::vector<uint64_t> keys(shape_.rows, 0);
    EVENKEEL_ASSIGN(Plan plan, write(arguments, rows, slots, keys));
    plan.generated = 0;
    return plan;
  }

  Result<Plan> explain(const Arguments&) const override {
    return fail(unsupported(fmt::format("EXPLAIN of an INSERT into sharded table '{}'", rule().name)));
  }

 private:
  const rule::LogicalTable& rule() const { return *analysis_.uses.front().rule; }
  const TableUse& use() const { return analysis_.uses.front(); }
  const sql::Insert& insert() const { return *statement().insert; }

  // --- keys

  Result<std::vector<RowKey>> read_rows(const Arguments& arguments) const {
    std::vector<RowKey> rows(shape_.rows);
    for (uint32_t row = 0; row < shape_.rows; ++row) {
      EVENKEEL_ASSIGN(rows[row], read_row(row, arguments));
    }
    return rows;
  }

  Result<RowKey> read_row(uint32_t row, const Arguments& arguments) const {
    RowKey key;
    if (shape_.generates) {
      key.generates = asks_for_key(shape_.value(insert(), row, shape_.generated_position), arguments);
      if (key.generates && rule().key_is_generated()) return key;
    }
    EVENKEEL_ASSIGN(const mysql::Value value, sharding_value(row, arguments));
    EVENKEEL_ASSIGN(key.slot, rule().algorithm->slot_of(value));
    if (key.generates) key.gene = gene_of(value);
    if (!key.generates && use().gene_key != nullptr) EVENKEEL_TRY(check_gene(row, *key.slot, arguments));
    return key;
  }

  // Conditions on the generated column lead to the slot that its value names, so no other value may be there.
  Status check_gene(uint32_t row, rule::Slot slot, const Arguments& arguments) const {
    const auto known = constant(*shape_.value(insert(), row, shape_.generated_position), arguments);
    if (!known)
      return fail(
          unsupported(fmt::format("an expression as value of '{}' in row {}: it carries the gene of "
                                  "'{}', so it must be a literal or a parameter, or be left out",
                                  rule().generated_column, row + 1, rule().key_column)));
    EVENKEEL_ASSIGN(const mysql::Value id,
                    stored_key(*use().gene_key, known->value, text_facts(*known, arguments.facts)));
    EVENKEEL_ASSIGN(const rule::Slot named, rule().gene_algorithm->slot_of(id));
    if (named == slot) return {};
    return fail(unsupported(fmt::format(
        "value of '{}' in row {} that names table {} of '{}', where '{}' names table {}: statements look for "
        "rows by either; leave it out, and it is generated",
        rule().generated_column, row + 1, named, rule().name, rule().key_column, slot)));
  }

  void note_explicit_id(uint32_t row, const Arguments& arguments, KeyDemand& demand) const {
    const auto known = constant(*shape_.value(insert(), row, shape_.generated_position), arguments);
    if (!known) {
      demand.explicit_unknown = true;
      return;
    }
    const catalog::Column& column = use().table->columns[shape_.columns[*shape_.generated_position]];
    const auto stored = stored_key(column, known->value, text_facts(*known, arguments.facts));
    // What the column does not hold exactly is for the server to judge; below 0 no generator counts.
    if (!stored || !stored->is_integer()) {
      demand.explicit_unknown = true;
    } else if (stored->kind() == mysql::Value::Kind::uint64 || stored->as_int64() > 0) {
      demand.explicit_ids.push_back(stored->as_uint64());
    }
  }

  // The key's remainder by a modulus that is a multiple of the number of slots.
  std::optional<uint32_t> gene_of(const mysql::Value& value) const {
    const uint32_t modulus = rule().gene.modulus;
    if (modulus == 0 || !value.is_integer()) return std::nullopt;
    if (value.kind() == mysql::Value::Kind::uint64) return static_cast<uint32_t>(value.as_uint64() % modulus);
    const int64_t rest = value.as_int64() % int64_t{modulus};
    return static_cast<uint32_t>(rest < 0 ? rest + modulus : rest);
  }

  // Omitted, DEFAULT, NULL, and 0 unless the session says that 0 is 0.
  static bool asks_for_key(const Expr* value, const Arguments& arguments) {
    if (value == nullptr) return true;
    const Expr& expr = bare(*value);
    if (expr.kind == ExprKind::default_ && expr.args.empty()) return true;
    const auto known = constant(expr, arguments);
    if (!known) return false;
    if (known->value.is_null()) return true;
    return !arguments.facts.no_auto_value_on_zero && is_exact_zero(known->value);
  }

  Result<mysql::Value> sharding_value(uint32_t row, const Arguments& arguments) const {
    const catalog::Column& column = *use().key;
    const Expr* value = shape_.value(insert(), row, shape_.key_position);
    const bool left_to_default = value == nullptr || bare(*value).kind == ExprKind::default_;
    if (left_to_default) {
      return fail(
          make_error(ErrorKind::statement, mysql::er::no_default_for_field,
                     fmt::format("Field '{}' doesn't have a default value: it is the sharding column of '{}' "
                                 "and row {} gives none",
                                 column.name, rule().name, row + 1)));
    }
    const auto known = constant(*value, arguments);
    if (!known) {
      return fail(
          unsupported(fmt::format("an expression as value of sharding column '{}' in row {}: it must be a "
                                  "literal or a parameter",
                                  column.name, row + 1)));
    }
    return stored_key(column, known->value, text_facts(*known, arguments.facts));
  }

  // A row that is there already may lie in another slot than the one its new key names.
  Status check_unique_keys(const std::vector<RowKey>& rows) const {
    if (!rule().key_is_generated() || shape_.table_unique_key.empty() || !shape_.looks_for_duplicates)
      return {};
    if (std::none_of(rows.begin(), rows.end(), [](const RowKey& row) { return row.generates; })) return {};
    const char* clause = insert().replace                 ? "REPLACE"
                         : !insert().on_duplicate.empty() ? "ON DUPLICATE KEY UPDATE"
                                                          : "INSERT IGNORE";
    return fail(unsupported(
        fmt::format("{} into sharded table '{}' with a generated '{}': unique key '{}' lacks that "
                    "column, so that the row it would meet may lie in another table",
                    clause, rule().name, rule().key_column, shape_.table_unique_key)));
  }

  Result<std::vector<rule::Slot>> slots_of_rows(const std::vector<RowKey>& rows,
                                                std::span<const uint64_t> keys) const {
    std::vector<rule::Slot> slots;
    slots.reserve(rows.size());
    size_t drawn = 0;
    for (const RowKey& row : rows) {
      if (row.generates && drawn == keys.size())
        return fail(internal_error("fewer keys drawn than rows need"));
      const uint64_t id = row.generates ? keys[drawn++] : 0;
      if (row.slot) {
        slots.push_back(*row.slot);
        continue;
      }
      EVENKEEL_ASSIGN(const mysql::Value value, stored_key(*use().key, mysql::Value::uint64(id), {}));
      EVENKEEL_ASSIGN(const rule::Slot slot, rule().algorithm->slot_of(value));
      slots.push_back(slot);
    }
    return slots;
  }

  // --- text

  Result<Plan> write(const Arguments& arguments, const std::vector<RowKey>& rows,
                     const std::vector<rule::Slot>& slots, std::span<const uint64_t> keys) const {
    std::map<std::pair<rule::InstanceId, rule::Slot>, std::vector<uint32_t>> rows_of;
    for (uint32_t row = 0; row < slots.size(); ++row) {
      rows_of[{rule().slots[slots[row]].instance, slots[row]}].push_back(row);
    }
    const bool split = rows_of.size() > 1;
    if (split) EVENKEEL_TRY(check_split(arguments));

    Plan plan = basic(arguments, rows, keys);
    plan.kind = split ? PlanKind::write : PlanKind::one_slot;
    plan.atomic = split;
    Rewrite rewrite(arguments, analysis_.parameter_tokens);
    add_all_edits(arguments, rows, keys, split, rewrite);
    for (const auto& [place, members] : rows_of) {
      const auto [instance, slot] = place;
      rewrite.point_at(slot);
      Piece piece;
      if (split) {
        write_split(members, rewrite, piece);
      } else {
        rewrite.write_statement(statement().span, piece);
      }
      if (piece.parameters.size() > limits::parameters_max) {
        return fail(make_error(
            ErrorKind::limit, 1390,
            "Prepared statement contains too many placeholders, those of generated keys included"));
      }
      plan.units.push_back({instance, std::move(piece.text), std::move(piece.parameters), {slot}, {}});
      plan.units.back().given_rows = static_cast<uint32_t>(members.size());
    }
    plan.extra_parameters = rewrite.take_extra_parameters();
    if (plan.returns_rows) plan.restore = restore_names(analysis_, plan.units.front().slots.front());
    return plan;
  }

  Plan basic(const Arguments& arguments, const std::vector<RowKey>& rows,
             std::span<const uint64_t> keys) const {
    Plan plan;
    plan.writes = true;
    plan.insert_kind = insert().ignore                  ? InsertKind::ignore
                       : insert().replace               ? InsertKind::replace
                       : !insert().on_duplicate.empty() ? InsertKind::on_duplicate
                                                        : InsertKind::plain;
    plan.written = &rule();
    plan.row_change = insert().replace                 ? RowChange::replaced
                      : !insert().on_duplicate.empty() ? RowChange::upserted
                                                       : RowChange::inserted;
    plan.returns_rows = !insert().returning_span.empty();
    plan.generated = keys.size();
    plan.first_generated = keys.empty() ? 0 : keys.front();
    const bool by_generated =
        std::any_of(rows.begin(), rows.end(), [](const RowKey& row) { return !row.slot; });
    plan.reason = by_generated ? RouteReason::generated_key : RouteReason::insert_values;
    if (keys.empty()) plan.explicit_insert_id = explicit_insert_id(arguments);
    plan.backend_sets_last_insert_id = analysis_.last_insert_id_of != nullptr;
    return plan;
  }

  uint64_t explicit_insert_id(const Arguments& arguments) const {
    const auto& columns = use().table->columns;
    const auto column = std::find_if(columns.begin(), columns.end(),
                                     [](const catalog::Column& known) { return known.auto_increment; });
    if (column == columns.end() || shape_.rows == 0) return 0;
    const auto position = shape_.position_of(static_cast<uint32_t>(column - columns.begin()));
    const Expr* value = position ? shape_.value(insert(), shape_.rows - 1, position) : nullptr;
    const auto known = value == nullptr ? std::nullopt : constant(*value, arguments);
    if (!known || known->value.is_null()) return 0;
    const auto stored = stored_key(*column, known->value, {});
    if (!stored) return 0;
    const bool negative = stored->kind() == mysql::Value::Kind::int64 && stored->as_int64() < 0;
    return negative ? 0 : stored->as_uint64();
  }

  Status check_split(const Arguments& arguments) const {
    if (!insert().returning_span.empty()) {
      return fail(unsupported("RETURNING of an INSERT whose rows go to several tables"));
    }
    if (analysis_.last_insert_id_of != nullptr) {
      return fail(unsupported("LAST_INSERT_ID(expr) in an INSERT whose rows go to several tables"));
    }
    return check_time_calls(analysis_, arguments);
  }

  void add_all_edits(const Arguments& arguments, const std::vector<RowKey>& rows,
                     std::span<const uint64_t> keys, bool split, Rewrite& rewrite) const {
    // Keys first: of two edits of one value (LAST_INSERT_ID() that is 0) the first one holds.
    add_columns(rewrite);
    size_t drawn = 0;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (!rows[row].generates || drawn == keys.size()) continue;
      put_key(row, keys[drawn++], rewrite);
    }
    add_edits(analysis_, arguments, NameStyle::bare, rewrite);
    if (split) fix_time(analysis_, arguments, rewrite);
    rewrite.seal();
  }

  void add_columns(Rewrite& rewrite) const {
    if (!shape_.columns_text.empty()) rewrite.insert(shape_.columns_at, Piece{shape_.columns_text, {}});
    if (shape_.alias_at) rewrite.insert(*shape_.alias_at, Piece{", `__evenkeel_key`", {}});
  }

  void put_key(uint32_t row, uint64_t id, Rewrite& rewrite) const {
    const Expr* value = shape_.value(insert(), row, shape_.generated_position);
    Piece piece = rewrite.value(mysql::Value::uint64(id));
    if (value != nullptr) {
      rewrite.replace(value->span, std::move(piece));
      return;
    }
    if (insert().set_form) {
      std::string name;
      sql::append_identifier(rule().generated_column, name);
      piece.text = fmt::format(", {} = {}", name, piece.text);
      rewrite.insert(insert().set.back().span.last, std::move(piece));
      return;
    }
    const sql::InsertRow& place = insert().rows[row];
    if (!place.values.empty()) piece.text = ", " + piece.text;
    rewrite.insert(place.span.last - 1, std::move(piece));
  }

  void write_split(const std::vector<uint32_t>& members, const Rewrite& rewrite, Piece& out) const {
    const auto& rows = insert().rows;
    rewrite.write({statement().span.first, rows.front().span.first}, out);
    out.text += ' ';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i != 0) out.text += ", ";
      rewrite.write(rows[members[i]].span, out);
    }
    const sql::Span rest{rows.back().span.last, statement().span.last};
    if (!rest.empty()) out.text += ' ';
    rewrite.write(rest, out);
  }

  InsertShape shape_;
};

}  // namespace

BoundResult bind_insert(Analysis analysis) {
  EVENKEEL_ASSIGN(InsertShape shape, insert_shape(analysis));
  return std::make_shared<const Insert>(std::move(analysis), std::move(shape));
}

}  // namespace evenkeel::plan
