#include "proxy/net/backend_socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/net/client_socket.h"
#include "proxy/net/loop.h"
#include "proxy/protocol/command_messages.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::net {

namespace cap = protocol::capability;

namespace {

// What every connection to an instance starts from; a lease brings it from here to its session's state.
constexpr std::string_view baseline_sql =
    "SET SESSION auto_increment_increment = 1, auto_increment_offset = 1, autocommit = 1";

exec::VariablesPtr baseline_variables() {
  static const auto variables = std::make_shared<const exec::Variables>(
      std::vector<exec::Variables::Item>{{"character_set_client", "'utf8mb4'"},
                                         {"character_set_results", "'utf8mb4'"},
                                         {"collation_connection", "'utf8mb4_general_ci'"}});
  return variables;
}

exec::CapabilityClass class_of(uint8_t bits) {
  exec::CapabilityClass kind;
  kind.found_rows = (bits & 1) != 0;
  kind.deprecate_eof = (bits & 2) != 0;
  kind.no_database = (bits & 4) != 0;
  return kind;
}

size_t prepared_limit(const Terms& terms) {
  constexpr size_t least = 8;
  return std::max<size_t>(least, terms.session.instance_prepared_statements /
                                     std::max<uint32_t>(1, terms.backend.max_connections));
}

Error connect_error(const backend::Instance& instance, std::string_view reason) {
  return make_error(ErrorKind::backend, mysql::er::connect_to_foreign_data_source,
                    fmt::format("Can't connect to instance '{}' ({}:{}): {}", instance.name, instance.host,
                                instance.port, reason));
}

}  // namespace

BackendSocket::BackendSocket(Loop& loop, const backend::PoolKey& key, backend::Handle handle,
                             std::string kill)
    : loop_(loop),
      key_(key),
      handle_(handle),
      kill_(std::move(kill)),
      opened_at_(loop.now()),
      connection_(key.instance, class_of(key.capability_class), prepared_limit(*loop.terms())) {
  connection_.owner = this;
}

BackendSocket::~BackendSocket() = default;

void BackendSocket::open() {
  const auto& instance = loop_.terms()->backend.instances[key_.instance];
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* addresses = nullptr;
  const std::string port = fmt::format("{}", instance.port);
  const int found = getaddrinfo(instance.host.c_str(), port.c_str(), &hints, &addresses);
  if (found != 0) return fail_open(connect_error(instance, gai_strerror(found)));
  const int descriptor = socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  if (descriptor >= 0) {
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  }
  const int begun = descriptor < 0 ? -1 : connect(descriptor, addresses->ai_addr, addresses->ai_addrlen);
  const int why = errno;
  freeaddrinfo(addresses);
  if (begun != 0 && (descriptor < 0 || why != EINPROGRESS)) {
    if (descriptor >= 0) ::close(descriptor);
    return fail_open(connect_error(instance, std::strerror(why)));
  }
  stream_ = std::make_unique<Stream>(loop_.base(), descriptor, loop_.scratch(), *this, Stream::Marks{});
  stream_->await_connect();
}

void BackendSocket::on_connected() {
  const auto& instance = loop_.terms()->backend.instances[key_.instance];
  const auto& account = loop_.terms()->accounts[key_.account];
  settings_.instance = instance.name;
  settings_.user = account.user;
  settings_.password = account.password;
  settings_.desired = cap::long_password | cap::long_flag | cap::transactions | cap::multi_results |
                      cap::ps_multi_results | cap::session_track | cap::plugin_auth_lenenc_data;
  if (connection_.capability.found_rows) settings_.desired |= cap::found_rows;
  if (connection_.capability.deprecate_eof) settings_.desired |= cap::deprecate_eof;
  // Rows pass undecoded: both sides must end them alike.
  settings_.required = settings_.desired & (cap::deprecate_eof | cap::found_rows);
  settings_.ask_server_key = true;
  using Mode = backend::InstanceTls::Mode;
  settings_.tls = instance.tls.mode == Mode::off         ? backend::TlsUse::off
                  : instance.tls.mode == Mode::preferred ? backend::TlsUse::preferred
                                                         : backend::TlsUse::required;
  login_ = std::make_unique<backend::ClientHandshake>(settings_);
  stage_ = Stage::login;
  stream_->start_reading();
}

void BackendSocket::on_bytes(std::string_view bytes) {
  switch (stage_) {
    case Stage::login:
      return on_login_bytes(bytes);
    case Stage::preparing:
    case Stage::killing:
      return on_preparing_bytes(bytes);
    case Stage::ready:
      if (client_ != nullptr) return client_->on_backend_bytes(&connection_, bytes);
      // Nobody asked: the instance says goodbye.
      return on_closed("the instance closed it");
    case Stage::connecting:
    case Stage::closed:
      return;
  }
}

void BackendSocket::on_login_bytes(std::string_view bytes) {
  in_.append(bytes);
  while (stage_ == Stage::login && !in_.empty()) {
    reader_.expect_sequence(login_->next_sequence());
    auto read = reader_.read_packet(in_);
    if (!read) return fail_open(read.error());
    if (!read->complete) {
      in_.erase(0, read->consumed);
      return;
    }
    const auto next = login_->on_packet(read->payload, connection_.out);
    in_.erase(0, read->consumed);
    login_step(next);
  }
}

void BackendSocket::login_step(backend::ClientHandshake::Next next) {
  using Next = backend::ClientHandshake::Next;
  flush();
  switch (next) {
    case Next::need_packet:
      return;
    case Next::start_tls: {
      SSL_CTX* context = loop_.terms()->instance_tls[key_.instance].get();
      auto begun = stream_->start_tls(connect_state(context, loop_.terms()->backend.instances[key_.instance]),
                                      std::exchange(in_, {}));
      if (!begun) return fail_open(begun.error());
      return login_step(login_->on_tls_started(connection_.out));
    }
    case Next::done:
      return logged_in();
    case Next::failed:
      return fail_open(login_->error());
  }
}

void BackendSocket::logged_in() {
  const auto& facts = login_->facts();
  connection_.capabilities = facts.capabilities;
  connection_.flavour = facts.flavour;
  connection_.server_thread = facts.connection_id;
  connection_.applied = baseline_variables();
  login_.reset();
  const std::string sql = kill_.empty() ? std::string(baseline_sql) : kill_;
  stage_ = kill_.empty() ? Stage::preparing : Stage::killing;
  protocol::PacketWriter packets(connection_.out, 0);
  packets.write(protocol::Query{sql, {}}, connection_.capabilities);
  flush();
}

// One OK is awaited: of the baseline, or of KILL (whose error is of no interest).
void BackendSocket::on_preparing_bytes(std::string_view bytes) {
  in_.append(bytes);
  reader_.expect_sequence(1);
  auto read = reader_.read_packet(in_);
  if (!read) return fail_open(read.error());
  if (!read->complete) {
    in_.erase(0, read->consumed);
    return;
  }
  if (stage_ == Stage::killing) return loop_.lost(this);
  if (protocol::is_err(read->payload)) {
    auto err = protocol::Err::decode(read->payload);
    return fail_open(err ? err->to_error() : err.error());
  }
  std::string().swap(in_);
  stage_ = Stage::ready;
  loop_.opened(this);
}

void BackendSocket::fail_open(Error error) { loop_.open_failed(this, error); }

void BackendSocket::time_out() {
  fail_open(connect_error(loop_.terms()->backend.instances[key_.instance], "timed out (connect_timeout)"));
}

void BackendSocket::on_closed(std::string_view reason) {
  if (stage_ != Stage::ready) {
    if (stage_ == Stage::killing) return loop_.lost(this);
    return fail_open(connect_error(loop_.terms()->backend.instances[key_.instance], reason));
  }
  connection_.lost = true;
  if (client_ != nullptr) {
    client_->on_backend_lost(&connection_, std::string(reason));
    return;  // the session gives it back
  }
  loop_.lost(this);
}

void BackendSocket::flush() {
  if (connection_.out.empty()) return;
  if (stream_ && !connection_.lost) stream_->write(connection_.out);
  connection_.out.clear();
  constexpr size_t kept_capacity = 64 * 1024;
  if (connection_.out.capacity() > kept_capacity) std::string().swap(connection_.out);
}

}  // namespace evenkeel::net
