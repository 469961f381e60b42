#include "proxy/control/catalog_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/mysql/error_codes.h"

namespace evenkeel::control {

Result<std::unique_ptr<CatalogWatch>> CatalogWatch::start(rule::RuleSetPtr rules, backend::Settings backend,
                                                          Accounts accounts, CatalogStore& store,
                                                          WatchSettings settings,
                                                          std::vector<Finding>& first_findings) {
  auto reader = std::make_unique<CatalogReader>(std::move(rules), std::move(backend), std::move(accounts));
  Reading first = reader->read();
  if (has_errors(first.findings)) {
    return fail(make_error(ErrorKind::backend, mysql::er::unknown_error, to_text(first.findings)));
  }
  first_findings = first.findings;
  store.publish(first.to_catalog(store.current()->version() + 1));
  return std::unique_ptr<CatalogWatch>(
      new CatalogWatch(std::move(reader), std::move(first), store, settings));
}

CatalogWatch::CatalogWatch(std::unique_ptr<CatalogReader> reader, Reading first, CatalogStore& store,
                           WatchSettings settings)
    : reader_(std::move(reader)),
      reading_(std::move(first)),
      facts_(reading_.facts),
      store_(store),
      settings_(settings),
      thread_([this] { run(); }) {}

CatalogWatch::~CatalogWatch() {
  store_.stop();
  thread_.join();
}

void CatalogWatch::run() {
  verify_all();
  while (!store_.stopped()) {
    const std::string reason = store_.wait_for_request(settings_.interval);
    if (store_.stopped()) return;
    read_again(reason);
    verify_all();
    if (!store_.pause(settings_.least_distance)) return;
  }
}

void CatalogWatch::set_accounts(Accounts accounts) {
  const std::lock_guard lock(accounts_mutex_);
  new_accounts_ = std::move(accounts);
}

void CatalogWatch::read_again(const std::string& reason) {
  {
    const std::lock_guard lock(accounts_mutex_);
    if (new_accounts_) reader_->take_accounts(*std::exchange(new_accounts_, std::nullopt));
  }
  Reading fresh = reader_->read();
  if (has_errors(fresh.findings)) {
    log::warn("catalog: kept as it is, for the new reading ({}) found: {}",
              reason.empty() ? "by time" : reason, to_text(fresh.findings));
    return;
  }
  const bool changed = !fresh.same_tables(reading_);
  reading_ = std::move(fresh);
  if (!changed) return;
  const uint64_t version = store_.current()->version() + 1;
  store_.publish(reading_.to_catalog(version));
  log::info("catalog: version {} ({})", version, reason.empty() ? "read by time" : reason);
}

void CatalogWatch::verify_all() {
  std::vector<Finding> findings;
  for (const DatabaseTables& database : reader_->databases()) {
    reader_->verify(database, reading_, findings);
    if (!store_.pause(settings_.database_pause)) return;
  }
  for (const Finding& finding : findings) {
    // A difference that stays is told once, not with every pass.
    if (std::find(told_.begin(), told_.end(), finding) == told_.end()) log::warn("catalog: {}", finding.text);
  }
  drifted_ = static_cast<size_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Finding::Severity::error;
  }));
  told_ = std::move(findings);
  ++passes_;
}

}  // namespace evenkeel::control
