#include "proxy/admin/dashboard/routes.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/admin/dashboard/json.h"
#include "proxy/admin/dashboard/page_files.h"

namespace evenkeel::admin {

using answer::Rights;
using http::Call;
using http::Outcome;
using nlohmann::json;
using skew::TableName;

namespace {

// Everything the page is made of comes from the proxy itself, and no other page may frame it.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::string_view bearer = "Bearer ";

Outcome refuse(int status, std::string_view message) { return {http::error_response(status, message)}; }

Outcome refusal(const Error& error) {
  switch (error.kind) {
    case ErrorKind::registry:
    case ErrorKind::backend:
    case ErrorKind::io:
      return refuse(503, error.message);
    case ErrorKind::internal:
      return refuse(500, error.message);
    case ErrorKind::auth:
      return refuse(403, error.message);
    default:
      return refuse(error.code == mysql::er::no_such_table ? 404 : 422, error.message);
  }
}

std::string type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

Outcome page_file(std::string_view name) {
  const auto files = page_files();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const PageFile& file) { return file.name == name; });
  if (found == files.end()) return refuse(404, "nothing is here");
  http::Response response = http::text_response(std::string(found->content), type_of(name));
  response.headers.emplace_back("Content-Security-Policy", page_policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  return {std::move(response)};
}

json caller_json(const answer::Caller& caller, const DashboardParts& parts) {
  return {{"user", caller.user},
          {"rights", caller.rights >= Rights::operate ? "operate" : "read"},
          {"proxy", parts.proxy}};
}

Outcome open_session(const DashboardParts& parts, const Call& call) {
  // A token that gave another one would live for ever.
  if (!call.request.header("authorization").starts_with("Basic "))
    return refuse(400, "a session is opened with user and password (Authorization: Basic)");
  json session = caller_json(call.caller, parts);
  session["token"] = parts.sessions->open(call.caller);
  return {http::json_response(session)};
}

Outcome close_session(const DashboardParts& parts, const Call& call) {
  const std::string_view authorization = call.request.header("authorization");
  if (authorization.starts_with(bearer)) parts.sessions->close(authorization.substr(bearer.size()));
  http::Response response;
  response.status = 204;
  return {std::move(response)};
}

std::string all_names(const skew::Figures& figures) {
  std::string names;
  for (const TableName& table : figures.tables())
    names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", table.schema, table.table);
  return names.empty() ? "none" : names;
}

// The table that `schema` and `table` name, or why there is none.
Result<TableName> known_table(const skew::Figures& figures, const TableName& wanted) {
  const std::vector<TableName> tables = figures.tables();
  if (std::find(tables.begin(), tables.end(), wanted) != tables.end()) return wanted;
  return fail(make_error(ErrorKind::statement, mysql::er::no_such_table,
                         fmt::format("there is no sharded table '{}.{}'; those that exist: {}", wanted.schema,
                                     wanted.table, all_names(figures))));
}

Result<TableName> table_of(const DashboardParts& parts, const Call& call) {
  const auto& query = call.request.query;
  const auto schema = query.find("schema");
  const auto table = query.find("table");
  return known_table(*parts.figures, {schema == query.end() ? "" : schema->second,
                                      table == query.end() ? "" : table->second});
}

// What `ask` makes of the table that the query names.
template <typename Ask>
http::Router::Respond about_table(const DashboardParts& parts, Ask ask) {
  return [parts, ask](const Call& call) -> Outcome {
    const auto table = table_of(parts, call);
    if (!table) return refusal(table.error());
    const Result<json> body = ask(parts, *table, call);
    return body ? Outcome{http::json_response(*body)} : refusal(body.error());
  };
}

Outcome all_tables(const DashboardParts& parts) {
  json::array_t tables;
  int64_t at = 0;
  for (const TableName& name : parts.figures->tables()) {
    const auto figures = parts.figures->figures(name);
    if (!figures) return refusal(figures.error());
    at = std::max<int64_t>(at, figures->at.time_since_epoch().count());
    tables.push_back(summary_json(*figures));
  }
  return {http::json_response({{"at_ms", at}, {"tables", std::move(tables)}})};
}

Result<json> layout(const DashboardParts& parts, const TableName& name, const Call&) {
  const rule::LogicalTable* table = parts.rules->find_table(name.schema, name.table);
  if (table == nullptr) return fail(internal_error("a table with figures and without rules"));
  return layout_json(*parts.rules, *table);
}

Result<json> figures(const DashboardParts& parts, const TableName& name, const Call&) {
  EVENKEEL_ASSIGN(const skew::TableFigures figures, parts.figures->figures(name));
  return figures_json(figures);
}

Result<json> history(const DashboardParts& parts, const TableName& name, const Call&) {
  EVENKEEL_ASSIGN(const auto points, parts.figures->skew_over_time(name));
  return history_json(points);
}

Result<json> explanation(const DashboardParts& parts, const TableName& name, const Call& call) {
  std::optional<uint32_t> slot;
  if (const auto found = call.request.query.find("slot"); found != call.request.query.end()) {
    uint32_t number = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, number);
    if (error != std::errc() || stop != end)
      return fail(
          make_error(ErrorKind::statement, mysql::er::parse_error, "slot must be the number of a table"));
    slot = number;
  }
  EVENKEEL_ASSIGN(const auto table, parts.operations->explain(name, slot));
  return table_of_values(table);
}

Outcome as_table(const Result<mysql::ResultTable>& table) {
  return table ? Outcome{http::json_response(table_of_values(*table))} : refusal(table.error());
}

// The order in the body, about a table that exists; otherwise the response that refuses.
std::variant<OrderRequest, Outcome> read_order(const DashboardParts& parts, const Call& call) {
  // A form of another site cannot send this type.
  if (!call.request.header("content-type").starts_with("application/json"))
    return refuse(415, "the body must be application/json");
  auto request = order_of(call.request.body);
  if (!request) return refuse(400, request.error().message);
  if (const auto known = known_table(*parts.figures, request->order.table); !known)
    return refusal(known.error());
  request->order.ordered_by = fmt::format("admin '{}' from {}", call.caller.user, call.caller.host);
  return std::move(*request);
}

Outcome dry_run(const DashboardParts& parts, const Call& call) {
  auto read = read_order(parts, call);
  if (auto* refused = std::get_if<Outcome>(&read)) return std::move(*refused);
  const auto& order = std::get<OrderRequest>(read).order;
  const auto now = parts.figures->figures(order.table);
  if (!now) return refusal(now.error());
  const auto tried = parts.figures->dry_run_figures(order);
  if (!tried) return refusal(tried.error());
  return {http::json_response(dry_run_json(*tried, now->map.version))};
}

Outcome steer(const DashboardParts& parts, const Call& call) {
  auto read = read_order(parts, call);
  if (auto* refused = std::get_if<Outcome>(&read)) return std::move(*refused);
  const auto& request = std::get<OrderRequest>(read);
  if (request.if_version) {
    const auto now = parts.figures->figures(request.order.table);
    if (!now) return refusal(now.error());
    if (now->map.version != *request.if_version) {
      return refuse(409,
                    fmt::format("the map is version {} by now, the dry run was about version {}: look again",
                                now->map.version, *request.if_version));
    }
  }
  return as_table(parts.operations->steer(request.order));
}

}  // namespace

void add_dashboard(http::Router& router, http::Gate& gate, DashboardParts parts) {
  gate.also_accept([sessions = parts.sessions](std::string_view token, const http::Request& request) {
    return sessions->find(token, request.client);
  });
  router.add("GET", "/", std::nullopt, [](const Call&) { return page_file("index.html"); });
  router.add("GET", "/dashboard/*", std::nullopt,
             [](const Call& call) { return page_file(call.arguments[0]); });

  router.add("POST", "/api/v1/session", Rights::read,
             [parts](const Call& call) { return open_session(parts, call); });
  router.add("DELETE", "/api/v1/session", Rights::read,
             [parts](const Call& call) { return close_session(parts, call); });
  router.add("GET", "/api/v1/session", Rights::read, [parts](const Call& call) {
    return Outcome{http::json_response(caller_json(call.caller, parts))};
  });

  router.add("GET", "/api/v1/tables", Rights::read, [parts](const Call&) { return all_tables(parts); });
  router.add("GET", "/api/v1/layout", Rights::read, about_table(parts, layout));
  router.add("GET", "/api/v1/figures", Rights::read, about_table(parts, figures));
  router.add("GET", "/api/v1/history", Rights::read, about_table(parts, history));
  router.add("GET", "/api/v1/explain", Rights::read, about_table(parts, explanation));

  router.add("GET", "/api/v1/steering", Rights::read,
             [parts](const Call&) { return as_table(parts.operations->steering()); });
  router.add("GET", "/api/v1/steering/history", Rights::read,
             [parts](const Call&) { return as_table(parts.operations->steering_history()); });
  router.add("POST", "/api/v1/dry-run", Rights::read,
             [parts](const Call& call) { return dry_run(parts, call); });
  router.add("POST", "/api/v1/steer", Rights::operate,
             [parts](const Call& call) { return steer(parts, call); });
}

}  // namespace evenkeel::admin
