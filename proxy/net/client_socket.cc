#include "proxy/net/client_socket.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/log.h"
#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "proxy/front/host_rules.h"
#include "proxy/front/result_writer.h"
#include "proxy/net/backend_socket.h"
#include "proxy/net/loop.h"
#include "proxy/protocol/auth/digest.h"

namespace evenkeel::net {

namespace {

protocol::auth::Nonce fresh_nonce() {
  std::array<std::byte, protocol::auth::nonce_size> random;
  fill_secure(random);
  return protocol::auth::make_nonce(random);
}

uint8_t class_bits(exec::CapabilityClass kind) {
  return static_cast<uint8_t>((kind.found_rows ? 1 : 0) | (kind.deprecate_eof ? 2 : 0) |
                              (kind.no_database ? 4 : 0));
}

// Tickets of one client: the instance number; waiters of a loop: client and ticket in one word.
backend::Waiter waiter_of(uint64_t connection_id, uint32_t ticket) {
  return connection_id << 16 | (ticket & 0xffff);
}

front::Verifiers verifiers_of(const session::User& user) {
  front::Verifiers verifiers;
  verifiers.native = user.native_verifier;
  verifiers.caching_sha2 = user.sha2_verifier;
  verifiers.no_password = user.empty_password;
  return verifiers;
}

}  // namespace

ClientSocket::ClientSocket(Loop& loop, int descriptor, uint32_t listener, uint64_t connection_id,
                           std::string host)
    : loop_(loop),
      came_under_(loop.terms()),
      listener_(*came_under_->listeners[listener]),
      connection_id_(connection_id),
      host_(std::move(host)),
      last_active_(loop.now()),
      reader_(front::login_packet_max) {
  Stream::Marks marks;
  marks.high = came_under_->settings.client_write_high_mark;
  marks.low = came_under_->settings.client_write_low_mark;
  stream_ = std::make_unique<Stream>(loop.base(), descriptor, loop.scratch(), *this, marks);
}

ClientSocket::~ClientSocket() {
  session_.reset();
  if (timer_ != nullptr) event_free(timer_);
}

void ClientSocket::start() {
  nonce_ = fresh_nonce();
  login_ = std::make_unique<front::ServerHandshake>(listener_.handshake,
                                                    static_cast<uint32_t>(connection_id_), nonce_);
  login_->set_client_host(host_);
  const auto next = login_->start(out_);
  stream_->start_reading();
  login_step(next);
}

// What the kernel takes at once makes room at once: then the session may go on within the same event.
void ClientSocket::flush_client() {
  send_out();
  while (told_slow_ && session_ && stream_->pending() <= came_under_->settings.client_write_low_mark) {
    told_slow_ = false;
    session_->on_client_drained();
    send_out();
  }
}

void ClientSocket::send_out() {
  if (out_.empty()) return;
  stream_->write(out_);
  out_.clear();
  constexpr size_t kept_capacity = 512;
  if (out_.capacity() > kept_capacity && (session_ == nullptr || !session_->busy())) std::string().swap(out_);
}

void ClientSocket::settle() {
  flush_client();
  if (closing_) close();
}

void ClientSocket::on_bytes(std::string_view bytes) {
  last_active_ = loop_.now();
  if (logged_in_) {
    logged_in_ = false;
    login_.reset();
  }
  if (login_) {
    on_login_bytes(bytes);
    return;
  }
  session_->on_client_bytes(bytes);
  settle();
}

void ClientSocket::on_login_bytes(std::string_view bytes) {
  in_.append(bytes);
  while (!logged_in_ && !checking_database_ && !in_.empty() && !closing_) {
    reader_.expect_sequence(login_->next_sequence());
    auto read = reader_.read_packet(in_);
    if (!read) {
      log::debug("client {}: {}", connection_id_, read.error().message);
      closing_ = true;
      break;
    }
    if (!read->complete) {
      in_.erase(0, read->consumed);
      break;
    }
    const auto next = login_->on_packet(read->payload, out_);
    in_.erase(0, read->consumed);
    login_step(next);
  }
  settle();
  if (closing_ || !logged_in_ || in_.empty()) return;
  // Commands that came together with the login's last packet.
  const std::string commands = std::exchange(in_, {});
  on_bytes(commands);
}

void ClientSocket::login_step(front::ServerHandshake::Next next) {
  using Next = front::ServerHandshake::Next;
  while (true) {
    switch (next) {
      case Next::need_packet:
        flush_client();
        return;
      case Next::start_tls: {
        flush_client();
        auto begun = stream_->start_tls(accept_state(listener_.tls.get()), std::exchange(in_, {}));
        if (!begun) {
          closing_ = true;
          return;
        }
        next = login_->on_tls_started();
        continue;
      }
      case Next::look_up_user: {
        // Those in force now; a session whose user is being changed has its own until the new one is in.
        applied_under_ = loop_.terms();
        const auto found = applied_under_->users.find(login_->login().user);
        applicant_ = found == applied_under_->users.end() || !front::host_allowed(host_, found->second->hosts)
                         ? nullptr
                         : found->second;
        if (applicant_ == nullptr) {
          next = login_->on_user(nullptr, out_);
        } else {
          const front::Verifiers verifiers = verifiers_of(*applicant_);
          next = login_->on_user(&verifiers, out_);
        }
        continue;
      }
      case Next::authenticated:
        authenticated();
        return;
      case Next::failed:
        log::debug("login of client {} failed: {}", connection_id_, login_->error().message);
        flush_client();
        closing_ = true;
        return;
    }
  }
}

void ClientSocket::authenticated() {
  const front::Login& login = login_->login();
  // A session that changes its user refers to the one that it had until it is told of the new one.
  const TermsPtr before = std::exchange(logged_in_under_, std::move(applied_under_));
  user_ = applicant_;
  {
    const std::lock_guard lock(loop_.shared().owners_mutex);
    loop_.shared().owners[connection_id_] = user_->name;
  }
  changing_user_ = session_ != nullptr;
  if (session_) {
    session_->on_user_changed(login, *user_);
  } else {
    session_ =
        std::make_unique<session::Session>(loop_.environment(), *this, login, connection_id_, *user_, host_);
  }
  checking_database_ = true;
  stream_->pause_reading();
  session_->check_database([this](std::optional<Error> error) { finish_login(std::move(error)); });
}

void ClientSocket::finish_login(std::optional<Error> error) {
  checking_database_ = false;
  if (error) {
    login_->refuse(*error, out_);
    closing_ = true;
    return;
  }
  protocol::Ok ok;
  ok.status = mysql::server_status::autocommit;
  login_->accept(ok, out_);
  nonce_ = login_->nonce_in_use();
  reader_ = protocol::FrameReader(loop_.terms()->session.max_packet);
  // The machine may be on the stack: it goes when the next bytes come.
  logged_in_ = true;
  stream_->start_reading();
  if (changing_user_) session_->user_changed();
}

void ClientSocket::change_user(std::string_view payload) {
  front::Login current;
  current.capabilities = session_->client_capabilities();
  current.tls = stream_->tls() != nullptr;
  login_ = std::make_unique<front::ServerHandshake>(listener_.handshake, current, nonce_, fresh_nonce());
  logged_in_ = false;
  login_->set_client_host(host_);
  login_step(login_->on_change_user(payload, out_));
}

bool ClientSocket::client_is_slow() const {
  const bool slow = stream_->pending() + out_.size() > came_under_->settings.client_write_high_mark;
  told_slow_ = told_slow_ || slow;
  return slow;
}

void ClientSocket::on_drained() { settle(); }

void ClientSocket::on_closed(std::string_view) { loop_.client_gone(this); }

void ClientSocket::close_client() { closing_ = true; }

void ClientSocket::close() {
  flush_client();
  if (stream_->close_when_sent()) loop_.client_gone(this);
}

void ClientSocket::time_out(const Error* farewell) {
  if (farewell != nullptr) {
    front::ResultWriter answer(out_, 0, session_ ? session_->client_capabilities() : 0);
    answer.error(*farewell);
  }
  closing_ = true;
  close();
}

SessionFacts ClientSocket::facts() const {
  SessionFacts facts;
  facts.id = connection_id_;
  facts.host = host_;
  facts.since = std::chrono::duration_cast<std::chrono::seconds>(loop_.now() - last_active_);
  if (session_ == nullptr) return facts;
  facts.user = session_->user();
  facts.schema = session_->database();
  facts.state = session_->busy() ? "busy" : "idle";
  facts.in_transaction = session_->in_transaction();
  return facts;
}

void ClientSocket::kill(bool query_only) {
  const Error interrupted =
      make_error(ErrorKind::statement, mysql::er::query_interrupted, "Query execution was interrupted");
  if (query_only) {
    if (session_) session_->kill_query(interrupted);
    flush_client();
    return;
  }
  loop_.client_gone(this);
}

void ClientSocket::lease(rule::InstanceId instance, exec::CapabilityClass capability, uint32_t ticket) {
  const backend::PoolKey key{instance, logged_in_under_->accounts_of.at(user_)[instance],
                             class_bits(capability)};
  loop_.lease(key, waiter_of(connection_id_, ticket), this);
}

void ClientSocket::cancel_lease(uint32_t ticket) { loop_.cancel_lease(waiter_of(connection_id_, ticket)); }

void ClientSocket::on_leased(uint32_t ticket, Result<exec::Connection*> connection) {
  session_->on_lease(ticket, std::move(connection));
}

void ClientSocket::on_backend_bytes(exec::Connection* connection, std::string_view bytes) {
  session_->on_backend_bytes(connection, bytes);
  settle();
}

void ClientSocket::on_backend_lost(exec::Connection* connection, const std::string& reason) {
  session_->on_backend_lost(connection, reason);
  settle();
}

void ClientSocket::release(exec::Connection* connection) {
  loop_.release(static_cast<BackendSocket*>(connection->owner));
}

void ClientSocket::flush(exec::Connection* connection) {
  static_cast<BackendSocket*>(connection->owner)->flush();
}

void ClientSocket::pause(exec::Connection* connection) {
  static_cast<BackendSocket*>(connection->owner)->pause();
}

void ClientSocket::resume(exec::Connection* connection) {
  static_cast<BackendSocket*>(connection->owner)->resume();
}

void ClientSocket::kill_query(exec::Connection* connection) {
  connection->retire = true;
  loop_.kill(static_cast<BackendSocket*>(connection->owner), "KILL QUERY");
}

void ClientSocket::kill_connection(exec::Connection* connection) {
  connection->retire = true;
  loop_.kill(static_cast<BackendSocket*>(connection->owner), "KILL");
}

void ClientSocket::on_timer(evutil_socket_t, short, void* self) {
  auto* client = static_cast<ClientSocket*>(self);
  client->session_->on_timer();
  client->settle();
}

void ClientSocket::set_timer(std::chrono::microseconds delay) {
  if (delay.count() == 0) {
    if (timer_ != nullptr) evtimer_del(timer_);
    return;
  }
  if (timer_ == nullptr) timer_ = evtimer_new(loop_.base(), &ClientSocket::on_timer, this);
  const timeval when{delay.count() / 1'000'000, delay.count() % 1'000'000};
  evtimer_add(timer_, &when);
}

void ClientSocket::read_client(bool on) {
  if (on == stream_->reading() || closing_) return;
  if (on) {
    stream_->start_reading();
  } else {
    stream_->pause_reading();
  }
}

}  // namespace evenkeel::net
