#include "config/sections.h"

namespace evenkeel::config {

const Section<Config>& log_section() {
  static const Section<Config> section = {"log",
                                          {
                                              {"level",
                                               [](const Place& place, Config& out) {
                                                 read_choice<std::string>(place, out.log_level,
                                                                          {{"trace", "trace"},
                                                                           {"debug", "debug"},
                                                                           {"info", "info"},
                                                                           {"warn", "warn"},
                                                                           {"error", "error"},
                                                                           {"off", "off"}});
                                               }},
                                          }};
  return section;
}

// In an order in which names are known before they are referred to.
const Section<Root>& root_section() {
  using session::Transactions;
  static const Section<Root> section = {
      "",
      {
          {"state_directory",
           [](const Place& place, Root& out) {
             read(place, out.config.state_directory);
             place.reading().has_state_directory = true;
           }},
          {"log", [](const Place& place, Root& out) { read_section(place, log_section(), out.config); }},
          {"listeners",
           [](const Place& place, Root& out) { read_listeners(place, out.config.net.listeners); }},
          {"instances",
           [](const Place& place, Root& out) { read_instances(place, out.config.backend.instances); }},
          {"users", [](const Place& place, Root& out) { read_users(place, out.config.session.users); }},
          {"control",
           [](const Place& place, Root& out) { read_section(place, account_section(), out.config.control); }},
          {"generators",
           [](const Place& place, Root& out) { read_generators(place, out.config.generators); }},
          {"worker",
           [](const Place& place, Root& out) {
             read_section(place, worker_section(), out.worker);
             out.worker_given = true;
           }},
          {"registry",
           [](const Place& place, Root& out) {
             read_section(place, registry_section(), out.config.registry);
             out.registry_where = place.where();
           }},
          {"schemas", [](const Place& place, Root& out) { read_schemas(place, out.config.rule.schemas); }},
          {"ids", [](const Place& place, Root& out) { read_ids(place, out.config.ids); }},
          {"admin", [](const Place& place, Root& out) { read_admin(place, out.config.admin); }},
          {"steering", [](const Place& place, Root& out) { read_steering(place, out.config.steering); }},
          {"transactions",
           [](const Place& place, Root& out) {
             read_choice<Transactions>(place, out.config.session.transactions,
                                       {{"best_effort", Transactions::best_effort},
                                        {"single_instance", Transactions::single_instance}});
           }},
          {"pool", [](const Place& place, Root& out) { read_section(place, pool_section(), out.config); }},
          {"limits",
           [](const Place& place, Root& out) { read_section(place, limits_section(), out.config); }},
      }};
  return section;
}

namespace {

template <typename Settings>
KnownKeys keys_of(const Section<Settings>& section) {
  KnownKeys known;
  known.section = section.name;
  for (const auto& field : section.fields) {
    known.keys.emplace_back(field.key);
    if (field.required) known.required.emplace_back(field.key);
  }
  return known;
}

}  // namespace

std::vector<KnownKeys> known_keys() {
  return {keys_of(root_section()),          keys_of(log_section()),           keys_of(tls_section()),
          keys_of(listener_section()),      keys_of(instance_tls_section()),  keys_of(instance_section()),
          keys_of(pool_section()),          keys_of(limits_section()),        keys_of(account_section()),
          keys_of(user_section()),          keys_of(worker_part_section()),   keys_of(layout_section()),
          keys_of(clock_section()),         keys_of(clock_step_section()),    keys_of(clock_watch_section()),
          keys_of(algorithm_section()),     keys_of(gene_section()),          keys_of(generator_section()),
          keys_of(worker_section()),        keys_of(moduli_section()),        keys_of(topology_section()),
          keys_of(generated_key_section()), keys_of(table_section()),         keys_of(schema_section()),
          keys_of(service_user_section()),  keys_of(service_token_section()), keys_of(key_space_section()),
          keys_of(http_section()),          keys_of(ids_section()),           keys_of(admin_user_section()),
          keys_of(admin_token_section()),   keys_of(admin_section()),         keys_of(registry_section()),
          keys_of(registry_tls_section()),  keys_of(segment_section()),       keys_of(allocator_section()),
          keys_of(steered_table_section()), keys_of(steering_section())};
}

}  // namespace evenkeel::config
