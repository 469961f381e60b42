// What /metrics says of one key generator, of a proxy's table or of a key space alike.
#pragma once

#include <cstdint>
#include <optional>

#include "base/metrics/page.h"
#include "idgen/generator.h"
#include "idgen/settings.h"

namespace evenkeel::ids {

// `labels` name the generator. With a layout also how long its time field lasts.
void add_generator_samples(metrics::Page& page, const metrics::Labels& labels,
                           const idgen::KeyGenerator& generator, const std::optional<idgen::Layout>& layout,
                           int64_t now_unix_ms);

}  // namespace evenkeel::ids
