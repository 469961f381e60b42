// The one place that knows every provider.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/registry/registry.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// Does not reach for the store yet: its first call does. `clock` is for the file provider's time and must
// outlive the registry. Fails with kind registry when the settings are wrong (check_registry) or this program
// was built without the provider.
Result<std::shared_ptr<Registry>> open_registry(const RegistrySettings& settings, const Clock& clock);

// Whether this program was built with it.
bool has_provider(RegistryProvider provider);

}  // namespace evenkeel::idgen
