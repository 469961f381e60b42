#include "proxy/demo/schema.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <future>

namespace evenkeel::demo {
namespace {

constexpr uint32_t tables_per_count = 128;
constexpr auto progress_interval = std::chrono::milliseconds(100);

std::string qualified(const ShardedTable& table, uint32_t slot) {
  const Layout& layout = table.layout;
  return fmt::format("`{}`.`{}`", layout.database_name(table.schema, layout.database_of_slot(slot)),
                     layout.table_name(table.name, slot));
}

Status create_on_instance(const Cluster& cluster, const ShardedTable& table, uint32_t instance,
                          std::atomic<uint32_t>& done) {
  const Layout& layout = table.layout;
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(cluster.port(instance), cluster.administrator(), ""));
  if (instance == 0) EVENKEEL_TRY(client.execute(fmt::format("CREATE DATABASE `{}`", table.schema)));
  for (uint32_t i = 0; i < layout.databases; ++i) {
    const uint32_t database = instance * layout.databases + i;
    EVENKEEL_TRY(
        client.execute(fmt::format("CREATE DATABASE `{}`", layout.database_name(table.schema, database))));
  }
  const uint32_t first = instance * layout.slots_per_instance();
  for (uint32_t slot = first; slot < first + layout.slots_per_instance(); ++slot) {
    EVENKEEL_TRY(client.execute(
        fmt::format("CREATE TABLE {} ({}) ENGINE=InnoDB", qualified(table, slot), table.columns)));
    done.fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

Status count_on_instance(const Cluster& cluster, const ShardedTable& table, uint32_t instance,
                         std::vector<uint64_t>& rows) {
  const uint32_t first = instance * table.layout.slots_per_instance();
  const uint32_t end = first + table.layout.slots_per_instance();
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(cluster.port(instance), cluster.administrator(), ""));
  for (uint32_t start = first; start < end; start += tables_per_count) {
    std::string sql;
    for (uint32_t slot = start; slot < std::min(end, start + tables_per_count); ++slot) {
      sql += fmt::format("{}SELECT {}, COUNT(*) FROM {}", sql.empty() ? "" : " UNION ALL ", slot,
                         qualified(table, slot));
    }
    EVENKEEL_ASSIGN(const std::vector<TextRow> counts, client.query(sql));
    for (const TextRow& row : counts) {
      uint32_t slot = 0;
      std::from_chars(row[0]->data(), row[0]->data() + row[0]->size(), slot);
      std::from_chars(row[1]->data(), row[1]->data() + row[1]->size(), rows[slot]);
    }
  }
  return {};
}

}  // namespace

Status create_tables(const Cluster& cluster, const ShardedTable& table, const TableProgress& progress) {
  std::atomic<uint32_t> done = 0;
  std::vector<std::future<Status>> parts;
  for (uint32_t instance = 0; instance < table.layout.instances; ++instance) {
    parts.push_back(std::async(std::launch::async,
                               [&, instance] { return create_on_instance(cluster, table, instance, done); }));
  }
  Status outcome;
  for (std::future<Status>& part : parts) {
    while (part.wait_for(progress_interval) != std::future_status::ready)
      progress(done, table.layout.slots());
    const Status status = part.get();
    if (!status && outcome) outcome = status;
  }
  if (outcome) progress(table.layout.slots(), table.layout.slots());
  return outcome;
}

Result<std::vector<uint64_t>> count_rows(const Cluster& cluster, const ShardedTable& table) {
  std::vector<uint64_t> rows(table.layout.slots());
  std::vector<std::future<Status>> parts;
  for (uint32_t instance = 0; instance < table.layout.instances; ++instance) {
    parts.push_back(std::async(std::launch::async,
                               [&, instance] { return count_on_instance(cluster, table, instance, rows); }));
  }
  Status outcome;
  for (std::future<Status>& part : parts) {
    const Status status = part.get();
    if (!status && outcome) outcome = status;
  }
  if (!outcome) return fail(outcome.error());
  return rows;
}

}  // namespace evenkeel::demo
