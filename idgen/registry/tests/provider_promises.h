// What every provider promises, as tests that run against each of them: memory and files in registry_test.cc,
// real servers in servers_e2e_test.cc.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "idgen/registry/registry.h"

namespace evenkeel::idgen::promises {

// A registry of its own, empty, for each call; further() gives another one over the same records, as another
// process would have it.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::shared_ptr<Registry> open_empty() = 0;
  virtual std::shared_ptr<Registry> further() = 0;
};

inline void an_absent_key_has_no_record(Store& store) {
  const auto registry = store.open_empty();
  const auto got = registry->get("maps/orders");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, std::nullopt);
  EXPECT_THAT(registry->list("").value(), ::testing::IsEmpty());
}

inline void puts_only_over_the_version_it_expects(Store& store) {
  const auto registry = store.open_empty();
  Put put = registry->compare_and_put("maps/orders", 1, "a").value();
  EXPECT_FALSE(put.stored);
  EXPECT_EQ(put.version, 0u);
  put = registry->compare_and_put("maps/orders", 0, "first").value();
  EXPECT_TRUE(put.stored);
  EXPECT_EQ(put.version, 1u);
  put = registry->compare_and_put("maps/orders", 0, "second").value();
  EXPECT_FALSE(put.stored);
  EXPECT_EQ(put.version, 1u);
  EXPECT_EQ(store.further()->get("maps/orders").value(), (Record{"first", 1}));
  put = registry->compare_and_put("maps/orders", 1, "first").value();
  EXPECT_TRUE(put.stored) << "the same value is a change too";
  EXPECT_EQ(put.version, 2u);
  put = registry->compare_and_put("maps/orders", 7, "x").value();
  EXPECT_FALSE(put.stored);
  EXPECT_EQ(put.version, 2u);
}

inline void keeps_every_byte(Store& store) {
  const auto registry = store.open_empty();
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i * 7);
  for (const std::string& value :
       {std::string(), std::string("\0", 1), bytes, std::string("' \\ \xff\xfe \xf0\x9f\x98\x80 %s {}\r\n"),
        std::string(Registry::value_size_max, '\xab')}) {
    const auto before = registry->get("bytes").value();
    const auto put = registry->compare_and_put("bytes", before ? before->version : 0, value);
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_TRUE(put->stored);
    EXPECT_TRUE(store.further()->get("bytes").value()->value == value) << value.size() << " bytes";
  }
  EXPECT_EQ(
      registry->compare_and_put("bytes", 5, std::string(Registry::value_size_max + 1, 'x')).error().kind,
      ErrorKind::registry);
}

inline void lists_a_prefix_in_order(Store& store) {
  const auto registry = store.open_empty();
  for (const char* key : {"workers/main/2", "workers/main/10", "maps/orders", "workers/other/1",
                          "workers/main", "Maps/A", "workers/main-2/1"})
    ASSERT_TRUE(registry->compare_and_put(key, 0, key).value().stored) << key;
  EXPECT_THAT(registry->list("workers/main/").value(),
              ::testing::ElementsAre(KeyedRecord{"workers/main/10", {"workers/main/10", 1}},
                                     KeyedRecord{"workers/main/2", {"workers/main/2", 1}}));
  EXPECT_EQ(registry->list("workers/main").value().size(), 4u);
  EXPECT_THAT(registry->list("nothing/").value(), ::testing::IsEmpty());
  std::vector<std::string> keys;
  const auto all = registry->list("").value();
  for (const auto& keyed : all) keys.push_back(keyed.key);
  EXPECT_THAT(keys, ::testing::ElementsAre("Maps/A", "maps/orders", "workers/main", "workers/main-2/1",
                                           "workers/main/10", "workers/main/2", "workers/other/1"));
}

inline void changes_are_told_once(Store& store) {
  const auto registry = store.open_empty();
  SeenVersions seen;
  ASSERT_TRUE(registry->compare_and_put("maps/a", 0, "1"));
  ASSERT_TRUE(registry->compare_and_put("maps/b", 0, "1"));
  EXPECT_EQ(registry->changes("maps/", seen).value().size(), 2u);
  EXPECT_THAT(registry->changes("maps/", seen).value(), ::testing::IsEmpty());
  ASSERT_TRUE(registry->compare_and_put("maps/b", 1, "2"));
  EXPECT_THAT(registry->changes("maps/", seen).value(),
              ::testing::ElementsAre(KeyedRecord{"maps/b", {"2", 2}}));
}

inline void keys_outside_the_alphabet_are_refused(Store& store) {
  const auto registry = store.open_empty();
  for (const std::string& key :
       {std::string("a b"), std::string(), std::string("x+y"), std::string(201, 'k')})
    EXPECT_EQ(registry->get(key).error().kind, ErrorKind::registry) << key;
  const std::string longest(200, 'k');
  ASSERT_TRUE(registry->compare_and_put(longest, 0, "v").value().stored);
  EXPECT_EQ(registry->get(longest).value(), (Record{"v", 1}));
}

// Several threads over one registry object, and several objects: no increment may be lost.
inline void racing_increments_lose_none(Store& store) {
  constexpr int threads = 4;
  constexpr int increments = 25;
  const auto shared = store.open_empty();
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, own = t % 2 == 0 ? shared : store.further()] {
      for (int done = 0; done < increments;) {
        const auto record = own->get("counter").value();
        const int value = record ? std::stoi(record->value) : 0;
        if (own->compare_and_put("counter", record ? record->version : 0, std::to_string(value + 1))
                .value()
                .stored)
          ++done;
      }
    });
  for (auto& thread : running) thread.join();
  EXPECT_EQ(shared->get("counter").value(), (Record{"100", 100}));
}

}  // namespace evenkeel::idgen::promises

// Makes one test of each promise: the fixture is a TestWithParam and has `store()`.
#define EVENKEEL_PROVIDER_PROMISES(Fixture)                                                   \
  TEST_P(Fixture, AnAbsentKeyHasNoRecord) { promises::an_absent_key_has_no_record(store()); } \
  TEST_P(Fixture, PutsOnlyOverTheVersionItExpects) {                                          \
    promises::puts_only_over_the_version_it_expects(store());                                 \
  }                                                                                           \
  TEST_P(Fixture, KeepsEveryByte) { promises::keeps_every_byte(store()); }                    \
  TEST_P(Fixture, ListsAPrefixInOrder) { promises::lists_a_prefix_in_order(store()); }        \
  TEST_P(Fixture, ChangesAreToldOnce) { promises::changes_are_told_once(store()); }           \
  TEST_P(Fixture, KeysOutsideTheAlphabetAreRefused) {                                         \
    promises::keys_outside_the_alphabet_are_refused(store());                                 \
  }                                                                                           \
  TEST_P(Fixture, RacingIncrementsLoseNone) { promises::racing_increments_lose_none(store()); }
