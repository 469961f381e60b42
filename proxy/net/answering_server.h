// Listeners whose clients are answered by the program itself (proxy/answer): the id service and the admin
// port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "proxy/answer/answer.h"
#include "proxy/answer/settings.h"
#include "proxy/net/settings.h"

namespace evenkeel::net {

struct AnsweringParts {
  std::vector<Listener> listeners;
  std::vector<answer::Account> accounts;
  answer::Limits limits;
  answer::Answerer* answerer = nullptr;   // outlives the server
  const Clock* clock = nullptr;           // outlives the server
  std::string version_comment;            // "Evenkeel id service"
  std::string state_directory;            // of generated certificates
  uint32_t threads = 1;                   // event loops
  std::string thread_name = "ek-answer";  // at most 15 characters
};

// Thread-safe but for start and the destructor, which one thread calls.
class AnsweringServer {
 public:
  // Clients are served when it returns. Errors: an address that cannot be bound, TLS files that cannot be
  // read.
  static Result<std::unique_ptr<AnsweringServer>> start(AnsweringParts parts);
  // Ends all conversations.
  ~AnsweringServer();

  // In the order of the listeners.
  const std::vector<uint16_t>& ports() const;
  // No new clients; those at rest are told and closed, the others as soon as they are.
  void drain();
  uint32_t clients() const;

  // For clients that come from now on, in two steps: what cannot be prepared changes nothing. Those that are
  // there stay as they are. `listeners` are those of the start but for their TLS. Errors: TLS files that
  // cannot be read.
  struct Terms;
  using TermsPtr = std::shared_ptr<const Terms>;
  Result<TermsPtr> prepare(const std::vector<Listener>& listeners,
                           std::vector<answer::Account> accounts) const;
  void adopt(TermsPtr terms);

 private:
  AnsweringServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::net
