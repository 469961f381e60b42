// One worker thread: an event loop with its clients, its connections to the instances and their pools.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <event2/event.h>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "proxy/backend/connect.h"
#include "proxy/backend/pool.h"
#include "proxy/net/mailbox.h"
#include "proxy/net/report.h"
#include "proxy/net/terms.h"
#include "proxy/session/environment.h"
#include "proxy/session/statement_cache.h"

namespace evenkeel::net {

class BackendSocket;
class ClientSocket;

// What all loops share.
struct Shared {
  const Clock* clock = nullptr;
  std::atomic<uint64_t> next_connection_id{1};
  std::atomic<uint32_t> clients{0};
  // Whose each connection is, for KILL over all loops.
  std::mutex owners_mutex;  // guards owners
  std::unordered_map<uint64_t, std::string> owners;
  std::function<bool(uint64_t id, bool query_only, const std::string& user)> kill;
};

class Loop {
 public:
  Loop(Shared& shared, TermsPtr terms, session::Environment environment, size_t loops);
  ~Loop();

  void start();
  // Ends the thread once its clients are gone, or at once with `now`.
  void stop(bool now);
  void join();

  // Any thread: a connected client socket.
  void adopt(int descriptor, uint32_t listener, std::string host);
  Mailbox& mailbox() { return mailbox_; }
  event_base* base() { return base_; }
  const session::Counters& counters() const { return counters_; }
  const session::Timings& timings() const { return timings_; }

  // This loop's thread only, for its sockets.
  Shared& shared() { return shared_; }
  const TermsPtr& terms() const { return terms_; }
  // Serves by these from now on; sessions that are open take from them what is asked anew for each statement.
  void adopt_terms(TermsPtr terms);
  session::Environment& environment() { return environment_; }
  std::span<char> scratch() { return scratch_; }
  std::chrono::nanoseconds now() const { return shared_.clock->steady(); }
  void lease(const backend::PoolKey& key, backend::Waiter waiter, ClientSocket* client);
  void cancel_lease(backend::Waiter waiter);
  void release(BackendSocket* socket);
  void opened(BackendSocket* socket);
  void open_failed(BackendSocket* socket, const Error& error);
  void lost(BackendSocket* socket);
  // `what`: "KILL QUERY" or "KILL", sent over another connection.
  void kill(BackendSocket* socket, std::string_view what);
  void client_gone(ClientSocket* client);
  ClientSocket* find_client(uint64_t connection_id);
  // Adds what this loop has.
  void report(LoopReport& report) const;

 private:
  static void on_sweep(evutil_socket_t, short, void* self);
  void sweep();
  void obey(backend::Pool::Actions& actions);
  void open(const backend::PoolKey& key);
  std::unique_ptr<BackendSocket> take(BackendSocket* socket);
  // Destroys the socket when no call of it is on the stack.
  void bury(std::unique_ptr<BackendSocket> socket);
  void empty_graves_later();

  Shared& shared_;
  const size_t loops_;
  TermsPtr terms_;
  session::Counters counters_;
  session::Timings timings_;
  session::StatementCache statements_;
  session::Environment environment_;
  event_base* base_;
  Mailbox mailbox_;
  event* sweep_event_;
  std::vector<char> scratch_;
  backend::Pool pool_;
  std::unordered_map<backend::Handle, std::unique_ptr<BackendSocket>> backends_;
  std::unordered_map<backend::Waiter, ClientSocket*> waiters_;
  std::unordered_map<uint64_t, std::unique_ptr<ClientSocket>> clients_;
  std::vector<std::unique_ptr<ClientSocket>> buried_clients_;
  std::vector<std::unique_ptr<BackendSocket>> buried_backends_;
  backend::Handle last_handle_ = 0;
  bool draining_ = false;
  std::thread thread_;
};

}  // namespace evenkeel::net
