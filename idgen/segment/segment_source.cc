#include "idgen/segment/segment_source.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "base/random.h"

namespace evenkeel::idgen {

std::unique_ptr<SegmentSource> SegmentSource::open(const GeneratorSettings& settings,
                                                   const OpenSegmentStore& store, const Clock& clock) {
  std::vector<std::unique_ptr<SegmentStore>> stores;
  for (const auto& allocator : settings.segment.allocators)
    stores.push_back(store(allocator, settings.segment.timeout_ms));
  auto source = std::unique_ptr<SegmentSource>(new SegmentSource(settings, std::move(stores), clock));
  source->loader_.start_thread();
  return source;
}

SegmentSource::SegmentSource(const GeneratorSettings& settings,
                             std::vector<std::unique_ptr<SegmentStore>> stores, const Clock& clock)
    : settings_(settings), clock_(clock), loader_(settings, std::move(stores), clock) {}

// The loader's thread knows the generators.
SegmentSource::~SegmentSource() { loader_.stop_thread(); }

Result<KeyGenerator*> SegmentSource::add_table(const std::string& table, uint32_t slots) {
  SegmentGenerator::Parts parts;
  parts.settings = settings_;
  parts.table = table;
  parts.slots = slots;
  parts.clock = &clock_;
  parts.seed = system_seed();
  parts.wake = [this] { loader_.wake(); };
  EVENKEEL_ASSIGN(auto generator, SegmentGenerator::create(std::move(parts)));
  SegmentGenerator* made = generator.get();
  generators_.push_back(std::move(generator));
  loader_.add(*made, settings_.name + "/" + table);
  EVENKEEL_TRY(loader_.await_first(*made));
  return made;
}

Status SegmentSource::tend(int64_t) {
  const auto complaints = loader_.take_complaints();
  if (complaints.empty()) return {};
  return fail(make_error(ErrorKind::registry, mysql::er::unknown_error,
                         fmt::format("{}", fmt::join(complaints, "; "))));
}

Status SegmentSource::close() {
  if (closed_) return {};
  closed_ = true;
  for (const auto& generator : generators_) generator->close();
  loader_.stop_thread();
  return loader_.give_back();
}

}  // namespace evenkeel::idgen
