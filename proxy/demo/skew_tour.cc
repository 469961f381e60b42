#include "proxy/demo/skew_tour.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <future>

#include "base/mysql/error_codes.h"
#include "proxy/demo/sql_client.h"

namespace evenkeel::demo {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint32_t rows_per_insert = 500;
constexpr int clients = 4;
constexpr auto look_interval = std::chrono::milliseconds(500);
constexpr auto patience = std::chrono::minutes(10);

Status fill_instance(const Cluster& cluster, const ShardedTable& table, uint32_t instance, uint32_t rows) {
  const Layout& layout = table.layout;
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(cluster.port(instance), cluster.administrator(), ""));
  const uint32_t first = instance * layout.slots_per_instance();
  for (uint32_t slot = first; slot < first + layout.slots_per_instance(); ++slot) {
    for (uint32_t done = 0; done < rows; done += rows_per_insert) {
      std::string values;
      for (uint32_t row = done; row < std::min(rows, done + rows_per_insert); ++row) {
        values += fmt::format("{}({},{})", values.empty() ? "" : ",",
                              slot + uint64_t{layout.slots()} * (row + 1), row % 1000);
      }
      EVENKEEL_TRY(
          client.execute(fmt::format("INSERT INTO `{}`.`{}` (id, user_id) VALUES {}",
                                     layout.database_name(table.schema, layout.database_of_slot(slot)),
                                     layout.table_name(table.name, slot), values)));
    }
  }
  return {};
}

bool has_ended(const ProxyProcess& proxy) {
  return steering_words(proxy).find("steering off") != std::string::npos;
}

bool has_begun(const ProxyProcess& proxy) {
  return steering_words(proxy).find("steering on") != std::string::npos;
}

Status insert_rows_until(const ProxyProcess& proxy, const ShardedTable& table,
                         const std::atomic<bool>& stopping, std::atomic<uint64_t>& rows) {
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(proxy.port(), proxy.account(), table.schema));
  while (!stopping.load(std::memory_order_relaxed)) {
    EVENKEEL_TRY(
        client.execute(fmt::format("INSERT INTO {} (user_id, amount) VALUES (7, 9.99)", table.name)));
    rows.fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

// All tables in one line, neighbours of a database or more to a cell.
std::string picture_of(std::span<const uint64_t> rows, DrawingStyle style) {
  constexpr size_t cells = 32;
  const size_t per_cell = std::max<size_t>(1, rows.size() / cells);
  const std::string nothing;
  const auto lines =
      draw_cells(rows, per_cell, (rows.size() + per_cell - 1) / per_cell, {&nothing, 1}, style);
  // Behind the empty label.
  return lines.empty() ? nothing : lines.front().substr(2);
}

}  // namespace

std::string steering_words(const ProxyProcess& proxy) {
  std::ifstream log(proxy.log());
  std::string words;
  constexpr std::string_view mark = "steering: ";
  for (std::string line; std::getline(log, line);) {
    const size_t at = line.find(mark);
    if (at != std::string::npos) words += line.substr(at + mark.size()) + "\n";
  }
  return words;
}

Status fill_unevenly(const Cluster& cluster, const ShardedTable& table, uint32_t full, uint32_t rest,
                     ProgressLine& line) {
  line.update("filling the tables, past the proxy");
  std::vector<std::future<Status>> parts;
  for (uint32_t instance = 0; instance < table.layout.instances; ++instance) {
    parts.push_back(std::async(std::launch::async, [&, instance] {
      return fill_instance(cluster, table, instance, instance == 0 ? full : rest);
    }));
  }
  Status outcome;
  for (std::future<Status>& part : parts) {
    const Status status = part.get();
    if (!status && outcome) outcome = status;
  }
  return outcome;
}

Result<uint64_t> insert_until_even(const Cluster& cluster, const ShardedTable& table, ProxyProcess& proxy,
                                   StopSignal& stop, DrawingStyle style, ProgressLine& line) {
  const auto deadline = Steady::now() + patience;
  std::atomic<bool> stopping = false;
  std::atomic<uint64_t> rows = 0;
  std::vector<std::future<Status>> fills;
  Status outcome;
  while (outcome && !stop.came() && !has_ended(proxy)) {
    if (!proxy.running() || Steady::now() > deadline) {
      outcome = fail(make_error(ErrorKind::io, mysql::er::unknown_error,
                                fmt::format("the proxy {}; it said of steering:\n{}",
                                            proxy.running() ? "is still steering after 10 minutes" : "ended",
                                            steering_words(proxy))));
      break;
    }
    if (fills.empty() && has_begun(proxy)) {
      for (int i = 0; i < clients; ++i) {
        fills.push_back(
            std::async(std::launch::async, [&] { return insert_rows_until(proxy, table, stopping, rows); }));
      }
    }
    auto counted = count_rows(cluster, table);
    if (!counted) {
      outcome = fail(std::move(counted.error()));
      break;
    }
    const Spread spread = spread_of(*counted);
    line.update(fmt::format("{}  {} rows came; fewest {}, mean {:.0f}, most {}: max/mean {:.3f}",
                            picture_of(*counted, style), with_commas(rows.load()), with_commas(spread.fewest),
                            spread.mean, with_commas(spread.most),
                            static_cast<double>(spread.most) / spread.mean));
    for (auto& fill : fills) {
      if (fill.valid() && fill.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        stopping = true;
    }
    if (stopping) break;
    stop.wait_for(look_interval);
  }
  stopping = true;
  for (auto& fill : fills) {
    const Status status = fill.get();
    if (!status && outcome) outcome = status;
  }
  if (!outcome) return fail(outcome.error());
  return rows.load();
}

}  // namespace evenkeel::demo
