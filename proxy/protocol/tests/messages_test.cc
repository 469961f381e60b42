// Tables of (name, value, capabilities, bytes) checked in both directions; each row is also cut at every
// byte: the decoder must refuse the short forms or give another value, and never read beyond them.
#include "proxy/protocol/messages.h"

#include <functional>
#include <gtest/gtest.h>

#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

namespace cap = capability;
using mysql::ColumnType;

template <typename Message>
Result<Message> decode_as(std::string_view payload, Capabilities capabilities) {
  if constexpr (requires { Message::decode(payload, capabilities); }) {
    return Message::decode(payload, capabilities);
  } else {
    return Message::decode(payload);
  }
}

template <typename Message>
void both_ways(const char* name, const Message& message, Capabilities capabilities, std::string_view encoded,
               size_t optional_tail = 0) {
  SCOPED_TRACE(name);
  const std::string raw = bytes(encoded);
  EXPECT_EQ(hex(payload_of(message, capabilities)), hex(raw));
  const Result<Message> decoded = decode_as<Message>(raw, capabilities);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(*decoded == message);
  for (size_t size = 0; size + optional_tail < raw.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees any read behind it.
    const std::string cut(raw.data(), size);
    const Result<Message> shorter = decode_as<Message>(cut, capabilities);
    EXPECT_FALSE(shorter && *shorter == message) << "cut to " << size;
  }
}

template <typename Message>
void refused(const char* name, Capabilities capabilities, std::string_view encoded) {
  const std::string raw = bytes(encoded);
  const Result<Message> decoded = decode_as<Message>(raw, capabilities);
  ASSERT_FALSE(decoded) << name;
  EXPECT_EQ(decoded.error().kind, ErrorKind::protocol) << name;
  EXPECT_EQ(decoded.error().code, 1835) << name;
}

constexpr Capabilities base = cap::protocol_41 | cap::secure_connection | cap::plugin_auth;

TEST(Greeting, OfMariaDb1011) {
  HandshakeV10 greeting;
  greeting.server_version = "5.5.5-10.11.19-MariaDB-0+deb12u1";
  greeting.connection_id = 10;
  greeting.nonce = bytes("'[pA2sram' 23 60 3c 49 3a 27 54 50 74 77 77 73");
  greeting.capabilities = 0x1d'81ff'f7fe;
  greeting.collation = 45;
  greeting.status = 2;
  greeting.auth_plugin = "mysql_native_password";
  both_ways(
      "MariaDB", greeting, 0,
      "0a '5.5.5-10.11.19-MariaDB-0+deb12u1' 00 0a000000 '[pA2sram' 00 fef7 2d 0200 ff81 15 000000000000 "
      "1d000000 23603c493a27545074777773 00 'mysql_native_password' 00",
      1);
}

TEST(Greeting, OfMySql97) {
  HandshakeV10 greeting;
  greeting.server_version = "9.7.4-2";
  greeting.connection_id = 11;
  greeting.nonce = bytes("4a7a1a2b7f1b630b 030b46436b7b775460391e5e");
  greeting.capabilities = 0xdfff'ffff;
  greeting.collation = 255;
  greeting.status = 2;
  greeting.auth_plugin = "caching_sha2_password";
  both_ways("MySQL", greeting, 0,
            "0a '9.7.4-2' 00 0b000000 4a7a1a2b7f1b630b 00 ffff ff 0200 ffdf 15 00000000000000000000 "
            "030b46436b7b775460391e5e 00 'caching_sha2_password' 00",
            1);
}

TEST(Greeting, Refused) {
  refused<HandshakeV10>("version 9", 0, "09 '3.23' 00");
  refused<HandshakeV10>("no NUL", 0, "0a '8.0'");
  refused<HandshakeV10>("empty", 0, "");
  // The plugin's NUL is missing on some servers: accepted.
  HandshakeV10 greeting;
  greeting.nonce = std::string(20, 'n');
  greeting.capabilities = base;
  greeting.auth_plugin = "p";
  std::string raw = payload_of(greeting);
  raw.pop_back();
  ASSERT_TRUE(HandshakeV10::decode(raw));
  EXPECT_EQ(HandshakeV10::decode(raw)->auth_plugin, "p");
}

TEST(Response, OfTheMariaDbClient) {
  HandshakeResponse41 response;
  response.capabilities = 0x1d'00bf'a28c;
  response.max_packet = 0x10000000;
  response.collation = 33;
  response.user = "app";
  response.auth_response = bytes("5c1a609a480075bc3f613ce7171fdc7e752ca2da");
  response.database = "d";
  response.auth_plugin = "mysql_native_password";
  response.attributes = {{"_os", "Linux"},
                         {"_client_name", "libmariadb"},
                         {"_pid", "25003"},
                         {"_client_version", "3.3.20"},
                         {"_platform", "x86_64"},
                         {"program_name", "mysql"},
                         {"_server_host", "127.0.0.1"}};
  both_ways(
      "libmariadb 3.3.20", response, 0x1d'81ff'f7fe,
      "8ca2bf00 00000010 21 00000000000000000000000000000000000000 1d000000 'app' 00 14 "
      "5c1a609a480075bc3f613ce7171fdc7e752ca2da 'd' 00 'mysql_native_password' 00 7f 03 '_os' 05 'Linux' 0c "
      "'_client_name' 0a 'libmariadb' 04 '_pid' 05 '25003' 0f '_client_version' 06 '3.3.20' 09 '_platform' "
      "06 "
      "'x86_64' 0c 'program_name' 05 'mysql' 0c '_server_host' 09 '127.0.0.1'");
}

TEST(Response, FieldsFollowTheCapabilities) {
  HandshakeResponse41 response;
  response.capabilities = cap::protocol_41;
  response.user = "u";
  response.auth_response = "old";
  both_ways("plain 4.1", response, base,
            "00020000 00000000 00 00000000000000000000000000000000000000 00000000 'u' 00 "
            "'old' 00");
  response.capabilities = base;
  response.auth_plugin = "x";
  both_ways("one length byte", response, base,
            "00820800 00000000 00 00000000000000000000000000000000000000 00000000 'u' 00 03 'old' 'x' 00");
  response.capabilities = base | cap::plugin_auth_lenenc_data | cap::zstd_compression;
  response.auth_response = std::string(300, 'r');
  response.zstd_level = 3;
  both_ways("long response, zstd level", response, response.capabilities,
            "00822804 00000000 00 00000000000000000000000000000000000000 00000000 'u' 00 fc 2c01 '" +
                std::string(300, 'r') + "' 'x' 00 03");
}

TEST(Response, OnlyWhatBothSidesHaveIsRead) {
  HandshakeResponse41 response;
  response.capabilities = base | cap::connect_with_db;
  response.user = "u";
  response.auth_plugin = "x";
  const std::string raw =
      bytes("08820800 00000000 00 00000000000000000000000000000000000000 00000000 'u' 00 00 'x' 00");
  const auto decoded = HandshakeResponse41::decode(raw, base);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->database, "");
  EXPECT_EQ(decoded->auth_plugin, "x");
}

TEST(Response, Refused) {
  const std::string head = "00000000 00 00000000000000000000000000000000000000 00000000 ";
  refused<HandshakeResponse41>("before 4.1", base, "00000000 " + head + "'u' 00 00");
  refused<HandshakeResponse41>("response longer than the packet", base,
                               "00820800 " + head + "'u' 00 ff 'abc'");
  refused<HandshakeResponse41>(
      "attributes longer than allowed", base | cap::connect_attrs,
      "00821800 " + head + "'u' 00 00 'x' 00 fd 010001 '" + std::string(65537, 'a') + "'");
  refused<HandshakeResponse41>("attribute cut", base | cap::connect_attrs,
                               "00821800 " + head + "'u' 00 00 'x' 00 03 05 'ab'");
}

TEST(SslRequestMessage, BothWays) {
  SslRequest request{cap::ssl | cap::protocol_41, 0x1000000, 45};
  both_ways("", request, 0, "000a0000 00000001 2d 00000000000000000000000000000000000000 00000000");
  EXPECT_TRUE(is_ssl_request(payload_of(request)));
  request.capabilities = cap::protocol_41;
  EXPECT_FALSE(is_ssl_request(payload_of(request)));
  refused<SslRequest>("no ssl bit", 0,
                      "00020000 00000001 2d 00000000000000000000000000000000000000 00000000");
}

TEST(AuthMessages, BothWays) {
  both_ways("switch", AuthSwitchRequest{"mysql_native_password", "12345678901234567890"}, 0,
            "fe 'mysql_native_password' 00 '12345678901234567890' 00", 1);
  both_ways("more", AuthMoreData{"\x03"}, 0, "01 03");
  refused<AuthSwitchRequest>("old form", 0, "fe");
  refused<AuthMoreData>("other", 0, "02 03");
}

TEST(OkMessage, BothWays) {
  both_ways("plain", Ok{1, 0, 2, 0, "", {}, false}, base, "00 01 00 0200 0000");
  both_ways("message", Ok{300, 70000, 2, 1, "Rows matched: 1", {}, false}, base,
            "00 fc2c01 fd701101 0200 0100 0f 'Rows matched: 1'");
  both_ways("ends rows", Ok{0, 0, 0x22, 0, "", {}, true}, base | cap::deprecate_eof, "fe 00 00 2200 0000");
  using What = SessionChange::What;
  both_ways("schema, as MariaDB and MySQL send it", Ok{0, 0, 0x4002, 0, "", {{What::schema, "", "d"}}, false},
            base | cap::session_track, "00 00 00 0240 0000 00 04 01 02 01 'd'");
  both_ways("system variable", Ok{0, 0, 0x4000, 0, "", {{What::system_variable, "autocommit", "OFF"}}, false},
            base | cap::session_track, "00 00 00 0040 0000 00 11 00 0f 0a 'autocommit' 03 'OFF'");
  both_ways("all kinds",
            Ok{0,
               0,
               0x4000,
               0,
               "m",
               {{What::state_changed, "", "1"},
                {What::gtids, "", "g:1"},
                {What::transaction_characteristics, "", "T;"},
                {What::transaction_state, "", "T_______"}},
               false},
            base | cap::session_track,
            "00 00 00 0040 0000 01 'm' 1b 02 02 01 '1' 03 05 00 03 'g:1' 04 03 02 'T;' 05 09 08 'T_______'");
  both_ways("a kind not known is kept raw",
            Ok{0, 0, 0x4000, 0, "", {{static_cast<What>(9), "", "xyz"}}, false}, base | cap::session_track,
            "00 00 00 0040 0000 00 05 09 03 'xyz'");
}

TEST(OkMessage, TheStateFlagFollowsWhatIsSent) {
  const Ok ok{0, 0, 0x4002, 0, "", {{SessionChange::What::schema, "", "d"}}, false};
  EXPECT_EQ(hex(payload_of(ok, base)), hex(bytes("00 00 00 0200 0000"))) << "the client does not track";
  EXPECT_EQ(hex(payload_of(Ok{0, 0, 0x4002, 0, "", {}, false}, base | cap::session_track)),
            hex(bytes("00 00 00 0200 0000")));
}

TEST(OkMessage, Refused) {
  refused<Ok>("ERR", base, "ff 00 00 0200 0000");
  refused<Ok>("short", base, "00 00 00 0200");
  refused<Ok>("state longer than the packet", base | cap::session_track,
              "00 00 00 0040 0000 00 09 01 02 01 'd'");
}

TEST(ErrMessage, BothWays) {
  both_ways("with state", Err{1062, "23000", "Duplicate entry '1' for key 'PRIMARY'"}, base,
            "ff 2604 '#23000Duplicate entry ' 27 '1' 27 ' for key ' 27 'PRIMARY' 27");
  EXPECT_EQ(hex(payload_of(Err{1040, "08004", "Too many connections"}, 0)),
            hex(bytes("ff 1004 'Too many connections'")));
  const auto without = Err::decode(bytes("ff 1004 'Too many connections'"));
  ASSERT_TRUE(without);
  EXPECT_EQ(*without, (Err{1040, "", "Too many connections"}));
  EXPECT_EQ(without->to_error().sqlstate, "08004");
  refused<Err>("OK", base, "00 1004");
  refused<Err>("short", base, "ff 10");
}

TEST(ErrMessage, FromAnError) {
  EXPECT_EQ(Err::from(unsupported("no")), (Err{1235, "42000", "no"}));
  EXPECT_EQ(Err::from(Error{ErrorKind::internal, 0, "", "x"}), (Err{1105, "HY000", "x"}));
}

TEST(EofMessage, BothWays) {
  both_ways("", Eof{1, 0x22}, base, "fe 0100 2200");
  refused<Eof>("a long one is no EOF", base, "fe 0100 2200 00000000");
}

TEST(ColumnDefinitionMessage, OfRealServers) {
  ColumnDefinition column;
  column.schema = "d";
  column.table = column.original_table = "t";
  column.name = column.original_name = "id";
  column.collation = 63;
  column.length = 20;
  column.type = ColumnType::longlong;
  column.flags = 0x5023;
  both_ways("MySQL 9.7", column, base,
            "03 'def' 01 'd' 01 't' 01 't' 02 'id' 02 'id' 0c 3f00 14000000 08 2350 00 0000");
  EXPECT_EQ(column.wire_type(), (WireType{ColumnType::longlong, true}));
  both_ways("MariaDB, extended metadata", column, base | cap::mariadb_extended_metadata,
            "03 'def' 01 'd' 01 't' 01 't' 02 'id' 02 'id' 00 0c 3f00 14000000 08 2350 00 0000");
  column.has_default = true;
  column.default_value = "7";
  const std::string raw =
      bytes("03 'def' 01 'd' 01 't' 01 't' 02 'id' 02 'id' 0c 3f00 14000000 08 2350 00 0000 01 '7'");
  EXPECT_EQ(hex(payload_of(column, base)), hex(raw));
  ASSERT_TRUE(ColumnDefinition::decode(raw, base));
  EXPECT_EQ(*ColumnDefinition::decode(raw, base), column);
  refused<ColumnDefinition>("fixed part too short", base, "00 00 00 00 00 00 0b 3f00 14000000 08 2350 00 00");
}

TEST(SmallResponses, BothWays) {
  both_ways("count", ColumnCount{8}, base, "08");
  both_ways("count above 250", ColumnCount{4096}, base, "fc 0010");
  refused<ColumnCount>("zero", base, "00");
  refused<ColumnCount>("cached metadata mark", base, "08 01");
  both_ways("file", LocalInfileRequest{"/tmp/x"}, base, "fb '/tmp/x'");
  both_ways("prepared", StmtPrepareOk{1, 2, 3, 0}, base, "00 01000000 0200 0300 00 0000", 3);
  refused<StmtPrepareOk>("ERR", base, "ff 01000000 0200 0300 00 0000");
}

TEST(Classification, EndOfRows) {
  EXPECT_TRUE(is_end_of_rows(0xfe, 5, 0));
  EXPECT_FALSE(is_end_of_rows(0xfe, 9, 0));
  EXPECT_TRUE(is_end_of_rows(0xfe, 9, cap::deprecate_eof));
  EXPECT_TRUE(is_end_of_rows(0xfe, 0xfffffe, cap::deprecate_eof));
  EXPECT_FALSE(is_end_of_rows(0xfe, 0xffffff, cap::deprecate_eof)) << "a cell of 16 MiB";
  EXPECT_FALSE(is_end_of_rows(0x00, 5, 0));
  EXPECT_TRUE(is_err("\xff"));
  EXPECT_TRUE(is_ok(std::string_view("\0", 1)));
  EXPECT_TRUE(is_eof("\xfe"));
  EXPECT_FALSE(is_eof("\xfe--------"));
}

TEST(Commands, BothWays) {
  both_ways("query", Query{"select 1", {}}, base, "03 'select 1'");
  both_ways("query of a client with attributes", Query{"select $$", {}}, base | cap::query_attributes,
            "03 00 01 'select $$'");
  both_ways("query with two attributes",
            Query{"do 1",
                  {{"a", {ColumnType::longlong, false}, mysql::Value::int64(-2)},
                   {"n", {ColumnType::var_string, false}, mysql::Value::null()}}},
            base | cap::query_attributes, "03 02 01 02 01 0800 01 'a' fd00 01 'n' feffffffffffffff 'do 1'");
  both_ways("init", InitDb{"d"}, base, "02 'd'");
  both_ways("plain", PlainCommand{Command::reset_connection}, base, "1f");
  both_ways("fields", FieldList{"t", "%"}, base, "04 't' 00 '%'");
  both_ways("option", SetOption{1}, base, "1b 0100");
  both_ways("kill", ProcessKill{7}, base, "0c 07000000");
  both_ways("prepare", StmtPrepare{"select ?"}, base, "16 'select ?'");
  both_ways("close", StmtClose{9}, base, "19 09000000");
  both_ways("reset", StmtReset{9}, base, "1a 09000000");
  both_ways("fetch", StmtFetch{9, 10}, base, "1c 09000000 0a000000");
  both_ways("long", StmtSendLongData{9, 1, "xyz"}, base, "18 09000000 0100 'xyz'");
  both_ways("change user",
            ChangeUser{"u", std::string(20, 'r'), "d", 45, "mysql_native_password", {{"k", "v"}}},
            base | cap::connect_attrs,
            "11 'u' 00 14 'rrrrrrrrrrrrrrrrrrrr' 'd' 00 2d00 'mysql_native_password' 00 04 01 'k' 01 'v'");
  const auto old = ChangeUser::decode(bytes("11 'u' 00 00 'd' 00"), base);
  ASSERT_TRUE(old);
  EXPECT_EQ(*old, (ChangeUser{"u", "", "d", 0, "", {}}));
}

TEST(Commands, Refused) {
  refused<Query>("another command", base, "04 'select 1'");
  refused<Query>("empty", base, "");
  refused<Query>("two sets of attributes", base | cap::query_attributes, "03 00 02 'x'");
  refused<Query>("more attributes than bytes", base | cap::query_attributes, "03 fe ffffffffffffffff 01 'x'");
  refused<InitDb>("another", base, "03 'd'");
  refused<FieldList>("no NUL", base, "04 't'");
  refused<SetOption>("short", base, "1b 01");
  refused<ProcessKill>("short", base, "0c 070000");
  refused<StmtClose>("short", base, "19 07");
  refused<StmtFetch>("short", base, "1c 07000000 00");
  refused<StmtSendLongData>("short", base, "18 07000000 00");
  refused<ChangeUser>("response longer than the packet", base, "11 'u' 00 14 'rrr'");
  refused<PlainCommand>("empty", base, "");
}

TEST(Commands, HaveNames) {
  for (int i = 0; i <= 0x21; ++i) EXPECT_NE(to_string(static_cast<Command>(i)), "unknown command") << i;
  EXPECT_EQ(to_string(static_cast<Command>(0x30)), "unknown command");
  EXPECT_EQ(command_of(""), Command::sleep);
  EXPECT_EQ(command_of("\x03x"), Command::query);
}

}  // namespace
}  // namespace evenkeel::protocol
