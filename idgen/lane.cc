#include "idgen/lane.h"

#include <algorithm>

#include "idgen/layout.h"

namespace evenkeel::idgen {
namespace {

std::vector<bool> in_reach(const Layout& layout, uint32_t worker, uint32_t residues) {
  if (sequence_count(layout) >= residues) return {};
  return reachable_slots(layout, std::span(&worker, 1), residues);
}

}  // namespace

Lane::Lane(const Layout& layout, const ClockSettings& clock, const Gene& gene, uint32_t slots,
           std::shared_ptr<const TickWindow> window, const TickSource& ticks)
    : gene_(gene),
      modulus_(gene.modulus_for(slots)),
      window_(std::move(window)),
      reachable_slots_(in_reach(layout, window_->worker(), slots)),
      reachable_genes_(in_reach(layout, window_->worker(), gene.modulus_for(slots))) {
  const size_t cores = gene.method == GeneMethod::classes ? modulus_.divisor() : 1;
  for (size_t i = 0; i < cores; ++i)
    cores_.push_back(std::make_unique<Snowflake>(layout, clock, *window_, ticks));
}

Draw Lane::draw_genes(const SteeredStart& start, std::span<const uint32_t> genes, std::span<uint64_t> out,
                      LiveCounters& counters) {
  const bool whole_blocks = gene_.method == GeneMethod::blocks;
  if (gene_.method != GeneMethod::classes)
    return core().draw_genes(start, {modulus_, genes, whole_blocks}, out, counters);
  Draw draw;
  for (size_t i = 0; i < out.size(); ++i) {
    const GeneAim aim{modulus_, genes.subspan(i, 1), false};
    const uint32_t drawn = draw.drawn;
    draw = cores_[genes[i]]->draw_genes(start, aim, out.subspan(i, 1), counters);
    draw.drawn += drawn;
    if (draw.stop != Draw::Stop::done) break;
  }
  return draw;
}

void Lane::close() {
  for (auto& core : cores_) core->close();
}

uint64_t Lane::last_tick() const {
  uint64_t last = 0;
  for (const auto& core : cores_) last = std::max(last, core->last_tick_opened());
  return last;
}

int64_t Lane::switch_wanted_since(int64_t now_us) {
  int64_t since = 0;
  return switch_wanted_us_.compare_exchange_strong(since, now_us, std::memory_order_relaxed) ? now_us : since;
}

}  // namespace evenkeel::idgen
