#include "proxy/protocol/wire.h"

#include <gtest/gtest.h>

#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

struct LenencCase {
  uint64_t value;
  const char* encoded;
};

TEST(Wire, LengthEncodedIntegers) {
  const LenencCase cases[] = {
      {0, "00"},
      {1, "01"},
      {250, "fa"},
      {251, "fc fb 00"},
      {65535, "fc ff ff"},
      {65536, "fd 00 00 01"},
      {0xffffff, "fd ff ff ff"},
      {0x1000000, "fe 00 00 00 01 00 00 00 00"},
      {UINT64_MAX, "fe ff ff ff ff ff ff ff ff"},
  };
  for (const auto& [value, encoded] : cases) {
    std::string out;
    WireWriter(out).lenenc_int(value);
    EXPECT_EQ(hex(out), hex(bytes(encoded)));
    WireReader in(out);
    EXPECT_EQ(in.lenenc_int(), value);
    EXPECT_TRUE(in.ok() && in.at_end());
    for (size_t size = 0; size < out.size(); ++size) {
      WireReader cut(std::string_view(out).substr(0, size));
      EXPECT_EQ(cut.lenenc_int(), 0u);
      EXPECT_FALSE(cut.ok());
    }
  }
}

TEST(Wire, NoLengths) {
  for (const char* encoded : {"fb", "ff", "ff 00 00 00 00 00 00 00 00"}) {
    const std::string input = bytes(encoded);
    WireReader in(input);
    in.lenenc_int();
    EXPECT_FALSE(in.ok()) << encoded;
  }
}

TEST(Wire, FixedIntegers) {
  std::string out;
  WireWriter writer(out);
  writer.int1(0x01);
  writer.int2(0x0302);
  writer.int3(0x060504);
  writer.int4(0x0a090807);
  writer.int6(0x100f0e0d0c0b);
  writer.int8(0x1817161514131211);
  EXPECT_EQ(hex(out), "0102030405060708090A0B0C0D0E0F101112131415161718");
  WireReader in(out);
  EXPECT_EQ(in.int1(), 0x01);
  EXPECT_EQ(in.int2(), 0x0302);
  EXPECT_EQ(in.int3(), 0x060504u);
  EXPECT_EQ(in.int4(), 0x0a090807u);
  EXPECT_EQ(in.int6(), 0x100f0e0d0c0bu);
  EXPECT_EQ(in.int8(), 0x1817161514131211u);
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(Wire, TheFirstErrorStays) {
  const std::string input = bytes("01 02 03");
  WireReader in(input);
  EXPECT_EQ(in.int4(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.int1(), 0) << "nothing is read behind a failure";
  EXPECT_EQ(in.rest(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Wire, StringsDoNotTrustTheirLength) {
  const std::string input = bytes("fe ff ff ff ff ff ff ff ff 'abc'");
  WireReader in(input);
  EXPECT_EQ(in.lenenc_string(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Wire, NulStrings) {
  const std::string input = bytes("'ab' 00 00 'c'");
  WireReader in(input);
  EXPECT_EQ(in.nul_string(), "ab");
  EXPECT_EQ(in.nul_string(), "");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.nul_string(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Wire, NullAndStrings) {
  const std::string input = bytes("fb 00 02 'ab'");
  WireReader in(input);
  EXPECT_EQ(in.nullable_lenenc_string(), std::nullopt);
  EXPECT_EQ(in.nullable_lenenc_string(), "");
  EXPECT_EQ(in.nullable_lenenc_string(), "ab");
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(Wire, WriterRefusesWhatCannotBeSent) {
  std::string out;
  WireWriter writer(out);
  writer.short_string(std::string(256, 'x'));
  EXPECT_FALSE(writer.ok());
  writer.int4(1);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(writer.status().error().code, 1835);
}

}  // namespace
}  // namespace evenkeel::protocol
