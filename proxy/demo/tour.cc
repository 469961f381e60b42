#include "proxy/demo/tour.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>
#include <vector>

#include "base/mysql/error_codes.h"
#include "proxy/demo/cluster.h"
#include "proxy/demo/drawing.h"
#include "proxy/demo/io_error.h"
#include "proxy/demo/progress_line.h"
#include "proxy/demo/proxy_process.h"
#include "proxy/demo/schema.h"
#include "proxy/demo/skew_tour.h"
#include "proxy/demo/stop_signal.h"

namespace evenkeel::demo {
namespace fs = std::filesystem;
namespace {

using Steady = std::chrono::steady_clock;

constexpr int bar_width = 40;
constexpr size_t cells_in_a_line = 64;
constexpr size_t lines_of_cells_max = 16;
constexpr auto watch_interval = std::chrono::milliseconds(250);

double seconds_since(Steady::time_point begun) {
  return std::chrono::duration<double>(Steady::now() - begun).count();
}

Error ended(const std::string& what, const fs::path& log) {
  return make_error(
      ErrorKind::io, mysql::er::unknown_error,
      fmt::format("{} ended by itself; the last lines of its log:\n{}", what, last_lines(log, 12)));
}

// The stages of one tour, in order; the members are what stands so far.
class Tour {
 public:
  explicit Tour(const DemoOptions& options) : options_(options) {
    table_.layout = options.layout;
    table_.steered = options.skew;
  }

  Status run();

 private:
  Status start_servers();
  Status make_tables();
  Status start_proxy();
  Status insert_rows();
  Status make_uneven();
  Status even_out();
  Status show_rows();
  Status read_back();
  void print_how_to_try() const;
  Status serve();
  void clean_up();

  uint64_t rows_to_insert() const {
    const uint64_t slots = table_.layout.slots();
    return options_.rows.value_or(slots <= 128 ? slots * 100 : std::max<uint64_t>(12'800, slots * 4));
  }
  std::string where_is(uint32_t slot) const {
    const Layout& layout = table_.layout;
    return fmt::format("instance{}, {}.{}", layout.instance_of_slot(slot) + 1,
                       layout.database_name(table_.schema, layout.database_of_slot(slot)),
                       layout.table_name(table_.name, slot));
  }

  const DemoOptions& options_;
  StopSignal stop_;
  DrawingStyle style_ = style_of_terminal();
  ShardedTable table_;
  std::unique_ptr<Cluster> cluster_;
  std::optional<ProxyProcess> proxy_;
  int64_t last_id_ = 0;
};

Status Tour::run() {
  using Stage = Status (Tour::*)();
  const std::vector<Stage> stages =
      options_.skew
          ? std::vector<Stage>{&Tour::start_servers, &Tour::make_tables, &Tour::make_uneven, &Tour::show_rows,
                               &Tour::start_proxy,   &Tour::even_out,    &Tour::show_rows}
          : std::vector<Stage>{&Tour::start_servers, &Tour::make_tables, &Tour::start_proxy,
                               &Tour::insert_rows,   &Tour::show_rows,   &Tour::read_back};
  Status outcome;
  for (const Stage stage : stages) {
    if (stop_.came() || !outcome) break;
    outcome = (this->*stage)();
  }
  if (outcome && !stop_.came()) {
    print_how_to_try();
    if (!options_.once) outcome = serve();
  }
  clean_up();
  return outcome;
}

Status Tour::start_servers() {
  EVENKEEL_TRY(make_private_folder(options_.state));
  const int abandoned = remove_abandoned_clusters(options_.state);
  if (abandoned > 0) fmt::print("Removed {} left over from a demo that was cut off.\n", abandoned);
  const Layout& layout = table_.layout;
  ProgressLine line("servers", style_);
  ClusterOptions cluster;
  cluster.server = options_.server;
  cluster.instances = layout.instances;
  cluster.tables_per_instance = layout.slots_per_instance();
  cluster.cache = options_.cache;
  cluster.folder = options_.state / fmt::format("demo-{}", getpid());
  cluster.keep = options_.keep;
  cluster.granted_schemas = {table_.schema, table_.schema + "\\_%"};
  cluster.progress = [&](std::string_view what) { line.update(what); };
  EVENKEEL_ASSIGN(cluster_, Cluster::start(cluster));
  std::string ports;
  for (size_t i = 0; i < cluster_->size(); ++i)
    ports += fmt::format("{}{}", i > 0 ? ", " : "", cluster_->port(i));
  line.finish(fmt::format("{} real {} servers, version {}, on ports {}", cluster_->size(),
                          to_string(cluster_->program().kind), cluster_->program().version, ports));
  return {};
}

Status Tour::make_tables() {
  const Layout& layout = table_.layout;
  ProgressLine line("tables", style_);
  EVENKEEL_TRY(create_tables(*cluster_, table_, [&](uint32_t done, uint32_t all) {
    line.update(fmt::format("{} {} of {}", draw_progress(done, all, bar_width, style_), with_commas(done),
                            with_commas(all)));
  }));
  line.finish(fmt::format("{} tables {}..{} in {} databases, {} on each server", with_commas(layout.slots()),
                          layout.table_name(table_.name, 0),
                          layout.table_name(table_.name, layout.slots() - 1), layout.databases_in_all(),
                          with_commas(layout.slots_per_instance())));
  return {};
}

Status Tour::start_proxy() {
  ProgressLine line("proxy", style_);
  line.update("evenkeel serve");
  EVENKEEL_ASSIGN(const fs::path program, [&]() -> Result<fs::path> {
    std::error_code cause;
    const fs::path found = fs::canonical(options_.program, cause);
    if (cause) return fail(io_error("find", options_.program, cause));
    return found;
  }());
  EVENKEEL_ASSIGN(proxy_, ProxyProcess::start(program, *cluster_, table_));
  line.finish(fmt::format("Evenkeel on port {} looks like one MySQL server", proxy_->port()));
  if (options_.skew) {
    fmt::print("Watch it: http://127.0.0.1:{}/ as {} with the password {}\n", proxy_->ports().dashboard,
               proxy_->operating_account().user, proxy_->operating_account().password);
    std::fflush(stdout);
  }
  return {};
}

Status Tour::insert_rows() {
  const uint64_t all = rows_to_insert();
  ProgressLine line("inserts", style_);
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(proxy_->port(), proxy_->account(), table_.schema));
  const Steady::time_point begun = Steady::now();
  uint64_t done = 0;
  for (; done < all && !stop_.came(); ++done) {
    EVENKEEL_TRY(client.execute(fmt::format(
        "INSERT INTO {} (user_id, amount, qty, region, created_at) VALUES ({}, {}.{:02}, {}, '{}', NOW(3))",
        table_.name, done % 1000, done % 500, done % 100, 1 + done % 9, done % 2 == 0 ? "eu" : "us")));
    if (options_.rate > 0) {
      const auto due = begun + std::chrono::duration<double>(static_cast<double>(done + 1) / options_.rate);
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Steady::now());
      if (left.count() > 0) stop_.wait_for(left);
    }
    if (line.is_due()) {
      line.update(fmt::format("{} {} of {}, {:.0f} a second", draw_progress(done, all, bar_width, style_),
                              with_commas(done), with_commas(all),
                              static_cast<double>(done) / seconds_since(begun)));
    }
  }
  EVENKEEL_ASSIGN(last_id_, client.query_integer("SELECT LAST_INSERT_ID()"));
  line.finish(fmt::format("{} rows, one INSERT each and none with an id, {:.0f} a second", with_commas(done),
                          static_cast<double>(done) / seconds_since(begun)));
  return {};
}

Status Tour::make_uneven() {
  const auto rest = static_cast<uint32_t>(rows_to_insert() * 10 / table_.layout.slots());
  ProgressLine line("skew", style_);
  EVENKEEL_TRY(fill_unevenly(*cluster_, table_, 2 * rest, rest, line));
  line.finish(fmt::format("{} rows in each table of instance1, {} in each of the others",
                          with_commas(2 * rest), with_commas(rest)));
  return {};
}

Status Tour::even_out() {
  ProgressLine line("steering", style_);
  EVENKEEL_ASSIGN(const uint64_t rows, insert_until_even(*cluster_, table_, *proxy_, stop_, style_, line));
  line.finish(fmt::format("{} rows, one INSERT each and none with an id, until it ended by itself",
                          with_commas(rows)));
  fmt::print("\nWhat the proxy said\n");
  const std::string words = steering_words(*proxy_);
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = words.find('\n', begin);
    const std::string_view word = std::string_view(words).substr(begin, end - begin);
    if (word.find("re-weighted") == std::string_view::npos) fmt::print("  {}\n", word);
    begin = end + 1;
  }
  return {};
}

Status Tour::show_rows() {
  EVENKEEL_ASSIGN(const std::vector<uint64_t> rows, count_rows(*cluster_, table_));
  const Layout& layout = table_.layout;
  std::vector<Bar> bars;
  for (uint32_t instance = 0; instance < layout.instances; ++instance) {
    const uint32_t first = instance * layout.slots_per_instance();
    uint64_t sum = 0;
    for (uint32_t slot = first; slot < first + layout.slots_per_instance(); ++slot) sum += rows[slot];
    bars.push_back({fmt::format("instance{}", instance + 1), sum,
                    fmt::format("rows in tables {}-{}", first, first + layout.slots_per_instance() - 1)});
  }
  fmt::print("\nRows on each server, counted there\n");
  for (const std::string& line : draw_bars(bars, bar_width, style_)) fmt::print("  {}\n", line);

  size_t columns = layout.slots_per_instance();
  while (columns > cells_in_a_line && columns % 2 == 0) columns /= 2;
  size_t per_cell = 1;
  while (rows.size() / (per_cell * columns) > lines_of_cells_max &&
         rows.size() % (2 * per_cell * columns) == 0) {
    per_cell *= 2;
  }
  std::vector<std::string> labels;
  for (size_t slot = 0; slot < rows.size(); slot += per_cell * columns) {
    labels.push_back(fmt::format("tables {:>4}-{:<4}", slot, slot + per_cell * columns - 1));
  }
  const Spread spread = spread_of(rows);
  fmt::print("\nRows in each table: fewest {}, mean {:.1f}, most {}; variation {:.1f} %\n",
             with_commas(spread.fewest), spread.mean, with_commas(spread.most), spread.variation * 100);
  fmt::print("  one cell is {}; a full cell is twice the mean\n",
             per_cell == 1 ? "one table" : fmt::format("{} tables", per_cell));
  for (const std::string& line : draw_cells(rows, per_cell, columns, labels, style_))
    fmt::print("  {}\n", line);
  return {};
}

Status Tour::read_back() {
  if (last_id_ == 0) return {};
  const std::string sql = fmt::format("SELECT id, user_id, amount, region, created_at FROM {} WHERE id = {}",
                                      table_.name, last_id_);
  EVENKEEL_ASSIGN(SqlClient client, SqlClient::connect(proxy_->port(), proxy_->account(), table_.schema));
  EVENKEEL_ASSIGN(const std::vector<TextRow> rows, client.query(sql));
  if (rows.size() != 1) {
    return fail(internal_error(fmt::format("{} found {} rows instead of one", sql, rows.size())));
  }
  std::string shown;
  for (const auto& cell : rows[0])
    shown += fmt::format("{}{}", shown.empty() ? "" : " | ", cell.value_or("NULL"));
  const auto slot = static_cast<uint32_t>(static_cast<uint64_t>(last_id_) % table_.layout.slots());
  fmt::print("\nThe last row, read back through the proxy by the id it was given\n");
  fmt::print("  {}\n  {}\n", sql, shown);
  fmt::print("  {} modulo {} is {}: {}\n", last_id_, with_commas(table_.layout.slots()), slot,
             where_is(slot));
  EVENKEEL_ASSIGN(const int64_t count,
                  client.query_integer(fmt::format("SELECT COUNT(*) FROM {}", table_.name)));
  fmt::print("  SELECT COUNT(*) FROM {}: {} in all {} tables\n", table_.name,
             with_commas(static_cast<uint64_t>(count)), with_commas(table_.layout.slots()));
  return {};
}

void Tour::print_how_to_try() const {
  if (options_.once) {
    fmt::print(
        "\nWithout --once it would serve on, for any MySQL client and, in a browser, for operators.\n");
    return;
  }
  fmt::print("\nTry it from another terminal\n");
  fmt::print("  mariadb -h 127.0.0.1 -P {} -u {} -p{} {}\n", proxy_->port(), proxy_->account().user,
             proxy_->account().password, table_.schema);
  fmt::print("  INSERT INTO {} (user_id, amount) VALUES (7, 9.99); SELECT LAST_INSERT_ID();\n", table_.name);
  if (last_id_ != 0) fmt::print("  EXPLAIN ROUTE SELECT * FROM {} WHERE id = {};\n", table_.name, last_id_);
  fmt::print("What operators see and do: http://127.0.0.1:{}/ as {} with the password {}\n",
             proxy_->ports().dashboard, proxy_->operating_account().user,
             proxy_->operating_account().password);
  fmt::print("  mariadb -h 127.0.0.1 -P {} -u {} -p{} -e \"SHOW SKEW\"\n", proxy_->ports().admin,
             proxy_->operating_account().user, proxy_->operating_account().password);
  fmt::print("The proxy's configuration is {}\n", proxy_->configuration().string());
  std::fflush(stdout);
}

Status Tour::serve() {
  fmt::print("\nServing until Ctrl-C.\n");
  std::fflush(stdout);
  while (!stop_.wait_for(watch_interval)) {
    if (!proxy_->running()) return fail(ended("the proxy", proxy_->log()));
    const int instance = cluster_->first_ended();
    if (instance >= 0) return fail(ended(fmt::format("instance{}", instance + 1), cluster_->log(instance)));
  }
  return {};
}

void Tour::clean_up() {
  if (!cluster_) return;
  const size_t count = cluster_->size();
  const fs::path folder = cluster_->folder();
  fmt::print("\nStopping {}{} servers\n", proxy_ ? "the proxy and " : "", count);
  std::fflush(stdout);
  proxy_.reset();
  cluster_->stop();
  fmt::print("{} {}\n", options_.keep ? "Kept" : "Removed", folder.string());
}

}  // namespace

Status run_demo(const DemoOptions& options) {
  Tour tour(options);
  return tour.run();
}

}  // namespace evenkeel::demo
