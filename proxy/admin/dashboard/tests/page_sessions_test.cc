#include "proxy/admin/dashboard/page_sessions.h"

#include <gtest/gtest.h>

namespace evenkeel::admin {
namespace {

using answer::Caller;
using answer::Rights;

class PageSessionsTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  uint8_t next_ = 0;
  PageSessions sessions_{clock_, [this](std::span<std::byte> out) {
                           for (std::byte& byte : out) byte = std::byte{next_++};
                         }};
  const Caller anna_{"anna", "10.0.0.7", 0, Rights::operate};
};

TEST_F(PageSessionsTest, ATokenStandsForWhoOpenedIt) {
  const std::string token = sessions_.open(anna_);
  EXPECT_EQ(token.size(), 64u);
  const auto caller = sessions_.find(token, "10.0.0.8");
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->user, "anna");
  EXPECT_EQ(caller->host, "10.0.0.8");
  EXPECT_EQ(caller->rights, Rights::operate);
  EXPECT_NE(sessions_.open(anna_), token);
  EXPECT_FALSE(sessions_.find(token + "0", "10.0.0.8"));
  EXPECT_FALSE(sessions_.find("", "10.0.0.8"));
  sessions_.close(token);
  EXPECT_FALSE(sessions_.find(token, "10.0.0.8"));
}

TEST_F(PageSessionsTest, EndsWhenStillAndAfterItsLength) {
  const std::string token = sessions_.open(anna_);
  clock_.advance(PageSessions::idle_max);
  EXPECT_TRUE(sessions_.find(token, "a"));
  clock_.advance(PageSessions::idle_max + std::chrono::seconds(1));
  EXPECT_FALSE(sessions_.find(token, "a"));

  const std::string busy = sessions_.open(anna_);
  for (auto spent = std::chrono::minutes(0); spent < PageSessions::length_max;
       spent += std::chrono::minutes(20)) {
    EXPECT_TRUE(sessions_.find(busy, "a")) << spent.count();
    clock_.advance(std::chrono::minutes(20));
  }
  EXPECT_TRUE(sessions_.find(busy, "a"));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(sessions_.find(busy, "a"));
}

TEST_F(PageSessionsTest, FollowsTheAccounts) {
  const std::string anna = sessions_.open(anna_);
  const std::string rita = sessions_.open({"rita", "10.0.0.7", 0, Rights::operate});
  answer::Account still;
  still.name = "rita";
  sessions_.keep({still});
  EXPECT_FALSE(sessions_.find(anna, "a"));
  ASSERT_TRUE(sessions_.find(rita, "a"));
  EXPECT_EQ(sessions_.find(rita, "a")->rights, Rights::read);
}

TEST_F(PageSessionsTest, HoldsABoundedNumber) {
  PageSessions many(clock_, [n = uint32_t{0}](std::span<std::byte> out) mutable {
    ++n;
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::byte(i < 4 ? n >> (8 * i) : 0);
  });
  const std::string oldest = many.open(anna_);
  for (size_t i = 0; i < PageSessions::sessions_max; ++i) {
    clock_.advance(std::chrono::milliseconds(1));
    many.open(anna_);
  }
  EXPECT_EQ(many.size(), PageSessions::sessions_max);
  EXPECT_FALSE(many.find(oldest, "a"));
}

}  // namespace
}  // namespace evenkeel::admin
