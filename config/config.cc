#include "config/config.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "config/read_file.h"
#include "config/sections.h"
#include "idgen/gene.h"

namespace evenkeel::config {
namespace {

bool keeps_files(const idgen::RegistrySettings& registry) {
  return registry.provider == idgen::RegistryProvider::file;
}

// A configuration is of a proxy, of an id service, or of both in one file.
void check_kind(const Place& root, const Config& config) {
  const auto has = [&](std::string_view key) {
    return std::any_of(root.node().pairs.begin(), root.node().pairs.end(),
                       [&](const auto& pair) { return pair.key.text == key; });
  };
  const auto any = std::any_of(std::begin(keys_of_the_proxy), std::end(keys_of_the_proxy), has);
  if (config.ids.given && !any) return;
  for (const std::string_view key : keys_of_the_proxy) {
    if (!has(key)) root.fault(fmt::format("the key {} is missing", key));
  }
}

// What no single key can be blamed for.
void check_whole(const Place& root, Root& out) {
  Config& config = out.config;
  check_kind(root, config);
  if (config.net.client_write_low_mark > config.net.client_write_high_mark) {
    root.fault("limits: client_write_low_mark is above client_write_high_mark");
  }
  const bool no_worker =
      std::all_of(config.generators.begin(), config.generators.end(),
                  [](const auto& generator) { return generator.kind != idgen::GeneratorKind::snowflake; });
  if (no_worker) return;
  if (!out.worker_given) {
    root.fault(
        "worker: generators need a worker id: write worker: {id: 3} with a number that no other proxy uses, "
        "or "
        "worker: {id: lease}");
  }
  for (const auto& [name, value] : out.worker.part_values) {
    const auto has_part = [&wanted = name](const idgen::WorkerPart& part) { return part.name == wanted; };
    const bool known = std::any_of(config.generators.begin(), config.generators.end(),
                                   [&](const idgen::GeneratorSettings& generator) {
                                     const auto& parts = generator.layout.worker_parts;
                                     return std::any_of(parts.begin(), parts.end(), has_part);
                                   });
    if (!known) root.fault(fmt::format("worker.parts: no layout has a part {}", name));
  }
  if (keeps_files(config.registry) && config.registry.directory.empty() && config.state_directory.empty()) {
    root.fault(
        "state_directory is missing: generators keep their worker id and the last reserved time there");
  }
}

// What `worker` says for all generators holds where a layout has such a part and the generator gave it no
// value. One that does not fit is left to the check of the layout.
void fill_part(idgen::Layout& layout, const std::string& name, uint32_t value) {
  for (auto& part : layout.worker_parts)
    if (part.name == name && !part.value) part.value = value;
}

std::vector<std::string> registry_errors(Root& root) {
  idgen::RegistrySettings& registry = root.config.registry;
  if (keeps_files(registry) && registry.directory.empty() && !root.config.state_directory.empty())
    registry.directory = root.config.state_directory + "/registry";
  std::vector<std::string> errors;
  if (root.registry_where.empty()) return errors;
  for (const auto& text : idgen::check_registry(registry))
    errors.push_back(fmt::format("{}: {}", root.registry_where, text));
  return errors;
}

void share_worker(Root& root) {
  if (root.worker.window_ms == 0)
    root.worker.window_ms = idgen::default_window_ms(root.config.registry.provider);
  if (root.worker.renew_ms == 0) root.worker.renew_ms = idgen::default_renew_ms(root.worker.window_ms);
  for (auto& generator : root.config.generators) {
    generator.worker = root.worker;
    for (const auto& [name, value] : root.worker.part_values) fill_part(generator.layout, name, value);
  }
}

// Each generator by itself: its layout, its worker id.
std::vector<std::string> generator_errors(const Config& config, const Reading& reading, int64_t now_unix_ms) {
  std::vector<std::string> errors;
  for (size_t i = 0; i < config.generators.size(); ++i) {
    for (const auto& text : idgen::check_settings(config.generators[i], 1, now_unix_ms).errors) {
      errors.push_back(fmt::format("{}: {}", reading.generator_places[i], text));
    }
  }
  return errors;
}

void add_gene_faults(const rule::TableSettings& from, const idgen::GeneratorSettings& generator,
                     uint32_t slots, std::vector<std::string>& errors, std::vector<std::string>& warnings) {
  using Method = rule::GeneSettings::Method;
  idgen::Gene gene{idgen::GeneMethod::shared, from.gene.modulus};
  if (from.gene.method == Method::blocks) gene.method = idgen::GeneMethod::blocks;
  if (from.gene.method == Method::classes) gene.method = idgen::GeneMethod::classes;
  if (generator.kind == idgen::GeneratorKind::segment) {
    // Any number may be looked for in a segment; there are no units in which to count by itself.
    if (gene != idgen::Gene{})
      errors.push_back(
          fmt::format("{}: generated_key.gene: generator {} counts in segments, which know the "
                      "method shared and no modulus",
                      from.where, generator.name));
    return;
  }
  if (from.gene == rule::GeneSettings{}) return;
  const auto report = idgen::check_gene(gene, generator.layout, slots);
  for (const auto& text : report.errors) errors.push_back(fmt::format("{}: {}", from.where, text));
  for (const auto& text : report.warnings) warnings.push_back(fmt::format("{}: {}", from.where, text));
}

// Each generator against each table that it fills: an id layout may be too short for the number of tables.
std::vector<std::string> filling_errors(Config& config, int64_t now_unix_ms) {
  std::vector<std::string> errors;
  for (const auto& schema : config.rule.schemas) {
    for (const auto& from : schema.tables) {
      const auto* generator = config.find_generator(from.generator);
      if (generator == nullptr) continue;
      const rule::LogicalTable& table = *config.rules->find_table(schema.name, from.name);
      const auto report = idgen::check_settings(*generator, table.slot_count(), now_unix_ms);
      for (const auto& text : report.errors) {
        errors.push_back(fmt::format("{}: generator {}: {}", from.where, generator->name, text));
      }
      for (const auto& text : report.warnings) {
        config.warnings.push_back(fmt::format("{}: generator {}: {}", from.where, generator->name, text));
      }
      if (!table.key_is_generated()) {
        add_gene_faults(from, *generator, table.slot_count(), errors, config.warnings);
        config.warnings.push_back(
            fmt::format("{}: the table is sharded by {}, its generated key {} carries that column's slot: "
                        "steering does not apply",
                        from.where, table.key_column, table.generated_column));
      } else if (!table.algorithm->steerable()) {
        config.warnings.push_back(
            fmt::format("{}: the generated key is sharded by {}: steering does not apply", from.where,
                        table.algorithm->name()));
      }
    }
  }
  for (const auto& space : config.ids.service.key_spaces) {
    const auto* generator = config.find_generator(space.generator);
    if (generator == nullptr) continue;
    const auto report = idgen::check_settings(*generator, space.slots, now_unix_ms);
    for (const auto& text : report.errors) {
      errors.push_back(fmt::format("ids: key space {}: generator {}: {}", space.name, generator->name, text));
    }
    for (const auto& text : report.warnings) {
      config.warnings.push_back(
          fmt::format("ids: key space {}: generator {}: {}", space.name, generator->name, text));
    }
  }
  return errors;
}

std::string join_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// Tables under `steering` must be there; that new rows of one cannot be steered deserves a look.
void check_steered_tables(Config& config, std::vector<std::string>& errors) {
  std::string known;
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables)
      known += fmt::format("{}{}.{}", known.empty() ? "" : ", ", table->schema, table->name);
  }
  for (const auto& settings : config.steering.tables) {
    const auto table = config.rules->find_table(settings.schema, settings.table);
    if (table == nullptr) {
      errors.push_back(fmt::format("{}: there is no sharded table {}.{}; sharded are: {}", settings.where,
                                   settings.schema, settings.table, known.empty() ? "none" : known));
    } else if (settings.mode != skew::Mode::off &&
               !(table->key_is_generated() && table->algorithm->steerable())) {
      config.warnings.push_back(fmt::format(
          "{}: mode {} of {}.{}, whose new rows cannot be steered: it is measured only", settings.where,
          settings.mode == skew::Mode::automatic ? "auto" : "advise", table->schema, table->name));
    }
  }
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    if (const char* value = std::getenv(name.c_str())) return std::string(value);
    const char* path = std::getenv((name + "_FILE").c_str());
    if (path == nullptr) return std::nullopt;
    auto text = read_file(path);
    if (!text) return std::nullopt;
    // An editor's end of line is no part of a secret.
    if (text->ends_with('\n')) text->pop_back();
    if (text->ends_with('\r')) text->pop_back();
    return std::move(*text);
  };
}

const idgen::GeneratorSettings* Config::find_generator(std::string_view name) const {
  for (const auto& generator : generators) {
    if (generator.name == name) return &generator;
  }
  return nullptr;
}

Result<Config> parse(std::string_view text, const std::string& source, const Environment& environment,
                     int64_t now_unix_ms) {
  EVENKEEL_ASSIGN(const Node tree, parse_yaml(text, source));
  Reading reading(source, environment);
  const Place place(tree, "", reading);
  Root root;
  read_section(place, root_section(), root);
  if (tree.kind == Node::Kind::map) check_whole(place, root);
  if (!reading.clean()) return fail(reading.to_error());

  share_worker(root);
  Config& config = root.config;
  config.source = source;
  config.rule.instances = reading.instances;
  if (config.backend.instances.empty()) {
    config.rules = rule::RuleSet::none();
  } else {
    EVENKEEL_ASSIGN(config.rules, rule::RuleSet::build(config.rule));
  }
  std::vector<std::string> errors = registry_errors(root);
  for (auto& error : generator_errors(config, reading, now_unix_ms)) errors.push_back(std::move(error));
  if (errors.empty()) errors = filling_errors(config, now_unix_ms);
  check_steered_tables(config, errors);
  if (!errors.empty()) return fail(config_error(join_lines(errors)));
  return std::move(config);
}

Result<Config> load(const std::string& path, const Environment& environment, int64_t now_unix_ms) {
  EVENKEEL_ASSIGN(const std::string text, read_file(path));
  return parse(text, path, environment, now_unix_ms);
}

}  // namespace evenkeel::config
