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

struct Server::State {
  Shared shared;
  std::string state_directory;
  session::ServerFacts server;
  mutable std::mutex terms_mutex;  // guards `terms`
  TermsPtr terms;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::vector<uint16_t> ports;
  size_t next_loop = 0;

  TermsPtr current() const {
    const std::lock_guard lock(terms_mutex);
    return terms;
  }
  // Has every loop run `act`, each on its own thread; false when one has not come to it within two seconds.
  bool on_every_loop(const std::function<void(Loop&)>& act) const;
  Status listen(const Settings& settings);
  void take(int descriptor, uint32_t listener, std::string host);
  void refuse(int descriptor);
  void stop_accepting();
  // `user`: whose it must be; null: anybody's.
  bool kill(uint64_t id, bool query_only, const std::string* user);
};

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
  if (shared.clients.fetch_add(1) >= current()->settings.max_clients) {
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
  state.shared.clock = parts.environment.clock;
  state.state_directory = parts.state_directory;
  state.server = parts.environment.server;
  EVENKEEL_ASSIGN(
      state.terms,
      make_terms({parts.net, parts.backend, parts.session, parts.state_directory, state.server}, nullptr));
  state.shared.kill = [&state](uint64_t id, bool query_only, const std::string& user) {
    return state.kill(id, query_only, &user);
  };
  size_t loops = parts.net.worker_threads;
  if (loops == 0) loops = std::max(1u, std::thread::hardware_concurrency());
  session::Environment environment = std::move(parts.environment);
  for (const auto& instance : parts.backend.instances) environment.instance_names.push_back(instance.name);
  environment.total = [&state](std::atomic<uint64_t> session::Counters::*counter) {
    uint64_t sum = 0;
    for (const auto& loop : state.loops) sum += (loop->counters().*counter).load(std::memory_order_relaxed);
    return sum;
  };
  for (size_t i = 0; i < loops; ++i) {
    state.loops.push_back(std::make_unique<Loop>(state.shared, state.terms, environment, loops));
  }
  EVENKEEL_TRY(state.listen(parts.net));
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
    in_time = changed.wait_for(lock, state_->current()->settings.drain_timeout, [&] { return ended; });
  }
  if (!in_time) stop_now();
  joiner.join();
  return in_time;
}

bool Server::State::on_every_loop(const std::function<void(Loop&)>& act) const {
  // Shared with the letters: one may come too late.
  struct Answers {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    size_t count = 0;
  };
  const auto answers = std::make_shared<Answers>();
  for (const auto& loop : loops) {
    loop->mailbox().post([answers, act, asked = loop.get()] {
      act(*asked);
      const std::lock_guard lock(answers->mutex);
      ++answers->count;
      answers->changed.notify_all();
    });
  }
  constexpr std::chrono::seconds patience(2);
  std::unique_lock lock(answers->mutex);
  return answers->changed.wait_for(lock, patience, [&] { return answers->count == loops.size(); });
}

Result<TermsPtr> Server::prepare(Settings net, backend::Settings backend, session::Settings session) const {
  return make_terms(
      {std::move(net), std::move(backend), std::move(session), state_->state_directory, state_->server},
      state_->current().get());
}

void Server::adopt(TermsPtr terms) {
  {
    const std::lock_guard lock(state_->terms_mutex);
    state_->terms = terms;
  }
  state_->on_every_loop([terms](Loop& loop) { loop.adopt_terms(terms); });
}

Result<LoopReport> Server::report() const {
  // Shared with the letters: one that comes too late must not write into what is gone.
  struct Gathered {
    std::mutex mutex;  // guards `report`
    LoopReport report;
  };
  const auto gathered = std::make_shared<Gathered>();
  const bool all = state_->on_every_loop([gathered](Loop& loop) {
    const std::lock_guard lock(gathered->mutex);
    loop.report(gathered->report);
  });
  if (!all) {
    return fail(make_error(ErrorKind::limit, mysql::er::unknown_error,
                           "an event loop did not answer within two seconds"));
  }
  const std::lock_guard lock(gathered->mutex);
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
