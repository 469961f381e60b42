// A connection to an instance: TCP, TLS and login, then lent to one session after the other.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/backend/connect.h"
#include "proxy/backend/pool.h"
#include "proxy/exec/connection.h"
#include "proxy/net/stream.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::net {

class ClientSocket;
class Loop;

// Owned by its loop. Serves sessions, or (`kill` is not empty) sends that one statement and ends.
class BackendSocket final : public StreamOwner {
 public:
  BackendSocket(Loop& loop, const backend::PoolKey& key, backend::Handle handle, std::string kill = {});
  ~BackendSocket() override;

  void open();

  const backend::PoolKey& key() const { return key_; }
  backend::Handle handle() const { return handle_; }
  exec::Connection& connection() { return connection_; }
  bool ready() const { return stage_ == Stage::ready; }
  bool pooled() const { return kill_.empty(); }
  std::chrono::nanoseconds opened_at() const { return opened_at_; }

  void lend(ClientSocket* client) { client_ = client; }
  ClientSocket* client() { return client_; }
  void flush();
  void pause() {
    if (stream_) stream_->pause_reading();
  }
  // It is about to be destroyed: no more events.
  void end() {
    stage_ = Stage::closed;
    stream_.reset();
  }
  void resume() {
    if (stream_) stream_->start_reading();
  }

  void on_bytes(std::string_view bytes) override;
  void on_drained() override {}
  void on_closed(std::string_view reason) override;
  void on_connected() override;
  void time_out();

 private:
  enum class Stage : uint8_t { connecting, login, preparing, ready, killing, closed };

  void on_login_bytes(std::string_view bytes);
  void login_step(backend::ClientHandshake::Next next);
  void logged_in();
  void on_preparing_bytes(std::string_view bytes);
  void fail_open(Error error);

  Loop& loop_;
  backend::PoolKey key_;
  backend::Handle handle_;
  std::string kill_;
  std::chrono::nanoseconds opened_at_;
  exec::Connection connection_;
  Stage stage_ = Stage::connecting;
  std::unique_ptr<Stream> stream_;
  backend::ConnectSettings settings_;
  std::unique_ptr<backend::ClientHandshake> login_;
  protocol::FrameReader reader_;
  std::string in_;
  ClientSocket* client_ = nullptr;
};

}  // namespace evenkeel::net
