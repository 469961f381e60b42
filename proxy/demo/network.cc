#include "proxy/demo/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

#include "proxy/demo/io_error.h"

namespace evenkeel::demo {
namespace {

constexpr uint16_t first_port = 20000;
constexpr uint16_t port_count = 12000;
constexpr int port_attempts = 200;
constexpr auto poll_interval = std::chrono::milliseconds(10);

class Socket {
 public:
  Socket() : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool greets(uint16_t port) {
  const Socket socket;
  const sockaddr_in address = loopback(port);
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  char first;
  return recv(socket.get(), &first, 1, 0) == 1;
}

}  // namespace

Result<uint16_t> find_free_port(Random& random, std::set<uint16_t>& taken) {
  for (int attempt = 0; attempt < port_attempts; ++attempt) {
    const auto port = static_cast<uint16_t>(first_port + random.below(port_count));
    if (taken.contains(port)) continue;
    const Socket socket;
    const sockaddr_in address = loopback(port);
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
    taken.insert(port);
    return port;
  }
  return fail(io_error("find a free port on", "127.0.0.1"));
}

bool wait_for_greeting(uint16_t port, std::chrono::steady_clock::time_point deadline,
                       const std::function<bool()>& still_starting) {
  while (still_starting()) {
    if (greets(port)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return false;
}

}  // namespace evenkeel::demo
