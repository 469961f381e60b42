// Faults between processes of one machine, with a real directory of files: stopped, killed, clocks set wrong.
#include <gmock/gmock.h>
#include <memory>

#include "idgen/layout.h"
#include "idgen/library/tests/holder_process.h"
#include "idgen/registry/tests/scratch_directory.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ProcessFaultTest : public ::testing::Test {
 protected:
  std::unique_ptr<HolderProcess> start(std::vector<std::string> words) {
    words.insert(words.end(), {"--directory", folder_.path() + "/ids"});
    return std::make_unique<HolderProcess>(LEASE_HOLDER, std::move(words));
  }
  static int64_t unix_ms_of(uint64_t id) { return decode(Layout{}, id)->unix_ms; }
  // A clock that steps is noticed with the next tick that is published, a moment later.
  Answer refusal(HolderProcess& process) {
    Answer answer;
    becomes_true([&] {
      answer = process.draw(10);
      all_.add(answer);
      return !answer.error.empty();
    });
    return answer;
  }
  static uint32_t worker_of(uint64_t id) { return decode(Layout{}, id)->parts.worker; }

  ScratchDirectory folder_;
  DrawnIds all_;
};

TEST_F(ProcessFaultTest, ASecondProcessWithTheSameWorkerIdIsRefusedAndToldWhoHasIt) {
  const auto first = start({"--worker", "5"});
  ASSERT_TRUE(first->is_open()) << first->first();
  all_.add(first->draw(1'000));
  const auto second = start({"--worker", "5"});
  EXPECT_THAT(second->first(), StartsWith("refused "));
  EXPECT_THAT(second->first(), HasSubstr("worker id 5"));
  EXPECT_THAT(second->first(), HasSubstr(fmt::format("pid {} ", first->pid())));
  EXPECT_EQ(first->ask("close"), "closed");
  const auto third = start({"--worker", "5"});
  ASSERT_TRUE(third->is_open()) << third->first();
  all_.add(third->draw(1'000));
}

TEST_F(ProcessFaultTest, AWorkerIdOutOfRangeIsRefusedWithTheRange) {
  const auto process = start({"--worker", "1024"});
  EXPECT_THAT(process->first(), StartsWith("refused "));
  EXPECT_THAT(process->first(), HasSubstr("1024"));
  EXPECT_THAT(process->first(), HasSubstr("10"));
}

TEST_F(ProcessFaultTest, KilledAndStartedAgainWithAnEarlierClockItRepeatsNothing) {
  auto process = start({"--worker", "5"});
  ASSERT_TRUE(process->is_open()) << process->first();
  all_.add(process->draw(5'000));
  for (const auto earlier : {-3ms, -10'000ms, -3'600'000ms}) {
    process->kill();
    process = start({"--worker", "5", "--max-wait", "10", "--offset", std::to_string(earlier.count())});
    ASSERT_TRUE(process->is_open()) << process->first();
    const Answer early = process->draw(100);
    all_.add(early);
    if (earlier < -5s) {
      EXPECT_THAT(early.ids, IsEmpty()) << "before what was reserved there are no ids";
      EXPECT_THAT(early.error, HasSubstr("reserved")) << earlier.count();
    }
    // The clock is put right, and a little later the time reserved before has passed.
    process->set_offset(0ms);
    EXPECT_TRUE(becomes_true([&] {
      const Answer later = process->draw(100);
      all_.add(later);
      return later.error.empty();
    }));
  }
}

TEST_F(ProcessFaultTest, AClockThatStepsWhileIdsAreMadeRepeatsNothing) {
  const auto process = start({"--worker", "5", "--max-wait", "10"});
  ASSERT_TRUE(process->is_open()) << process->first();
  const auto draws_again = [&] {
    return becomes_true([&] {
      const Answer answer = process->draw(100);
      all_.add(answer);
      return answer.error.empty();
    });
  };
  for (const auto step : {-10'000ms, -3'600'000ms}) {
    ASSERT_TRUE(draws_again());
    process->set_offset(step);
    EXPECT_THAT(refusal(*process).error, HasSubstr("the clock stepped back by")) << step.count();
    process->set_offset(0ms);
    ASSERT_TRUE(draws_again());
  }
  // Small enough to freeze: ids go on as if nothing had happened.
  const uint64_t before = all_.largest();
  process->set_offset(-3ms);
  const Answer frozen = process->draw(100);
  all_.add(frozen);
  EXPECT_THAT(frozen.error, IsEmpty());
  ASSERT_THAT(frozen.ids, SizeIs(100));
  EXPECT_GT(frozen.ids.front(), before);
}

// A wrong clock for a moment must not let ids repeat when it is right again, nor must a restart.
TEST_F(ProcessFaultTest, AClockADayAheadAndBackRepeatsNothingAlsoOverARestart) {
  auto process = start({"--worker", "5", "--max-wait", "10"});
  ASSERT_TRUE(process->is_open()) << process->first();
  all_.add(process->draw(100));
  const int64_t tomorrow = unix_ms_of(all_.largest()) + std::chrono::milliseconds(23h).count();
  const auto ahead = [&] {
    process->set_offset(24h);
    return becomes_true([&] {
      const Answer answer = process->draw(10);
      all_.add(answer);
      return answer.error.empty() && unix_ms_of(answer.ids.back()) > tomorrow;
    });
  };
  ASSERT_TRUE(ahead()) << "renewed, it goes on a day ahead";
  process->set_offset(0ms);
  Answer back = refusal(*process);
  EXPECT_THAT(back.ids, IsEmpty());
  EXPECT_THAT(back.error, HasSubstr("the clock stepped back by"));
  process->kill();
  process = start({"--worker", "5", "--max-wait", "10"});
  ASSERT_TRUE(process->is_open()) << process->first();
  back = process->draw(10);
  all_.add(back);
  EXPECT_THAT(back.ids, IsEmpty()) << "a day of ids may exist";
  EXPECT_THAT(back.error, HasSubstr("reserved"));
  // Another worker id is not affected.
  const auto other = start({"--worker", "6"});
  ASSERT_TRUE(other->is_open()) << other->first();
  all_.add(other->draw(10));
  ASSERT_TRUE(ahead());
}

// Files prove that a stopped process still lives: its id is not taken over, however long it sleeps.
TEST_F(ProcessFaultTest, AStoppedHolderKeepsItsIdAndMakesNoIdOfTimeItDidNotReserve) {
  const auto sleeper = start({"--worker", "5", "--window", "600", "--max-wait", "10"});
  ASSERT_TRUE(sleeper->is_open()) << sleeper->first();
  all_.add(sleeper->draw(1'000));
  sleeper->stop();
  const uint64_t last = all_.largest();
  const auto other = start({"--window", "600"});
  ASSERT_TRUE(other->is_open()) << other->first();
  // What the sleeper had reserved has passed when ids of another worker are younger.
  EXPECT_TRUE(becomes_true([&] {
    const Answer answer = other->draw(10);
    all_.add(answer);
    return unix_ms_of(all_.largest()) > unix_ms_of(last) + 1'200;
  }));
  const auto taker = start({"--worker", "5", "--window", "600"});
  EXPECT_THAT(taker->first(), HasSubstr(fmt::format("pid {} ", sleeper->pid())));
  sleeper->go_on();
  EXPECT_TRUE(becomes_true([&] {
    const Answer answer = sleeper->draw(100);
    all_.add(answer);
    return answer.error.empty();
  })) << "it renews and goes on";
  EXPECT_NE(worker_of(other->draw(1).ids.at(0)), 5U);
}

TEST_F(ProcessFaultTest, FourProcessesThatDrawAndDieRepeatNothing) {
  std::vector<std::unique_ptr<HolderProcess>> processes(4);
  for (int round = 0; round < 3; ++round) {
    for (auto& process : processes) {
      if (process) process->kill();
      process = start({});
      ASSERT_TRUE(process->is_open()) << process->first();
    }
    for (const auto& process : processes) all_.add(process->draw(2'000));
  }
  EXPECT_EQ(all_.count(), 4U * 3U * 2'000U);
}

}  // namespace
}  // namespace evenkeel::idgen
