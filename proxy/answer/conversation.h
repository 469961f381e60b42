// A client's whole conversation with a program that answers by itself: login, commands, prepared statements.
// A machine without IO: bytes in, bytes out and the next step.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/answer/answer.h"
#include "proxy/answer/client_questions.h"
#include "proxy/front/handshake.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::answer {

// What all conversations of a listener share. Immutable, outlives them.
struct Service {
  front::HandshakeSettings handshake;
  std::string version_comment;  // "Evenkeel id service"
  const std::vector<Account>* accounts = nullptr;
  Answerer* answerer = nullptr;
  Limits limits;
};

// The capabilities that may be offered by such a service: one statement at a time, no files.
protocol::Capabilities service_capabilities();

// One thread.
//
//   next = conversation.start(out); write out;
//   need_bytes: read; next = conversation.on_bytes(bytes, out); write out
//   start_tls:  what follows is TLS; give unread() to it; next = conversation.on_tls_started(out)
//   wait:       after delay(): next = conversation.on_timer(out); bytes that come meanwhile go to on_bytes
//   close:      write out and close
class Conversation {
 public:
  enum class Next : uint8_t { need_bytes, start_tls, wait, close };

  Conversation(const Service& service, uint64_t connection_id, std::string host,
               const protocol::auth::Nonce& nonce);
  ~Conversation();

  Next start(std::string& out);
  Next on_bytes(std::string_view bytes, std::string& out);
  Next on_tls_started(std::string& out);
  Next on_timer(std::string& out);
  std::chrono::microseconds delay() const { return delay_; }
  std::string unread();
  bool logged_in() const { return login_ == nullptr; }
  // Between two commands.
  bool at_rest() const { return logged_in() && !waiting_ && in_.empty(); }
  // Why a login failed; for the log.
  const std::string& refusal() const { return refusal_; }
  // An ERR that no command asked for: the service ends.
  void say_goodbye(const Error& error, std::string& out);

 private:
  struct Prepared;

  Next take_packets(std::string& out);
  Next login_step(front::ServerHandshake::Next next, std::string& out);
  const Account* find_account() const;
  void handle(std::string_view payload, std::string& out);
  void handle_query(std::string_view sql, std::string& out);
  void handle_prepare(std::string_view payload, std::string& out);
  void handle_execute(std::string_view payload, std::string& out);
  void handle_long_data(std::string_view payload);
  void answer_phrase(const Phrase& phrase, std::string& out);
  void give(Result<Answer> answer, std::string& out);
  void give_table(const mysql::ResultTable& table, std::string& out);
  void answer_ok(std::string& out);
  void answer_error(const Error& error, std::string& out);
  front::ResultWriter writer(std::string& out);

  const Service& service_;
  protocol::auth::Nonce nonce_;
  std::unique_ptr<front::ServerHandshake> login_;  // null once logged in
  protocol::FrameReader reader_;
  std::string in_;
  std::string refusal_;
  protocol::Capabilities capabilities_ = 0;
  Caller caller_;
  ClientState state_;
  uint8_t sequence_ = 0;
  front::RowFormat format_ = front::RowFormat::text;
  bool closing_ = false;
  bool waiting_ = false;
  std::chrono::microseconds delay_{0};
  std::function<Result<Answer>()> again_;
  std::map<uint32_t, std::unique_ptr<Prepared>> prepared_;
  uint32_t last_prepared_ = 0;
};

}  // namespace evenkeel::answer
