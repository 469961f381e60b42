#include "idgen/library/leased_generator.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "idgen/registry/tests/scratch_directory.h"

namespace evenkeel::idgen {
namespace {

class LeasedGeneratorTest : public ::testing::Test {
 protected:
  LeasedGeneratorOptions options(std::optional<uint32_t> worker = {}) const {
    LeasedGeneratorOptions options;
    options.settings.name = "orders";
    options.settings.worker.fixed_id = worker;
    options.directory = folder_.path() + "/ids";
    return options;
  }

  ScratchDirectory folder_;
};

bool ascends(const std::vector<uint64_t>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

TEST_F(LeasedGeneratorTest, IdsAscendOverRestarts) {
  std::vector<uint64_t> ids;
  for (int run = 0; run < 5; ++run) {
    auto generator = LeasedGenerator::open(options());
    ASSERT_TRUE(generator) << generator.error().message;
    for (int i = 0; i < 100; ++i) ids.push_back((*generator)->next().value());
    ASSERT_TRUE((*generator)->close()) << run;
  }
  EXPECT_TRUE(ascends(ids));
}

TEST_F(LeasedGeneratorTest, ABatchThatNeedsSeveralUnitsIsFilled) {
  auto generator = LeasedGenerator::open(options(7)).value();
  std::vector<uint64_t> ids(100'000);
  ASSERT_TRUE(generator->next_batch(ids));
  EXPECT_TRUE(ascends(ids));
  EXPECT_EQ(generator->decode(ids.back())->parts.worker, 7U);
  EXPECT_TRUE(generator->next_batch({}));
}

TEST_F(LeasedGeneratorTest, AWorkerIdHasOneHolderWhoIsNamed) {
  auto first = LeasedGenerator::open(options(7)).value();
  auto second = LeasedGenerator::open(options(7));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::registry);
  EXPECT_NE(second.error().message.find("pid " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
  ASSERT_TRUE(first->close());
  EXPECT_TRUE(LeasedGenerator::open(options(7)));
}

TEST_F(LeasedGeneratorTest, LeasedWorkerIdsDiffer) {
  auto first = LeasedGenerator::open(options()).value();
  auto second = LeasedGenerator::open(options()).value();
  const auto worker = [](LeasedGenerator& generator) {
    return generator.decode(generator.next().value())->parts.worker;
  };
  EXPECT_NE(worker(*first), worker(*second));
}

TEST_F(LeasedGeneratorTest, AnotherLayoutUnderTheSameNameIsRefused) {
  ASSERT_TRUE(LeasedGenerator::open(options(7)));
  auto other = options(8);
  other.settings.layout = *named_layout("js_safe");
  auto refused = LeasedGenerator::open(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::registry);
}

TEST_F(LeasedGeneratorTest, ThreadsDrawDistinctIds) {
  auto generator = LeasedGenerator::open(options()).value();
  std::vector<std::vector<uint64_t>> drawn(8);
  std::vector<std::thread> threads;
  for (auto& ids : drawn)
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) ids.push_back(generator->next().value());
    });
  for (auto& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (const auto& ids : drawn) {
    EXPECT_TRUE(ascends(ids));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(ascends(all));
}

TEST_F(LeasedGeneratorTest, ImpossibleOptionsAreNamed) {
  const auto message = [](const LeasedGeneratorOptions& options) {
    auto opened = LeasedGenerator::open(options);
    return opened ? std::string("opened") : opened.error().message;
  };
  auto nowhere = options();
  nowhere.directory.clear();
  EXPECT_NE(message(nowhere).find("name a directory"), std::string::npos) << message(nowhere);
  auto segments = options();
  segments.settings.kind = GeneratorKind::segment;
  EXPECT_NE(message(segments).find("kind snowflake only"), std::string::npos) << message(segments);
  auto worker = options(1024);
  EXPECT_NE(message(worker).find("1024"), std::string::npos) << message(worker);
  auto slots = options();
  slots.slots = 0;
  EXPECT_NE(message(slots), "opened");
}

TEST_F(LeasedGeneratorTest, AClockThatWasSetBackStopsIdsAndRepeatsNone) {
  auto clock = std::make_shared<ManualClock>(1'790'000'000'000'000);
  auto with_clock = options(7);
  with_clock.clock = clock;
  auto generator = LeasedGenerator::open(with_clock).value();
  const uint64_t before = generator->next().value();
  clock->step_wall(std::chrono::hours(-1));
  auto refused = generator->next();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::clock);
  clock->step_wall(std::chrono::hours(1));
  EXPECT_GT(generator->next().value(), before);
}

TEST_F(LeasedGeneratorTest, AfterCloseNothingIsDrawn) {
  auto generator = LeasedGenerator::open(options()).value();
  ASSERT_TRUE(generator->close());
  ASSERT_TRUE(generator->close());
  EXPECT_FALSE(generator->next());
}

// The child must say so rather than hang or repeat its parent's ids, and must be able to let go.
TEST_F(LeasedGeneratorTest, AForkedChildIsRefused) {
  auto generator = LeasedGenerator::open(options()).value();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto id = generator->next();
    const bool refused = !id && id.error().message.find("forked") != std::string::npos && !generator->close();
    generator.reset();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(generator->next());
}

}  // namespace
}  // namespace evenkeel::idgen
