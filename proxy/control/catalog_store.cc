#include "proxy/control/catalog_store.h"

namespace evenkeel::control {

void CatalogStore::request_refresh(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!reason_.empty()) return;
    reason_ = reason.empty() ? "asked for" : reason;
  }
  changed_.notify_all();
}

std::string CatalogStore::wait_for_request(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return stopped() || !reason_.empty(); });
  return std::exchange(reason_, {});
}

void CatalogStore::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool CatalogStore::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return stopped(); });
}

}  // namespace evenkeel::control
