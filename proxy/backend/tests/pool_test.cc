#include "proxy/backend/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "base/random.h"

namespace evenkeel::backend {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using What = PoolAction::What;

constexpr PoolKey key_a{0, 1, 0};
constexpr PoolKey key_b{0, 2, 0};
constexpr PoolKey elsewhere{1, 1, 0};

// "give 5 to 7", "open", "open b", "close 5", "time out 7", "refuse 7".
std::string text_of(const PoolAction& action) {
  const std::string key = action.key == key_b ? " b" : "";
  switch (action.what) {
    case What::give:
      return "give " + std::to_string(action.handle) + " to " + std::to_string(action.waiter);
    case What::open:
      return "open" + key;
    case What::close:
      return "close " + std::to_string(action.handle);
    case What::time_out:
      return "time out " + std::to_string(action.waiter);
    case What::refuse:
      return "refuse " + std::to_string(action.waiter);
  }
  return "";
}

class PoolTest : public ::testing::Test {
 protected:
  PoolTest() { limits.connections_per_instance = 2; }

  Pool& pool() {
    if (!pool_) pool_ = std::make_unique<Pool>(limits);
    return *pool_;
  }
  // What the calls since the last one asked for.
  std::vector<std::string> told() {
    std::vector<std::string> texts;
    for (const auto& action : actions) texts.push_back(text_of(action));
    actions.clear();
    return texts;
  }
  void acquire(Waiter waiter, const PoolKey& key = key_a) { pool().acquire(key, waiter, now, actions); }
  void opened(Handle handle, const PoolKey& key = key_a) { pool().opened(key, handle, now, actions); }
  void released(Handle handle) { pool().released(handle, now, actions); }
  void gone(Handle handle) { pool().gone(handle, actions); }
  void sweep() { pool().sweep(now, actions); }
  std::vector<size_t> counts(uint16_t instance = 0) {
    const auto counted = pool().counts(instance);
    return {counted.idle, counted.lent, counted.opening, counted.waiting};
  }

  PoolLimits limits;
  Pool::Time now{1s};
  Pool::Actions actions;

 private:
  std::unique_ptr<Pool> pool_;
};

TEST_F(PoolTest, OpensWhenNothingIsIdleAndKeepsWhatComesBack) {
  acquire(1);
  EXPECT_THAT(told(), ElementsAre("open"));
  EXPECT_THAT(counts(), ElementsAre(0, 0, 1, 1));
  opened(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 1"));
  EXPECT_THAT(counts(), ElementsAre(0, 1, 0, 0));
  released(10);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(counts(), ElementsAre(1, 0, 0, 0));
  acquire(2);
  EXPECT_THAT(told(), ElementsAre("give 10 to 2"));
}

TEST_F(PoolTest, LendsTheLastOneThatCameBack) {
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  released(10);
  released(11);
  told();
  acquire(3);
  EXPECT_THAT(told(), ElementsAre("give 11 to 3"));
}

TEST_F(PoolTest, NeverOpensMoreThanTheLimit) {
  for (Waiter waiter = 1; waiter <= 5; ++waiter) acquire(waiter);
  EXPECT_THAT(told(), ElementsAre("open", "open"));
  EXPECT_THAT(counts(), ElementsAre(0, 0, 2, 5));
  opened(10);
  opened(11);
  EXPECT_THAT(told(), ElementsAre("give 10 to 1", "give 11 to 2"));
  released(11);
  released(10);
  EXPECT_THAT(told(), ElementsAre("give 11 to 3", "give 10 to 4"));
}

TEST_F(PoolTest, LimitsAreOfAnInstance) {
  acquire(1);
  acquire(2);
  acquire(3, elsewhere);
  EXPECT_THAT(told(), ElementsAre("open", "open", "open"));
  EXPECT_THAT(counts(1), ElementsAre(0, 0, 1, 1));
}

TEST_F(PoolTest, RefusesBeyondTheQueue) {
  limits.waiters_per_instance = 2;
  acquire(1);
  acquire(2);
  told();
  acquire(3);
  EXPECT_THAT(told(), ElementsAre("refuse 3"));
  opened(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 1"));
}

TEST_F(PoolTest, AnIdleConnectionOfAnotherKeyMakesRoom) {
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  released(10);
  told();
  acquire(3, key_b);
  EXPECT_THAT(told(), ElementsAre("close 10", "open b"));
  EXPECT_THAT(counts(), ElementsAre(0, 1, 1, 1));
}

TEST_F(PoolTest, AReturnedConnectionMakesRoomForAWaiterOfAnotherKey) {
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  told();
  acquire(3, key_b);
  EXPECT_THAT(told(), IsEmpty());
  released(10);
  EXPECT_THAT(told(), ElementsAre("close 10", "open b"));
  opened(12, key_b);
  EXPECT_THAT(told(), ElementsAre("give 12 to 3"));
}

// A busy key must not keep another one waiting for ever, though a change of key is put off: it costs a login.
TEST_F(PoolTest, ABusyKeyDoesNotStarveAnother) {
  limits.connections_per_instance = 1;
  acquire(1);
  opened(10);
  acquire(2, key_b);
  told();
  for (Waiter waiter = 3; waiter < 11; ++waiter) {
    acquire(waiter);
    released(10);
    EXPECT_THAT(told(), ElementsAre("give 10 to " + std::to_string(waiter)));
  }
  acquire(11);
  released(10);
  EXPECT_THAT(told(), ElementsAre("close 10", "open b"));
  opened(12, key_b);
  EXPECT_THAT(told(), ElementsAre("give 12 to 2"));
  released(12);
  EXPECT_THAT(told(), ElementsAre("close 12", "open"));
}

// Who comes while others wait is not served before them.
TEST_F(PoolTest, ALateComerWaitsBehindTheQueue) {
  limits.connections_per_instance = 1;
  acquire(1);
  opened(10);
  acquire(2);
  acquire(3);
  told();
  released(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 2"));
  released(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 3"));
}

TEST_F(PoolTest, ALostConnectionIsReplacedForWaiters) {
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  acquire(3);
  told();
  gone(10);
  EXPECT_THAT(told(), ElementsAre("open"));
  gone(10);
  EXPECT_THAT(told(), IsEmpty()) << "twice is once";
}

TEST_F(PoolTest, ALostIdleConnectionIsNotLent) {
  acquire(1);
  opened(10);
  released(10);
  told();
  gone(10);
  acquire(2);
  EXPECT_THAT(told(), ElementsAre("open"));
}

TEST_F(PoolTest, AFailedOpenIsToldToTheOldestOfItsKey) {
  acquire(1, key_b);
  acquire(2);
  acquire(3);
  told();
  EXPECT_EQ(pool().open_failed(key_a, actions), 2u);
  EXPECT_THAT(told(), ElementsAre("open")) << "for waiter 3";
  EXPECT_THAT(counts(), ElementsAre(0, 0, 2, 2));
}

TEST_F(PoolTest, AFailedOpenWithoutWaiterIsToldToNobody) {
  acquire(1);
  told();
  pool().cancel(1);
  EXPECT_EQ(pool().open_failed(key_a, actions), 0u);
  EXPECT_THAT(counts(), ElementsAre(0, 0, 0, 0));
}

TEST_F(PoolTest, ACancelledRequestLeavesItsConnectionToTheNext) {
  limits.connections_per_instance = 1;
  acquire(1);
  acquire(2);
  told();
  pool().cancel(1);
  opened(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 2"));
}

TEST_F(PoolTest, ACancelledRequestWithoutSuccessorLeavesAnIdleConnection) {
  acquire(1);
  told();
  pool().cancel(1);
  opened(10);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(counts(), ElementsAre(1, 0, 0, 0));
}

// The connection was opened for a waiter that has gone; a waiter of another key may have it closed.
TEST_F(PoolTest, ACancelledRequestOfOneKeyMakesRoomForAnother) {
  limits.connections_per_instance = 1;
  acquire(1);
  acquire(2, key_b);
  told();
  pool().cancel(1);
  opened(10);
  EXPECT_THAT(told(), ElementsAre("close 10", "open b"));
}

TEST_F(PoolTest, WaitersTimeOut) {
  limits.connections_per_instance = 1;
  limits.wait = 5s;
  acquire(1);
  now += 2s;
  acquire(2);
  told();
  now += 3s;
  sweep();
  EXPECT_THAT(told(), ElementsAre("time out 1"));
  opened(10);
  EXPECT_THAT(told(), ElementsAre("give 10 to 2"));
}

TEST_F(PoolTest, IdleConnectionsAreClosed) {
  limits.idle = 60s;
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  released(10);
  now += 59s;
  released(11);
  told();
  now += 1s;
  sweep();
  EXPECT_THAT(told(), ElementsAre("close 10"));
  EXPECT_THAT(counts(), ElementsAre(1, 0, 0, 0));
}

TEST_F(PoolTest, OldConnectionsAreClosedWhenTheyComeBack) {
  limits.lifetime = 100s;
  acquire(1);
  opened(10);
  told();
  now += 101s;
  sweep();
  EXPECT_THAT(told(), IsEmpty()) << "it is lent";
  acquire(2);
  told();
  released(10);
  EXPECT_THAT(told(), ElementsAre("close 10"));
}

TEST_F(PoolTest, OldIdleConnectionsAreClosedByTheSweep) {
  limits.lifetime = 100s;
  acquire(1);
  opened(10);
  released(10);
  told();
  now += 101s;
  sweep();
  EXPECT_THAT(told(), ElementsAre("close 10"));
}

TEST_F(PoolTest, ALowerLimitClosesWhatIsIdleAndWhatComesBack) {
  limits.connections_per_instance = 3;
  for (const Waiter waiter : {1, 2, 3}) acquire(waiter);
  for (const Handle handle : {11, 12, 13}) opened(handle);
  released(11);
  told();
  limits.connections_per_instance = 1;
  pool().set_limits(limits);
  sweep();
  EXPECT_THAT(told(), ElementsAre("close 11"));
  released(12);
  EXPECT_THAT(told(), ElementsAre("close 12"));
  released(13);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(pool().counts(0).idle, 1);
}

TEST_F(PoolTest, AHigherLimitServesThoseWhoWait) {
  for (const Waiter waiter : {1, 2, 3}) acquire(waiter);
  EXPECT_THAT(told(), ElementsAre("open", "open"));
  limits.connections_per_instance = 3;
  pool().set_limits(limits);
  sweep();
  EXPECT_THAT(told(), ElementsAre("open"));
}

TEST_F(PoolTest, ShutdownClosesWhatIsIdle) {
  acquire(1);
  acquire(2);
  opened(10);
  opened(11);
  released(10);
  told();
  pool().close_idle(actions);
  EXPECT_THAT(told(), ElementsAre("close 10"));
  EXPECT_THAT(counts(), ElementsAre(0, 1, 0, 0));
}

// A driver in memory that obeys, fed with random events: every request is answered once, limits hold, and at
// the end nothing is left over.
class Drill {
 public:
  Drill(uint64_t seed, PoolLimits limits) : random_(seed), limits_(limits), pool_(limits) {}

  void run(size_t events) {
    for (size_t i = 0; i < events; ++i) {
      event();
      check();
    }
    // Everybody gives back, all opens succeed, until nobody waits.
    while (!waiting_.empty() || !opening_.empty() || !lent_.empty()) {
      const size_t before = waiting_.size() + opening_.size() + lent_.size();
      if (!opening_.empty()) open_succeeds();
      if (!lent_.empty()) give_back(lent_.begin()->first);
      check();
      if (waiting_.size() + opening_.size() + lent_.size() == before && opening_.empty() && lent_.empty()) {
        ADD_FAILURE() << waiting_.size() << " wait for ever";
        return;
      }
    }
  }

 private:
  void event() {
    now_ += std::chrono::milliseconds(random_.below(500));
    switch (random_.below(7)) {
      case 0:
      case 1: {
        const PoolKey key{0, static_cast<uint32_t>(random_.below(3)), 0};
        waiting_[++last_waiter_] = key;
        pool_.acquire(key, last_waiter_, now_, actions_);
        break;
      }
      case 2:
        if (!opening_.empty()) open_succeeds();
        break;
      case 3:
        if (!opening_.empty() && random_.below(3) == 0) {
          const PoolKey key = opening_.back();
          opening_.pop_back();
          const Waiter told = pool_.open_failed(key, actions_);
          if (told != 0) {
            EXPECT_EQ(waiting_.count(told), 1u);
            waiting_.erase(told);
          }
        }
        break;
      case 4:
        if (!lent_.empty()) give_back(std::next(lent_.begin(), random_.below(lent_.size()))->first);
        break;
      case 5:
        if (!lent_.empty() && random_.below(4) == 0) {
          const Handle handle = lent_.begin()->first;
          lent_.erase(handle);
          pool_.gone(handle, actions_);
        } else if (!waiting_.empty()) {
          pool_.cancel(waiting_.begin()->first);
          waiting_.erase(waiting_.begin());
        }
        break;
      default:
        pool_.sweep(now_, actions_);
    }
    obey();
  }
  void open_succeeds() {
    const PoolKey key = opening_.front();
    opening_.erase(opening_.begin());
    keys_[++last_handle_] = key;
    pool_.opened(key, last_handle_, now_, actions_);
    idle_.insert(last_handle_);
    obey();
  }
  void give_back(Handle handle) {
    lent_.erase(handle);
    idle_.insert(handle);
    pool_.released(handle, now_, actions_);
    obey();
  }
  void obey() {
    for (const auto& action : std::exchange(actions_, {})) {
      switch (action.what) {
        case What::give:
          ASSERT_EQ(waiting_.count(action.waiter), 1u) << "given to somebody who does not wait";
          ASSERT_EQ(idle_.count(action.handle), 1u) << "given although not free";
          ASSERT_EQ(keys_[action.handle], waiting_[action.waiter]);
          idle_.erase(action.handle);
          lent_[action.handle] = action.waiter;
          waiting_.erase(action.waiter);
          break;
        case What::open:
          opening_.push_back(action.key);
          break;
        case What::close:
          ASSERT_EQ(idle_.erase(action.handle), 1u) << "closed although lent";
          break;
        case What::time_out:
        case What::refuse:
          ASSERT_EQ(waiting_.erase(action.waiter), 1u);
          break;
      }
    }
  }
  void check() {
    const auto counts = pool_.counts(0);
    ASSERT_EQ(counts.idle, idle_.size());
    ASSERT_EQ(counts.lent, lent_.size());
    ASSERT_EQ(counts.opening, opening_.size());
    ASSERT_EQ(counts.waiting, waiting_.size());
    ASSERT_LE(idle_.size() + lent_.size() + opening_.size(), limits_.connections_per_instance);
    // Nobody waits for nothing: something is lent, or being opened.
    ASSERT_TRUE(waiting_.empty() || !lent_.empty() || !opening_.empty());
  }

  SeededRandom random_;
  PoolLimits limits_;
  Pool pool_;
  Pool::Time now_{1s};
  Pool::Actions actions_;
  Waiter last_waiter_ = 0;
  Handle last_handle_ = 0;
  std::map<Waiter, PoolKey> waiting_;
  std::vector<PoolKey> opening_;
  std::map<Handle, PoolKey> keys_;
  std::map<Handle, Waiter> lent_;
  std::set<Handle> idle_;
};

TEST(PoolDrill, AnswersEverybodyOnceWithinItsLimits) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PoolLimits limits;
    limits.connections_per_instance = 1 + seed % 4;
    limits.waiters_per_instance = 6;
    limits.wait = 20s;
    limits.idle = 10s;
    limits.lifetime = seed % 2 == 0 ? 30s : 0s;
    Drill(seed, limits).run(400);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace evenkeel::backend
