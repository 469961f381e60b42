#include "proxy/demo/process.h"

#include <fstream>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "proxy/demo/folders.h"
#include "proxy/demo/pid_record.h"

namespace evenkeel::demo {
namespace {

namespace fs = std::filesystem;

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "evenkeel process XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  ProcessOptions shell(const std::string& script) const {
    return {.command = {"sh", "-c", script},
            .log = folder_ / "log",
            .working_directory = folder_,
            .environment = {}};
  }
  std::string log() const { return last_lines(folder_ / "log", 100); }

  fs::path folder_;
};

TEST_F(ProcessTest, RunsInItsFolderWithItsEnvironment) {
  ProcessOptions options = shell("pwd; echo $EVENKEEL_WORD >&2");
  options.environment = {"EVENKEEL_WORD=secret word"};
  ASSERT_TRUE(run_to_end(options));
  EXPECT_EQ(log(), fs::canonical(folder_).string() + "\nsecret word\n");
}

TEST_F(ProcessTest, AProgramThatIsMissingIsNamed) {
  ProcessOptions options = shell("");
  options.command = {"/no/such/program"};
  const Result<Process> started = Process::start(options);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST_F(ProcessTest, AFailureCarriesTheLastWords) {
  const Status status = run_to_end(shell("echo first; echo last words; exit 3"));
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("last words"), std::string::npos);
}

TEST_F(ProcessTest, StopsAChildThatWillNotStop) {
  Result<Process> started = Process::start(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
  ASSERT_TRUE(started);
  while (log().empty()) usleep(1000);
  const pid_t pid = started->pid();
  EXPECT_TRUE(started->running());
  started->stop(std::chrono::milliseconds(50));
  EXPECT_FALSE(started->running());
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ProcessTest, DestroyingStops) {
  pid_t pid = 0;
  {
    Result<Process> started = Process::start(shell("exec sleep 1000"));
    ASSERT_TRUE(started);
    pid = started->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ProcessTest, ARecordedProcessIsStoppedAndOnlyThat) {
  Result<Process> mine = Process::start(shell("exec sleep 1000"));
  Result<Process> other = Process::start(shell("exec sleep 1000"));
  ASSERT_TRUE(mine && other);
  ASSERT_TRUE(record_pid(folder_ / "mine.pid", mine->pid()));
  // A stale record: the pid lives, but belongs to a process that began at another time.
  std::ofstream(folder_ / "stale.pid") << other->pid() << " 1\n";
  stop_recorded(folder_ / "stale.pid", std::chrono::seconds(5));
  EXPECT_TRUE(other->running());
  stop_recorded(folder_ / "mine.pid", std::chrono::seconds(5));
  EXPECT_FALSE(mine->running());
  EXPECT_FALSE(fs::exists(folder_ / "mine.pid"));
  stop_recorded(folder_ / "absent.pid", std::chrono::seconds(5));
}

TEST_F(ProcessTest, OneHolderOfALock) {
  Result<std::optional<FolderLock>> first = FolderLock::try_take(folder_ / "lock");
  ASSERT_TRUE(first && *first);
  Result<std::optional<FolderLock>> second = FolderLock::try_take(folder_ / "lock");
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->has_value());
  first->reset();
  second = FolderLock::try_take(folder_ / "lock");
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->has_value());
}

TEST_F(ProcessTest, PrivateFilesArePrivate) {
  ASSERT_TRUE(make_private_folder(folder_ / "a" / "b"));
  ASSERT_TRUE(write_private_file(folder_ / "a" / "b" / "file", "text"));
  EXPECT_EQ(fs::status(folder_ / "a" / "b").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder_ / "a" / "b" / "file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(last_lines(folder_ / "a" / "b" / "file", 1), "text\n");
}

}  // namespace
}  // namespace evenkeel::demo
