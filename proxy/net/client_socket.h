// A client's connection: login, then its session.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/front/handshake.h"
#include "proxy/net/report.h"
#include "proxy/net/stream.h"
#include "proxy/net/terms.h"
#include "proxy/protocol/frame.h"
#include "proxy/session/session.h"

namespace evenkeel::net {

class Loop;

// Owned by its loop.
class ClientSocket final : public StreamOwner, public session::SessionPort {
 public:
  // `listener`: its place among the settings'.
  ClientSocket(Loop& loop, int descriptor, uint32_t listener, uint64_t connection_id, std::string host);
  ~ClientSocket() override;

  void start();
  uint64_t connection_id() const { return connection_id_; }
  session::Session* session() { return session_.get(); }
  SessionFacts facts() const;
  std::chrono::nanoseconds last_active() const { return last_active_; }
  // Too long in login, or silent for too long.
  void time_out(const Error* farewell);
  void kill(bool query_only);
  // The socket is gone: what the session holds goes back.
  void end() { session_.reset(); }
  // Between two commands.
  bool at_rest() const { return session_ == nullptr || session_->at_rest(); }
  // After an event of this client: sends what the session has written, and closes if that was its end.
  void settle();

  void on_leased(uint32_t ticket, Result<exec::Connection*> connection);
  void on_backend_bytes(exec::Connection* connection, std::string_view bytes);
  void on_backend_lost(exec::Connection* connection, const std::string& reason);

  // StreamOwner
  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(std::string_view reason) override;

  // SessionPort
  std::string& client_out() override { return out_; }
  bool client_is_slow() const override;
  void lease(rule::InstanceId instance, exec::CapabilityClass capability, uint32_t ticket) override;
  void cancel_lease(uint32_t ticket) override;
  void release(exec::Connection* connection) override;
  void flush(exec::Connection* connection) override;
  void pause(exec::Connection* connection) override;
  void resume(exec::Connection* connection) override;
  void kill_query(exec::Connection* connection) override;
  void kill_connection(exec::Connection* connection) override;
  void set_timer(std::chrono::microseconds delay) override;
  void read_client(bool on) override;
  void close_client() override;
  void change_user(std::string_view payload) override;

 private:
  void flush_client();
  void on_login_bytes(std::string_view bytes);
  void login_step(front::ServerHandshake::Next next);
  void authenticated();
  void finish_login(std::optional<Error> error);
  void send_out();
  void close();
  static void on_timer(evutil_socket_t, short, void* self);

  Loop& loop_;
  const TermsPtr came_under_;  // holds `listener_` and the marks of the stream
  const ListenerFacts& listener_;
  uint64_t connection_id_;
  std::string host_;
  std::chrono::nanoseconds last_active_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<front::ServerHandshake> login_;
  protocol::FrameReader reader_;
  protocol::auth::Nonce nonce_{};
  TermsPtr logged_in_under_;  // holds `user_`
  const session::User* user_ = nullptr;
  TermsPtr applied_under_;                    // holds `applicant_`
  const session::User* applicant_ = nullptr;  // who is logging in
  std::unique_ptr<session::Session> session_;
  event* timer_ = nullptr;
  std::string in_;   // of the login
  std::string out_;  // for the client, until the current event has been handled
  bool closing_ = false;
  bool logged_in_ = false;          // `login_` has done its work
  bool checking_database_ = false;  // the login waits for an instance
  bool changing_user_ = false;
  mutable bool told_slow_ = false;  // the session waits for on_client_drained
};

}  // namespace evenkeel::net
