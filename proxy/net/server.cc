#include "proxy/net/server.h"

#include <algorithm>
#include <condition_variable>
#include <event2/thread.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/mysql/error_codes.h"
#include "proxy/front/result_writer.h"
#include "proxy/net/acceptor.h"
#include "proxy/net/client_socket.h"
#include "proxy/net/loop.h"

namespace evenkeel::net {

namespace cap = protocol::capability;

namespace {

// What clients are offered. CLIENT_SSL and the plugins are added by the handshake; what is not here has no
// backend class that could honour it.
constexpr protocol::Capabilities offered =
    cap::long_password | cap::found_rows | cap::long_flag | cap::connect_with_db | cap::odbc |
    cap::protocol_41 | cap::interactive | cap::ignore_sigpipe | cap::transactions | cap::secure_connection |
    cap::multi_statements | cap::multi_results | cap::ps_multi_results | cap::plugin_auth |
    cap::connect_attrs | cap::plugin_auth_lenenc_data | cap::deprecate_eof;

}  // namespace

struct Server::State {
  Shared shared;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::vector<uint16_t> ports;
  std::vector<std::string> instance_names;
  size_t next_loop = 0;

  Status make_shared_parts(ServerParts& parts);
  Status listen(const Settings& settings);
  void take(int descriptor, uint32_t listener, std::string host);
  void refuse(int descriptor);
  void stop_accepting();
  // `user`: whose it must be; null: anybody's.
  bool kill(uint64_t id, bool query_only, const std::string* user);
};

Status Server::State::make_shared_parts(ServerParts& parts) {
  shared.settings = parts.net;
  shared.backend = parts.backend;
  shared.session = parts.session;
  shared.clock = parts.environment.clock;
  for (const auto& instance : shared.backend.instances) {
    EVENKEEL_ASSIGN(auto context, instance_context(instance));
    shared.instance_tls.push_back(std::move(context));
    instance_names.push_back(instance.name);
  }
  for (const auto& user : shared.session.users) {
    shared.users[user.name] = &user;
    auto& indices = shared.accounts_of[&user];
    for (const auto& name : instance_names) {
      const auto& account = user.account_on(name);
      auto found = std::find(shared.accounts.begin(), shared.accounts.end(), account);
      if (found == shared.accounts.end()) found = shared.accounts.insert(shared.accounts.end(), account);
      indices.push_back(static_cast<uint32_t>(found - shared.accounts.begin()));
    }
  }
  EVENKEEL_ASSIGN(const auto rsa_key, protocol::auth::caching_sha2::RsaKey::generate());
  for (const auto& listener : shared.settings.listeners) {
    auto facts = std::make_unique<ListenerFacts>();
    EVENKEEL_ASSIGN(facts->tls, listener_context(listener.tls, parts.state_directory));
    auto& handshake = facts->handshake;
    handshake.server_version = parts.environment.server.version;
    handshake.capabilities = offered;
    handshake.collation = static_cast<uint8_t>(
        parts.environment.server.default_collation < 256 ? parts.environment.server.default_collation : 45);
    handshake.tls_available = facts->tls != nullptr;
    handshake.tls_required = listener.tls.required;
    handshake.rsa_key = rsa_key;
    // MariaDB's own clients of old know mysql_native_password alone; every client may be switched to the
    // other.
    if (parts.environment.server.flavour == mysql::Flavour::mariadb) {
      handshake.default_plugin = protocol::plugin::native_password;
    }
    shared.listeners.push_back(std::move(facts));
  }
  return {};
}

Status Server::State::listen(const Settings& settings) {
  for (uint32_t i = 0; i < settings.listeners.size(); ++i) {
    EVENKEEL_ASSIGN(auto acceptor, Acceptor::open(loops.front()->base(), settings.listeners[i],
                                                  [this, i](int descriptor, std::string host) {
                                                    take(descriptor, i, std::move(host));
                                                  }));
    ports.push_back(acceptor->port());
    acceptors.push_back(std::move(acceptor));
  }
  return {};
}

void Server::State::take(int descriptor, uint32_t listener, std::string host) {
  if (shared.clients.fetch_add(1) >= shared.settings.max_clients) {
    shared.clients.fetch_sub(1);
    refuse(descriptor);
    return;
  }
  loops[next_loop++ % loops.size()]->adopt(descriptor, listener, std::move(host));
}

void Server::State::refuse(int descriptor) {
  std::string out;
  front::ResultWriter answer(out, 0, 0);
  answer.error(make_error(ErrorKind::limit, mysql::er::con_count, "Too many connections"));
  [[maybe_unused]] const ssize_t sent = send(descriptor, out.data(), out.size(), MSG_NOSIGNAL);
  close(descriptor);
}

void Server::State::stop_accepting() {
  for (auto& acceptor : acceptors) acceptor->stop();
}

bool Server::State::kill(uint64_t id, bool query_only, const std::string* user) {
  {
    const std::lock_guard lock(shared.owners_mutex);
    const auto found = shared.owners.find(id);
    if (found == shared.owners.end() || (user != nullptr && found->second != *user)) return false;
  }
  // Whichever loop has it acts; the others find nothing.
  for (const auto& loop : loops) {
    loop->mailbox().post([target = loop.get(), id, query_only] {
      if (ClientSocket* client = target->find_client(id)) client->kill(query_only);
    });
  }
  return true;
}

Server::Server() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<Server>> Server::start(ServerParts parts) {
  evthread_use_pthreads();
  raise_descriptor_limit();
  std::unique_ptr<Server> server(new Server());
  State& state = *server->state_;
  EVENKEEL_TRY(state.make_shared_parts(parts));
  state.shared.kill = [&state](uint64_t id, bool query_only, const std::string& user) {
    return state.kill(id, query_only, &user);
  };
  size_t loops = parts.net.worker_threads;
  if (loops == 0) loops = std::max(1u, std::thread::hardware_concurrency());
  session::Environment environment = std::move(parts.environment);
  environment.settings = &state.shared.session;
  environment.instance_names = state.instance_names;
  environment.total = [&state](std::atomic<uint64_t> session::Counters::*counter) {
    uint64_t sum = 0;
    for (const auto& loop : state.loops) sum += (loop->counters().*counter).load(std::memory_order_relaxed);
    return sum;
  };
  for (size_t i = 0; i < loops; ++i) {
    state.loops.push_back(std::make_unique<Loop>(state.shared, environment, loops));
  }
  EVENKEEL_TRY(state.listen(state.shared.settings));
  for (auto& loop : state.loops) loop->start();
  return server;
}

Server::~Server() {
  stop_now();
  for (auto& loop : state_->loops) loop->join();
  state_->stop_accepting();
}

const std::vector<uint16_t>& Server::ports() const { return state_->ports; }

void Server::drain() {
  state_->loops.front()->mailbox().post([this] { state_->stop_accepting(); });
  for (auto& loop : state_->loops) loop->stop(false);
}

void Server::stop_now() {
  for (auto& loop : state_->loops) loop->stop(true);
}

bool Server::wait() {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread joiner([&] {
    for (auto& loop : state_->loops) loop->join();
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  });
  bool in_time = true;
  {
    std::unique_lock lock(mutex);
    in_time = changed.wait_for(lock, state_->shared.settings.drain_timeout, [&] { return ended; });
  }
  if (!in_time) stop_now();
  joiner.join();
  return in_time;
}

Result<LoopReport> Server::report() const {
  // Shared with the letters: one that comes too late must not write into what is gone.
  struct Gathered {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    LoopReport report;
    size_t answered = 0;
  };
  const auto gathered = std::make_shared<Gathered>();
  for (const auto& loop : state_->loops) {
    loop->mailbox().post([gathered, asked = loop.get()] {
      const std::lock_guard lock(gathered->mutex);
      asked->report(gathered->report);
      ++gathered->answered;
      gathered->changed.notify_all();
    });
  }
  constexpr std::chrono::seconds patience(2);
  std::unique_lock lock(gathered->mutex);
  if (!gathered->changed.wait_for(lock, patience,
                                  [&] { return gathered->answered == state_->loops.size(); })) {
    return fail(make_error(ErrorKind::limit, mysql::er::unknown_error,
                           "an event loop did not answer within two seconds"));
  }
  std::sort(gathered->report.sessions.begin(), gathered->report.sessions.end(),
            [](const SessionFacts& a, const SessionFacts& b) { return a.id < b.id; });
  return std::move(gathered->report);
}

std::vector<Total> Server::totals() const {
  std::vector<Total> out;
  const auto add = [&](const char* name, std::atomic<uint64_t> session::Counters::*counter) {
    uint64_t sum = 0;
    for (const auto& loop : state_->loops) sum += (loop->counters().*counter).load(std::memory_order_relaxed);
    out.push_back({name, sum});
  };
#define EVENKEEL_TOTAL(name) add(#name, &session::Counters::name);
  EVENKEEL_SESSION_COUNTERS(EVENKEEL_TOTAL)
#undef EVENKEEL_TOTAL
  return out;
}

Latencies Server::latencies() const {
  Latencies out;
  for (const auto& loop : state_->loops) {
    for (size_t i = 0; i < out.size(); ++i) out[i] += loop->timings().latency[i].read();
  }
  return out;
}

bool Server::kill(uint64_t connection_id, bool query_only) {
  return state_->kill(connection_id, query_only, nullptr);
}

uint32_t Server::clients() const { return state_->shared.clients.load(); }

}  // namespace evenkeel::net
