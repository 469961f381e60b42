#include "proxy/protocol/rows.h"

#include <gtest/gtest.h>

#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

using mysql::ColumnType;
using mysql::Value;
using Kind = mysql::Value::Kind;

// The table of the captured session: MySQL 9.7 and MariaDB 10.11 sent the same bytes.
const std::vector<WireType> types = {{ColumnType::longlong, true},    {ColumnType::var_string, false},
                                     {ColumnType::float_, false},     {ColumnType::double_, false},
                                     {ColumnType::datetime, false},   {ColumnType::time, false},
                                     {ColumnType::newdecimal, false}, {ColumnType::tiny, false}};
const std::vector<uint8_t> decimals = {0, 0, 31, 31, 3, 6, 2, 0};
const std::string text_row = bytes(
    "01 31 01 78 03 312e35 04 322e3235 17 323032362d30312d30322030333a30343a30352e363738 "
    "10 2d31323a33343a35362e303030303031 04 312e3530 02 2d33");
const std::string binary_row = bytes(
    "00 0000 0100000000000000 01 'x' 0000c03f 0000000000000240 0b ea07 01 02 03 04 05 70580a00 "
    "0c 01 00000000 0c 22 38 01000000 04 '1.50' fd");

std::vector<std::string> cells_of_text(std::string_view row) {
  std::vector<std::string> out;
  TextRow cells(row);
  for (Cell cell; cells.next(cell);) out.push_back(cell ? std::string(*cell) : "NULL");
  EXPECT_TRUE(cells.ok());
  return out;
}

TEST(TextRowCells, Walk) {
  EXPECT_EQ(cells_of_text(text_row),
            (std::vector<std::string>{"1", "x", "1.5", "2.25", "2026-01-02 03:04:05.678", "-12:34:56.000001",
                                      "1.50", "-3"}));
  EXPECT_EQ(cells_of_text(bytes("fb 00 fb")), (std::vector<std::string>{"NULL", "", "NULL"}));
  EXPECT_EQ(cells_of_text(""), std::vector<std::string>{});
}

TEST(TextRowCells, CutShort) {
  const std::string cut = text_row.substr(0, text_row.size() - 1);
  TextRow row(cut);
  int cells = 0;
  for (Cell cell; row.next(cell);) ++cells;
  EXPECT_EQ(cells, 7);
  EXPECT_FALSE(row.ok());
}

TEST(BinaryRowCells, WalkAndCutShort) {
  BinaryRow whole(binary_row, types);
  int cells = 0;
  for (Cell cell; whole.next(cell);) ++cells;
  EXPECT_EQ(cells, 8);
  EXPECT_TRUE(whole.ok());
  for (size_t size = 0; size < binary_row.size(); ++size) {
    const std::string cut(binary_row.data(), size);
    BinaryRow row(cut, types);
    for (Cell cell; row.next(cell);) {
    }
    EXPECT_FALSE(row.ok()) << size;
  }
  const std::string longer = binary_row + "x";
  BinaryRow row(longer, types);
  for (Cell cell; row.next(cell);) {
  }
  EXPECT_FALSE(row.ok()) << "bytes behind the last cell";
}

TEST(BinaryRowCells, NullsOfNineColumns) {
  const std::vector<WireType> nine(9, WireType{ColumnType::tiny, false});
  const std::string raw = bytes("00 fc 03 05");  // bit 2 is column 0
  BinaryRow row(raw, nine);
  std::string shape;
  for (Cell cell; row.next(cell);) shape += cell ? 'v' : '-';
  EXPECT_EQ(shape, "--------v");
  EXPECT_TRUE(row.ok());
}

TEST(RowConversion, BothWays) {
  std::string out;
  ASSERT_TRUE(text_row_of_binary(out, binary_row, types, decimals));
  EXPECT_EQ(hex(out), hex(text_row));
  out.clear();
  ASSERT_TRUE(binary_row_of_text(out, text_row, types));
  EXPECT_EQ(hex(out), hex(binary_row));
}

TEST(RowConversion, Nulls) {
  const std::vector<WireType> two = {{ColumnType::tiny, false}, {ColumnType::var_string, false}};
  const std::vector<uint8_t> none = {0, 0};
  std::string out;
  ASSERT_TRUE(binary_row_of_text(out, bytes("fb fb"), two));
  EXPECT_EQ(hex(out), hex(bytes("00 0c")));
  std::string back;
  ASSERT_TRUE(text_row_of_binary(back, out, two, none));
  EXPECT_EQ(hex(back), hex(bytes("fb fb")));
}

TEST(RowConversion, Refused) {
  std::string out;
  const std::vector<WireType> one = {{ColumnType::tiny, false}};
  EXPECT_FALSE(binary_row_of_text(out, bytes("03 '128'"), one));
  EXPECT_FALSE(binary_row_of_text(out, bytes("01 'x'"), one));
  EXPECT_FALSE(binary_row_of_text(out, bytes("01 '1' 01 '2'"), one));
  EXPECT_FALSE(binary_row_of_text(out, "", one));
  const std::vector<WireType> date = {{ColumnType::date, false}};
  EXPECT_FALSE(binary_row_of_text(out, bytes("0a '2026-13-01'"), date));
  const std::vector<uint8_t> none = {0};
  EXPECT_FALSE(text_row_of_binary(out, bytes("00 00 04 ea07 0d 01"), date, none));
}

TEST(RowsOfValues, TextAndBinary) {
  const std::vector<Value> values = {Value::uint64(1),
                                     Value::string("x"),
                                     Value::single_real(1.5f),
                                     Value::real(2.25),
                                     Value::temporal(Kind::datetime, "2026-01-02 03:04:05.678"),
                                     Value::temporal(Kind::time, "-12:34:56.000001"),
                                     Value::decimal("1.50"),
                                     Value::int64(-3)};
  std::string out;
  WireWriter text(out);
  append_text_row(text, values);
  EXPECT_EQ(hex(out), hex(text_row));
  out.clear();
  WireWriter binary(out);
  append_binary_row(binary, values, types);
  EXPECT_TRUE(binary.ok());
  EXPECT_EQ(hex(out), hex(binary_row));
  // And back.
  BinaryRow row(out, types);
  size_t i = 0;
  for (Cell cell; row.next(cell); ++i) {
    const auto value = value_of_binary(cell, types[i]);
    ASSERT_TRUE(value);
    // A binary datetime has no count of digits: the fraction comes back in full.
    EXPECT_EQ(to_string(*value), i == 4 ? "'2026-01-02 03:04:05.678000'" : to_string(values[i]));
  }
  i = 0;
  TextRow cells(text_row);
  for (Cell cell; cells.next(cell); ++i) {
    const auto value = value_of_text(cell, types[i]);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, values[i]) << i;
  }
}

struct NumberCase {
  double value;
  uint8_t decimals;
  const char* as_double;
  const char* as_float;  // null: not looked at
};

// What MariaDB 10.11 and MySQL 9.7 print.
TEST(Numbers, AsMySqlPrintsThem) {
  const NumberCase cases[] = {
      {0, 31, "0", "0"},
      {1.5, 31, "1.5", "1.5"},
      {-0.0, 31, "-0", "-0"},
      {0.1, 31, "0.1", "0.1"},
      {100, 31, "100", "100"},
      {1e14, 31, "100000000000000", nullptr},
      {999999999999999, 31, "999999999999999", nullptr},
      {1e15, 31, "1e15", "1e15"},
      {1e20, 31, "1e20", "1e20"},
      {1.2345678901234567e17, 31, "1.2345678901234566e17", nullptr},
      {1.23456789, 31, "1.23456789", "1.23457"},
      {0.001, 31, "0.001", "0.001"},
      {1e-15, 31, "0.000000000000001", nullptr},
      {1.5e-15, 31, "0.0000000000000015", nullptr},
      {1e-16, 31, "1e-16", nullptr},
      {-1e-300, 31, "-1e-300", nullptr},
      {1.7976931348623157e308, 31, "1.7976931348623157e308", nullptr},
      {123456.789, 31, "123456.789", "123457"},
      {12345678, 31, "12345678", "12345700"},
      {2.5, 0, "2", nullptr},
      {1.005, 2, "1.00", nullptr},
      {1e20, 2, "100000000000000000000.00", nullptr},
      {3.14159, 3, "3.142", "3.142"},
  };
  for (const NumberCase& c : cases) {
    std::string out;
    append_double(out, c.value, c.decimals);
    EXPECT_EQ(out, c.as_double);
    if (c.as_float == nullptr) continue;
    out.clear();
    append_float(out, static_cast<float>(c.value), c.decimals);
    EXPECT_EQ(out, c.as_float);
  }
}

TEST(Cells, TextThatIsNoNumber) {
  EXPECT_FALSE(value_of_text("1x", {ColumnType::long_, false}));
  EXPECT_FALSE(value_of_text("", {ColumnType::long_, false}));
  EXPECT_FALSE(value_of_text("-1", {ColumnType::longlong, true}));
  EXPECT_FALSE(value_of_text("9223372036854775808", {ColumnType::longlong, false}));
  EXPECT_EQ(value_of_text("18446744073709551615", {ColumnType::longlong, true}).value(),
            Value::uint64(UINT64_MAX));
  EXPECT_EQ(value_of_text("007", {ColumnType::longlong, true}).value(), Value::uint64(7));
  EXPECT_EQ(value_of_text(std::nullopt, {ColumnType::longlong, true}).value(), Value::null());
}

}  // namespace
}  // namespace evenkeel::protocol
