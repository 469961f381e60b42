// The promises that every provider keeps, then what is particular to files.
#include "idgen/registry/registry.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "idgen/registry/file_registry.h"
#include "idgen/registry/memory_registry.h"
#include "idgen/registry/tests/provider_promises.h"
#include "idgen/registry/tests/scratch_directory.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;

enum class Provider { memory, file };

class RegistryTest : public ::testing::TestWithParam<Provider>, public promises::Store {
 protected:
  Store& store() { return *this; }
  std::shared_ptr<Registry> open_empty() override {
    if (GetParam() == Provider::memory) return memory;
    return further();
  }
  std::shared_ptr<Registry> further() override {
    if (GetParam() == Provider::memory) return memory;
    return open_file_registry(scratch.path(), clock).value();
  }

  ManualClock clock{1'790'000'000'000'000};
  ScratchDirectory scratch;
  std::shared_ptr<Registry> memory = std::make_shared<MemoryRegistry>(clock, MemoryRegistry::Proof::holds);
};

EVENKEEL_PROVIDER_PROMISES(RegistryTest)

TEST_P(RegistryTest, OneHoldAtATimeAndTheOtherLearnsWho) {
  const auto registry = open_empty();
  ASSERT_TRUE(registry->proves_life());
  auto first = registry->try_hold("workers/main/5", "proxy A").value();
  EXPECT_NE(first.hold, nullptr);
  auto second = registry->try_hold("workers/main/5", "proxy B").value();
  EXPECT_EQ(second.hold, nullptr);
  EXPECT_EQ(second.holder, "proxy A");
  EXPECT_NE(registry->try_hold("workers/main/6", "proxy B").value().hold, nullptr);
  first.hold.reset();
  EXPECT_NE(registry->try_hold("workers/main/5", "proxy B").value().hold, nullptr);
}

TEST_P(RegistryTest, TellsItsTime) { EXPECT_EQ(open_empty()->now_unix_ms().value(), 1'790'000'000'000); }

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
