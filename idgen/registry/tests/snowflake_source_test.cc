#include "idgen/registry/snowflake_source.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "idgen/layout.h"
#include "idgen/registry/file_registry.h"
#include "idgen/registry/tests/scratch_directory.h"

namespace evenkeel::idgen {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SnowflakeSourceTest : public ::testing::Test {
 protected:
  SnowflakeSourceTest() {
    settings.name = "main";
    settings.clock.backward = {{5, ClockAction::freeze}, {ClockStep::any_size, ClockAction::switch_worker}};
  }

  std::unique_ptr<SnowflakeSource> open() {
    return SnowflakeSource::open(*registry, clock, settings, std::make_shared<DirectTicks>(clock)).value();
  }
  // The next id, which must differ from all before; nothing while the draw waits.
  std::optional<uint64_t> next(KeyGenerator& generator) {
    uint64_t id = 0;
    const auto drawn = generator.draw({}, std::span(&id, 1));
    EXPECT_TRUE(drawn) << drawn.error().message;
    if (!drawn || !drawn->complete()) return std::nullopt;
    EXPECT_TRUE(ids.insert(id).second) << id << " came twice";
    return id;
  }
  IdParts parts(std::optional<uint64_t> id) const { return decompose(settings.layout, id.value()); }
  Status tend(SnowflakeSource& source) { return source.tend(clock.unix_millis()); }

  GeneratorSettings settings;
  ManualClock clock{1'790'000'000'000'000};
  const ScratchDirectory scratch;
  const std::unique_ptr<Registry> registry = open_file_registry(scratch.path(), clock).value();
  std::set<uint64_t> ids;
};

TEST_F(SnowflakeSourceTest, ALargeStepBackTakesAnotherLeasedWorkerIdForAllTables) {
  const auto source = open();
  KeyGenerator* orders = source->add_table("orders", 128).value();
  KeyGenerator* lines = source->add_table("lines", 128).value();
  const uint32_t before = parts(next(*orders)).worker;
  ids.clear();  // ids are unique by table
  EXPECT_EQ(parts(next(*lines)).worker, before);
  clock.step_wall(-seconds(10));
  EXPECT_FALSE(next(*orders)) << "a wait until another id has come";
  EXPECT_TRUE(tend(*source));
  const IdParts after = parts(next(*orders));
  EXPECT_NE(after.worker, before);
  EXPECT_EQ(tick_start_unix_ms(settings.layout, after.tick), clock.unix_millis());
  EXPECT_EQ(parts(next(*lines)).worker, after.worker) << "one clock, so all tables change";
  EXPECT_EQ(orders->counters().worker_switches, 1u);
  // The id that was given up is free again, but only for times after those it was used for.
  const auto other = open();
  EXPECT_NE(other->workers().front(), after.worker);
  EXPECT_TRUE(other->close());
  EXPECT_TRUE(source->close());
}

TEST_F(SnowflakeSourceTest, ASmallStepKeepsTheWorkerId) {
  const auto source = open();
  KeyGenerator* orders = source->add_table("orders", 128).value();
  const IdParts before = parts(next(*orders));
  clock.step_wall(-std::chrono::milliseconds(5));
  const IdParts after = parts(next(*orders));
  EXPECT_EQ(after.worker, before.worker);
  EXPECT_EQ(after.tick, before.tick);
  EXPECT_TRUE(tend(*source));
  EXPECT_EQ(source->workers(), std::vector<uint32_t>{before.worker});
}

TEST_F(SnowflakeSourceTest, SparesAreTakenInTurnAsFarAsTheirTimeHasPassed) {
  settings.worker.fixed_id = 5;
  settings.worker.spare_ids = {9};
  const auto source = open();
  KeyGenerator* orders = source->add_table("orders", 128).value();
  EXPECT_EQ(parts(next(*orders)).worker, 5u);
  clock.step_wall(-seconds(10));
  EXPECT_FALSE(next(*orders));
  EXPECT_TRUE(tend(*source));
  EXPECT_EQ(parts(next(*orders)).worker, 9u);
  // Both have been used for later times than the clock shows now.
  clock.step_wall(-seconds(10));
  EXPECT_FALSE(next(*orders));
  const Status refused = tend(*source);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not given up"));
  EXPECT_THAT(source->workers(), ElementsAre(9u));
  // It settles when the clock is back.
  clock.step_wall(seconds(10));
  EXPECT_EQ(parts(next(*orders)).worker, 9u);
}

TEST_F(SnowflakeSourceTest, AllLanesChange) {
  settings.worker.lanes = 2;
  const auto source = open();
  KeyGenerator* orders = source->add_table("orders", 128).value();
  const auto before = source->workers();
  ASSERT_EQ(before.size(), 2u);
  next(*orders);
  clock.step_wall(-seconds(10));
  EXPECT_FALSE(next(*orders));
  EXPECT_TRUE(tend(*source));
  EXPECT_TRUE(next(*orders));
  for (const uint32_t worker : source->workers())
    EXPECT_EQ(std::count(before.begin(), before.end(), worker), 0) << worker;
}

}  // namespace
}  // namespace evenkeel::idgen
