#include "proxy/control/catalog_store.h"

#include <gtest/gtest.h>
#include <thread>

namespace evenkeel::control {
namespace {

using namespace std::chrono_literals;

TEST(CatalogStore, BeginsEmptyAndHoldsWhatIsPublished) {
  CatalogStore store;
  ASSERT_NE(store.current(), nullptr);
  EXPECT_EQ(store.current()->version(), 0u);
  const catalog::CatalogPtr before = store.current();
  store.publish(std::make_shared<const catalog::Catalog>(7));
  EXPECT_EQ(store.current()->version(), 7u);
  EXPECT_EQ(before->version(), 0u) << "who took the old one keeps it";
}

TEST(CatalogStore, RequestsBeforeAReadingAreOne) {
  CatalogStore store;
  store.request_refresh("error 1146");
  store.request_refresh("ALTER TABLE");
  EXPECT_EQ(store.wait_for_request(0ms), "error 1146");
  EXPECT_EQ(store.wait_for_request(0ms), "");
  store.request_refresh("");
  EXPECT_EQ(store.wait_for_request(0ms), "asked for");
}

TEST(CatalogStore, ARequestWakesTheReader) {
  CatalogStore store;
  std::string reason;
  std::thread reader([&] { reason = store.wait_for_request(1h); });
  store.request_refresh("DDL");
  reader.join();
  EXPECT_EQ(reason, "DDL");
}

TEST(CatalogStore, StopEndsEveryWait) {
  CatalogStore store;
  std::thread reader([&] { EXPECT_FALSE(store.pause(1h)); });
  store.stop();
  reader.join();
  EXPECT_TRUE(store.stopped());
  EXPECT_EQ(store.wait_for_request(1h), "");
}

}  // namespace
}  // namespace evenkeel::control
