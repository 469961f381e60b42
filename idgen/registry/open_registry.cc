#include "idgen/registry/open_registry.h"

#include <fmt/format.h>

#include "idgen/registry/file_registry.h"

#ifdef EVENKEEL_WITH_MYSQL_REGISTRY
#include "idgen/registry/mysql_registry.h"
#endif
#ifdef EVENKEEL_WITH_REDIS_REGISTRY
#include "idgen/registry/redis_registry.h"
#endif
#ifdef EVENKEEL_WITH_ZOOKEEPER_REGISTRY
#include "idgen/registry/zookeeper_registry.h"
#endif
#ifdef EVENKEEL_WITH_ETCD_REGISTRY
#include "idgen/registry/etcd_registry.h"
#endif

namespace evenkeel::idgen {
namespace {

using Maker = std::unique_ptr<Registry> (*)(const RegistrySettings&);

// Null for files, which need more than settings, and for a provider that this program was built without.
Maker maker_of(RegistryProvider provider) {
#ifdef EVENKEEL_WITH_MYSQL_REGISTRY
  if (provider == RegistryProvider::mysql) return make_mysql_registry;
#endif
#ifdef EVENKEEL_WITH_REDIS_REGISTRY
  if (provider == RegistryProvider::redis) return make_redis_registry;
#endif
#ifdef EVENKEEL_WITH_ZOOKEEPER_REGISTRY
  if (provider == RegistryProvider::zookeeper) return make_zookeeper_registry;
#endif
#ifdef EVENKEEL_WITH_ETCD_REGISTRY
  if (provider == RegistryProvider::etcd) return make_etcd_registry;
#endif
  return nullptr;
}

}  // namespace

bool has_provider(RegistryProvider provider) {
  return provider == RegistryProvider::file || maker_of(provider) != nullptr;
}

Result<std::shared_ptr<Registry>> open_registry(const RegistrySettings& settings, const Clock& clock) {
  if (const auto faults = check_registry(settings); !faults.empty())
    return fail(registry_error(fmt::format("registry: {}", fmt::join(faults, "; "))));
  if (settings.provider == RegistryProvider::file) {
    EVENKEEL_ASSIGN(std::shared_ptr<Registry> files, open_file_registry(settings.directory, clock));
    return files;
  }
  if (const Maker make = maker_of(settings.provider)) return make(settings);
  return fail(registry_error(fmt::format(
      "registry: this program was built without the provider {}; install its library and build again "
      "(the lines of CMake's configure step that begin with 'registry' say what is missing)",
      to_string(settings.provider))));
}

}  // namespace evenkeel::idgen
