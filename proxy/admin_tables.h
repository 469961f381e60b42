// The admin port's answers that come from the configuration, the generators and the data path, as tables of
// values.
#pragma once

#include <optional>

#include "base/metrics/page.h"
#include "base/mysql/result_table.h"
#include "base/result.h"
#include "config/config.h"
#include "idgen/registry/registry.h"
#include "proxy/key_generators.h"
#include "proxy/net/report.h"
#include "proxy/net/server.h"
#include "proxy/skew/operations.h"

namespace evenkeel {

mysql::ResultTable topology_table(const rule::RuleSet& rules);
mysql::ResultTable generators_table(const config::Config& config, const KeyGenerators& generators);
// `records`: those of the registry under "workers/".
mysql::ResultTable workers_table(const std::vector<idgen::KeyedRecord>& records);
mysql::ResultTable sessions_table(const net::LoopReport& report);
mysql::ResultTable pools_table(const config::Config& config, const net::LoopReport& report);
mysql::ResultTable statistics_table(const std::vector<net::Total>& totals, const net::Latencies& latencies,
                                    uint32_t clients);
mysql::ResultTable slow_queries_table(const net::LoopReport& report);
// Without a table: one row for each logical table with a generated key whose layout the id fits.
Result<mysql::ResultTable> decoded_table(const config::Config& config, uint64_t id,
                                         const std::optional<skew::TableName>& table);
// The samples of /metrics. `report`: null when the loops did not answer.
void add_samples(metrics::Page& page, const config::Config& config, const KeyGenerators& generators,
                 const net::Server& server, const net::LoopReport* report, int64_t now_unix_ms);

}  // namespace evenkeel
