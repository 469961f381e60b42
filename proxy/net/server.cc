#include "proxy/net/server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <event2/thread.h>
#include <fmt/format.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/log.h"
#include "base/mysql/error_codes.h"
#include "proxy/front/result_writer.h"
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

constexpr int accepts_per_event = 64;

Error bind_error(const Listener& listener, std::string_view reason) {
  return make_error(ErrorKind::io, mysql::er::unknown_error,
                    fmt::format("cannot listen on {}:{}: {}", listener.address, listener.port, reason));
}

Result<int> bind_listener(const Listener& listener, uint16_t& port) {
  sockaddr_storage address{};
  socklen_t size = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
  if (inet_pton(AF_INET, listener.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(listener.port);
    size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, listener.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(listener.port);
    size = sizeof(*v6);
  } else {
    return fail(bind_error(listener, "not an IPv4 or IPv6 address"));
  }
  const int descriptor = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  constexpr int backlog = 4096;
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(descriptor, backlog) != 0) {
    const int why = errno;
    if (descriptor >= 0) close(descriptor);
    return fail(bind_error(listener, std::strerror(why)));
  }
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
  return descriptor;
}

std::string host_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof(text));
  }
  const std::string_view mapped = "::ffff:";
  std::string host = text;
  return host.starts_with(mapped) ? host.substr(mapped.size()) : host;
}

// As many descriptors as the process may have: clients and instances need one each.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct Server::State {
  struct Acceptor {
    State* state = nullptr;
    uint32_t index = 0;
    int descriptor = -1;
    event* ready = nullptr;
  };

  Shared shared;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::vector<uint16_t> ports;
  std::vector<std::string> instance_names;
  size_t next_loop = 0;

  Status make_shared_parts(ServerParts& parts);
  Status listen(const Settings& settings);
  void accept_some(Acceptor& acceptor);
  void refuse(int descriptor);
  void stop_accepting();
  bool kill(uint64_t id, bool query_only, const std::string& user);
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
    if (parts.environment.server.flavour == sql::Flavour::mariadb) {
      handshake.default_plugin = protocol::plugin::native_password;
    }
    shared.listeners.push_back(std::move(facts));
  }
  return {};
}

Status Server::State::listen(const Settings& settings) {
  for (uint32_t i = 0; i < settings.listeners.size(); ++i) {
    uint16_t port = 0;
    EVENKEEL_ASSIGN(const int descriptor, bind_listener(settings.listeners[i], port));
    ports.push_back(port);
    auto acceptor = std::make_unique<Acceptor>(Acceptor{this, i, descriptor, nullptr});
    acceptor->ready = event_new(
        loops.front()->base(), descriptor, EV_READ | EV_PERSIST,
        [](evutil_socket_t, short, void* self) {
          auto* ready = static_cast<Acceptor*>(self);
          ready->state->accept_some(*ready);
        },
        acceptor.get());
    event_add(acceptor->ready, nullptr);
    acceptors.push_back(std::move(acceptor));
  }
  return {};
}

void Server::State::accept_some(Acceptor& acceptor) {
  for (int i = 0; i < accepts_per_event; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int descriptor = accept4(acceptor.descriptor, reinterpret_cast<sockaddr*>(&address), &size,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
        log::warn("accept: {}", std::strerror(errno));
      }
      return;
    }
    const int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    if (shared.clients.fetch_add(1) >= shared.settings.max_clients) {
      shared.clients.fetch_sub(1);
      refuse(descriptor);
      continue;
    }
    loops[next_loop++ % loops.size()]->adopt(descriptor, acceptor.index, host_text(address));
  }
}

void Server::State::refuse(int descriptor) {
  std::string out;
  front::ResultWriter answer(out, 0, 0);
  answer.error(make_error(ErrorKind::limit, mysql::er::con_count, "Too many connections"));
  [[maybe_unused]] const ssize_t sent = send(descriptor, out.data(), out.size(), MSG_NOSIGNAL);
  close(descriptor);
}

void Server::State::stop_accepting() {
  for (auto& acceptor : acceptors) {
    if (acceptor->ready == nullptr) continue;
    event_free(acceptor->ready);
    acceptor->ready = nullptr;
    close(acceptor->descriptor);
  }
}

bool Server::State::kill(uint64_t id, bool query_only, const std::string& user) {
  {
    const std::lock_guard lock(shared.owners_mutex);
    const auto found = shared.owners.find(id);
    if (found == shared.owners.end() || found->second != user) return false;
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
    return state.kill(id, query_only, user);
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

uint32_t Server::clients() const { return state_->shared.clients.load(); }

}  // namespace evenkeel::net
