// A registry in a directory of the local machine: one file a record, replaced atomically and forced to disk;
// flock makes changes exclusive and proves that a holder is alive. For the proxies of one machine; not for
// network file systems.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "idgen/registry/registry.h"

namespace evenkeel::idgen {

// Opens `directory`, creating it (mode 0700) where it is missing. `clock` must outlive the registry.
// A record file that was damaged is an error of every call that meets it; it is never taken for absent.
Result<std::unique_ptr<Registry>> open_file_registry(const std::string& directory, const Clock& clock);

}  // namespace evenkeel::idgen
