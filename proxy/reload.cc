#include "proxy/reload.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/log.h"
#include "config/read_file.h"
#include "proxy/control/checks.h"
#include "router/rule/names.h"

namespace evenkeel {
namespace {

using config::Change;
using config::Config;
using mysql::ResultTable;
using mysql::Value;

// An error packet is not for long lists.
constexpr size_t changes_told = 10;

std::vector<answer::Account> same_accounts(const std::vector<answer::Account>& before,
                                           const std::vector<answer::Account>& now) {
  std::vector<answer::Account> same;
  for (const answer::Account& account : now) {
    const bool unchanged = std::any_of(before.begin(), before.end(), [&](const answer::Account& old) {
      return old.name == account.name && old.native_verifier == account.native_verifier &&
             old.sha2_verifier == account.sha2_verifier && old.empty_password == account.empty_password;
    });
    if (unchanged) same.push_back(account);
  }
  return same;
}

// Secrets whose place in the file is the same and whose value is not.
std::vector<std::string> secrets_read_anew(const Config& before, const Config& now) {
  std::vector<std::string> paths;
  if (before.session.users != now.session.users) paths.emplace_back("users");
  if (before.control != now.control) paths.emplace_back("control");
  if (before.admin.users != now.admin.users) paths.emplace_back("admin.users");
  if (before.admin.http.settings.tokens != now.admin.http.settings.tokens) paths.emplace_back("admin.tokens");
  return paths;
}

ResultTable table_of(const std::vector<Change>& changes, const Config& before, const Config& now) {
  ResultTable out{{{"setting"}, {"outcome"}}, {}};
  const auto say = [&](const std::string& setting, const std::string& outcome) {
    out.rows.push_back({Value::string(setting), Value::string(outcome)});
  };
  for (const Change& change : changes)
    say(change.path,
        change.foreign ? "changed: `evenkeel ids` reads it at its start" : "changed and in force");
  for (const std::string& path : secrets_read_anew(before, now)) {
    const bool told = std::any_of(changes.begin(), changes.end(),
                                  [&](const Change& change) { return change.path.starts_with(path); });
    if (!told) say(path, "secrets were read anew and are in force");
  }
  if (out.rows.empty()) say("all", "unchanged");
  for (const std::string& warning : now.warnings) say("warning", warning);
  return out;
}

}  // namespace

// Tables that lie elsewhere by the new file, or are more or fewer: what is in them would be looked for in the
// wrong place.
std::string Reload::why_not_the_tables(const Config& fresh) const {
  std::string text;
  for (const auto& schema : parts_.started_with->rules->schemas()) {
    for (const auto& table : schema.tables) {
      const rule::LogicalTable* other = nullptr;
      for (const auto& new_schema : fresh.rules->schemas()) {
        for (const auto& candidate : new_schema.tables) {
          if (rule::fold_case(candidate->schema) == rule::fold_case(table->schema) &&
              rule::fold_case(candidate->name) == rule::fold_case(table->name))
            other = candidate.get();
        }
      }
      if (other == nullptr || other->slots == table->slots) continue;
      const auto figures = parts_.steering->steering().figures({table->schema, table->name});
      if (!figures) continue;
      uint64_t rows = 0;
      for (const skew::SlotFigures& slot : figures->slots) rows += slot.rows;
      text += fmt::format(
          "\n{}.{}: its {} tables hold {} rows, which would not be found in the {} tables of the file",
          table->schema, table->name, table->slot_count(), rows, other->slot_count());
    }
  }
  return text;
}

Status Reload::check(const std::vector<Change>& changes, const Config& fresh) const {
  std::string refused;
  size_t count = 0;
  for (const Change& change : changes) {
    if (change.applies || change.foreign || ++count > changes_told) continue;
    refused += fmt::format("\n{}:{}:{}: {}: {}takes effect at a start only", fresh.source, change.mark.line,
                           change.mark.column, change.path, change.removed ? "is gone, which " : "");
  }
  if (count == 0) return {};
  if (count > changes_told) refused += fmt::format("\n… and {} more", count - changes_told);
  return fail(
      config_error(fmt::format("nothing was changed: put back what stands below, or restart the proxy{}{}",
                               refused, why_not_the_tables(fresh))));
}

// Everything that can fail comes first.
Status Reload::take(const Config& fresh) {
  backend::Settings backend = fresh.backend;
  // What the file may say of them and the start alone decides.
  backend.instances = parts_.started_with->backend.instances;
  EVENKEEL_ASSIGN(net::TermsPtr terms, parts_.server->prepare(fresh.net, std::move(backend), fresh.session));
  EVENKEEL_ASSIGN(AdminPort::Terms admin, parts_.admin->prepare(fresh.admin));
  const auto same = same_accounts(now_.admin.users, fresh.admin.users);
  log::set_up(fresh.log_level);
  parts_.server->adopt(std::move(terms));
  parts_.steering->take_settings(fresh);
  parts_.watch->set_accounts(control::reading_accounts(fresh.session, fresh.control));
  parts_.admin->adopt(std::move(admin), [this, same] {
    if (parts_.admin_accounts) parts_.admin_accounts(same);
  });
  return {};
}

Result<ResultTable> Reload::run(std::string_view by) {
  const std::lock_guard lock(mutex_);
  const std::string& path = parts_.started_with->source;
  EVENKEEL_ASSIGN(const std::string text, config::read_file(path));
  EVENKEEL_ASSIGN(Config fresh,
                  config::parse(text, path, config::process_environment(), parts_.clock->unix_millis()));
  EVENKEEL_ASSIGN(const auto changes, config::changes(parts_.text, text, path));
  EVENKEEL_TRY(check(changes, fresh));
  EVENKEEL_TRY(take(fresh));
  ResultTable told = table_of(changes, now_, fresh);
  for (const auto& row : told.rows) {
    log::info("configuration read again ({}): {}: {}", by, row[0].text(), row[1].text());
  }
  parts_.text = text;
  now_ = std::move(fresh);
  return told;
}

}  // namespace evenkeel
