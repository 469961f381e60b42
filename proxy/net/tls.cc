#include "proxy/net/tls.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evenkeel::net {
namespace {

constexpr long certificate_days = 3650;

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;
using Certificate = std::unique_ptr<X509, CertificateDeleter>;

Error tls_error(std::string what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  char reason[160] = "";
  if (code != 0) ERR_error_string_n(code, reason, sizeof(reason));
  return make_error(ErrorKind::config, 2026, fmt::format("TLS: {}{}{}", what, code != 0 ? ": " : "", reason));
}

Result<Certificate> self_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86'400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), certificate_days * 86'400);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>("evenkeel generated certificate");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  if (X509_sign(certificate.get(), key, EVP_sha256()) == 0)
    return fail(tls_error("cannot sign a certificate"));
  return certificate;
}

// Writes a file of its own before taking the name, so that a reader never meets half of one.
template <typename Write>
Status write_file(const std::string& path, mode_t mode, Write&& write) {
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (file == nullptr) {
    return fail(
        make_error(ErrorKind::io, 2026, fmt::format("cannot write {}: {}", path, std::strerror(errno))));
  }
  const bool written = write(file) == 1;
  const bool closed = fclose(file) == 0;
  if (!written || !closed || rename(temporary.c_str(), path.c_str()) != 0) {
    return fail(make_error(ErrorKind::io, 2026, fmt::format("cannot write {}", path)));
  }
  return {};
}

Status make_files(const std::string& certificate_path, const std::string& key_path) {
  Key key(EVP_EC_gen("P-256"));
  if (!key) return fail(tls_error("cannot make a key"));
  EVENKEEL_ASSIGN(const Certificate certificate, self_signed(key.get()));
  EVENKEEL_TRY(write_file(key_path, 0600, [&](FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }));
  return write_file(certificate_path, 0644,
                    [&](FILE* file) { return PEM_write_X509(file, certificate.get()); });
}

TlsContext fresh_context(const SSL_METHOD* method) {
  TlsContext context(SSL_CTX_new(method));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Idle clients are many: buffers of idle connections go back.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

Status use_files(SSL_CTX* context, const std::string& certificate, const std::string& key) {
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return fail(tls_error(fmt::format("certificate {}", certificate)));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return fail(tls_error(fmt::format("key {}", key)));
  }
  return {};
}

}  // namespace

Result<TlsContext> listener_context(const TlsSettings& settings, const std::string& state_directory) {
  if (settings.mode == TlsSettings::Mode::off) return TlsContext();
  TlsContext context = fresh_context(TLS_server_method());
  if (settings.mode == TlsSettings::Mode::files) {
    EVENKEEL_TRY(use_files(context.get(), settings.certificate, settings.key));
    return context;
  }
  if (state_directory.empty()) {
    Key key(EVP_EC_gen("P-256"));
    if (!key) return fail(tls_error("cannot make a key"));
    EVENKEEL_ASSIGN(const Certificate certificate, self_signed(key.get()));
    if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
      return fail(tls_error("cannot use the generated certificate"));
    }
    return context;
  }
  std::error_code ignored;
  std::filesystem::create_directories(state_directory, ignored);
  const std::string certificate = state_directory + "/listener.crt";
  const std::string key = state_directory + "/listener.key";
  if (!std::filesystem::exists(key) || !std::filesystem::exists(certificate)) {
    EVENKEEL_TRY(make_files(certificate, key));
  }
  EVENKEEL_TRY(use_files(context.get(), certificate, key));
  return context;
}

Result<TlsContext> instance_context(const backend::Instance& instance) {
  using Mode = backend::InstanceTls::Mode;
  if (instance.tls.mode == Mode::off) return TlsContext();
  TlsContext context = fresh_context(TLS_client_method());
  if (instance.tls.mode != Mode::verify) return context;
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const int loaded = instance.tls.ca.empty()
                         ? SSL_CTX_set_default_verify_paths(context.get())
                         : SSL_CTX_load_verify_locations(context.get(), instance.tls.ca.c_str(), nullptr);
  if (loaded != 1)
    return fail(tls_error(fmt::format("instance '{}': CA {}", instance.name, instance.tls.ca)));
  return context;
}

SslPtr accept_state(SSL_CTX* context) {
  SslPtr ssl(SSL_new(context));
  SSL_set_accept_state(ssl.get());
  return ssl;
}

SslPtr connect_state(SSL_CTX* context, const backend::Instance& instance) {
  SslPtr ssl(SSL_new(context));
  SSL_set_connect_state(ssl.get());
  if (instance.tls.mode == backend::InstanceTls::Mode::verify)
    SSL_set1_host(ssl.get(), instance.host.c_str());
  return ssl;
}

}  // namespace evenkeel::net
