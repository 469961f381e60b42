// The maps that the configuration consists of, one function each.
#pragma once

#include <string>
#include <vector>

#include "config/reader.h"

namespace evenkeel::config {

// The whole file while it is read.
struct Root {
  Config config;
  // Shared by all generators; copied into each at the end. Times of 0 were not given: they depend on the
  // registry.
  idgen::WorkerSettings worker;
  bool worker_given = false;
  std::string registry_where;  // Place::where(), empty: not given

  Root() { worker.window_ms = worker.renew_ms = 0; }
};

// A file of the proxy needs these; one that holds `ids` alone does not.
inline constexpr std::string_view keys_of_the_proxy[] = {"listeners", "instances", "users", "schemas"};

// network_sections.cc
const Section<net::TlsSettings>& tls_section();
const Section<net::Listener>& listener_section();
const Section<backend::InstanceTls>& instance_tls_section();
const Section<backend::Instance>& instance_section();
const Section<Config>& pool_section();
const Section<Config>& limits_section();
void read_listeners(const Place& place, std::vector<net::Listener>& out);
void read_instances(const Place& place, std::vector<backend::Instance>& out);

// user_sections.cc
const Section<session::BackendAccount>& account_section();
const Section<session::User>& user_section();
void read_users(const Place& place, std::vector<session::User>& out);

// service_sections.cc
const Section<answer::Account>& service_user_section();
const Section<http::Token>& service_token_section();
const Section<ids::KeySpace>& key_space_section();
const Section<HttpConfig>& http_section();
const Section<IdsConfig>& ids_section();
void read_ids(const Place& place, IdsConfig& out);
const Section<answer::Account>& admin_user_section();
const Section<http::Token>& admin_token_section();
const Section<AdminConfig>& admin_section();
void read_admin(const Place& place, AdminConfig& out);

// layout_sections.cc
const Section<idgen::WorkerPart>& worker_part_section();
const Section<idgen::Layout>& layout_section();

// clock_sections.cc
const Section<idgen::ClockStep>& clock_step_section();
const Section<idgen::ClockWatch>& clock_watch_section();
const Section<idgen::ClockSettings>& clock_section();

// generator_sections.cc
const Section<idgen::GeneratorSettings>& generator_section();
const Section<idgen::WorkerSettings>& worker_section();
void read_generators(const Place& place, std::vector<idgen::GeneratorSettings>& out);

// registry_section.cc
const Section<idgen::RegistryTls>& registry_tls_section();
const Section<idgen::RegistrySettings>& registry_section();

// segment_sections.cc
const Section<idgen::SegmentAllocator>& allocator_section();
const Section<idgen::SegmentSettings>& segment_section();

// algorithm_sections.cc; both read into a table.
const Section<rule::TableSettings>& algorithm_section();
const Section<rule::TableSettings>& gene_section();
// A name, or a map with what the algorithm takes.
void read_algorithm(const Place& place, rule::TableSettings& out);
// A method, or a map with it.
void read_gene(const Place& place, rule::TableSettings& out);

// schema_sections.cc
const Section<rule::TableSettings::Moduli>& moduli_section();
// Reads into a table, because the moduli stand beside its topology.
const Section<rule::TableSettings>& topology_section();
const Section<rule::TableSettings>& generated_key_section();
const Section<rule::TableSettings>& table_section();
const Section<rule::SchemaSettings>& schema_section();
void read_schemas(const Place& place, std::vector<rule::SchemaSettings>& out);

// steering_sections.cc
const Section<skew::TableSettings>& steered_table_section();
const Section<skew::Settings>& steering_section();
void read_steering(const Place& place, skew::Settings& out);

// root_section.cc
const Section<Config>& log_section();
const Section<Root>& root_section();

// The keys of every section, for the test that keeps docs/config.schema.json in step.
struct KnownKeys {
  std::string section;
  std::vector<std::string> keys;
  std::vector<std::string> required;
};
std::vector<KnownKeys> known_keys();

}  // namespace evenkeel::config
