// The demo's tables on a cluster, and how many rows each of them holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/demo/cluster.h"
#include "proxy/demo/layout.h"

namespace evenkeel::demo {

// One logical table, spread over a cluster by a layout.
struct ShardedTable {
  Layout layout;
  std::string schema =
      "shop";  // databases are shop_00, shop_01 …; an empty `shop` is made on the first instance
  std::string name = "orders";  // tables are orders_000, orders_001 …
  // The proxy steers new rows of the table until it is even.
  bool steered = false;
  // What stands between the parentheses of CREATE TABLE.
  std::string columns =
      "id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, amount DECIMAL(12,2), qty INT, region "
      "VARCHAR(8), "
      "ref_no VARCHAR(32), created_at DATETIME(3)";
};

// `done` of `all` tables exist; called about ten times a second from the calling thread.
using TableProgress = std::function<void(uint32_t done, uint32_t all)>;

// Makes databases and tables, all instances at the same time. The cluster must have layout.instances servers.
Status create_tables(const Cluster& cluster, const ShardedTable& table, const TableProgress& progress);

// Exact rows of every slot, read from the servers themselves.
Result<std::vector<uint64_t>> count_rows(const Cluster& cluster, const ShardedTable& table);

}  // namespace evenkeel::demo
