#include "idgen/segment/hybrid_source.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "idgen/layout.h"
#include "idgen/worker_field.h"

namespace evenkeel::idgen {

Result<std::unique_ptr<HybridSource>> HybridSource::open(const GeneratorSettings& settings,
                                                         std::vector<std::unique_ptr<SegmentStore>> stores,
                                                         std::shared_ptr<const TickSource> ticks,
                                                         const Clock& clock,
                                                         std::unique_ptr<ClockProbe> probe) {
  std::unique_ptr<HybridSource> source(new HybridSource(settings, std::move(ticks), std::move(probe)));
  EVENKEEL_TRY(source->generators_.begin());
  Error last = internal_error("a hybrid generator without a store");
  for (size_t i = 0; i < stores.size(); ++i) {
    source->store_ = std::move(stores[i]);
    const Status taken = source->take_number(settings.segment.allocators[i].prefix, clock.unix_millis());
    if (taken) return source;
    last = taken.error();
  }
  return fail(std::move(last));
}

// Numbers are tried in the order of a counter that all processes share, so that one that was used lately
// comes last.
Status HybridSource::take_number(uint32_t prefix, int64_t now_unix_ms) {
  const std::string counter = settings_.name + "/workers";
  const uint64_t numbers = worker_numbers(settings_.layout) >> settings_.segment.prefix_bits;
  EVENKEEL_ASSIGN(const SegmentRow row, store_->open_row(counter));
  for (uint64_t attempt = 0; attempt < numbers; ++attempt) {
    EVENKEEL_ASSIGN(const auto drawn, store_->advance(counter, {row.epoch, 1, 0, UINT64_MAX >> 1}));
    if (!drawn) return fail(error_of(fmt::format("row {} was reset meanwhile", counter)));
    EVENKEEL_ASSIGN(const bool taken, try_number(drawn->max_id % numbers, prefix, now_unix_ms));
    if (taken) return {};
  }
  return fail(
      error_of(fmt::format("all {} worker numbers are in use, or were until a crash less than {} minutes "
                           "ago; give the worker field "
                           "more bits",
                           numbers, window_ms / 60'000)));
}

// A number is free when the time reserved for it has passed.
Result<bool> HybridSource::try_number(uint64_t number, uint32_t prefix, int64_t now_unix_ms) {
  const Layout& layout = settings_.layout;
  const std::string tag = fmt::format("{}/worker/{}", settings_.name, number);
  EVENKEEL_ASSIGN(const SegmentRow row, store_->open_row(tag));
  const uint64_t now = tick_of(now_unix_ms);
  if (row.max_id >= now) return false;
  const uint64_t length = tick_of(now_unix_ms + window_ms) - now;
  EVENKEEL_ASSIGN(const auto granted, store_->advance(tag, {row.epoch, length, now - 1, last_tick(layout)}));
  if (!granted)
    return fail(error_of("the time field of the layout ends within the window, or the row was reset"));
  // Somebody was faster: the time granted begins behind his, and is left.
  const uint64_t first = granted->max_id - length + 1;
  if (first != now) return false;
  tag_ = tag;
  epoch_ = row.epoch;
  const uint64_t numbers = worker_numbers(layout) >> settings_.segment.prefix_bits;
  const uint32_t worker = worker_id_of(layout, static_cast<uint32_t>(prefix * numbers + number));
  window_ = std::make_shared<TickWindow>(worker, first, granted->max_id);
  return true;
}

Status HybridSource::tend(int64_t now_unix_ms) {
  generators_.watch_clock(now_unix_ms);
  const uint64_t last = window_->last();
  const uint64_t wanted = tick_of(now_unix_ms + window_ms);
  const uint64_t due = tick_of(now_unix_ms + window_ms - renew_ms);
  if (closed_ || lost_ || last >= due) return {};
  // The row must stand where this process left it; a call whose answer was lost may have moved it.
  EVENKEEL_ASSIGN(const SegmentRow row, store_->open_row(tag_));
  if (in_doubt_ != 0 && row.epoch == epoch_ && row.max_id == in_doubt_) window_->extend(in_doubt_);
  in_doubt_ = 0;
  const uint64_t from = window_->last();
  if (row.epoch != epoch_ || row.max_id != from) return lose(from);
  if (wanted <= from) return {};
  auto granted = store_->advance(tag_, {epoch_, wanted - from, 0, last_tick(settings_.layout)});
  if (!granted) {
    in_doubt_ = wanted;
    return fail(std::move(granted.error()));
  }
  if (!*granted)
    return fail(error_of("the time field of the layout ends within the window, or the row was reset"));
  // Somebody reserved time in between: what was granted does not follow on this window and stays unused.
  if ((*granted)->max_id != wanted) return lose(from);
  window_->extend(wanted);
  return {};
}

Status HybridSource::lose(uint64_t last) {
  lost_ = true;
  return fail(
      error_of(fmt::format("row {} is not as worker {} left it: another process reserved its time, or the "
                           "store went back; no ids of "
                           "this process after {}: restart it",
                           tag_, worker(), format_utc(tick_start_unix_ms(settings_.layout, last + 1)))));
}

Status HybridSource::close() {
  if (closed_) return {};
  closed_ = true;
  generators_.close();
  const uint64_t kept = std::max(generators_.last_tick(worker()), window_->first() - 1);
  EVENKEEL_TRY(store_->give_back(tag_, epoch_, window_->last(), kept));
  return {};
}

Error HybridSource::error_of(const std::string& what) const {
  return make_error(ErrorKind::registry, mysql::er::unknown_error,
                    fmt::format("generator {}, {}: {}", settings_.name, store_->name(), what));
}

uint64_t HybridSource::tick_of(int64_t unix_ms) const {
  return static_cast<uint64_t>(std::max<int64_t>(1, tick_at(settings_.layout, unix_ms)));
}

}  // namespace evenkeel::idgen
