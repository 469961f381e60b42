#include "proxy/admin/dashboard/page_sessions.h"

#include <algorithm>

#include "proxy/protocol/auth/digest.h"

namespace evenkeel::admin {

namespace auth = protocol::auth;

bool PageSessions::ended(const Session& session) const {
  const auto now = clock_.steady();
  return now - session.used > idle_max || now - session.opened > length_max;
}

void PageSessions::make_room() {
  std::erase_if(sessions_, [this](const auto& entry) { return ended(entry.second); });
  while (sessions_.size() >= sessions_max) {
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
}

std::string PageSessions::open(const answer::Caller& caller) {
  make_room();
  std::array<std::byte, 32> random{};
  fill_(random);
  std::string token =
      auth::to_hex(std::string_view(reinterpret_cast<const char*>(random.data()), random.size()));
  const auto now = clock_.steady();
  sessions_[auth::sha256({token})] = Session{caller.user, caller.rights, now, now};
  return token;
}

std::optional<answer::Caller> PageSessions::find(std::string_view token, const std::string& address) {
  const auto found = sessions_.find(auth::sha256({token}));
  if (found == sessions_.end()) return std::nullopt;
  if (ended(found->second)) {
    sessions_.erase(found);
    return std::nullopt;
  }
  found->second.used = clock_.steady();
  return answer::Caller{found->second.user, address, 0, found->second.rights};
}

void PageSessions::keep(const std::vector<answer::Account>& accounts) {
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    const auto account =
        std::find_if(accounts.begin(), accounts.end(),
                     [&](const answer::Account& candidate) { return candidate.name == entry->second.user; });
    if (account == accounts.end()) {
      entry = sessions_.erase(entry);
    } else {
      entry++->second.rights = account->rights;
    }
  }
}

void PageSessions::close(std::string_view token) { sessions_.erase(auth::sha256({token})); }

}  // namespace evenkeel::admin
