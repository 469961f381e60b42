#include <gtest/gtest.h>

#include "proxy/protocol/messages.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

namespace cap = capability;
using mysql::ColumnType;
using mysql::Value;
using Kind = mysql::Value::Kind;

constexpr Capabilities base = cap::protocol_41;

struct TypeCase {
  const char* name;
  WireType type;
  Value value;
  const char* encoded;
};

const TypeCase types[] = {
    {"tiny", {ColumnType::tiny, false}, Value::int64(-1), "ff"},
    {"tiny unsigned", {ColumnType::tiny, true}, Value::uint64(255), "ff"},
    {"short", {ColumnType::short_, false}, Value::int64(-2), "feff"},
    {"year", {ColumnType::year, true}, Value::uint64(2026), "ea07"},
    {"int24", {ColumnType::int24, false}, Value::int64(-8388608), "000080ff"},
    {"long", {ColumnType::long_, false}, Value::int64(INT32_MIN), "00000080"},
    {"long unsigned", {ColumnType::long_, true}, Value::uint64(UINT32_MAX), "ffffffff"},
    {"longlong", {ColumnType::longlong, false}, Value::int64(INT64_MIN), "0000000000000080"},
    {"longlong unsigned", {ColumnType::longlong, true}, Value::uint64(UINT64_MAX), "ffffffffffffffff"},
    {"float", {ColumnType::float_, false}, Value::single_real(1.5f), "0000c03f"},
    {"double", {ColumnType::double_, false}, Value::real(-2.25), "00000000000002c0"},
    {"newdecimal", {ColumnType::newdecimal, false}, Value::decimal("-12.50"), "06 '-12.50'"},
    {"decimal", {ColumnType::decimal, false}, Value::decimal("1"), "01 '1'"},
    {"a decimal that is none", {ColumnType::newdecimal, false}, Value::string("1e5"), "03 '1e5'"},
    {"varchar", {ColumnType::varchar, false}, Value::string("ab"), "02 'ab'"},
    {"var_string", {ColumnType::var_string, false}, Value::string(""), "00"},
    {"string", {ColumnType::string, false}, Value::string("x"), "01 'x'"},
    {"enum", {ColumnType::enum_, false}, Value::string("x"), "01 'x'"},
    {"set", {ColumnType::set, false}, Value::string("x,y"), "03 'x,y'"},
    {"json", {ColumnType::json, false}, Value::string("{}"), "02 '{}'"},
    {"blob", {ColumnType::blob, false}, Value::bytes("\xff"), "01 ff"},
    {"tiny blob", {ColumnType::tiny_blob, false}, Value::bytes("b"), "01 'b'"},
    {"medium blob", {ColumnType::medium_blob, false}, Value::bytes("b"), "01 'b'"},
    {"long blob", {ColumnType::long_blob, false}, Value::bytes("b"), "01 'b'"},
    {"bit", {ColumnType::bit, false}, Value::bytes("\x05"), "01 05"},
    {"geometry", {ColumnType::geometry, false}, Value::bytes("g"), "01 'g'"},
    {"date", {ColumnType::date, false}, Value::temporal(Kind::date, "2026-01-02"), "04 ea07 01 02"},
    {"zero date", {ColumnType::date, false}, Value::temporal(Kind::date, "0000-00-00"), "00"},
    {"datetime",
     {ColumnType::datetime, false},
     Value::temporal(Kind::datetime, "2026-01-02 03:04:05"),
     "07 ea07 01 02 03 04 05"},
    {"datetime at midnight",
     {ColumnType::datetime, false},
     Value::temporal(Kind::datetime, "2026-01-02 00:00:00"),
     "04 ea07 01 02"},
    {"timestamp with micros",
     {ColumnType::timestamp, false},
     Value::temporal(Kind::datetime, "2026-01-02 03:04:05.678000"),
     "0b ea07 01 02 03 04 05 70580a00"},
    {"zero datetime",
     {ColumnType::datetime, false},
     Value::temporal(Kind::datetime, "0000-00-00 00:00:00"),
     "00"},
    {"time", {ColumnType::time, false}, Value::temporal(Kind::time, "-12:34:56"), "08 01 00000000 0c 22 38"},
    {"long time",
     {ColumnType::time, false},
     Value::temporal(Kind::time, "838:59:59.000001"),
     "0c 00 22000000 16 3b 3b 01000000"},
    {"zero time", {ColumnType::time, false}, Value::temporal(Kind::time, "00:00:00"), "00"},
};

std::string type_bytes(WireType type) {
  return {static_cast<char>(type.type), static_cast<char>(type.is_unsigned ? 0x80 : 0)};
}

TEST(Execute, EveryTypeBothWays) {
  for (const TypeCase& c : types) {
    SCOPED_TRACE(c.name);
    const std::string raw = bytes("17 01000000 00 01000000 00 01") + type_bytes(c.type) + bytes(c.encoded);
    const auto decoded = StmtExecute::decode(raw, base, {1, {}, {}});
    ASSERT_TRUE(decoded) << decoded.error().message;
    ASSERT_EQ(decoded->values.size(), 1u);
    EXPECT_EQ(to_string(decoded->values[0].kind()), to_string(c.value.kind()));
    EXPECT_EQ(to_string(decoded->values[0]), to_string(c.value));
    EXPECT_EQ(decoded->types[0], c.type);
    EXPECT_TRUE(decoded->new_types);
    EXPECT_EQ(hex(payload_of(*decoded, base)), hex(raw));
    for (size_t size = 0; size < raw.size(); ++size) {
      const std::string cut(raw.data(), size);
      const auto shorter = StmtExecute::decode(cut, base, {1, {}, {}});
      ASSERT_FALSE(shorter) << "cut to " << size;
      EXPECT_EQ(shorter.error().code, 1210);
    }
  }
}

TEST(Execute, TypesAreRemembered) {
  const WireType remembered[] = {{ColumnType::tiny, false}, {ColumnType::var_string, false}};
  const auto first =
      StmtExecute::decode(bytes("17 01000000 00 01000000 00 01 0100 fd00 05 01 'x'"), base, {2, {}, {}});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->types, (std::vector<WireType>{remembered[0], remembered[1]}));
  const auto second =
      StmtExecute::decode(bytes("17 01000000 00 01000000 02 00 06"), base, {2, first->types, {}});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->new_types);
  EXPECT_EQ(second->types, first->types);
  EXPECT_EQ(second->values, (std::vector<Value>{Value::int64(6), Value::null()}));
  EXPECT_FALSE(StmtExecute::decode(bytes("17 01000000 00 01000000 02 00 06"), base, {2, {}, {}}))
      << "no types were ever sent";
}

TEST(Execute, NoParametersBothWays) {
  for (const char* raw :
       {"17 01000000 00 01000000", "17 01000000 00 01000000 00", "17 01000000 00 01000000 00 01"}) {
    const auto decoded = StmtExecute::decode(bytes(raw), base, {0, {}, {}});
    ASSERT_TRUE(decoded) << raw;
    EXPECT_EQ(decoded->statement_id, 1u);
    EXPECT_TRUE(decoded->values.empty());
  }
  StmtExecute message;
  message.statement_id = 1;
  EXPECT_EQ(hex(payload_of(message, base)), hex(bytes("17 01000000 00 01000000")));
  std::string out;
  WireWriter writer(out);
  encode_execute(writer, 1, StmtExecute::cursor_read_only, {}, base);
  EXPECT_EQ(hex(out), hex(bytes("17 01000000 01 01000000")));
}

TEST(Execute, LongDataStandsForAValue) {
  const std::optional<std::string> sent[] = {std::string("long text"), std::nullopt, std::string("blob")};
  const auto decoded =
      StmtExecute::decode(bytes("17 01000000 00 01000000 00 01 fd00 0100 fc00 07"), base, {3, {}, sent});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->values,
            (std::vector<Value>{Value::string("long text"), Value::int64(7), Value::bytes("blob")}));
}

TEST(Execute, NineParametersTakeTwoNullBytes) {
  std::vector<Value> values(9, Value::null());
  values[8] = Value::int64(1);
  std::string out;
  WireWriter writer(out);
  encode_execute(writer, 1, 0, values, base);
  const auto decoded = StmtExecute::decode(out, base, {9, {}, {}});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->values, values);
  EXPECT_EQ(hex(out.substr(10, 3)), "FF0001");
}

TEST(Execute, Attributes) {
  const auto decoded =
      StmtExecute::decode(bytes("17 01000000 08 01000000 02 00 01 0100 00 fd00 01 'k' 05 01 'v'"),
                          base | cap::query_attributes, {1, {}, {}});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->values, (std::vector<Value>{Value::int64(5)}));
  ASSERT_EQ(decoded->attributes.size(), 1u);
  EXPECT_EQ(decoded->attributes[0].name, "k");
  EXPECT_EQ(decoded->attributes[0].value, Value::string("v"));
  EXPECT_EQ(hex(payload_of(*decoded, base | cap::query_attributes)),
            hex(bytes("17 01000000 08 01000000 02 00 01 0100 00 fd00 01 'k' 05 01 'v'")));
  // Only a count, and no attributes.
  EXPECT_TRUE(
      StmtExecute::decode(bytes("17 01000000 08 01000000 00"), base | cap::query_attributes, {0, {}, {}}));
}

struct Bad {
  const char* name;
  const char* encoded;
  Capabilities capabilities;
  uint16_t parameters;
};

TEST(Execute, Refused) {
  const Bad rows[] = {
      {"month 13", "17 01000000 00 01000000 00 01 0a00 04 ea07 0d 02", base, 1},
      {"hour 24", "17 01000000 00 01000000 00 01 0c00 07 ea07 01 02 18 00 00", base, 1},
      {"a temporal of 5 bytes", "17 01000000 00 01000000 00 01 0c00 05 ea07 01 02 18", base, 1},
      {"time of 35 days", "17 01000000 00 01000000 00 01 0b00 08 00 23000000 00 00 00", base, 1},
      {"type 14", "17 01000000 00 01000000 00 01 0e00 00", base, 1},
      {"string longer than the packet", "17 01000000 00 01000000 00 01 fd00 fe ffffffffffffffff", base, 1},
      {"fewer parameters than the statement has", "17 01000000 08 01000000 00", base | cap::query_attributes,
       1},
      {"attributes without types", "17 01000000 08 01000000 02 00 00", base | cap::query_attributes, 1},
      {"more attributes than bytes", "17 01000000 08 01000000 fe ffffffffffffffff 00 01",
       base | cap::query_attributes, 0},
      {"another command", "16 01000000 00 01000000", base, 0},
      {"no iterations", "17 01000000 00", base, 0},
  };
  for (const Bad& row : rows) {
    const auto decoded = StmtExecute::decode(bytes(row.encoded), row.capabilities, {row.parameters, {}, {}});
    ASSERT_FALSE(decoded) << row.name;
    EXPECT_EQ(decoded.error().code, 1210) << row.name;
    EXPECT_EQ(decoded.error().kind, ErrorKind::statement) << row.name;
  }
}

TEST(Execute, TypesChosenForValues) {
  EXPECT_EQ(type_for(Value::int64(1)), (WireType{ColumnType::longlong, false}));
  EXPECT_EQ(type_for(Value::uint64(1)), (WireType{ColumnType::longlong, true}));
  EXPECT_EQ(type_for(Value::temporal(Kind::date, "2026-01-02")), (WireType{ColumnType::date, false}));
  EXPECT_EQ(type_for(Value::temporal(Kind::date, "2026-1-2")), (WireType{ColumnType::var_string, false}));
  EXPECT_EQ(type_for(Value::temporal(Kind::time, "1 12:00:00")), (WireType{ColumnType::var_string, false}));
}

TEST(Execute, AValueThatDoesNotFitItsTypeIsAnError) {
  StmtExecute message;
  message.types = {{ColumnType::tiny, false}};
  message.values = {Value::int64(128)};
  EXPECT_EQ(payload_of(message, base).substr(0, 6), "error:");
  message.values = {Value::string("x")};
  EXPECT_EQ(payload_of(message, base).substr(0, 6), "error:");
}

TEST(Execute, StatementId) {
  EXPECT_EQ(StmtExecute::statement_id_of(bytes("17 04030201")).value(), 0x01020304u);
  EXPECT_FALSE(StmtExecute::statement_id_of(bytes("17 040302")));
}

}  // namespace
}  // namespace evenkeel::protocol
