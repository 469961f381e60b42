// The catalog in use, shared by all threads and swapped as a whole.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "router/catalog/catalog.h"

namespace evenkeel::control {

// Thread-safe. Readers take the pointer per statement and keep what they took until the statement is planned.
class CatalogStore {
 public:
  catalog::CatalogPtr current() const { return current_.load(std::memory_order_acquire); }
  void publish(catalog::CatalogPtr catalog) { current_.store(std::move(catalog), std::memory_order_release); }

  // After DDL, or when an instance said that a table or column is unknown. Returns at once; requests made
  // before the next reading begins are one.
  void request_refresh(const std::string& reason);

  // For the reading thread: waits for a request, `stop` or the timeout. The reason of a request, else empty.
  std::string wait_for_request(std::chrono::milliseconds timeout);
  void stop();
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Waits so long or until stopped; false when stopped.
  bool pause(std::chrono::milliseconds time);

 private:
  std::atomic<catalog::CatalogPtr> current_{std::make_shared<const catalog::Catalog>()};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::string reason_;
};

}  // namespace evenkeel::control
