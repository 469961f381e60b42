#include "proxy/answer/conversation.h"

#include <gtest/gtest.h>

#include "proxy/answer/tests/scripted_client.h"
#include "proxy/protocol/auth/native_password.h"

namespace evenkeel::answer {
namespace {

using mysql::Value;
using testing::EchoAnswerer;
using testing::ScriptedClient;

class ConversationTest : public ::testing::Test {
 protected:
  ConversationTest() {
    Account anna;
    anna.name = "anna";
    anna.native_verifier = protocol::auth::native_password::verifier_of("sesame");
    Account far = anna;
    far.name = "far";
    far.hosts = {"192.168.0.0/16"};
    accounts_ = {anna, far};
    service_.handshake.server_version = "10.11.0-Evenkeel";
    service_.handshake.capabilities = service_capabilities();
    service_.handshake.default_plugin = protocol::plugin::native_password;
    service_.version_comment = "Evenkeel under test";
    service_.accounts = &accounts_;
    service_.answerer = &answerer_;
    service_.limits.max_packet = 4096;
    service_.limits.max_prepared_statements = 2;
  }

  EchoAnswerer answerer_;
  std::vector<Account> accounts_;
  Service service_;
};

TEST_F(ConversationTest, LogsInByPasswordAndAddress) {
  EXPECT_EQ(ScriptedClient(service_, "anna", "sesame").heard(), "OK affected=0 status=2");
  EXPECT_EQ(ScriptedClient(service_, "anna", "open").heard(),
            "ERR 1045 (28000) Access denied for user 'anna'@'10.0.0.1' (using password: YES)CLOSED");
  EXPECT_EQ(ScriptedClient(service_, "nobody", "sesame").heard(),
            "ERR 1045 (28000) Access denied for user 'nobody'@'10.0.0.1' (using password: YES)CLOSED");
  EXPECT_EQ(ScriptedClient(service_, "far", "sesame").heard(),
            "ERR 1045 (28000) Access denied for user 'far'@'10.0.0.1' (using password: YES)CLOSED");
}

TEST_F(ConversationTest, StatementsReachTheProgram) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  EXPECT_EQ(client.query("ECHO a 'b c' `d`;"), "words:VARCHAR | 'a' | 'b c' | 'd'");
  EXPECT_EQ(client.query("do it"), "OK affected=3 status=2 done by anna");
  EXPECT_EQ(client.query("FAIL"), "ERR 1040 (08004) too much");
  EXPECT_EQ(client.query("GO away"),
            "ERR 1064 (42000) You have an error in your SQL syntax: 'GO' at character 1 was not expected; "
            "allowed here: ECHO, DO, WAIT, FAIL");
  EXPECT_EQ(client.query(" /* nothing */ "), "ERR 1065 (42000) Query was empty");
  EXPECT_EQ(
      client.query("DO; DO"),
      "ERR 1064 (42000) You have an error in your SQL syntax: one statement at a time is answered here");
  EXPECT_TRUE(client.open());
}

TEST_F(ConversationTest, AnAnswerMayTakeItsTime) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  EXPECT_EQ(client.query("WAIT 2"), "WAIT 200us");
  // A command that comes meanwhile is answered behind it.
  EXPECT_EQ(client.query("DO"), "WAIT 200us");
  EXPECT_EQ(client.fire_timer(), "WAIT 100us");
  EXPECT_EQ(client.fire_timer(), "OK affected=0 status=2OK affected=3 status=2 done by anna");
  EXPECT_TRUE(client.conversation().at_rest());
}

TEST_F(ConversationTest, PreparedStatementsBindTextAndNumbers) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  EXPECT_EQ(client.prepare("ECHO ? ?"), "PREPARED 1 parameters=2 ?:VARCHAR ?:VARCHAR words:VARCHAR");
  EXPECT_EQ(client.execute(1, {Value::string("it's"), Value::int64(-5)}), "words:VARCHAR | 'it's' | '-5'");
  EXPECT_EQ(client.execute(1, {Value(), Value::real(12)}), "words:VARCHAR | 'NULL' | '12'");
  EXPECT_EQ(client.execute(9, {}), "ERR 1243 (HY000) Unknown prepared statement handler (9)");
  EXPECT_EQ(client.prepare("FAIL"), "ERR 1040 (08004) not even prepared");
  EXPECT_EQ(client.prepare("DO"), "PREPARED 2 parameters=0 ");
  EXPECT_EQ(client.prepare("DO"),
            "ERR 1461 (42000) Can't create more than 2 prepared statements in one session");
  EXPECT_EQ(client.command(std::string("\x19\x02\0\0\0", 5)), "");  // CLOSE
  EXPECT_EQ(client.prepare("DO"), "PREPARED 3 parameters=0 ");
  EXPECT_EQ(client.query("ECHO ?"),
            "ERR 1064 (42000) You have an error in your SQL syntax: ? stands for a value in prepared "
            "statements only");
}

// What mariadb, PyMySQL, mysql2, Connector/J, Connector/Python and Go's driver send by themselves.
TEST_F(ConversationTest, ConnectorsAreAnswered) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  const std::pair<const char*, const char*> cases[] = {
      {"select @@version_comment limit 1", "@@version_comment:VARCHAR | 'Evenkeel under test'"},
      {"SET NAMES utf8mb4", "OK affected=0 status=2"},
      {"SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'", "OK affected=0 status=2"},
      {"SELECT @@collation_connection", "@@collation_connection:VARCHAR | 'utf8mb4_unicode_ci'"},
      {"SET AUTOCOMMIT = 0", "OK affected=0 status=2"},
      {"SELECT @@session.autocommit AS a, 1", "a:BIGINT 1:BIGINT | 0, 1"},
      {"set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')",
       "ERR 1235 (42000) SET sql_mode to an expression is not answered here"},
      {"SELECT @@max_allowed_packet,@@wait_timeout",
       "@@max_allowed_packet:BIGINT @@wait_timeout:BIGINT | 4096, 28800"},
      {"SHOW VARIABLES LIKE 'lower\\_case%'",
       "Variable_name:VARCHAR Value:VARCHAR | 'lower_case_table_names', '0'"},
      {"SHOW VARIABLES WHERE Variable_name IN ('license', 'nothing') OR Variable_name = 'version'",
       "Variable_name:VARCHAR Value:VARCHAR | 'license', 'Apache-2.0' | 'version', '10.11.0-Evenkeel'"},
      {"SELECT DATABASE(), USER() LIMIT 1", "DATABASE():VARCHAR USER():VARCHAR | NULL, 'anna@10.0.0.1'"},
      {"USE shop", "OK affected=0 status=2"},
      {"SELECT DATABASE() FROM DUAL", "DATABASE():VARCHAR | 'shop'"},
      {"SELECT VERSION(), CONNECTION_ID()",
       "VERSION():VARCHAR CONNECTION_ID():BIGINT UNSIGNED | '10.11.0-Evenkeel', 7"},
      {"SELECT @@nothing", "ERR 1193 (HY000) Unknown system variable 'nothing'"},
      {"SET nothing = 1", "ERR 1193 (HY000) Unknown system variable 'nothing'"},
      {"SET @x = 'y', @@session.sql_notes = OFF", "OK affected=0 status=2"},
      {"SELECT @x, @@sql_notes, @z", "@x:VARCHAR @@sql_notes:BIGINT @z:VARCHAR | 'y', 0, NULL"},
      {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "OK affected=0 status=2"},
      {"/*!40101 SET NAMES utf8 */", "OK affected=0 status=2"},
      {"START TRANSACTION", "OK affected=0 status=2"},
      {"SHOW WARNINGS", "Level:VARCHAR Code:BIGINT Message:VARCHAR"},
      {"SELECT 1", "1:BIGINT | 1"},
      {"SELECT 'a' AS b LIMIT 0", "b:VARCHAR"},
  };
  for (const auto& [sql, answer] : cases) EXPECT_EQ(client.query(sql), answer) << sql;
  EXPECT_EQ(client.command("\x0e"), "OK affected=0 status=2");  // PING
  EXPECT_EQ(client.command("\x1f"), "OK affected=0 status=2");  // RESET_CONNECTION
  EXPECT_EQ(client.query("SELECT @@sql_notes"), "@@sql_notes:BIGINT | 1");
  EXPECT_EQ(client.command("\x1d"), "ERR 1047 (08S01) Unknown command (COM_DAEMON)");
  EXPECT_EQ(client.prepare("SELECT @@version_comment"), "PREPARED 1 parameters=0 @@version_comment:VARCHAR");
  EXPECT_EQ(client.command("\x01"), "CLOSED");  // QUIT
}

TEST_F(ConversationTest, RowsEndAsTheClientExpects) {
  ScriptedClient client(service_, "anna", "sesame", protocol::capability::deprecate_eof);
  client.heard();
  EXPECT_EQ(client.query("ECHO a"), "words:VARCHAR | 'a'");
}

TEST_F(ConversationTest, APacketAboveTheLimitEndsTheConversation) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  const std::string said = client.query("ECHO '" + std::string(5000, 'x') + "'");
  EXPECT_TRUE(said.starts_with("ERR 1153")) << said;
  EXPECT_FALSE(client.open());
}

// However the bytes arrive, the answers are the same.
TEST_F(ConversationTest, BytesMayComeOneByOne) {
  ScriptedClient client(service_, "anna", "sesame");
  client.heard();
  std::string bytes;
  protocol::PacketWriter(bytes, 0).write_payload(
      "\x03"
      "DO");
  protocol::PacketWriter(bytes, 0).write_payload("\x0e");
  std::string said;
  for (const char byte : bytes) said += client.send(std::string_view(&byte, 1));
  EXPECT_EQ(said, "OK affected=3 status=2 done by annaOK affected=0 status=2");
}

}  // namespace
}  // namespace evenkeel::answer
