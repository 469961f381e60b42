// SELECT: one slot passes through with names edited; several slots are asked by UNION ALL, one statement an
// instance where types and sizes allow it.
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/plan/bound.h"
#include "router/plan/constants.h"
#include "router/plan/route.h"
#include "router/plan/select_shape.h"

namespace evenkeel::plan {
namespace {

struct LimitValues {
  uint64_t offset = 0;
  std::optional<uint64_t> count;
  // Rows that any one table can contribute.
  std::optional<uint64_t> reach() const {
    if (!count) return std::nullopt;
    return *count > std::numeric_limits<uint64_t>::max() - offset ? std::numeric_limits<uint64_t>::max()
                                                                  : offset + *count;
  }
};

Result<uint64_t> limit_number(const sql::Expr& expr, const Arguments& arguments) {
  const auto known = constant(expr, arguments);
  const bool negative =
      known && known->value.kind() == mysql::Value::Kind::int64 && known->value.as_int64() < 0;
  if (!known || !known->value.is_integer() || negative) {
    return fail(unsupported("LIMIT with other than whole numbers over several tables"));
  }
  return known->value.as_uint64();
}

Result<LimitValues> limit_values(const sql::Query& query, const Arguments& arguments) {
  LimitValues values;
  if (query.limit == nullptr) return values;
  EVENKEEL_ASSIGN(values.count, limit_number(*query.limit->count, arguments));
  if (query.limit->offset != nullptr) {
    EVENKEEL_ASSIGN(values.offset, limit_number(*query.limit->offset, arguments));
  }
  if (values.offset > arguments.facts.max_offset) {
    return fail(make_error(
        ErrorKind::limit, mysql::er::not_supported_yet,
        fmt::format(
            "OFFSET {} over several tables is more than {} (limits.offset): every table would have to read "
            "that many rows; page by WHERE key > last key instead",
            values.offset, arguments.facts.max_offset)));
  }
  return values;
}

// The text of one scattered SELECT, table by table.
class Scatter {
 public:
  Scatter(const Analysis& analysis, const ScatterShape& shape, const Arguments& arguments, const Route& route,
          const ListCuts& cuts, const LimitValues& limit)
      : analysis_(analysis),
        shape_(shape),
        arguments_(arguments),
        route_(route),
        cuts_(cuts),
        limit_(limit),
        query_(*analysis.statement->query),
        rewrite_(arguments, analysis.parameter_tokens) {}

  // Every unit, by instance, then slot.
  Status units(std::vector<ExecutionUnit>& out) {
    const bool by_union = arguments_.binary ? shape_.union_binary : shape_.union_text;
    const rule::LogicalTable& table = *analysis_.uses.front().rule;
    std::vector<rule::Slot> slots = route_.slots;
    std::stable_sort(slots.begin(), slots.end(), [&](rule::Slot a, rule::Slot b) {
      return table.slots[a].instance < table.slots[b].instance;
    });
    prepare();
    for (size_t i = 0; i < slots.size();) {
      size_t end = i + 1;
      while (by_union && end < slots.size() &&
             table.slots[slots[end]].instance == table.slots[slots[i]].instance) {
        ++end;
      }
      EVENKEEL_TRY(instance_units(std::span(slots).subspan(i, end - i), table.slots[slots[i]].instance, out));
      i = end;
    }
    return {};
  }

  std::vector<mysql::Value> take_extra_parameters() { return rewrite_.take_extra_parameters(); }

 private:
  bool grouped() const { return shape_.spec.how == merge::How::grouped; }

  void prepare() {
    add_edits(analysis_, arguments_, NameStyle::with_alias, rewrite_);
    for (const ScatterShape::Star& star : shape_.stars) rewrite_.replace(star.span, star.columns);
    for (const uint32_t token : shape_.averages) rewrite_.replace({token, token + 1}, std::string("SUM"));
    if (const auto reach = limit_.reach()) {
      limit_text_ = Piece{"LIMIT ", {}};
      limit_text_.append(rewrite_.value(mysql::Value::uint64(*reach)));
    }
    rewrite_.seal();
    add_hidden();
  }

  // Hidden columns repeat tokens of the statement with their parameters, so they are written from sealed
  // edits.
  void add_hidden() {
    if (shape_.hidden.empty()) return;
    Piece piece;
    for (size_t i = 0; i < shape_.hidden.size(); ++i) {
      const HiddenColumn& column = shape_.hidden[i];
      piece.text += ", ";
      if (column.text.empty()) {
        piece.text += "COUNT(";
        rewrite_.write(column.count_of, piece);
        piece.text += ')';
      } else {
        piece.text += column.text;
      }
      piece.text += fmt::format(" AS `__evenkeel_{}`", i + 1);
    }
    const uint32_t at = query_.block->list.last;
    hidden_ = {{at, at}, std::move(piece), nullptr, NameStyle::bare, {}};
  }

  // ORDER BY and LIMIT in place of the client's, or where they would stand: before FOR UPDATE.
  void add_tail(bool in_union, std::vector<Rewrite::Edit>& edits) const {
    const auto put = [&](sql::Span span, Piece piece) {
      edits.push_back({span, std::move(piece), nullptr, NameStyle::bare, {}});
    };
    const uint32_t end = query_.lock == sql::LockClause::none ? query_.span.last : query_.lock_span.first;
    // Inside a union an order only matters for what LIMIT cuts off; of a single row nothing is cut.
    const bool cut = limit_.count && (!grouped() || !shape_.spec.group.empty());
    if (grouped()) {
      Piece order{!shape_.order.empty() && (cut || !in_union) ? shape_.order : std::string{}, {}};
      if (!query_.order_by.empty()) {
        put(query_.order_span, std::move(order));
      } else if (!order.text.empty()) {
        order.text.insert(0, 1, ' ');
        put({query_.limit == nullptr ? end : query_.limit->span.first,
             query_.limit == nullptr ? end : query_.limit->span.first},
            std::move(order));
      }
    }
    if (query_.limit != nullptr) put(query_.limit->span, cut ? limit_text_ : Piece{});
  }

  Piece one_table(rule::Slot slot, bool in_union) {
    rewrite_.point_at(slot);
    std::vector<Rewrite::Edit> also;
    if (!shape_.hidden.empty()) also.push_back(hidden_);
    const auto cuts = cuts_.edits(slot, arguments_, analysis_.parameter_tokens);
    also.insert(also.end(), cuts.begin(), cuts.end());
    add_tail(in_union, also);
    std::stable_sort(also.begin(), also.end(), [](const Rewrite::Edit& a, const Rewrite::Edit& b) {
      return a.span.first < b.span.first;
    });
    Piece out;
    rewrite_.write(query_.span, also, out);
    while (out.text.ends_with(' ')) out.text.pop_back();
    return out;
  }

  Status instance_units(std::span<const rule::Slot> slots, rule::InstanceId instance,
                        std::vector<ExecutionUnit>& out) {
    if (slots.size() == 1) {
      Piece piece = one_table(slots[0], false);
      out.push_back({instance, std::move(piece.text), std::move(piece.parameters), {slots[0]}, {}});
      return {};
    }
    Piece unit;
    std::vector<rule::Slot> held;
    for (const rule::Slot slot : slots) {
      Piece branch = one_table(slot, true);
      const bool full =
          held.size() == limits::union_branches_max ||
          unit.text.size() + branch.text.size() + tail_room > arguments_.facts.max_statement_bytes ||
          unit.parameters.size() + branch.parameters.size() + 1 > limits::parameters_max;
      if (full && !held.empty()) finish_union(unit, held, instance, out);
      unit.text += held.empty() ? "(" : " UNION ALL (";
      unit.append(branch);
      unit.text += ')';
      held.push_back(slot);
    }
    finish_union(unit, held, instance, out);
    return {};
  }

  // ORDER BY and LIMIT outside: what a union's branches are ordered by inside does not order the whole.
  void finish_union(Piece& unit, std::vector<rule::Slot>& held, rule::InstanceId instance,
                    std::vector<ExecutionUnit>& out) {
    if (held.size() == 1) {
      unit = one_table(held[0], false);
    } else {
      if (!shape_.order.empty()) unit.text += ' ' + shape_.order;
      // Rows of one group stand several times in a union, so that a LIMIT there would cut too early.
      if (!grouped() && limit_.count) {
        unit.text += ' ';
        unit.append(limit_text_);
      }
    }
    out.push_back({instance, std::move(unit.text), std::move(unit.parameters), std::move(held), {}});
    unit = {};
    held.clear();
  }

  static constexpr size_t tail_room = 256;

  const Analysis& analysis_;
  const ScatterShape& shape_;
  const Arguments& arguments_;
  const Route& route_;
  const ListCuts& cuts_;
  const LimitValues& limit_;
  const sql::Query& query_;
  Rewrite rewrite_;
  Rewrite::Edit hidden_;
  Piece limit_text_;
};

class Select final : public Bound {
 public:
  Select(Analysis analysis, Result<ScatterShape> shape)
      : Bound(std::move(analysis)), shape_(std::move(shape)) {}

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    EVENKEEL_ASSIGN(const Route found, route(analysis_, arguments));
    if (found.one()) return one_slot(arguments, found);
    return scatter(arguments, found);
  }

  Result<Plan> prototype(const Arguments& arguments) const override {
    return one_slot(arguments, Route{RouteReason::no_condition, {0}, false});
  }

  // One of the tables shows how all are read.
  Result<Plan> explain(const Arguments& arguments) const override {
    EVENKEEL_ASSIGN(Route found, route(analysis_, arguments));
    found.slots.resize(1);
    return one_slot(arguments, found);
  }

 private:
  Plan basic(const Route& found) const {
    Plan plan;
    plan.reason = found.reason;
    plan.returns_rows = true;
    plan.writes = statement().query->lock != sql::LockClause::none;
    plan.restore = restore_names(analysis_, found.slots.front());
    return plan;
  }

  Piece one_text(const Arguments& arguments, rule::Slot slot, Plan& plan) const {
    Rewrite rewrite(arguments, analysis_.parameter_tokens);
    add_edits(analysis_, arguments, NameStyle::with_alias, rewrite);
    rewrite.seal();
    rewrite.point_at(slot);
    Piece piece;
    rewrite.write_statement(statement().span, piece);
    plan.extra_parameters = rewrite.take_extra_parameters();
    return piece;
  }

  Result<Plan> one_slot(const Arguments& arguments, const Route& found) const {
    Plan plan = basic(found);
    plan.kind = found.impossible ? PlanKind::none : PlanKind::one_slot;
    plan.calc_found_rows = statement().query->block != nullptr && statement().query->block->calc_found_rows;
    const rule::Slot slot = found.slots.front();
    Piece piece = one_text(arguments, slot, plan);
    const rule::InstanceId instance = analysis_.uses.front().rule->slots[slot].instance;
    plan.units.push_back({instance, std::move(piece.text), std::move(piece.parameters), {}, {}});
    if (!found.impossible) plan.units.front().slots = {slot};
    return plan;
  }

  Result<Plan> scatter(const Arguments& arguments, const Route& found) const {
    if (!shape_) return fail(shape_.error());
    EVENKEEL_ASSIGN(const LimitValues limit, limit_values(*statement().query, arguments));
    EVENKEEL_ASSIGN(const ListCuts cuts, ListCuts::of(analysis_, arguments, found));
    Plan plan = basic(found);
    plan.kind = PlanKind::scatter;
    Scatter texts(analysis_, *shape_, arguments, found, cuts, limit);
    EVENKEEL_TRY(texts.units(plan.units));
    plan.merge = shape_->spec;
    plan.merge.offset = limit.offset;
    plan.merge.limit = limit.count;
    Plan ignored;
    const rule::Slot first = plan.units.front().slots.front();
    plan.metadata_sql = one_text(arguments, first, ignored).text;
    plan.restore = restore_names(analysis_, first);
    plan.extra_parameters = texts.take_extra_parameters();
    return plan;
  }

  Result<ScatterShape> shape_;
};

}  // namespace

BoundResult bind_select(Analysis analysis, const sql::Tokens& tokens) {
  const sql::Query& query = *analysis.statement->query;
  if (!query.into_span.empty() || (query.block != nullptr && !query.block->into_span.empty())) {
    return fail(
        unsupported(fmt::format("SELECT … INTO on sharded table '{}'", analysis.uses.front().rule->name)));
  }
  if (analysis.last_insert_id_of != nullptr) {
    return fail(unsupported("LAST_INSERT_ID(expr) in a SELECT from a table"));
  }
  Result<ScatterShape> shape = fail(unsupported("several tables"));
  const bool nested =
      std::any_of(analysis.uses.begin(), analysis.uses.end(), [](const TableUse& use) { return use.nested; });
  if (!nested) shape = scatter_shape(analysis, tokens);
  return std::make_shared<const Select>(std::move(analysis), std::move(shape));
}

}  // namespace evenkeel::plan
