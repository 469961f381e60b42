// One process with a segment generator, driven by hand: the loader serves when the test says so.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "idgen/segment/memory_segment_store.h"
#include "idgen/segment/segment_loader.h"

namespace evenkeel::idgen::testing {

// Hands a store that the test keeps to a loader that owns its stores.
class BorrowedStore final : public SegmentStore {
 public:
  explicit BorrowedStore(SegmentStore& store) : store_(store) {}
  const std::string& name() const override { return store_.name(); }
  Result<SegmentRow> open_row(const std::string& tag) override { return store_.open_row(tag); }
  Result<std::optional<SegmentRow>> advance(const std::string& tag, const SegmentAdvance& advance) override {
    return store_.advance(tag, advance);
  }
  Result<std::optional<SegmentRow>> protect(const std::string& tag, uint64_t epoch,
                                            uint64_t number) override {
    return store_.protect(tag, epoch, number);
  }
  Result<bool> give_back(const std::string& tag, uint64_t epoch, uint64_t expected,
                         uint64_t max_id) override {
    return store_.give_back(tag, epoch, expected, max_id);
  }

 private:
  SegmentStore& store_;
};

inline GeneratorSettings segment_settings(uint32_t step, size_t allocators = 1) {
  GeneratorSettings settings;
  settings.name = "ids";
  settings.batch = BatchMode::steered;
  settings.segment.step = settings.segment.step_min = settings.segment.step_max = step;
  for (size_t i = 0; i < allocators; ++i) {
    settings.segment.allocators.emplace_back().host = "memory";
    settings.segment.allocators.back().prefix = static_cast<uint32_t>(i);
  }
  if (allocators > 1) settings.segment.prefix_bits = 4;
  return settings;
}

class Process {
 public:
  static constexpr const char* tag = "ids/orders";

  Process(const GeneratorSettings& settings, std::vector<SegmentStore*> stores, const Clock& clock,
          uint32_t slots = 8)
      : loader(settings, borrowed(stores), clock) {
    generator = SegmentGenerator::create({settings, "orders", slots, &clock, 7,
                                          [this] {
                                            wanted = true;
                                            if (with_thread) loader.wake();
                                          }})
                    .value();
    loader.add(*generator, tag);
  }

  void serve() {
    wanted = false;
    loader.serve();
  }
  // One id, with the loader as fast as could be.
  uint64_t one() {
    uint64_t key = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto drawn = generator->draw({}, std::span(&key, 1));
      EXPECT_TRUE(drawn) << drawn.error().message;
      if (wanted) serve();
      if (drawn && drawn->complete()) return key;
    }
    ADD_FAILURE() << "no id after the loader was asked";
    return 0;
  }
  // An id that must be at hand, without the loader.
  std::optional<uint64_t> at_hand() {
    uint64_t key = 0;
    const auto drawn = generator->draw({}, std::span(&key, 1));
    if (drawn && drawn->complete()) return key;
    return std::nullopt;
  }
  bool admit(uint64_t id) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto admitted = generator->admit_explicit(std::span(&id, 1));
      EXPECT_TRUE(admitted) << admitted.error().message;
      if (!admitted) return false;
      if (admitted->micros == 0) return true;
      serve();
    }
    return false;
  }
  void end() {
    generator->close();
    loader.stop_thread();
    EXPECT_TRUE(loader.give_back());
  }

  std::atomic<bool> wanted{true};
  std::atomic<bool> with_thread{false};
  SegmentLoader loader;
  std::unique_ptr<SegmentGenerator> generator;

 private:
  static std::vector<std::unique_ptr<SegmentStore>> borrowed(const std::vector<SegmentStore*>& stores) {
    std::vector<std::unique_ptr<SegmentStore>> all;
    for (SegmentStore* store : stores) all.push_back(std::make_unique<BorrowedStore>(*store));
    return all;
  }
};

}  // namespace evenkeel::idgen::testing
