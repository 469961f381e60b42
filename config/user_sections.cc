#include <algorithm>
#include <fmt/format.h>

#include "config/sections.h"
#include "config/verifiers.h"

namespace evenkeel::config {
namespace {

using session::User;

void read_accounts(const Place& place, User& out) {
  if (place.node().kind != Node::Kind::map) return place.expected("a map from instance names to accounts");
  for (const auto& pair : place.node().pairs) {
    const std::string& instance = pair.key.text;
    const Place at = place.member(pair);
    const auto& known = at.reading().instances;
    if (std::find(known.begin(), known.end(), instance) == known.end()) {
      at.reading().fault(pair.key.mark, at.path(),
                         fmt::format("no instance has this name; known are {}", join_names(known)));
    }
    session::BackendAccount account;
    read_section(at, account_section(), account);
    if (!out.backend_by_instance.emplace(instance, std::move(account)).second) {
      at.reading().fault(pair.key.mark, at.path(), "the key stands here for the second time");
    }
  }
}

}  // namespace

const Section<session::BackendAccount>& account_section() {
  using session::BackendAccount;
  static const Section<BackendAccount> section = {
      "account",
      {
          {"user", [](const Place& place, BackendAccount& out) { read(place, out.user); }, true},
          {"password", [](const Place& place, BackendAccount& out) { read_secret(place, out.password); },
           true},
      }};
  return section;
}

const Section<User>& user_section() {
  static const Section<User> section = {
      "user",
      {
          {"name", [](const Place& place, User& out) { read(place, out.name); }, true},
          {"password", read_password<User>},
          {"native_verifier", read_native_verifier<User>},
          {"sha2_verifier", read_sha2_verifier<User>},
          {"hosts", read_hosts<User>},
          {"backend",
           [](const Place& place, User& out) { read_section(place, account_section(), out.backend); }, true},
          {"backend_by_instance", read_accounts},
      }};
  return section;
}

void read_users(const Place& place, std::vector<User>& out) {
  read_list(place, user_section(), out, check_verifiers<User>, true);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (out[i].name == out[j].name)
        place.item(i).fault(fmt::format("a second user with the name {}", out[i].name));
    }
  }
}

}  // namespace evenkeel::config
