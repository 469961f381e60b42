#include "idgen/registry/zookeeper_registry.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <zookeeper/zookeeper.h>

namespace evenkeel::idgen {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

// The ensemble forgets a silent client after this; nothing of a registry hangs on it.
constexpr int session_ms = 6'000;

// One request's answer, filled by a thread of the client. Waiting for it may end before it comes.
struct Answer {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool complete = false;
  int code = ZOK;
  std::string value;
  std::vector<std::string> names;
  Stat stat{};
};
using AnswerPtr = std::shared_ptr<Answer>;

template <typename Fill>
void complete(int code, const void* carrier, Fill fill) {
  const std::unique_ptr<const AnswerPtr> answer(static_cast<const AnswerPtr*>(carrier));
  const std::lock_guard lock((*answer)->mutex);
  (*answer)->code = code;
  if (code == ZOK) fill(**answer);
  (*answer)->complete = true;
  (*answer)->changed.notify_all();
}

void on_data(int code, const char* value, int size, const Stat* stat, const void* carrier) {
  complete(code, carrier, [&](Answer& answer) {
    // An empty value comes as -1 and a null pointer.
    if (size > 0) answer.value.assign(value, static_cast<size_t>(size));
    answer.stat = *stat;
  });
}
void on_stat(int code, const Stat* stat, const void* carrier) {
  complete(code, carrier, [&](Answer& answer) { answer.stat = *stat; });
}
void on_text(int code, const char*, const void* carrier) {
  complete(code, carrier, [](Answer&) {});
}
void on_names(int code, const String_vector* names, const void* carrier) {
  complete(code, carrier, [&](Answer& answer) {
    if (names != nullptr) answer.names.assign(names->data, names->data + names->count);
  });
}
void on_nothing(int code, const void* carrier) {
  complete(code, carrier, [](Answer&) {});
}

// The client carries a pointer to the completion, which is called exactly once, also when the session ends;
// but not when the client refused the request at once.
template <typename Send>
AnswerPtr ask(Send send) {
  auto answer = std::make_shared<Answer>();
  const void* carrier = new AnswerPtr(answer);
  if (const int refused = send(carrier); refused != ZOK) on_nothing(refused, carrier);
  return answer;
}

void say_nothing(const char*) {}

// A connected client, with the state that its watcher tells.
class Session {
 public:
  Session(const std::string& hosts, const std::string& account)
      : handle_(zookeeper_init2(hosts.c_str(), on_event, session_ms, nullptr, &state_, 0, say_nothing)) {
    if (handle_ != nullptr && !account.empty())
      zoo_add_auth(handle_, "digest", account.data(), static_cast<int>(account.size()), nullptr, nullptr);
  }
  // Waits for the client's threads, and up to a few seconds to tell the ensemble.
  ~Session() {
    if (handle_ != nullptr) zookeeper_close(handle_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  zhandle_t* get() const { return handle_; }
  bool is_over() const {
    if (handle_ == nullptr) return true;
    const int state = zoo_state(handle_);
    return state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE;
  }
  bool wait_until_connected(Deadline deadline) {
    std::unique_lock lock(state_.mutex);
    return state_.changed.wait_until(lock, deadline, [this] { return state_.connected; });
  }

 private:
  struct State {
    std::mutex mutex;  // guards `connected`
    std::condition_variable changed;
    bool connected = false;
  };

  static void on_event(zhandle_t*, int type, int state, const char*, void* own) {
    if (type != ZOO_SESSION_EVENT) return;
    auto* told = static_cast<State*>(own);
    const std::lock_guard lock(told->mutex);
    told->connected = state == ZOO_CONNECTED_STATE;
    told->changed.notify_all();
  }

  State state_;
  zhandle_t* const handle_;
};

class ZookeeperRegistry final : public Registry {
 public:
  explicit ZookeeperRegistry(const RegistrySettings& settings)
      : settings_(settings), root_("/" + settings.prefix) {}

  Result<std::optional<Record>> get(std::string_view key) override {
    EVENKEEL_TRY(check_key(key));
    const Deadline deadline = deadline_from_now();
    EVENKEEL_ASSIGN(const auto session, connected(deadline));
    return read(*session, path_of(key), deadline);
  }

  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_TRY(check_value(key, value));
    const Deadline deadline = deadline_from_now();
    EVENKEEL_ASSIGN(const auto session, connected(deadline));
    const std::string path = path_of(key);
    int code = expected == 0 ? create(*session, path, value, deadline)
                             : set(*session, path, expected, value, deadline);
    if (code == ZNONODE && expected == 0) {
      // The first record of this prefix.
      code = create(*session, root_, "", deadline);
      if (code == ZOK || code == ZNODEEXISTS) code = create(*session, path, value, deadline);
    }
    if (code == ZOK) return Put{true, expected + 1};
    if (code != ZNODEEXISTS && code != ZBADVERSION && code != ZNONODE) return fail(error_of(code));
    EVENKEEL_ASSIGN(const auto present, read(*session, path, deadline));
    return Put{false, present ? present->version : 0};
  }

  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override {
    const Deadline deadline = deadline_from_now();
    EVENKEEL_ASSIGN(const auto session, connected(deadline));
    sync(*session, root_);
    const auto children = ask([&](const void* carrier) {
      return zoo_aget_children(session->get(), root_.c_str(), 0, on_names, carrier);
    });
    const int code = wait(children, deadline);
    if (code == ZNONODE) return std::vector<KeyedRecord>{};
    if (code != ZOK) return fail(error_of(code));
    return read_all(*session, children->names, prefix, deadline);
  }

  Result<int64_t> now_unix_ms() override {
    const Deadline deadline = deadline_from_now();
    EVENKEEL_ASSIGN(const auto session, connected(deadline));
    const std::string path = root_ + "/@time";
    for (int attempt = 0;; ++attempt) {
      const auto answer = ask([&](const void* carrier) {
        return zoo_aset(session->get(), path.c_str(), "", 0, -1, on_stat, carrier);
      });
      const int code = wait(answer, deadline);
      if (code == ZOK) return answer->stat.mtime;
      if (code != ZNONODE || attempt > 0) return fail(error_of(code));
      for (const std::string& node : {root_, path})
        if (const int made = create(*session, node, "", deadline); made != ZOK && made != ZNODEEXISTS)
          return fail(error_of(made));
    }
  }

 private:
  Deadline deadline_from_now() const {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.timeout_ms);
  }

  // '/' separates nodes and '+' does not occur in keys; the one in front keeps "." and ".." apart from
  // ZooKeeper's.
  std::string path_of(std::string_view key) const {
    std::string name = "+" + std::string(key);
    std::replace(name.begin(), name.end(), '/', '+');
    return root_ + "/" + name;
  }

  std::string hosts() const {
    std::string text;
    for (const auto& endpoint : settings_.endpoints) text += (text.empty() ? "" : ",") + to_string(endpoint);
    return text;
  }

  Error error_of(int code) const {
    const std::string_view why =
        code == ZOPERATIONTIMEOUT ? "no answer in time" : std::string_view(zerror(code));
    return registry_error(fmt::format("registry in ZooKeeper at {}: {}{}", hosts(), why,
                                      code == ZNOAUTH ? "; the nodes belong to another account" : ""));
  }

  Result<std::shared_ptr<Session>> connected(Deadline deadline) {
    std::shared_ptr<Session> session;
    std::shared_ptr<Session> over;  // closed without the lock
    {
      const std::lock_guard lock(mutex_);
      if (session_ == nullptr || session_->is_over()) {
        over = std::move(session_);
        const std::string account =
            settings_.user.empty() ? std::string() : fmt::format("{}:{}", settings_.user, settings_.password);
        session_ = std::make_shared<Session>(hosts(), account);
      }
      session = session_;
    }
    if (session->get() == nullptr)
      return fail(registry_error(fmt::format("registry in ZooKeeper at {}: no host is known", hosts())));
    if (!session->wait_until_connected(deadline)) return fail(error_of(ZOPERATIONTIMEOUT));
    return session;
  }

  static int wait(const AnswerPtr& answer, Deadline deadline) {
    std::unique_lock lock(answer->mutex);
    if (!answer->changed.wait_until(lock, deadline, [&] { return answer->complete; }))
      return ZOPERATIONTIMEOUT;
    return answer->code;
  }

  // Sent ahead of a read; the answers come in order, so nobody waits for this one.
  static void sync(const Session& session, const std::string& path) {
    ask([&](const void* carrier) { return zoo_async(session.get(), path.c_str(), on_text, carrier); });
  }

  int create(const Session& session, const std::string& path, std::string_view value,
             Deadline deadline) const {
    const ACL_vector& owner = settings_.user.empty() ? ZOO_OPEN_ACL_UNSAFE : ZOO_CREATOR_ALL_ACL;
    const auto answer = ask([&](const void* carrier) {
      return zoo_acreate(session.get(), path.c_str(), value.data(), static_cast<int>(value.size()), &owner, 0,
                         on_text, carrier);
    });
    return wait(answer, deadline);
  }

  static int set(const Session& session, const std::string& path, uint64_t expected, std::string_view value,
                 Deadline deadline) {
    const auto answer = ask([&](const void* carrier) {
      return zoo_aset(session.get(), path.c_str(), value.data(), static_cast<int>(value.size()),
                      static_cast<int>(expected - 1), on_stat, carrier);
    });
    return wait(answer, deadline);
  }

  static Record record_in(Answer& answer) {
    return {std::move(answer.value), static_cast<uint64_t>(answer.stat.version) + 1};
  }

  Result<std::optional<Record>> read(const Session& session, const std::string& path,
                                     Deadline deadline) const {
    sync(session, path);
    const auto answer =
        ask([&](const void* carrier) { return zoo_aget(session.get(), path.c_str(), 0, on_data, carrier); });
    const int code = wait(answer, deadline);
    if (code == ZNONODE) return std::nullopt;
    if (code != ZOK) return fail(error_of(code));
    return record_in(*answer);
  }

  Result<std::vector<KeyedRecord>> read_all(const Session& session, const std::vector<std::string>& names,
                                            std::string_view prefix, Deadline deadline) const {
    std::vector<std::pair<std::string, AnswerPtr>> asked;
    for (const std::string& name : names) {
      if (!name.starts_with('+')) continue;
      std::string key = name.substr(1);
      std::replace(key.begin(), key.end(), '+', '/');
      if (!key.starts_with(prefix)) continue;
      const std::string path = root_ + "/" + name;
      asked.emplace_back(std::move(key), ask([&](const void* carrier) {
                           return zoo_aget(session.get(), path.c_str(), 0, on_data, carrier);
                         }));
    }
    std::vector<KeyedRecord> found;
    for (auto& [key, answer] : asked) {
      const int code = wait(answer, deadline);
      if (code == ZNONODE) continue;
      if (code != ZOK) return fail(error_of(code));
      found.push_back({key, record_in(*answer)});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return found;
  }

  const RegistrySettings settings_;
  const std::string root_;
  std::mutex mutex_;  // guards the pointer
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Registry> make_zookeeper_registry(const RegistrySettings& settings) {
  return std::make_unique<ZookeeperRegistry>(settings);
}

}  // namespace evenkeel::idgen
