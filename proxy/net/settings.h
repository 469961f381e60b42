// Where clients connect and how many the process carries. Plain values: config/ fills them, proxy/net reads
// them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::net {

struct TlsSettings {
  enum class Mode : uint8_t {
    off,        // TLS is not announced
    generated,  // a self-signed certificate, made once and kept in the state directory (0600)
    files,      // `certificate` and `key`
  } mode = Mode::generated;
  std::string certificate;  // PEM, the chain with the server's own first
  std::string key;          // PEM
  bool required = false;    // clients without TLS are refused at login
};

struct Listener {
  std::string address = "127.0.0.1";  // IPv4 or IPv6 literal; "0.0.0.0" and "::" for all
  uint16_t port = 3306;               // 0: chosen by the kernel (tests, demo)
  TlsSettings tls;
};

struct Settings {
  std::vector<Listener> listeners;
  uint32_t worker_threads = 0;                      // event loops; 0: one a processor
  uint32_t max_clients = 10'000;                    // above it: error 1040
  std::chrono::milliseconds login_timeout{10'000};  // from accept to the last authentication packet
  std::chrono::milliseconds drain_timeout{30'000};  // after TERM: open transactions may finish this long
  size_t client_write_high_mark = 256 * 1024;       // bytes waiting for a slow client: backend reads stop …
  size_t client_write_low_mark = 64 * 1024;         // … and go on at this many
};

}  // namespace evenkeel::net
