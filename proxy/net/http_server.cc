#include "proxy/net/http_server.h"

#include <algorithm>
#include <cctype>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/thread.h>
#include <future>
#include <list>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/log.h"
#include "proxy/net/acceptor.h"
#include "proxy/net/mailbox.h"
#include "proxy/net/tls.h"

namespace evenkeel::net {
namespace {

struct HttpDeleter {
  void operator()(evhttp* http) const { evhttp_free(http); }
};

std::string method_of(evhttp_request* request) {
  switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
      return "GET";
    case EVHTTP_REQ_HEAD:
      return "HEAD";
    case EVHTTP_REQ_POST:
      return "POST";
    case EVHTTP_REQ_DELETE:
      return "DELETE";
    default:
      return "OTHER";
  }
}

http::Request request_of(evhttp_request* from, bool tls) {
  http::Request request;
  request.method = method_of(from);
  request.tls = tls;
  char* address = nullptr;
  ev_uint16_t port = 0;
  evhttp_connection_get_peer(evhttp_request_get_connection(from), &address, &port);
  request.client = address == nullptr ? "" : address;
  if (constexpr std::string_view mapped = "::ffff:"; request.client.starts_with(mapped))
    request.client.erase(0, mapped.size());
  for (const evkeyval* header = evhttp_request_get_input_headers(from)->tqh_first; header != nullptr;
       header = header->next.tqe_next) {
    std::string name = header->key;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers.emplace(std::move(name), header->value);
  }
  evbuffer* body = evhttp_request_get_input_buffer(from);
  request.body.resize(evbuffer_get_length(body));
  evbuffer_remove(body, request.body.data(), request.body.size());
  return request;
}

}  // namespace

struct HttpServer::Terms {
  std::vector<TlsContext> tls;  // by listener
  http::Settings settings;
};

struct HttpServer::State {
  struct Served {
    State* state = nullptr;
    TlsContext tls;
    std::unique_ptr<evhttp, HttpDeleter> http;
  };
  // A response that is not there yet.
  struct Pending {
    State* state = nullptr;
    evhttp_request* request = nullptr;
    event* timer = nullptr;
    std::function<http::Outcome()> again;
    std::list<Pending>::iterator self;
  };

  HttpParts parts;
  event_base* base = event_base_new();
  std::unique_ptr<Mailbox> mailbox = std::make_unique<Mailbox>(base);
  std::vector<std::unique_ptr<Served>> served;
  std::vector<uint16_t> ports;
  std::list<Pending> pending;
  std::thread thread;

  ~State();
  Status listen(const Listener& listener);
  static void serve_by(Served& served, TlsContext tls, const http::Settings& settings);
  void on_request(evhttp_request* request);
  void give(evhttp_request* request, http::Outcome outcome);
  void send(evhttp_request* request, const http::Response& response);
  void forget(std::list<Pending>::iterator which);
};

HttpServer::State::~State() {
  if (thread.joinable()) {
    mailbox->post([this] { event_base_loopbreak(base); });
    thread.join();
  }
  for (auto& one : pending) event_free(one.timer);
  served.clear();
  mailbox.reset();
  event_base_free(base);
}

Status HttpServer::State::listen(const Listener& listener) {
  auto one = std::make_unique<Served>();
  one->state = this;
  EVENKEEL_ASSIGN(const Bound bound, bind_listener(listener));
  one->http.reset(evhttp_new(base));
  evhttp* http = one->http.get();
  EVENKEEL_ASSIGN(TlsContext tls, listener_context(listener.tls, parts.state_directory));
  serve_by(*one, std::move(tls), parts.settings);
  evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE);
  evhttp_set_gencb(
      http,
      [](evhttp_request* request, void* context) {
        auto* here = static_cast<Served*>(context);
        here->state->on_request(request);
      },
      one.get());
  if (evhttp_accept_socket_with_handle(http, bound.descriptor) == nullptr) {
    close(bound.descriptor);
    return fail(make_error(ErrorKind::io, 0, "evhttp cannot accept on a socket"));
  }
  ports.push_back(bound.port);
  served.push_back(std::move(one));
  return {};
}

// Connections that are there keep the context that they began with.
void HttpServer::State::serve_by(Served& served, TlsContext tls, const http::Settings& settings) {
  evhttp* http = served.http.get();
  evhttp_set_max_headers_size(http, static_cast<ev_ssize_t>(settings.max_header_bytes));
  evhttp_set_max_body_size(http, static_cast<ev_ssize_t>(settings.max_body_bytes));
  evhttp_set_timeout(http, static_cast<int>(settings.timeout.count()));
  evhttp_set_bevcb(
      http,
      [](event_base* loop, void* context) -> bufferevent* {
        if (context == nullptr) return bufferevent_socket_new(loop, -1, BEV_OPT_CLOSE_ON_FREE);
        SslPtr ssl = accept_state(static_cast<SSL_CTX*>(context));
        return bufferevent_openssl_socket_new(loop, -1, ssl.release(), BUFFEREVENT_SSL_ACCEPTING,
                                              BEV_OPT_CLOSE_ON_FREE);
      },
      tls.get());
  served.tls = std::move(tls);
}

void HttpServer::State::on_request(evhttp_request* request) {
  bufferevent* stream = evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
  http::Request asked = request_of(request, bufferevent_openssl_get_ssl(stream) != nullptr);
  if (!http::split_target(evhttp_request_get_uri(request), asked.path, asked.query)) {
    return send(request, http::error_response(400, "the request's target is not well formed"));
  }
  give(request, parts.respond(asked));
}

void HttpServer::State::give(evhttp_request* request, http::Outcome outcome) {
  if (auto* response = std::get_if<http::Response>(&outcome.what)) return send(request, *response);
  auto& later = std::get<http::Later>(outcome.what);
  pending.push_front(Pending{this, request, nullptr, std::move(later.again), {}});
  Pending& one = pending.front();
  one.self = pending.begin();
  one.timer = evtimer_new(
      base,
      [](evutil_socket_t, short, void* context) {
        auto* due = static_cast<Pending*>(context);
        State* state = due->state;
        evhttp_request* waiting = due->request;
        const auto again = std::move(due->again);
        state->forget(due->self);
        state->give(waiting, again());
      },
      &one);
  const timeval when{later.delay.count() / 1'000'000, later.delay.count() % 1'000'000};
  evtimer_add(one.timer, &when);
  // The client may go before it is due; the request dies with its connection.
  evhttp_connection_set_closecb(
      evhttp_request_get_connection(request),
      [](evhttp_connection*, void* context) {
        auto* due = static_cast<Pending*>(context);
        due->state->forget(due->self);
      },
      &one);
}

void HttpServer::State::forget(std::list<Pending>::iterator which) {
  evhttp_connection_set_closecb(evhttp_request_get_connection(which->request), nullptr, nullptr);
  event_free(which->timer);
  pending.erase(which);
}

void HttpServer::State::send(evhttp_request* request, const http::Response& response) {
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", response.content_type.c_str());
  evhttp_add_header(headers, "Cache-Control", "no-store");
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) evhttp_add_header(headers, name.c_str(), value.c_str());
  evbuffer* body = evbuffer_new();
  evbuffer_add(body, response.body.data(), response.body.size());
  evhttp_send_reply(request, response.status, std::string(http::reason_of(response.status)).c_str(), body);
  evbuffer_free(body);
}

HttpServer::HttpServer() : state_(std::make_unique<State>()) {}

HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpParts parts) {
  evthread_use_pthreads();
  raise_descriptor_limit();
  std::unique_ptr<HttpServer> server(new HttpServer());
  State& state = *server->state_;
  state.parts = std::move(parts);
  for (const Listener& listener : state.parts.listeners) EVENKEEL_TRY(state.listen(listener));
  state.thread = std::thread([&state] {
    pthread_setname_np(pthread_self(), state.parts.thread_name.c_str());
    event_base_loop(state.base, EVLOOP_NO_EXIT_ON_EMPTY);
  });
  return server;
}

const std::vector<uint16_t>& HttpServer::ports() const { return state_->ports; }

Result<HttpServer::TermsPtr> HttpServer::prepare(const std::vector<Listener>& listeners,
                                                 const http::Settings& settings) const {
  auto terms = std::make_shared<Terms>();
  terms->settings = settings;
  for (const Listener& listener : listeners) {
    EVENKEEL_ASSIGN(TlsContext tls, listener_context(listener.tls, state_->parts.state_directory));
    terms->tls.push_back(std::move(tls));
  }
  return terms;
}

void HttpServer::adopt(TermsPtr terms, std::function<void()> also) {
  constexpr std::chrono::seconds patience(2);
  const auto done = std::make_shared<std::promise<void>>();
  std::future<void> taken = done->get_future();
  state_->mailbox->post([state = state_.get(), terms = std::move(terms), also = std::move(also), done] {
    for (size_t i = 0; i < state->served.size(); ++i)
      State::serve_by(*state->served[i], std::move(terms->tls[i]), terms->settings);
    also();
    done->set_value();
  });
  taken.wait_for(patience);
}

}  // namespace evenkeel::net
