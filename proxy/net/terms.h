// What clients are served by, as far as it may change while the loops run (RELOAD CONFIG).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/front/handshake.h"
#include "proxy/net/settings.h"
#include "proxy/net/tls.h"
#include "proxy/session/environment.h"
#include "proxy/session/settings.h"

namespace evenkeel::net {

// A listener as its clients see it.
struct ListenerFacts {
  front::HandshakeSettings handshake;
  TlsContext tls;
};

// An immutable value, shared by the loops. A client keeps those that it came under and those that it logged
// in under: what it was promised holds until it goes.
struct Terms {
  Settings settings;
  backend::Settings backend;
  session::Settings session;
  std::vector<std::unique_ptr<ListenerFacts>> listeners;
  std::vector<TlsContext> instance_tls;  // by instance
  // Distinct ones. Those of earlier terms come first, so that an index means the same for ever: pools are
  // keyed by it.
  std::vector<session::BackendAccount> accounts;
  std::unordered_map<std::string, const session::User*> users;
  // accounts_of[user's index][instance] -> index into accounts
  std::unordered_map<const session::User*, std::vector<uint32_t>> accounts_of;
};
using TermsPtr = std::shared_ptr<const Terms>;

struct TermsParts {
  Settings net;
  backend::Settings backend;
  session::Settings session;
  std::string state_directory;
  session::ServerFacts server;
};

// `before`: the terms that these follow; null at start. Errors: TLS files that cannot be read.
Result<TermsPtr> make_terms(TermsParts parts, const Terms* before);

}  // namespace evenkeel::net
