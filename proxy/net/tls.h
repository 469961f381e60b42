// TLS contexts: a listener's certificate, given or generated; an instance's checks.
#pragma once

#include <memory>
#include <openssl/ssl.h>
#include <string>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/net/settings.h"
#include "proxy/net/stream.h"

namespace evenkeel::net {

struct ContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, ContextDeleter>;

// For `generated`, certificate and key are made once and kept in `state_directory` (key 0600); where that is
// empty they live as long as the process. TLS 1.2 and later. Null for mode off.
Result<TlsContext> listener_context(const TlsSettings& settings, const std::string& state_directory);
// Null for mode off.
Result<TlsContext> instance_context(const backend::Instance& instance);

SslPtr accept_state(SSL_CTX* context);
// `host` is checked against the certificate when the instance's mode is verify.
SslPtr connect_state(SSL_CTX* context, const backend::Instance& instance);

}  // namespace evenkeel::net
