#include "proxy/http/gate.h"

#include <algorithm>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include "proxy/front/host_rules.h"
#include "proxy/protocol/auth/caching_sha2.h"
#include "proxy/protocol/auth/digest.h"
#include "proxy/protocol/auth/native_password.h"

namespace evenkeel::http {
namespace {

namespace auth = protocol::auth;
using answer::Caller;

bool is_address(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::optional<std::string> from_base64(std::string_view text) {
  // 3 bytes for 4 characters; what is longer is no password.
  constexpr size_t longest = 1024;
  if (text.empty() || text.size() % 4 != 0 || text.size() > longest) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : (text.ends_with("=") ? 1 : 0);
  out.resize(static_cast<size_t>(size) - padding);
  return out;
}

// Both hashes are always made, so that the time tells nothing of which there is.
bool password_fits(const answer::Account& account, std::string_view password) {
  const auto native = auth::native_password::verifier_of(password);
  const auto sha2 = auth::caching_sha2::verifier_of(password);
  const bool by_sha2 =
      account.sha2_verifier && auth::same_bytes(auth::view_of(sha2), auth::view_of(*account.sha2_verifier));
  const bool by_native = account.native_verifier &&
                         auth::same_bytes(auth::view_of(native), auth::view_of(*account.native_verifier));
  return account.sha2_verifier ? by_sha2 : by_native;
}

Response unauthorized() {
  Response response = error_response(401, "a Bearer token, or user and password (Basic), is needed");
  response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"evenkeel\", charset=\"UTF-8\"");
  return response;
}

}  // namespace

std::string host_name(std::string_view authority) {
  if (const size_t scheme = authority.find("://"); scheme != std::string_view::npos)
    authority.remove_prefix(scheme + 3);
  if (authority.starts_with('[')) {
    authority = authority.substr(1, authority.find(']') - 1);
  } else if (std::count(authority.begin(), authority.end(), ':') == 1) {
    authority = authority.substr(0, authority.find(':'));
  }
  std::string name(authority);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::optional<Response> Gate::check_origin(const Request& request) const {
  const std::string host = host_name(request.header("host"));
  const bool known = is_address(host) || host == "localhost" ||
                     std::any_of(settings_.hosts.begin(), settings_.hosts.end(),
                                 [&](const std::string& name) { return host_name(name) == host; });
  if (!known) {
    return error_response(
        421,
        fmt::format("this server does not answer to the host '{}'; its name belongs under `hosts`", host));
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  const std::string_view origin = request.header("origin");
  const std::string_view site = request.header("sec-fetch-site");
  const bool foreign = (!origin.empty() && host_name(origin) != host) || site == "cross-site";
  if (foreign) return error_response(403, "a page of another origin may change nothing here");
  return std::nullopt;
}

std::optional<Caller> Gate::caller_by_token(std::string_view secret, const Request& request) const {
  const auto digest = auth::sha256({secret});
  std::optional<Caller> found;
  for (const Token& token : settings_.tokens) {
    if (auth::same_bytes(auth::view_of(digest), auth::view_of(token.digest)))
      found = Caller{token.name, request.client, 0, token.rights};
  }
  if (!found && knows_token_) return knows_token_(secret, request);
  return found;
}

std::optional<Caller> Gate::caller_by_password(std::string_view credentials, const Request& request) const {
  auto plain = from_base64(credentials);
  const size_t colon = plain ? plain->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  std::string password = plain->substr(colon + 1);
  const std::string name = plain->substr(0, colon);
  auth::wipe(*plain);
  // A user that does not exist costs the same hashes.
  answer::Account nobody;
  const answer::Account* account = &nobody;
  for (const auto& candidate : accounts_) {
    if (candidate.name == name) account = &candidate;
  }
  const bool right = password_fits(*account, password) && front::host_allowed(request.client, account->hosts);
  auth::wipe(password);
  if (!right) return std::nullopt;
  return Caller{account->name, request.client, 0, account->rights};
}

std::optional<std::chrono::seconds> Gate::wait_of(const std::string& address) {
  const auto found = failures_.find(address);
  if (found == failures_.end()) return std::nullopt;
  const auto now = clock_.steady();
  if (now - found->second.last > Throttle::forgiven_after) {
    failures_.erase(found);
    return std::nullopt;
  }
  if (now >= found->second.blocked_until) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(found->second.blocked_until - now);
}

void Gate::count_failure(const std::string& address) {
  if (failures_.size() >= Throttle::addresses_max && !failures_.contains(address)) {
    failures_.erase(std::min_element(failures_.begin(), failures_.end(), [](const auto& a, const auto& b) {
      return a.second.last < b.second.last;
    }));
  }
  Failures& failures = failures_[address];
  ++failures.count;
  failures.last = clock_.steady();
  if (failures.count < Throttle::free_failures) return;
  constexpr uint32_t doublings_max = 16;
  const uint32_t doublings = std::min(failures.count - Throttle::free_failures, doublings_max);
  const std::chrono::seconds wait(int64_t{1} << doublings);
  failures.blocked_until = failures.last + std::min(wait, Throttle::longest_wait);
}

std::variant<Caller, Response> Gate::admit(const Request& request, answer::Rights needed) {
  if (const auto wait = wait_of(request.client)) {
    Response response =
        error_response(429, fmt::format("too many wrong passwords or tokens from {}", request.client));
    response.headers.emplace_back("Retry-After", fmt::format("{}", wait->count()));
    return response;
  }
  const std::string_view authorization = request.header("authorization");
  if (authorization.empty()) return unauthorized();
  std::optional<Caller> caller;
  constexpr std::string_view bearer = "Bearer ";
  constexpr std::string_view basic = "Basic ";
  if (authorization.starts_with(bearer))
    caller = caller_by_token(authorization.substr(bearer.size()), request);
  if (authorization.starts_with(basic))
    caller = caller_by_password(authorization.substr(basic.size()), request);
  if (!caller) {
    count_failure(request.client);
    return unauthorized();
  }
  if (caller->rights < needed) {
    return error_response(403,
                          fmt::format("'{}' may read here; this needs the right to operate", caller->user));
  }
  return *caller;
}

}  // namespace evenkeel::http
