#include "proxy/admin_tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/mysql/error_codes.h"
#include "idgen/layout.h"
#include "proxy/ids/generator_samples.h"

namespace evenkeel {

using mysql::ResultTable;
using mysql::Value;
using Kind = mysql::Value::Kind;

namespace {

Value text(std::string value) { return Value::string(std::move(value)); }
Value number(uint64_t value) { return Value::uint64(value); }

// Slow shapes of several loops, the same shape once.
std::vector<session::SlowShape> summed(const std::vector<session::SlowShape>& shapes) {
  std::map<std::pair<std::string, std::string>, session::SlowShape> by_shape;
  for (const auto& shape : shapes) {
    auto [found, is_new] = by_shape.try_emplace({shape.schema, shape.fingerprint}, shape);
    if (is_new) continue;
    session::SlowShape& sum = found->second;
    sum.count += shape.count;
    sum.total_micros += shape.total_micros;
    sum.longest_micros = std::max(sum.longest_micros, shape.longest_micros);
    sum.last_unix_ms = std::max(sum.last_unix_ms, shape.last_unix_ms);
  }
  std::vector<session::SlowShape> out;
  for (auto& [key, shape] : by_shape) out.push_back(std::move(shape));
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.total_micros > b.total_micros; });
  return out;
}

std::vector<Value> decoded_row(const config::Config& config, const rule::LogicalTable& table,
                               const idgen::DecodedId& decoded, uint64_t id) {
  std::vector<Value> row{number(id),
                         text(table.schema + "." + table.name),
                         text(config.find_generator(table.generator)->name),
                         text(decoded.time),
                         number(decoded.parts.worker),
                         text(decoded.worker),
                         number(decoded.parts.sequence)};
  const auto slot = table.algorithm->slot_of(Value::uint64(id));
  if (!table.key_is_generated() || !slot) {
    row.insert(row.end(), 4, Value());
    return row;
  }
  const rule::ActualTable& actual = table.slots[*slot];
  row.push_back(number(*slot));
  row.push_back(text(config.rules->instances()[actual.instance]));
  row.push_back(text(actual.database));
  row.push_back(text(actual.table));
  return row;
}

bool is_named(const rule::LogicalTable& table, const skew::TableName& name) {
  return table.name == name.table && (name.schema.empty() || table.schema == name.schema);
}

}  // namespace

ResultTable topology_table(const rule::RuleSet& rules) {
  ResultTable out{
      {{"schema"}, {"table"}, {"slot", Kind::uint64}, {"instance"}, {"database"}, {"actual_table"}}, {}};
  for (const auto& schema : rules.schemas()) {
    for (const auto& table : schema.tables) {
      for (size_t slot = 0; slot < table->slots.size(); ++slot) {
        const rule::ActualTable& actual = table->slots[slot];
        out.rows.push_back({text(schema.name), text(table->name), number(slot),
                            text(rules.instances()[actual.instance]), text(actual.database),
                            text(actual.table)});
      }
    }
  }
  return out;
}

ResultTable generators_table(const config::Config& config, const KeyGenerators& generators) {
  ResultTable out{{{"table"},
                   {"generator"},
                   {"layout"},
                   {"slots", Kind::uint64},
                   {"ids", Kind::uint64},
                   {"waits", Kind::uint64},
                   {"refusals", Kind::uint64},
                   {"rows_outside_map", Kind::uint64},
                   {"broken_batches", Kind::uint64},
                   {"units_borrowed", Kind::uint64},
                   {"map"}},
                  {}};
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      const auto found = generators.by_table().find(table.get());
      if (found == generators.by_table().end()) continue;
      const idgen::Counters counters = found->second->counters();
      const auto map = found->second->map();
      const idgen::GeneratorSettings& settings = *config.find_generator(table->generator);
      out.rows.push_back(
          {text(schema.name + "." + table->name), text(settings.name),
           text(settings.kind == idgen::GeneratorKind::segment ? "segment"
                                                               : idgen::fingerprint(settings.layout)),
           number(found->second->slots()), number(counters.ids), number(counters.waits),
           number(counters.refusals), number(counters.rows_outside_map), number(counters.broken_batches),
           number(counters.ticks_borrowed),
           text(map == nullptr || map->is_identity()
                    ? "every slot"
                    : fmt::format("{} of {} residues", map->permitted_count(), map->period()))});
    }
  }
  return out;
}

ResultTable workers_table(const std::vector<idgen::KeyedRecord>& records) {
  ResultTable out{{{"generator"}, {"worker"}, {"holder"}, {"reserved_until"}, {"layout"}}, {}};
  for (const auto& [key, record] : records) {
    // "workers/<generator>/<worker>", and lines of "name value".
    const size_t slash = key.rfind('/');
    const size_t first = key.find('/');
    if (slash == first || slash == std::string::npos) continue;
    const auto line = [&value = record.value](const std::string& name) {
      const std::string begin = name + " ";
      for (size_t at = 0; at < value.size();) {
        const size_t end = std::min(value.find('\n', at), value.size());
        if (value.compare(at, begin.size(), begin) == 0)
          return value.substr(at + begin.size(), end - at - begin.size());
        at = end + 1;
      }
      return std::string();
    };
    out.rows.push_back({text(key.substr(first + 1, slash - first - 1)), text(key.substr(slash + 1)),
                        text(line("holder")), text(line("bound_time")), text(line("layout"))});
  }
  return out;
}

ResultTable sessions_table(const net::LoopReport& report) {
  ResultTable out{{{"id", Kind::uint64},
                   {"user"},
                   {"host"},
                   {"schema"},
                   {"state"},
                   {"in_transaction"},
                   {"seconds", Kind::uint64}},
                  {}};
  for (const auto& session : report.sessions) {
    out.rows.push_back({number(session.id), text(session.user), text(session.host), text(session.schema),
                        text(session.state), text(session.in_transaction ? "yes" : "no"),
                        number(static_cast<uint64_t>(session.since.count()))});
  }
  return out;
}

ResultTable pools_table(const config::Config& config, const net::LoopReport& report) {
  ResultTable out{{{"instance"},
                   {"address"},
                   {"limit", Kind::uint64},
                   {"idle", Kind::uint64},
                   {"lent", Kind::uint64},
                   {"opening", Kind::uint64},
                   {"sessions_waiting", Kind::uint64}},
                  {}};
  for (size_t i = 0; i < report.pools.size(); ++i) {
    const auto& instance = config.backend.instances[i];
    const net::PoolFacts& pool = report.pools[i];
    out.rows.push_back({text(instance.name), text(fmt::format("{}:{}", instance.host, instance.port)),
                        number(pool.limit), number(pool.idle), number(pool.lent), number(pool.opening),
                        number(pool.waiting)});
  }
  return out;
}

ResultTable statistics_table(const std::vector<net::Total>& totals, const net::Latencies& latencies,
                             uint32_t clients) {
  ResultTable out{{{"name"}, {"value", Kind::uint64}}, {}};
  out.rows.push_back({text("clients"), number(clients)});
  for (const auto& total : totals) out.rows.push_back({text(total.name), number(total.value)});
  for (size_t i = 0; i < latencies.size(); ++i) {
    const auto name = session::to_string(static_cast<session::StatementClass>(i));
    const metrics::LatencyCounts& counts = latencies[i];
    out.rows.push_back({text(fmt::format("{}_statements", name)), number(counts.count())});
    out.rows.push_back({text(fmt::format("{}_micros_total", name)), number(counts.micros)});
    for (const auto& [label, part] :
         {std::pair("p50", 0.5), std::pair("p95", 0.95), std::pair("p99", 0.99)}) {
      out.rows.push_back(
          {text(fmt::format("{}_micros_{}_at_most", name, label)), number(counts.quantile_micros(part))});
    }
  }
  return out;
}

ResultTable slow_queries_table(const net::LoopReport& report) {
  ResultTable out{{{"schema"},
                   {"statement"},
                   {"count", Kind::uint64},
                   {"total_ms", Kind::uint64},
                   {"longest_ms", Kind::uint64},
                   {"last"}},
                  {}};
  constexpr uint64_t micros_per_ms = 1000;
  for (const auto& shape : summed(report.slow)) {
    out.rows.push_back({text(shape.schema), text(shape.fingerprint), number(shape.count),
                        number(shape.total_micros / micros_per_ms),
                        number(shape.longest_micros / micros_per_ms),
                        text(idgen::format_utc(shape.last_unix_ms))});
  }
  return out;
}

Result<ResultTable> decoded_table(const config::Config& config, uint64_t id,
                                  const std::optional<skew::TableName>& name) {
  ResultTable out{{{"id", Kind::uint64},
                   {"table"},
                   {"generator"},
                   {"time"},
                   {"worker", Kind::uint64},
                   {"worker_parts"},
                   {"sequence", Kind::uint64},
                   {"slot", Kind::uint64},
                   {"instance"},
                   {"database"},
                   {"actual_table"}},
                  {}};
  std::string tables;
  std::optional<Error> refusal;
  bool found = false;
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      const auto* generator = config.find_generator(table->generator);
      if (table->generated_column.empty() || generator == nullptr) continue;
      tables += fmt::format("{}{}.{}", tables.empty() ? "" : ", ", schema.name, table->name);
      if (name && !is_named(*table, *name)) continue;
      found = true;
      if (generator->kind == idgen::GeneratorKind::segment) {
        refusal = config_error(
            fmt::format("ids of generator {} are numbers of segments without fields", generator->name));
        continue;
      }
      auto decoded = idgen::decode(generator->layout, id);
      if (decoded) {
        out.rows.push_back(decoded_row(config, *table, *decoded, id));
      } else {
        refusal = decoded.error();
      }
    }
  }
  if (!found) {
    return fail(make_error(
        ErrorKind::statement, mysql::er::no_such_table,
        fmt::format("no such table with a generated key; there are {}", tables.empty() ? "none" : tables)));
  }
  if (out.rows.empty() && refusal) return fail(*refusal);
  return out;
}

void add_samples(metrics::Page& page, const config::Config& config, const KeyGenerators& generators,
                 const net::Server& server, const net::LoopReport* report, int64_t now_unix_ms) {
  page.gauge("evenkeel_clients", "Connected clients.", {}, server.clients());
  for (const auto& total : server.totals()) {
    page.counter("evenkeel_" + total.name + "_total", "Since the start; see docs/metrics.md.", {},
                 static_cast<double>(total.value));
  }
  const net::Latencies latencies = server.latencies();
  for (size_t i = 0; i < latencies.size(); ++i) {
    page.latency("evenkeel_statement_seconds", "From a statement's arrival to the end of its answer.",
                 {{"class", std::string(session::to_string(static_cast<session::StatementClass>(i)))}},
                 latencies[i]);
  }
  for (size_t i = 0; report != nullptr && i < report->pools.size(); ++i) {
    const std::string& instance = config.backend.instances[i].name;
    const net::PoolFacts& pool = report->pools[i];
    const auto add = [&](const char* state, size_t value) {
      page.gauge("evenkeel_pool_connections", "Connections to the instances.",
                 {{"instance", instance}, {"state", state}}, static_cast<double>(value));
    };
    add("idle", pool.idle);
    add("lent", pool.lent);
    add("opening", pool.opening);
    page.gauge("evenkeel_pool_sessions_waiting", "Sessions that wait for a connection.",
               {{"instance", instance}}, static_cast<double>(pool.waiting));
  }
  const RegistryHealth health = generators.health();
  page.gauge("evenkeel_registry_reachable", "1: the registry answered when it was last asked for its time.",
             {}, health.reachable ? 1 : 0);
  page.counter("evenkeel_renewal_failures_total", "Attempts to renew worker leases that failed.", {},
               static_cast<double>(health.renewal_failures));
  page.gauge("evenkeel_generators_failing",
             "Generators whose last renewal failed; they go on until their reserved time ends.", {},
             health.sources_failing);
  for (const auto& [table, generator] : generators.by_table()) {
    const idgen::GeneratorSettings& settings = *config.find_generator(table->generator);
    std::optional<idgen::Layout> layout;
    if (settings.kind != idgen::GeneratorKind::segment) layout = settings.layout;
    ids::add_generator_samples(page, {{"table", table->schema + "." + table->name}}, *generator, layout,
                               now_unix_ms);
  }
}

}  // namespace evenkeel
