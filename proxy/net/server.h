// The data path as a whole: listeners, worker loops, drain.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/net/report.h"
#include "proxy/net/settings.h"
#include "proxy/net/terms.h"
#include "proxy/session/environment.h"
#include "proxy/session/settings.h"

namespace evenkeel::net {

struct ServerParts {
  Settings net;
  backend::Settings backend;
  session::Settings session;
  std::string state_directory;
  // settings, statements, counters and kill are filled by the server.
  session::Environment environment;
};

// Thread-safe but for start and the destructor, which one thread calls.
class Server {
 public:
  // Binds the listeners and starts the loops: clients are served when it returns. Errors: an address that
  // cannot be bound, TLS files that cannot be read.
  static Result<std::unique_ptr<Server>> start(ServerParts parts);
  ~Server();

  // In the order of the settings; the kernel's choice where the port was 0.
  const std::vector<uint16_t>& ports() const;
  // No new clients; sessions end at their next rest.
  void drain();
  // Ends all sessions now.
  void stop_now();
  // Returns when all loops have ended (after drain or stop_now). True: within the drain timeout.
  bool wait();

  uint32_t clients() const;

  // What clients are to be served by instead, in two steps: what cannot be prepared changes nothing. The
  // addresses, the instances and the number of loops are those of the start, whatever the settings say.
  // Errors: TLS files that cannot be read.
  Result<TermsPtr> prepare(Settings net, backend::Settings backend, session::Settings session) const;
  // In force on every loop when it returns, or as soon as a loop that is busy has come to it (after two
  // seconds it is not waited for). Not to be called on a loop.
  void adopt(TermsPtr terms);

  // Asks every loop; not to be called on one of them. Error 1105 when one does not answer within two seconds.
  Result<LoopReport> report() const;
  // Counters and latencies, without asking.
  std::vector<Total> totals() const;
  Latencies latencies() const;
  // Whoever's session it is. False: there is none of this number.
  bool kill(uint64_t connection_id, bool query_only);

 private:
  Server();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::net
