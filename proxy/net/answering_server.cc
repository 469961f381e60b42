#include "proxy/net/answering_server.h"

#include <algorithm>
#include <atomic>
#include <event2/thread.h>
#include <mutex>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "proxy/answer/conversation.h"
#include "proxy/net/acceptor.h"
#include "proxy/net/mailbox.h"
#include "proxy/net/stream.h"
#include "proxy/net/tls.h"

namespace evenkeel::net {
namespace {

constexpr size_t scratch_size = 64 * 1024;
constexpr timeval sweep_interval{0, 250'000};
// What clients see of a server that keeps no tables; the number is that of a server whose syntax is spoken.
constexpr std::string_view server_version = "10.11.0-Evenkeel";

protocol::auth::Nonce fresh_nonce() {
  std::array<std::byte, protocol::auth::nonce_size> random;
  fill_secure(random);
  return protocol::auth::make_nonce(random);
}

// A listener as its clients see it.
struct Served {
  std::vector<answer::Account> accounts;
  answer::Service service;  // with a pointer to `accounts`
  TlsContext tls;
};

class AnsweringLoop;

// One client. Owned by its loop.
class AnsweringSocket final : public StreamOwner {
 public:
  using Next = answer::Conversation::Next;

  // `served` lives as long as the socket.
  AnsweringSocket(AnsweringLoop& loop, int descriptor, std::shared_ptr<const Served> served, uint64_t id,
                  std::string host);
  ~AnsweringSocket() override {
    if (timer_ != nullptr) event_free(timer_);
  }

  void start() { step(conversation_.start(out_)); }
  uint64_t id() const { return id_; }
  const answer::Conversation& conversation() const { return conversation_; }
  std::chrono::nanoseconds last_active() const { return last_active_; }
  void end(const Error* farewell);

  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(std::string_view) override;

 private:
  void step(Next next);
  void flush();
  static void on_timer(evutil_socket_t, short, void* self);

  AnsweringLoop& loop_;
  const std::shared_ptr<const Served> served_;
  uint64_t id_;
  std::chrono::nanoseconds last_active_;
  std::unique_ptr<Stream> stream_;
  answer::Conversation conversation_;
  std::string out_;
  event* timer_ = nullptr;
  bool closing_ = false;
};

}  // namespace

struct AnsweringServer::Terms {
  std::vector<std::shared_ptr<const Served>> served;
};

struct AnsweringServer::State {
  AnsweringParts parts;
  std::shared_ptr<const protocol::auth::caching_sha2::RsaKey> rsa_key;
  std::mutex terms_mutex;  // guards `terms`
  TermsPtr terms;
  std::vector<std::unique_ptr<AnsweringLoop>> loops;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::vector<uint16_t> ports;
  std::atomic<uint32_t> clients{0};
  std::atomic<uint64_t> next_id{1};
  size_t next_loop = 0;

  Result<TermsPtr> make_terms(const std::vector<Listener>& listeners,
                              std::vector<answer::Account> accounts) const;
  Status listen();
  void take(int descriptor, uint32_t listener, std::string host);
};

namespace {

// One thread with its clients.
class AnsweringLoop {
 public:
  AnsweringLoop(const AnsweringParts& parts, std::atomic<uint32_t>& clients)
      : parts_(parts),
        client_count_(clients),
        base_(event_base_new()),
        mailbox_(std::make_unique<Mailbox>(base_)),
        scratch_(scratch_size) {
    sweep_event_ = event_new(
        base_, -1, EV_PERSIST,
        [](evutil_socket_t, short, void* self) { static_cast<AnsweringLoop*>(self)->sweep(); }, this);
    event_add(sweep_event_, &sweep_interval);
  }
  ~AnsweringLoop() {
    sockets_.clear();
    buried_.clear();
    event_free(sweep_event_);
    mailbox_.reset();
    event_base_free(base_);
  }

  void start() {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), parts_.thread_name.c_str());
      event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY);
    });
  }
  void stop() {
    mailbox_->post([this] { event_base_loopbreak(base_); });
    if (thread_.joinable()) thread_.join();
  }
  void drain() {
    mailbox_->post([this] {
      draining_ = true;
      sweep();
    });
  }
  void adopt(int descriptor, std::shared_ptr<const Served> served, uint64_t id, std::string host) {
    mailbox_->post([this, descriptor, served = std::move(served), id, host = std::move(host)] {
      auto socket = std::make_unique<AnsweringSocket>(*this, descriptor, served, id, host);
      AnsweringSocket* started = socket.get();
      sockets_.emplace(id, std::move(socket));
      started->start();
    });
  }

  // This loop's thread only.
  void gone(AnsweringSocket* socket) {
    const auto found = sockets_.find(socket->id());
    if (found == sockets_.end()) return;
    client_count_.fetch_sub(1);
    // It may be on the stack: it is destroyed by the next letter.
    if (buried_.empty()) mailbox_->post([this] { buried_.clear(); });
    buried_.push_back(std::move(found->second));
    sockets_.erase(found);
  }
  event_base* base() { return base_; }
  Mailbox& mailbox() { return *mailbox_; }
  std::span<char> scratch() { return scratch_; }
  std::chrono::nanoseconds now() const { return parts_.clock->steady(); }

 private:
  void sweep() {
    static const Error shutdown =
        make_error(ErrorKind::backend, mysql::er::server_shutdown, "Server shutdown in progress");
    std::vector<std::pair<AnsweringSocket*, const Error*>> ended;
    for (const auto& [id, socket] : sockets_) {
      const auto silent = now() - socket->last_active();
      if (!socket->conversation().logged_in()) {
        if (draining_ || silent > parts_.limits.login_timeout) ended.emplace_back(socket.get(), nullptr);
      } else if (socket->conversation().at_rest() && draining_) {
        ended.emplace_back(socket.get(), &shutdown);
      } else if (silent > parts_.limits.wait_timeout) {
        ended.emplace_back(socket.get(), nullptr);
      }
    }
    for (const auto& [socket, farewell] : ended) socket->end(farewell);
  }

  const AnsweringParts& parts_;
  std::atomic<uint32_t>& client_count_;
  event_base* base_;
  std::unique_ptr<Mailbox> mailbox_;
  event* sweep_event_;
  std::vector<char> scratch_;
  std::unordered_map<uint64_t, std::unique_ptr<AnsweringSocket>> sockets_;
  std::vector<std::unique_ptr<AnsweringSocket>> buried_;
  bool draining_ = false;
  std::thread thread_;
};

AnsweringSocket::AnsweringSocket(AnsweringLoop& loop, int descriptor, std::shared_ptr<const Served> served,
                                 uint64_t id, std::string host)
    : loop_(loop),
      served_(std::move(served)),
      id_(id),
      last_active_(loop.now()),
      stream_(std::make_unique<Stream>(loop.base(), descriptor, loop.scratch(), *this, Stream::Marks{})),
      conversation_(served_->service, id, std::move(host), fresh_nonce()) {}

void AnsweringSocket::flush() {
  if (out_.empty()) return;
  stream_->write(out_);
  out_.clear();
}

void AnsweringSocket::step(Next next) {
  flush();
  switch (next) {
    case Next::need_bytes:
      // A client that does not read its answers is not asked for more.
      if (stream_->above_high_mark()) {
        stream_->pause_reading();
      } else {
        stream_->start_reading();
      }
      return;
    case Next::start_tls: {
      if (!stream_->start_tls(accept_state(served_->tls.get()), conversation_.unread())) return end(nullptr);
      return step(conversation_.on_tls_started(out_));
    }
    case Next::wait: {
      if (timer_ == nullptr) timer_ = evtimer_new(loop_.base(), &AnsweringSocket::on_timer, this);
      const auto delay = conversation_.delay().count();
      const timeval when{delay / 1'000'000, delay % 1'000'000};
      if (!evtimer_pending(timer_, nullptr)) evtimer_add(timer_, &when);
      return;
    }
    case Next::close:
      if (!conversation_.refusal().empty()) log::debug("login refused: {}", conversation_.refusal());
      closing_ = true;
      if (stream_->close_when_sent()) loop_.gone(this);
      return;
  }
}

void AnsweringSocket::on_bytes(std::string_view bytes) {
  last_active_ = loop_.now();
  if (!closing_) step(conversation_.on_bytes(bytes, out_));
}

void AnsweringSocket::on_drained() {
  if (!closing_) stream_->start_reading();
}

void AnsweringSocket::on_closed(std::string_view) { loop_.gone(this); }

void AnsweringSocket::on_timer(evutil_socket_t, short, void* self) {
  auto* socket = static_cast<AnsweringSocket*>(self);
  socket->step(socket->conversation_.on_timer(socket->out_));
}

void AnsweringSocket::end(const Error* farewell) {
  if (farewell != nullptr) conversation_.say_goodbye(*farewell, out_);
  step(Next::close);
}

}  // namespace

Result<AnsweringServer::TermsPtr> AnsweringServer::State::make_terms(
    const std::vector<Listener>& listeners, std::vector<answer::Account> accounts) const {
  auto made = std::make_shared<Terms>();
  for (const Listener& listener : listeners) {
    auto one = std::make_shared<Served>();
    one->accounts = accounts;
    EVENKEEL_ASSIGN(one->tls, listener_context(listener.tls, parts.state_directory));
    answer::Service& service = one->service;
    service.handshake.server_version = server_version;
    service.handshake.capabilities = answer::service_capabilities();
    service.handshake.tls_available = one->tls != nullptr;
    service.handshake.tls_required = listener.tls.required;
    service.handshake.rsa_key = rsa_key;
    // Clients of every age know it; those without it are switched.
    service.handshake.default_plugin = protocol::plugin::native_password;
    service.version_comment = parts.version_comment;
    service.accounts = &one->accounts;
    service.answerer = parts.answerer;
    service.limits = parts.limits;
    made->served.push_back(std::move(one));
  }
  return TermsPtr(std::move(made));
}

Status AnsweringServer::State::listen() {
  for (uint32_t i = 0; i < parts.listeners.size(); ++i) {
    EVENKEEL_ASSIGN(auto acceptor, Acceptor::open(loops.front()->base(), parts.listeners[i],
                                                  [this, i](int descriptor, std::string host) {
                                                    take(descriptor, i, std::move(host));
                                                  }));
    ports.push_back(acceptor->port());
    acceptors.push_back(std::move(acceptor));
  }
  return {};
}

void AnsweringServer::State::take(int descriptor, uint32_t listener, std::string host) {
  if (clients.fetch_add(1) < parts.limits.max_clients) {
    std::shared_ptr<const Served> served;
    {
      const std::lock_guard lock(terms_mutex);
      served = terms->served[listener];
    }
    loops[next_loop++ % loops.size()]->adopt(descriptor, std::move(served), next_id.fetch_add(1),
                                             std::move(host));
    return;
  }
  clients.fetch_sub(1);
  std::string out;
  front::ResultWriter(out, 0, 0).error(
      make_error(ErrorKind::limit, mysql::er::con_count, "Too many connections"));
  [[maybe_unused]] const ssize_t sent = send(descriptor, out.data(), out.size(), MSG_NOSIGNAL);
  close(descriptor);
}

AnsweringServer::AnsweringServer() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<AnsweringServer>> AnsweringServer::start(AnsweringParts parts) {
  evthread_use_pthreads();
  raise_descriptor_limit();
  std::unique_ptr<AnsweringServer> server(new AnsweringServer());
  State& state = *server->state_;
  state.parts = std::move(parts);
  EVENKEEL_ASSIGN(state.rsa_key, protocol::auth::caching_sha2::RsaKey::generate());
  EVENKEEL_ASSIGN(state.terms, state.make_terms(state.parts.listeners, state.parts.accounts));
  for (uint32_t i = 0; i < std::max(1u, state.parts.threads); ++i) {
    state.loops.push_back(std::make_unique<AnsweringLoop>(state.parts, state.clients));
  }
  EVENKEEL_TRY(state.listen());
  for (auto& loop : state.loops) loop->start();
  return server;
}

AnsweringServer::~AnsweringServer() {
  for (auto& loop : state_->loops) loop->stop();
  state_->acceptors.clear();
}

const std::vector<uint16_t>& AnsweringServer::ports() const { return state_->ports; }

void AnsweringServer::drain() {
  if (state_->loops.empty()) return;
  state_->loops.front()->mailbox().post([this] {
    for (auto& acceptor : state_->acceptors) acceptor->stop();
  });
  for (auto& loop : state_->loops) loop->drain();
}

Result<AnsweringServer::TermsPtr> AnsweringServer::prepare(const std::vector<Listener>& listeners,
                                                           std::vector<answer::Account> accounts) const {
  return state_->make_terms(listeners, std::move(accounts));
}

void AnsweringServer::adopt(TermsPtr terms) {
  const std::lock_guard lock(state_->terms_mutex);
  state_->terms = std::move(terms);
}

uint32_t AnsweringServer::clients() const { return state_->clients.load(); }

}  // namespace evenkeel::net
