#include "proxy/ids/generator_samples.h"

#include <fmt/format.h>

#include "idgen/layout.h"

namespace evenkeel::ids {
namespace {

// Time enough to give a new layout to all who read ids.
constexpr int64_t warned_ahead_s = 366LL * 86'400;

void add_clock_steps(metrics::Page& page, const metrics::Labels& labels, const idgen::Counters& counters) {
  for (size_t i = 0; i < counters.clock_steps.size(); ++i) {
    metrics::Labels sized = labels;
    const bool largest = i == idgen::clock_step_bounds_ms.size();
    sized.emplace_back("up_to_ms", largest ? "any" : fmt::format("{}", idgen::clock_step_bounds_ms[i]));
    page.counter("evenkeel_id_clock_steps_total", "Steps back of the clock that draws met, by size.", sized,
                 static_cast<double>(counters.clock_steps[i]));
  }
}

}  // namespace

void add_generator_samples(metrics::Page& page, const metrics::Labels& labels,
                           const idgen::KeyGenerator& generator, const std::optional<idgen::Layout>& layout,
                           int64_t now_unix_ms) {
  const idgen::Counters counters = generator.counters();
  const auto add = [&](const char* name, const char* help, uint64_t value) {
    page.counter(name, help, labels, static_cast<double>(value));
  };
  add("evenkeel_ids_total", "Ids made.", counters.ids);
  add("evenkeel_id_waits_total", "Draws that were told to come back later.", counters.waits);
  add("evenkeel_id_refusals_total", "Draws that ended in an error.", counters.refusals);
  add("evenkeel_id_rows_outside_map_total", "Rows of batches that fell where the steering map permits none.",
      counters.rows_outside_map);
  add("evenkeel_id_broken_batches_total", "Batches that are not consecutive throughout.",
      counters.broken_batches);
  if (!layout) return;
  add("evenkeel_id_ticks_borrowed_total", "Time units opened before the clock reached them.",
      counters.ticks_borrowed);
  add("evenkeel_id_worker_switches_total", "Worker ids given up for others because the clock stepped back.",
      counters.worker_switches);
  add_clock_steps(page, labels, counters);
  const int64_t left = idgen::seconds_to_exhaustion(*layout, now_unix_ms);
  page.gauge("evenkeel_id_seconds_left", "Until the layout's time field ends; no id can be made after that.",
             labels, static_cast<double>(left));
  page.gauge("evenkeel_id_ends_within_a_year", "1: the layout's time field ends within a year.", labels,
             left < warned_ahead_s ? 1 : 0);
}

}  // namespace evenkeel::ids
