// A client that talks to a Conversation byte by byte and tells what it heard as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/answer/conversation.h"

namespace evenkeel::answer::testing {

// The program behind: answers ECHO <words> with one row of the words, WAIT n with "done" after n steps of a
// timer, FAIL with an error, DO with OK. Describes ECHO's one column.
class EchoAnswerer final : public Answerer {
 public:
  Result<Answer> answer(const Phrase& phrase, const Caller& caller) override;
  Result<std::vector<mysql::ResultColumn>> describe(const Phrase& phrase) override;
};

class ScriptedClient {
 public:
  // Logs in with mysql_native_password; `heard()` then says how it went.
  ScriptedClient(const Service& service, std::string_view user, std::string_view password,
                 protocol::Capabilities extra = 0);

  // What the server said since the last call: "OK affected=1", "ERR 1064 (42000) text",
  // "a:string b:int64 | 'x', 1 | …", "" for nothing, "WAIT 250us", "CLOSED".
  std::string query(std::string_view sql);
  std::string command(std::string_view payload);
  std::string prepare(std::string_view sql);
  std::string execute(uint32_t id, const std::vector<mysql::Value>& values);
  std::string fire_timer();
  std::string heard();
  // Sends raw bytes.
  std::string send(std::string_view bytes);

  bool open() const { return next_ != Conversation::Next::close; }
  Conversation& conversation() { return conversation_; }

 private:
  std::string tell();
  std::string tell_answer(bool prepared);

  protocol::Capabilities capabilities_;
  Conversation conversation_;
  Conversation::Next next_ = Conversation::Next::need_bytes;
  std::string out_;
  bool preparing_ = false;
  bool binary_ = false;
};

}  // namespace evenkeel::answer::testing
