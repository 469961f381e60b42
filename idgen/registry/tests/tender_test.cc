#include "idgen/registry/tender.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>

namespace evenkeel::idgen {
namespace {

using namespace std::chrono_literals;

TEST(Tender, StepsUntilStoppedThenFinishesOnce) {
  auto steps = std::make_shared<std::atomic<int>>(0);
  auto finishes = std::make_shared<std::atomic<int>>(0);
  std::promise<void> third;
  Tender tender({[=, &third] {
                   if (++*steps == 3) third.set_value();
                 },
                 1ms, [=] { ++*finishes; }});
  third.get_future().wait();
  EXPECT_TRUE(tender.stop(10s));
  EXPECT_EQ(*finishes, 1);
  const int last = *steps;
  EXPECT_TRUE(tender.stop(0ms)) << "stopped is stopped";
  EXPECT_EQ(*steps, last);
  EXPECT_EQ(steps.use_count(), 1) << "the work is gone";
}

TEST(Tender, OneThatHangsIsLeftBehind) {
  struct World {
    std::promise<void> entered, released, over;
  };
  auto world = std::make_shared<World>();
  {
    Tender tender({[world] {
                     world->entered.set_value();
                     world->released.get_future().wait();
                   },
                   1ms, [world] { world->over.set_value(); }});
    world->entered.get_future().wait();
    EXPECT_FALSE(tender.stop(1ms));
  }
  world->released.set_value();
  EXPECT_EQ(world->over.get_future().wait_for(60s), std::future_status::ready) << "it finishes all the same";
}

}  // namespace
}  // namespace evenkeel::idgen
