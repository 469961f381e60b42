#include "proxy/net/terms.h"

#include <algorithm>

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

using RsaKeyPtr = std::shared_ptr<const protocol::auth::caching_sha2::RsaKey>;

void index_users(Terms& terms) {
  for (const auto& user : terms.session.users) {
    terms.users[user.name] = &user;
    auto& indices = terms.accounts_of[&user];
    for (const auto& instance : terms.backend.instances) {
      const auto& account = user.account_on(instance.name);
      auto found = std::find(terms.accounts.begin(), terms.accounts.end(), account);
      if (found == terms.accounts.end()) found = terms.accounts.insert(terms.accounts.end(), account);
      indices.push_back(static_cast<uint32_t>(found - terms.accounts.begin()));
    }
  }
}

Result<std::unique_ptr<ListenerFacts>> make_listener(const Listener& listener, const TermsParts& parts,
                                                     const RsaKeyPtr& rsa_key) {
  auto facts = std::make_unique<ListenerFacts>();
  EVENKEEL_ASSIGN(facts->tls, listener_context(listener.tls, parts.state_directory));
  auto& handshake = facts->handshake;
  handshake.server_version = parts.server.version;
  handshake.capabilities = offered;
  handshake.collation =
      static_cast<uint8_t>(parts.server.default_collation < 256 ? parts.server.default_collation : 45);
  handshake.tls_available = facts->tls != nullptr;
  handshake.tls_required = listener.tls.required;
  handshake.rsa_key = rsa_key;
  // MariaDB's own clients of old know mysql_native_password alone; every client may be switched to the
  // other.
  if (parts.server.flavour == mysql::Flavour::mariadb)
    handshake.default_plugin = protocol::plugin::native_password;
  return facts;
}

}  // namespace

Result<TermsPtr> make_terms(TermsParts parts, const Terms* before) {
  auto terms = std::make_shared<Terms>();
  RsaKeyPtr rsa_key;
  if (before != nullptr) {
    terms->accounts = before->accounts;
    // Clients remember it, and a new one takes long to make.
    if (!before->listeners.empty()) rsa_key = before->listeners.front()->handshake.rsa_key;
  }
  if (rsa_key == nullptr) {
    EVENKEEL_ASSIGN(rsa_key, protocol::auth::caching_sha2::RsaKey::generate());
  }
  for (const auto& instance : parts.backend.instances) {
    EVENKEEL_ASSIGN(auto context, instance_context(instance));
    terms->instance_tls.push_back(std::move(context));
  }
  for (const Listener& listener : parts.net.listeners) {
    EVENKEEL_ASSIGN(auto facts, make_listener(listener, parts, rsa_key));
    terms->listeners.push_back(std::move(facts));
  }
  terms->settings = std::move(parts.net);
  terms->backend = std::move(parts.backend);
  terms->session = std::move(parts.session);
  index_users(*terms);
  return TermsPtr(std::move(terms));
}

}  // namespace evenkeel::net
