#include "proxy/net/loop.h"

#include <fmt/format.h>
#include <pthread.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/net/backend_socket.h"
#include "proxy/net/client_socket.h"

namespace evenkeel::net {
namespace {

constexpr size_t scratch_size = 64 * 1024;
constexpr timeval sweep_interval{0, 250'000};

backend::PoolLimits limits_of(const backend::Settings& settings, size_t loops) {
  backend::PoolLimits limits;
  limits.connections_per_instance = std::max<size_t>(1, settings.max_connections / loops);
  limits.wait = settings.lease_timeout;
  limits.idle = settings.idle_lifetime;
  limits.lifetime = settings.max_lifetime;
  return limits;
}

}  // namespace

Loop::Loop(Shared& shared, TermsPtr terms, session::Environment environment, size_t loops)
    : shared_(shared),
      loops_(loops),
      terms_(std::move(terms)),
      statements_(terms_->session.statement_cache_entries),
      environment_(std::move(environment)),
      base_(event_base_new()),
      mailbox_(base_),
      scratch_(scratch_size),
      pool_(limits_of(terms_->backend, loops)) {
  environment_.settings = &terms_->session;
  environment_.statements = &statements_;
  environment_.counters = &counters_;
  environment_.timings = &timings_;
  environment_.kill = [this](uint64_t id, bool query_only, const std::string& user) {
    return shared_.kill && shared_.kill(id, query_only, user);
  };
  sweep_event_ = event_new(base_, -1, EV_PERSIST, &Loop::on_sweep, this);
  event_add(sweep_event_, &sweep_interval);
}

Loop::~Loop() {
  clients_.clear();
  buried_clients_.clear();
  backends_.clear();
  buried_backends_.clear();
  event_free(sweep_event_);
}

void Loop::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "evenkeel-loop");
    event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY);
  });
}

void Loop::adopt_terms(TermsPtr terms) {
  terms_ = std::move(terms);
  environment_.settings = &terms_->session;
  pool_.set_limits(limits_of(terms_->backend, loops_));
}

void Loop::stop(bool now) {
  mailbox_.post([this, now] {
    draining_ = true;
    if (now) {
      clients_.clear();
      event_base_loopbreak(base_);
    }
    sweep();
  });
}

void Loop::join() {
  if (thread_.joinable()) thread_.join();
}

void Loop::adopt(int descriptor, uint32_t listener, std::string host) {
  mailbox_.post([this, descriptor, listener, host = std::move(host)] {
    const uint64_t id = shared_.next_connection_id.fetch_add(1);
    auto client = std::make_unique<ClientSocket>(*this, descriptor, listener, id, host);
    ClientSocket* started = client.get();
    clients_.emplace(id, std::move(client));
    started->start();
  });
}

void Loop::lease(const backend::PoolKey& key, backend::Waiter waiter, ClientSocket* client) {
  waiters_.emplace(waiter, client);
  backend::Pool::Actions actions;
  pool_.acquire(key, waiter, now(), actions);
  obey(actions);
}

void Loop::cancel_lease(backend::Waiter waiter) {
  if (waiters_.erase(waiter) > 0) pool_.cancel(waiter);
}

void Loop::obey(backend::Pool::Actions& actions) {
  using What = backend::PoolAction::What;
  const auto refuse = [&](const backend::PoolAction& action, std::string_view reason) {
    const auto found = waiters_.find(action.waiter);
    if (found == waiters_.end()) return;
    ClientSocket* client = found->second;
    waiters_.erase(found);
    client->on_leased(
        static_cast<uint32_t>(action.waiter & 0xffff),
        fail(make_error(ErrorKind::limit, mysql::er::con_count,
                        fmt::format("no connection to instance '{}': {}",
                                    terms_->backend.instances[action.key.instance].name, reason))));
    client->settle();
  };
  for (size_t i = 0; i < actions.size(); ++i) {
    const backend::PoolAction action = actions[i];
    switch (action.what) {
      case What::give: {
        const auto found = waiters_.find(action.waiter);
        BackendSocket* socket = backends_.at(action.handle).get();
        if (found == waiters_.end()) {
          pool_.released(action.handle, now(), actions);
          break;
        }
        ClientSocket* client = found->second;
        waiters_.erase(found);
        socket->lend(client);
        client->on_leased(static_cast<uint32_t>(action.waiter & 0xffff), &socket->connection());
        client->settle();
        break;
      }
      case What::open:
        open(action.key);
        break;
      case What::close: {
        const auto found = backends_.find(action.handle);
        if (found != backends_.end()) bury(take(found->second.get()));
        break;
      }
      case What::time_out:
        refuse(action, "all are busy (lease_timeout)");
        break;
      case What::refuse:
        refuse(action, "too many sessions wait for one");
        break;
    }
  }
}

void Loop::open(const backend::PoolKey& key) {
  auto socket = std::make_unique<BackendSocket>(*this, key, ++last_handle_);
  BackendSocket* opening = socket.get();
  backends_.emplace(opening->handle(), std::move(socket));
  opening->open();
}

std::unique_ptr<BackendSocket> Loop::take(BackendSocket* socket) {
  const auto found = backends_.find(socket->handle());
  if (found == backends_.end()) return nullptr;
  auto taken = std::move(found->second);
  backends_.erase(found);
  return taken;
}

// Sockets end from within their own callbacks: they are destroyed by the next letter of this loop.
void Loop::bury(std::unique_ptr<BackendSocket> socket) {
  if (!socket) return;
  socket->lend(nullptr);
  socket->end();
  empty_graves_later();
  buried_backends_.push_back(std::move(socket));
}

void Loop::empty_graves_later() {
  if (!buried_backends_.empty() || !buried_clients_.empty()) return;
  mailbox_.post([this] {
    buried_backends_.clear();
    buried_clients_.clear();
  });
}

void Loop::opened(BackendSocket* socket) {
  backend::Pool::Actions actions;
  pool_.opened(socket->key(), socket->handle(), now(), actions);
  obey(actions);
}

void Loop::open_failed(BackendSocket* socket, const Error& error) {
  const bool pooled = socket->pooled();
  const auto key = socket->key();
  bury(take(socket));
  if (!pooled) return;
  backend::Pool::Actions actions;
  const backend::Waiter waiter = pool_.open_failed(key, actions);
  const auto found = waiters_.find(waiter);
  if (found != waiters_.end()) {
    ClientSocket* client = found->second;
    waiters_.erase(found);
    client->on_leased(static_cast<uint32_t>(waiter & 0xffff), fail(error));
    client->settle();
  }
  obey(actions);
}

void Loop::release(BackendSocket* socket) {
  const exec::Connection& connection = socket->connection();
  socket->lend(nullptr);
  backend::Pool::Actions actions;
  if (connection.lost || connection.retire || connection.awaited > 0) {
    pool_.gone(socket->handle(), actions);
    bury(take(socket));
  } else {
    socket->resume();
    pool_.released(socket->handle(), now(), actions);
  }
  obey(actions);
}

void Loop::lost(BackendSocket* socket) {
  backend::Pool::Actions actions;
  pool_.gone(socket->handle(), actions);
  bury(take(socket));
  obey(actions);
}

void Loop::kill(BackendSocket* socket, std::string_view what) {
  auto killer = std::make_unique<BackendSocket>(
      *this, socket->key(), ++last_handle_, fmt::format("{} {}", what, socket->connection().server_thread));
  BackendSocket* opening = killer.get();
  backends_.emplace(opening->handle(), std::move(killer));
  opening->open();
}

void Loop::client_gone(ClientSocket* client) {
  const auto found = clients_.find(client->connection_id());
  if (found == clients_.end()) return;
  auto taken = std::move(found->second);
  clients_.erase(found);
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->second == client) {
      pool_.cancel(waiter->first);
      waiter = waiters_.erase(waiter);
    } else {
      ++waiter;
    }
  }
  taken->end();
  shared_.clients.fetch_sub(1);
  {
    const std::lock_guard lock(shared_.owners_mutex);
    shared_.owners.erase(client->connection_id());
  }
  empty_graves_later();
  buried_clients_.push_back(std::move(taken));
}

void Loop::report(LoopReport& report) const {
  for (const auto& [id, client] : clients_) report.sessions.push_back(client->facts());
  report.pools.resize(terms_->backend.instances.size());
  for (uint16_t i = 0; i < report.pools.size(); ++i) {
    const backend::Pool::Counts counts = pool_.counts(i);
    report.pools[i].limit = terms_->backend.max_connections;
    report.pools[i].idle += counts.idle;
    report.pools[i].lent += counts.lent;
    report.pools[i].opening += counts.opening;
    report.pools[i].waiting += counts.waiting;
  }
  for (auto& shape : timings_.slow.shapes()) report.slow.push_back(std::move(shape));
}

ClientSocket* Loop::find_client(uint64_t connection_id) {
  const auto found = clients_.find(connection_id);
  return found == clients_.end() ? nullptr : found->second.get();
}

void Loop::on_sweep(evutil_socket_t, short, void* self) { static_cast<Loop*>(self)->sweep(); }

void Loop::sweep() {
  const auto time = now();
  backend::Pool::Actions actions;
  pool_.sweep(time, actions);
  obey(actions);
  std::vector<BackendSocket*> late;
  for (const auto& [handle, socket] : backends_) {
    if (!socket->ready() && time - socket->opened_at() > terms_->backend.connect_timeout)
      late.push_back(socket.get());
  }
  for (BackendSocket* socket : late) socket->time_out();

  const Error shutdown =
      make_error(ErrorKind::backend, mysql::er::server_shutdown, "Server shutdown in progress");
  std::vector<std::pair<ClientSocket*, const Error*>> ended;
  for (const auto& [id, client] : clients_) {
    const auto silent = time - client->last_active();
    if (client->session() == nullptr) {
      if (draining_ || silent > terms_->settings.login_timeout) ended.emplace_back(client.get(), nullptr);
    } else if (client->at_rest() && draining_) {
      ended.emplace_back(client.get(), &shutdown);
    } else if (!client->session()->busy() && silent > terms_->session.wait_timeout) {
      ended.emplace_back(client.get(), nullptr);
    }
  }
  for (const auto& [client, farewell] : ended) client->time_out(farewell);
  if (draining_ && clients_.empty()) event_base_loopbreak(base_);
}

}  // namespace evenkeel::net
