#include "idgen/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "idgen/layout.h"
#include "idgen/worker_field.h"

namespace evenkeel::idgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t now = 1'790'000'000'000;  // 2026-09-21

GeneratorSettings valid() {
  GeneratorSettings settings;
  settings.worker.fixed_id = 5;
  return settings;
}

GeneratorSettings hybrid() {
  auto settings = valid();
  settings.kind = GeneratorKind::hybrid;
  settings.segment.allocators.emplace_back().host = "db0";
  return settings;
}

TEST(Settings, TheDefaultsSuitTheReferenceTopology) {
  const auto report = check_settings(valid(), 128, now);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(Settings, TheWideLayoutSuits8192Slots) {
  auto settings = valid();
  settings.layout = *named_layout("wide");
  settings.worker.fixed_id.reset();
  const auto report = check_settings(settings, 8192, now);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(Settings, C03_ConfiguredWorkersNameTheSlotsOutOfReach) {
  auto settings = valid();
  settings.worker.fixed_id = 4;
  settings.worker.peer_ids = {6};
  const auto report = check_settings(settings, 8192, now);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(
      report.warnings,
      ElementsAre(
          "layout 41|10|12: its 4096 ids a ms are fewer than 8192 slots; workers 4, 6 cannot reach 4096 "
          "slots: 4096-8191. They reach 0-4095"));
}

TEST(Settings, C03_WorkersThatReachAllSlotsOnlyTogetherAreToldSo) {
  auto settings = valid();
  settings.worker.fixed_id = 4;
  settings.worker.peer_ids = {7};
  const auto report = check_settings(settings, 8192, now);
  EXPECT_THAT(
      report.warnings,
      ElementsAre(HasSubstr("workers 4, 7 reach all slots together, but not each of them alone: 4 reaches "
                            "0-4095, 7 reaches 4096-8191")));
}

TEST(Settings, C03_LeasedWorkersAreRefused) {
  auto settings = valid();
  settings.worker.fixed_id.reset();
  const auto report = check_settings(settings, 8192, now);
  EXPECT_THAT(report.errors, ElementsAre(HasSubstr(
                                 "4096 ids a ms are fewer than 8192 slots, so the slots that a proxy reaches "
                                 "depend on the worker id it happens to lease")));
}

TEST(Settings, C03_NumbersOfAHybridAreRefusedAsLeasedOnesAre) {
  auto settings = hybrid();
  EXPECT_THAT(check_settings(settings, 128, now).errors, IsEmpty());
  EXPECT_THAT(check_settings(settings, 8192, now).errors,
              ElementsAre(HasSubstr("depend on the worker id it happens to get")));
}

TEST(Settings, AHybridRefusesWhatItCannotDo) {
  auto settings = hybrid();
  settings.clock.backward = {{5, ClockAction::freeze}, {ClockStep::any_size, ClockAction::switch_worker}};
  EXPECT_THAT(check_settings(settings, 128, now).errors, ElementsAre(HasSubstr("is not switched")));
  settings.clock.backward = {{ClockStep::any_size, ClockAction::pause_until_sync}};
  settings.worker.lanes = 2;
  const auto report = check_settings(settings, 128, now);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("kind hybrid takes one number")));
  // A part with a value leaves fewer bits for the number.
  settings.worker.lanes = 1;
  settings.layout = *named_layout("business");
  settings.layout.worker_parts[0].value = 3;
  settings.segment.prefix_bits = 6;
  EXPECT_THAT(check_settings(settings, 128, now).errors,
              ElementsAre(HasSubstr("prefix_bits 6 leave no number in the 6 worker bits")));
}

TEST(Settings, FewerThanFourSequencesASlotIsAWarning) {
  const auto report = check_settings(valid(), 2048, now);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("4096 ids a ms are fewer than 4 x 2048 slots")));
}

TEST(Settings, ImpossibleValuesAreRefusedWithTheReason) {
  const auto errors_after = [](auto change) {
    auto settings = valid();
    change(settings);
    return check_settings(settings, 128, now).errors;
  };
  EXPECT_THAT(errors_after([](auto& s) { s.layout.time_bits = 42; }),
              ElementsAre("layout 42|10|12 has 64 bits; a positive BIGINT holds 63"));
  EXPECT_THAT(errors_after([](auto& s) { s.layout.sequence_bits = 0; }),
              ElementsAre(HasSubstr("sequence_bits is 0")));
  EXPECT_THAT(errors_after([](auto& s) { s.worker.fixed_id = 1024; }),
              ElementsAre("worker id 1024 does not fit 10 worker bits: allowed are 0 to 1023"));
  EXPECT_THAT(errors_after([](auto& s) { s.worker.window_ms = 1500; }),
              ElementsAre(HasSubstr("at least twice renew_ms")));
  EXPECT_THAT(errors_after([](auto& s) { s.name = "a b"; }), ElementsAre(HasSubstr("generator name 'a b'")));
  EXPECT_THAT(errors_after([](auto& s) {
                s.clock.backward = {{-1, ClockAction::freeze}};
              }),
              ElementsAre(HasSubstr("negative")));
  EXPECT_THAT(errors_after([](auto& s) { s.layout.epoch_unix_ms = now + 1; }),
              ElementsAre(HasSubstr("lies in the future")));
  EXPECT_THAT(errors_after([](auto& s) {
                s.layout.worker_parts = {{"dc", 4}, {"host", 5}};
              }),
              ElementsAre("layout: the worker parts have 9 bits together, worker_bits is 10"));
}

TEST(Settings, TheEndOfTheTimeFieldIsAnnouncedAYearAhead) {
  auto settings = valid();
  const int64_t end = exhaustion_unix_ms(settings.layout);
  EXPECT_EQ(format_utc(end), "2093-09-06T15:47:35.552Z");
  EXPECT_THAT(check_settings(settings, 128, end - 400LL * 86'400'000).warnings, IsEmpty());
  EXPECT_THAT(
      check_settings(settings, 128, end - 10LL * 86'400'000).warnings,
      ElementsAre(
          "layout 41|10|12: its time field ends at 2093-09-06T15:47:35.552Z, in 10 days; no id can be made "
          "after that"));
  EXPECT_THAT(check_settings(settings, 128, end).errors,
              ElementsAre(HasSubstr("time field ended at 2093-09-06")));
}

TEST(Settings, NamedLayoutsFitTheirNames) {
  for (const auto name : layout_names()) {
    const auto report = check_layout(*named_layout(name), now);
    EXPECT_THAT(report.errors, IsEmpty()) << name;
  }
  EXPECT_EQ(fingerprint(*named_layout("classic")), "ms:41:10:12:1704067200000");
  EXPECT_EQ(fingerprint(*named_layout("wide")), "ms:41:7:15:1704067200000");
  const Layout js = *named_layout("js_safe");
  EXPECT_LT(compose(js, {last_tick(js), 15, sequence_count(js) - 1}), uint64_t{1} << 53);
  EXPECT_FALSE(named_layout("twitter"));
  for (const auto unit : {TimeUnit::millisecond, TimeUnit::ten_milliseconds, TimeUnit::second})
    EXPECT_EQ(parse_time_unit(to_string(unit)), unit);
  EXPECT_FALSE(parse_time_unit("us"));
}

TEST(SettingsProperty, ReachIsWhatTryingEveryIdFinds) {
  EXPECT_TRUE(rc::check([] {
    Layout layout;
    layout.sequence_bits = *rc::gen::inRange<uint8_t>(1, 6);
    layout.worker_bits = *rc::gen::inRange<uint8_t>(0, 4);
    const auto slots = *rc::gen::inRange<uint32_t>(1, 200);
    const auto workers = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(
        rc::gen::inRange<uint32_t>(0, static_cast<uint32_t>(worker_count(layout)))));
    std::vector<bool> expected(slots, false);
    for (const uint32_t worker : workers)
      for (uint64_t tick = 0; tick < slots; ++tick)  // the pattern repeats after at most `slots` ticks
        for (uint64_t y = 0; y < sequence_count(layout); ++y)
          expected[compose(layout, {tick, worker, y}) % slots] = true;
    RC_ASSERT(reachable_slots(layout, workers, slots) == expected);
  }));
}

TEST(Settings, LayoutsByName) {
  const auto bits = [](std::string_view name) {
    const auto layout = named_layout(name);
    return layout ? fingerprint(*layout) : "none";
  };
  EXPECT_EQ(bits("classic"), "ms:41:10:12:1704067200000");
  EXPECT_EQ(bits("business"), "ms:41:12:10:1704067200000");
  EXPECT_EQ(bits("wide"), "ms:41:7:15:1704067200000");
  EXPECT_EQ(bits("js_safe"), "s:31:10:12:1704067200000");
  EXPECT_EQ(bits("js_safe_wide"), "s:31:4:18:1704067200000");
  EXPECT_EQ(bits("snowflake"), "none");
  for (const auto name : layout_names())
    EXPECT_THAT(check_layout(*named_layout(name), now).errors, IsEmpty());
  // What JavaScript holds exactly.
  for (const auto name : {"js_safe", "js_safe_wide"}) {
    const auto layout = *named_layout(name);
    EXPECT_EQ(compose(layout, {last_tick(layout), static_cast<uint32_t>(worker_count(layout) - 1),
                               sequence_count(layout) - 1}),
              (uint64_t{1} << 53) - 1);
  }
}

TEST(Settings, ALayoutWhoseSequenceIsNotLowIsRefused) {
  Layout layout;
  layout.order = {LayoutField::time, LayoutField::sequence, LayoutField::worker};
  EXPECT_THAT(check_layout(layout, now).errors,
              ElementsAre(HasSubstr("the sequence is not in the low bits, the worker is")));
  layout.order = {LayoutField::worker, LayoutField::time, LayoutField::sequence};
  EXPECT_THAT(check_layout(layout, now).errors, ElementsAre(HasSubstr("the time is not in the high bits")));
}

// Worked out apart from this program; 2026-12-01T00:00:00Z is 92,016,000 s after the epoch of 2024.
TEST(Layout, GoldenVectors) {
  struct Vector {
    std::string_view layout;
    IdParts parts;
    uint64_t id;
  };
  const Vector vectors[] = {
      {"classic", {92'016'000'000, 835, 4095}, 385'943'076'867'424'255},
      {"wide", {92'016'000'000, 100, 32'767}, 385'943'076'867'309'567},
      {"business", {92'016'000'000, (3 << 6) | 5, 17}, 385'943'076'864'201'745},
      {"js_safe", {92'016'000, 1023, 4095}, 385'943'081'058'303},
      {"js_safe_wide", {92'016'000, 15, 262'143}, 385'943'081'058'303},
  };
  for (const Vector& vector : vectors) {
    const Layout layout = *named_layout(vector.layout);
    EXPECT_EQ(compose(layout, vector.parts), vector.id) << vector.layout;
    const auto decoded = decode(layout, vector.id);
    ASSERT_TRUE(decoded) << vector.layout;
    EXPECT_EQ(decoded->time, "2026-12-01T00:00:00.000Z") << vector.layout;
    EXPECT_EQ(decoded->parts.worker, vector.parts.worker) << vector.layout;
    EXPECT_EQ(decoded->parts.sequence, vector.parts.sequence) << vector.layout;
  }
  EXPECT_EQ(decode(*named_layout("business"), 385'943'076'864'201'745)->worker,
            "worker 197 (data_centre 3, business 5)");
}

TEST(WorkerField, PartsWithAValueAreFixedAndTheRestIsTheWorkerNumber) {
  Layout layout = *named_layout("business");
  EXPECT_EQ(worker_numbers(layout), 4096u);
  EXPECT_EQ(worker_id_of(layout, 4095), 4095u);
  ASSERT_TRUE(set_part(layout, "data_centre", 5));
  EXPECT_EQ(worker_numbers(layout), 64u);
  EXPECT_EQ(worker_id_of(layout, 9), (5u << 6) | 9u);
  ASSERT_TRUE(set_part(layout, "business", 63));
  EXPECT_EQ(worker_numbers(layout), 1u);
  EXPECT_EQ(worker_id_of(layout, 0), (5u << 6) | 63u);
  EXPECT_THAT(set_part(layout, "business", 64).error().message, HasSubstr("hold 0 to 63, but the value 64"));
  EXPECT_THAT(set_part(layout, "shop", 1).error().message, HasSubstr("it has data_centre, business"));
  // An open part above a fixed one.
  layout.worker_parts = {{"host", 4, {}}, {"dc", 3, 6}, {"rack", 5, {}}};
  EXPECT_EQ(worker_numbers(layout), 512u);
  EXPECT_EQ(worker_id_of(layout, (9 << 5) | 17), (9u << 8) | (6u << 5) | 17u);
}

TEST(Settings, ClockStepsMustRiseAndHaveWhatTheyNeed) {
  const auto errors_of = [](std::vector<ClockStep> steps) {
    auto settings = valid();
    settings.clock.backward = std::move(steps);
    return check_settings(settings, 128, now).errors;
  };
  EXPECT_THAT(errors_of({}), IsEmpty());
  EXPECT_THAT(errors_of({{5, ClockAction::freeze},
                         {200, ClockAction::wait},
                         {10'000, ClockAction::strict},
                         {ClockStep::any_size, ClockAction::pause_until_sync}}),
              IsEmpty());
  EXPECT_THAT(errors_of({{5, ClockAction::freeze}, {5, ClockAction::wait}}),
              ElementsAre(HasSubstr("must rise")));
  EXPECT_THAT(errors_of({{ClockStep::any_size, ClockAction::freeze}}),
              ElementsAre(HasSubstr("60000 ms are allowed")));
  EXPECT_THAT(errors_of({{5'001, ClockAction::wait}}),
              ElementsAre(HasSubstr("longer than max_wait, 5000 ms")));
  EXPECT_THAT(errors_of({{ClockStep::any_size, ClockAction::switch_worker}}),
              ElementsAre(HasSubstr("name spares")));
}

TEST(Layout, DecodeShowsTimeWorkerAndSequence) {
  Layout layout;
  layout.worker_parts = {{"dc", 3}, {"host", 7}};
  const uint64_t id = compose(layout, {1'000, 3 * 128 + 45, 4095});
  const auto decoded = decode(layout, id);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->parts, (IdParts{1'000, 429, 4095}));
  EXPECT_EQ(decoded->time, "2024-01-01T00:00:01.000Z");
  EXPECT_EQ(decoded->worker, "worker 429 (dc 3, host 45)");
  const std::vector<WorkerPart> parts = {{"dc", 3, 3}, {"host", 7, 45}};
  EXPECT_EQ(decoded->worker_parts, parts);
  EXPECT_FALSE(decode(layout, uint64_t{1} << 63));
  EXPECT_EQ(format_utc(-1), "1969-12-31T23:59:59.999Z");
}

TEST(LayoutProperty, ComposeAndDecomposeAreInverse) {
  EXPECT_TRUE(rc::check([] {
    Layout layout;
    layout.sequence_bits = *rc::gen::inRange<uint8_t>(1, 23);
    layout.worker_bits = *rc::gen::inRange<uint8_t>(0, 20);
    layout.time_bits = static_cast<uint8_t>(63 - layout.sequence_bits - layout.worker_bits);
    const IdParts parts{*rc::gen::inRange<uint64_t>(0, last_tick(layout)),
                        *rc::gen::inRange<uint32_t>(0, static_cast<uint32_t>(worker_count(layout))),
                        *rc::gen::inRange<uint64_t>(0, sequence_count(layout))};
    RC_ASSERT(decompose(layout, compose(layout, parts)) == parts);
  }));
}

TEST(Layout, TicksBeginAndEndWithTheirUnit) {
  Layout layout;
  for (const auto unit : {TimeUnit::millisecond, TimeUnit::ten_milliseconds, TimeUnit::second}) {
    layout.unit = unit;
    const int64_t start = tick_start_unix_ms(layout, 77);
    EXPECT_EQ(tick_at(layout, start), 77);
    EXPECT_EQ(tick_at(layout, start - 1), 76);
    EXPECT_EQ(tick_at(layout, start + millis_of(unit)), 78);
    EXPECT_EQ(tick_at(layout, layout.epoch_unix_ms - 1), -1);
  }
}

TEST(DescribeRanges, NamesRunsAndSingles) {
  EXPECT_EQ(describe_ranges({true, true, false, true, false}, true), "0-1, 3");
  EXPECT_EQ(describe_ranges({true, true}, false), "none");
}

}  // namespace
}  // namespace evenkeel::idgen
