// The same promises from every provider, then what is particular to files.
#include "idgen/registry/registry.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

#include "idgen/registry/file_registry.h"
#include "idgen/registry/memory_registry.h"
#include "idgen/registry/tests/scratch_directory.h"

namespace evenkeel::idgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

enum class Provider { memory, file };

class RegistryTest : public ::testing::TestWithParam<Provider> {
 protected:
  RegistryTest() {
    if (GetParam() == Provider::memory)
      registry = std::make_unique<MemoryRegistry>(clock);
    else
      registry = open_file_registry(scratch.path(), clock).value();
  }

  ManualClock clock{1'790'000'000'000'000};
  ScratchDirectory scratch;
  std::unique_ptr<Registry> registry;
};

TEST_P(RegistryTest, AnAbsentKeyHasNoRecord) {
  EXPECT_EQ(registry->get("maps/orders").value(), std::nullopt);
  EXPECT_THAT(registry->list("").value(), IsEmpty());
}

TEST_P(RegistryTest, PutsOnlyOverTheVersionItExpects) {
  Put put = registry->compare_and_put("maps/orders", 1, "a").value();
  EXPECT_FALSE(put.stored);
  EXPECT_EQ(put.version, 0u);
  put = registry->compare_and_put("maps/orders", 0, "first").value();
  EXPECT_TRUE(put.stored);
  EXPECT_EQ(put.version, 1u);
  put = registry->compare_and_put("maps/orders", 0, "second").value();
  EXPECT_FALSE(put.stored);
  EXPECT_EQ(put.version, 1u);
  put = registry->compare_and_put("maps/orders", 1, std::string_view("bin\0ary\n", 8)).value();
  EXPECT_TRUE(put.stored);
  EXPECT_EQ(registry->get("maps/orders").value(), (Record{std::string("bin\0ary\n", 8), 2}));
}

TEST_P(RegistryTest, ListsAPrefixInOrder) {
  for (const char* key : {"workers/main/2", "workers/main/10", "maps/orders", "workers/other/1"})
    ASSERT_TRUE(registry->compare_and_put(key, 0, key).value().stored);
  EXPECT_THAT(registry->list("workers/main/").value(),
              ElementsAre(KeyedRecord{"workers/main/10", {"workers/main/10", 1}},
                          KeyedRecord{"workers/main/2", {"workers/main/2", 1}}));
  EXPECT_EQ(registry->list("").value().size(), 4u);
}

TEST_P(RegistryTest, ChangesAreToldOnce) {
  SeenVersions seen;
  ASSERT_TRUE(registry->compare_and_put("maps/a", 0, "1"));
  ASSERT_TRUE(registry->compare_and_put("maps/b", 0, "1"));
  EXPECT_EQ(registry->changes("maps/", seen).value().size(), 2u);
  EXPECT_THAT(registry->changes("maps/", seen).value(), IsEmpty());
  ASSERT_TRUE(registry->compare_and_put("maps/b", 1, "2"));
  EXPECT_THAT(registry->changes("maps/", seen).value(), ElementsAre(KeyedRecord{"maps/b", {"2", 2}}));
}

TEST_P(RegistryTest, OneHoldAtATimeAndTheOtherLearnsWho) {
  auto first = registry->try_hold("workers/main/5", "proxy A").value();
  EXPECT_NE(first.hold, nullptr);
  auto second = registry->try_hold("workers/main/5", "proxy B").value();
  EXPECT_EQ(second.hold, nullptr);
  EXPECT_EQ(second.holder, "proxy A");
  EXPECT_NE(registry->try_hold("workers/main/6", "proxy B").value().hold, nullptr);
  first.hold.reset();
  EXPECT_NE(registry->try_hold("workers/main/5", "proxy B").value().hold, nullptr);
}

TEST_P(RegistryTest, KeysOutsideTheAlphabetAreRefused) {
  for (const std::string& key :
       {std::string("a b"), std::string(), std::string("x+y"), std::string(201, 'k')})
    EXPECT_EQ(registry->get(key).error().kind, ErrorKind::registry) << key;
}

TEST_P(RegistryTest, TellsItsTime) { EXPECT_EQ(registry->now_unix_ms().value(), 1'790'000'000'000); }

TEST_P(RegistryTest, RacingIncrementsLoseNone) {
  constexpr int threads = 4;
  constexpr int increments = 25;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&] {
      for (int done = 0; done < increments;) {
        const auto record = registry->get("counter").value();
        const int value = record ? std::stoi(record->value) : 0;
        const auto put =
            registry->compare_and_put("counter", record ? record->version : 0, std::to_string(value + 1))
                .value();
        if (put.stored) ++done;
      }
    });
  for (auto& thread : running) thread.join();
  EXPECT_EQ(registry->get("counter").value(), (Record{"100", 100}));
}

INSTANTIATE_TEST_SUITE_P(Providers, RegistryTest, ::testing::Values(Provider::memory, Provider::file),
                         [](const auto& provider) {
                           return provider.param == Provider::memory ? "memory" : "file";
                         });

TEST(FileRegistry, IsSharedByAllThatOpenTheDirectoryAndOutlivesThem) {
  ManualClock clock;
  const ScratchDirectory scratch;
  const std::string directory = scratch.path() + "/deeper/registry";
  const auto one = open_file_registry(directory, clock).value();
  ASSERT_TRUE(one->compare_and_put("a/b", 0, "x").value().stored);
  {
    const auto two = open_file_registry(directory, clock).value();
    EXPECT_EQ(two->get("a/b").value(), (Record{"x", 1}));
    EXPECT_FALSE(two->compare_and_put("a/b", 0, "y").value().stored);
    EXPECT_TRUE(two->compare_and_put("a/b", 1, "y").value().stored);
  }
  EXPECT_EQ(one->get("a/b").value(), (Record{"y", 2}));
  struct stat status {};
  ASSERT_EQ(::stat(directory.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((directory + "/a+b.record").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(FileRegistry, ADamagedRecordIsAnErrorAndNeverAbsent) {
  ManualClock clock;
  const ScratchDirectory scratch;
  const auto registry = open_file_registry(scratch.path(), clock).value();
  ASSERT_TRUE(registry->compare_and_put("w/1", 0, "bound 12345").value().stored);
  const std::string path = scratch.path() + "/w+1.record";
  std::string whole;
  std::getline(std::ifstream(path), whole, '\0');

  const auto message_for = [&](const std::string& content) {
    std::ofstream(path, std::ios::trunc) << content;
    EXPECT_EQ(registry->list("w/").error().kind, ErrorKind::registry);
    EXPECT_EQ(registry->compare_and_put("w/1", 0, "new").error().kind, ErrorKind::registry);
    return registry->get("w/1").error().message;
  };
  EXPECT_THAT(message_for(""),
              HasSubstr("w+1.record is damaged (its first line is not 'evenkeel-record 1')"));
  EXPECT_THAT(message_for(whole.substr(0, whole.size() - 1)), HasSubstr("10 bytes instead of 11"));
  std::string flipped = whole;
  flipped.back() = '6';
  EXPECT_THAT(message_for(flipped), HasSubstr("checksum does not match"));
  std::string other_version = whole;
  other_version.replace(other_version.find("version 1"), 9, "version 2");
  EXPECT_THAT(message_for(other_version), HasSubstr("checksum does not match"));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(message_for(whole.substr(0, length)), HasSubstr("damaged"));

  std::ofstream(path, std::ios::trunc) << whole;
  EXPECT_EQ(registry->get("w/1").value(), (Record{"bound 12345", 1}));
}

TEST(FileRegistry, SaysWhyADirectoryCannotBeUsed) {
  ManualClock clock;
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/file") << "x";
  EXPECT_THAT(open_file_registry(scratch.path() + "/file", clock).error().message,
              HasSubstr("Not a directory"));
  EXPECT_FALSE(open_file_registry("", clock));
}

}  // namespace
}  // namespace evenkeel::idgen
