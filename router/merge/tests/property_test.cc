// Merges against models that do it in one pass over all rows.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "router/merge/tests/test_rows.h"

namespace evenkeel::merge::testing {
namespace {

struct Item {
  std::optional<int> number;
  std::string text;
  std::string decimal;
  bool operator==(const Item&) const = default;
};

std::string decimal_of(int hundredths) {
  const int size = std::abs(hundredths);
  return (hundredths < 0 ? "-" : "") + std::to_string(size / 100) + (size % 100 < 10 ? ".0" : ".") +
         std::to_string(size % 100);
}

// Few distinct values, so that ties are common.
rc::Gen<Item> items() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(-4, 5), rc::gen::inRange(0, 4), rc::gen::inRange(-300, 300)),
      [](const std::tuple<int, int, int>& t) {
        const auto [number, letters, hundredths] = t;
        return Item{number == 4 ? std::nullopt : std::optional<int>(number),
                    std::string(static_cast<size_t>(letters), 'a'), decimal_of(hundredths)};
      });
}

TestRow row_of(const Item& item, size_t source, size_t index) {
  return {item.number ? TestCell(std::to_string(*item.number)) : std::nullopt, item.text, item.decimal,
          std::to_string(source), std::to_string(index)};
}

const std::vector<ColumnFacts>& columns() {
  static const std::vector<ColumnFacts> all = {column_of("int"), column_of("varchar"),
                                               column_of("decimal(2)"), column_of("int"), column_of("int")};
  return all;
}

int hundredths_of(const std::string& decimal) {
  return static_cast<int>(std::lround(std::strtod(decimal.c_str(), nullptr) * 100));
}

struct Order {
  bool number_desc, text_desc, decimal_desc;

  // MySQL's order, told plainly.
  int compare(const Item& a, const Item& b) const {
    const int na = a.number.value_or(-1000), nb = b.number.value_or(-1000);
    if (na != nb) return (na < nb) != number_desc ? -1 : 1;
    if (a.text != b.text) return (a.text < b.text) != text_desc ? -1 : 1;
    const int da = hundredths_of(a.decimal), db = hundredths_of(b.decimal);
    if (da != db) return (da < db) != decimal_desc ? -1 : 1;
    return 0;
  }
  std::vector<SortKey> keys() const {
    return {{0, number_desc, Comparison::signed_integer},
            {1, text_desc, Comparison::bytes},
            {2, decimal_desc, Comparison::decimal}};
  }
};

struct Situation {
  std::vector<std::vector<Item>> sources;
  Order order;
  RowFormat format;
  Feeding feeding;

  std::vector<std::vector<std::string>> encoded() const {
    std::vector<std::vector<std::string>> all;
    for (size_t s = 0; s < sources.size(); ++s) {
      auto& rows = all.emplace_back();
      for (size_t i = 0; i < sources[s].size(); ++i)
        rows.push_back(encode(format, columns(), row_of(sources[s][i], s, i)));
    }
    return all;
  }
};

Situation draw() {
  Situation s;
  s.sources = *rc::gen::resize(
      30, rc::gen::container<std::vector<std::vector<Item>>>(rc::gen::container<std::vector<Item>>(items())));
  s.order = {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  s.format = *rc::gen::element(RowFormat::text, RowFormat::binary);
  s.feeding = *rc::gen::element(Feeding::asked, Feeding::ahead, Feeding::in_turn);
  for (auto& source : s.sources) {
    std::stable_sort(source.begin(), source.end(),
                     [&](const Item& a, const Item& b) { return s.order.compare(a, b) < 0; });
  }
  return s;
}

// Rows with OFFSET and LIMIT applied.
template <typename T>
std::vector<T> window(std::vector<T> rows, uint64_t offset, std::optional<uint64_t> limit) {
  rows.erase(rows.begin(),
             rows.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(offset, rows.size())));
  if (limit && *limit < rows.size()) rows.resize(*limit);
  return rows;
}

void draw_window(Spec& spec) {
  spec.offset = *rc::gen::element<uint64_t>(0, 0, 1, 5);
  if (*rc::gen::arbitrary<bool>()) spec.limit = *rc::gen::inRange<uint64_t>(0, 40);
}

TEST(Property, OrderedMergeIsAStableSortOfAllRows) {
  EXPECT_TRUE(rc::check("k-way merge = stable_sort of the concatenation", [] {
    const Situation s = draw();
    Spec spec;
    spec.how = How::ordered;
    spec.order = s.order.keys();
    draw_window(spec);
    auto merger = make_merger(spec, s.format, columns(), columns(), static_cast<uint32_t>(s.sources.size()));
    RC_ASSERT(merger.has_value());
    struct Placed {
      Item item;
      size_t source, index;
    };
    std::vector<Placed> all;
    for (size_t i = 0; i < s.sources.size(); ++i) {
      for (size_t j = 0; j < s.sources[i].size(); ++j) all.push_back({s.sources[i][j], i, j});
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const Placed& a, const Placed& b) { return s.order.compare(a.item, b.item) < 0; });
    std::vector<std::string> expected;
    for (const Placed& p : window(all, spec.offset, spec.limit)) {
      expected.push_back(encode(s.format, columns(), row_of(p.item, p.source, p.index)));
    }
    RC_ASSERT(run(**merger, s.encoded(), s.feeding) == expected);
    if (!spec.limit && spec.offset == 0) RC_ASSERT((*merger)->held_bytes() == 0U);
  }));
}

TEST(Property, HeldBytesAreThoseFedAndNotGivenOut) {
  EXPECT_TRUE(rc::check("held_bytes", [] {
    const Situation s = draw();
    Spec spec;
    spec.how = *rc::gen::element(How::ordered, How::concat);
    spec.order = s.order.keys();
    auto merger = make_merger(spec, s.format, columns(), columns(), static_cast<uint32_t>(s.sources.size()));
    RC_ASSERT(merger.has_value());
    const auto rows = s.encoded();
    size_t held = 0;
    for (uint32_t source = 0; source < s.sources.size(); ++source) {
      for (const std::string& row : rows[source]) {
        (*merger)->feed(source, row);
        held += row.size();
      }
      (*merger)->finish(source);
    }
    RC_ASSERT((*merger)->held_bytes() == held);
    while ((*merger)->next() == Merger::Step::row) {
      held -= (*merger)->row().size();
      RC_ASSERT((*merger)->held_bytes() == held);
    }
    RC_ASSERT(held == 0U);
  }));
}

struct Totals {
  std::string first_text;
  int64_t count = 0;
  int64_t sum = 0;
  std::optional<int64_t> least, most;
};

std::string rounded_average(int64_t hundredths, int64_t count) {
  // scale 2 + 4; half away from zero
  const int64_t scaled = std::abs(hundredths) * 10000;
  const int64_t quotient = (2 * scaled + count) / (2 * count);
  std::string digits = std::to_string(quotient);
  while (digits.size() < 7) digits.insert(digits.begin(), '0');
  digits.insert(digits.size() - 6, ".");
  return (hundredths < 0 && quotient != 0 ? "-" : "") + digits;
}

TEST(Property, GroupMergeEqualsOnePassOverAllRows) {
  EXPECT_TRUE(rc::check("group merge = a map filled in one pass", [] {
    const Situation s = draw();
    const bool keyed = *rc::gen::arbitrary<bool>();
    using What = OutputColumn::What;
    // A unit's result: key, text, sum, count, least, most; each item is a group of one row.
    std::vector<ColumnFacts> inputs = {column_of("int"),    column_of("varchar"),    column_of("decimal(2)"),
                                       column_of("bigint"), column_of("decimal(2)"), column_of("decimal(2)")};
    std::vector<ColumnFacts> outputs = {
        column_of("int"),        column_of("varchar"),    column_of("bigint"),    column_of("decimal(2)"),
        column_of("decimal(2)"), column_of("decimal(2)"), column_of("decimal(6)")};
    Spec spec;
    spec.how = How::grouped;
    if (keyed) spec.group = {{0, s.order.number_desc, Comparison::signed_integer}};
    spec.outputs = {{What::first, 0, 0, {}},
                    {What::first, 1, 0, {}},
                    {What::count, 3, 0, {}},
                    {What::sum, 2, 0, {}},
                    {What::min, 4, 0, Comparison::decimal},
                    {What::max, 5, 0, Comparison::decimal},
                    {What::avg, 2, 3, {}}};
    draw_window(spec);
    auto merger = make_merger(spec, s.format, inputs, outputs, static_cast<uint32_t>(s.sources.size()));
    RC_ASSERT(merger.has_value());

    std::vector<std::vector<std::string>> rows;
    // Keys in MySQL's order: NULL is the least.
    std::map<int, Totals> totals;
    if (!keyed) totals[0];
    TestCell first_number, first_text;
    bool any = false;
    for (const auto& source : s.sources) {
      auto& encoded = rows.emplace_back();
      for (const Item& item : source) {
        const TestCell number = item.number ? TestCell(std::to_string(*item.number)) : std::nullopt;
        encoded.push_back(
            encode(s.format, inputs, {number, item.text, item.decimal, "1", item.decimal, item.decimal}));
        const int key = keyed ? item.number.value_or(-1000) : 0;
        Totals& t = totals[keyed && s.order.number_desc ? -key : key];
        if (t.count == 0) t.first_text = item.text;
        if (!any) first_number = number, first_text = item.text;
        any = true;
        const int64_t value = hundredths_of(item.decimal);
        t.count += 1;
        t.sum += value;
        t.least = std::min(t.least.value_or(value), value);
        t.most = std::max(t.most.value_or(value), value);
      }
    }
    std::vector<TestRow> expected;
    for (const auto& [key, t] : totals) {
      const int plain = keyed && s.order.number_desc ? -key : key;
      const auto amount = [](int64_t value) { return TestCell(decimal_of(static_cast<int>(value))); };
      TestRow row = {plain == -1000 ? std::nullopt : TestCell(std::to_string(plain)), t.first_text,
                     std::to_string(t.count)};
      if (!keyed) row[0] = first_number, row[1] = first_text;
      if (t.count == 0) {
        row.insert(row.end(), 4, std::nullopt);
      } else {
        row.insert(row.end(),
                   {amount(t.sum), amount(*t.least), amount(*t.most), rounded_average(t.sum, t.count)});
      }
      expected.push_back(row);
    }
    std::vector<TestRow> got;
    for (const std::string& row : run(**merger, rows, s.feeding))
      got.push_back(decode(s.format, outputs, row));
    RC_ASSERT(got == window(expected, spec.offset, spec.limit));
  }));
}

}  // namespace
}  // namespace evenkeel::merge::testing
