#include "proxy/ids/routes.h"

#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/mysql/error_codes.h"
#include "proxy/ids/generator_samples.h"

namespace evenkeel::ids {
namespace {

using answer::Rights;
using http::Call;
using http::Outcome;
using nlohmann::json;

Outcome refusal(const Error& error) {
  int status = 500;
  if (error.code == mysql::er::no_such_table) status = 404;
  if (error.kind == ErrorKind::config || error.code == mysql::er::parse_error) status = 422;
  if (error.kind == ErrorKind::clock || error.kind == ErrorKind::registry) status = 503;
  return {http::error_response(status, error.message)};
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

Outcome give_ids(const std::shared_ptr<Drawing>& drawing) {
  auto wait = drawing->go_on();
  if (!wait) return refusal(wait.error());
  if (*wait) return {http::Later{**wait, [drawing] { return give_ids(drawing); }}};
  // Numbers above 2^53 do not survive JavaScript.
  json ids = json::array();
  for (const uint64_t id : drawing->ids()) ids.push_back(std::to_string(id));
  return {http::json_response({{"key_space", drawing->space().name},
                               {"layout", drawing->space().fingerprint()},
                               {"ids", std::move(ids)}})};
}

Outcome draw(const KeySpaces& spaces, const Call& call) {
  const auto space = spaces.find(call.arguments[0]);
  if (!space) return refusal(space.error());
  const auto& query = call.request.query;
  for (const auto& [name, value] : query) {
    if (name != "count" && name != "layout") {
      return {
          http::error_response(400, fmt::format("unknown parameter '{}'; allowed are count, layout", name))};
    }
  }
  uint64_t count = 1;
  if (const auto found = query.find("count"); found != query.end()) {
    const auto number = number_of(found->second);
    if (!number || *number < 1 || *number > spaces.max_count()) {
      return {http::error_response(
          400, fmt::format("count must be a whole number from 1 to {}", spaces.max_count()))};
    }
    count = *number;
  }
  if (const auto found = query.find("layout");
      found != query.end() && found->second != (*space)->fingerprint()) {
    return {http::error_response(
        409, fmt::format("key space '{}' has layout {}, not {}: its ids would not be what you expect",
                         (*space)->name, (*space)->fingerprint(), found->second))};
  }
  return give_ids(std::make_shared<Drawing>(**space, static_cast<uint32_t>(count)));
}

json to_json(const mysql::Value& value) {
  if (value.is_null()) return nullptr;
  return value.is_integer() ? json(value.as_uint64()) : json(value.text());
}

Outcome show_decoded(const KeySpaces& spaces, const Call& call) {
  const auto id = number_of(call.arguments[0]);
  if (!id) return {http::error_response(400, "an id is decimal digits")};
  std::optional<std::string_view> name;
  if (const auto found = call.request.query.find("space"); found != call.request.query.end())
    name = found->second;
  const auto space = spaces.find_for_decode(name);
  if (!space) return refusal(space.error());
  const auto table = decode(**space, *id);
  if (!table) return refusal(table.error());
  json body;
  for (size_t i = 0; i < table->columns.size(); ++i)
    body[table->columns[i].name] = to_json(table->rows[0][i]);
  body["id"] = std::to_string(*id);
  return {http::json_response(body)};
}

json describe(const KeySpaces& spaces, const OpenSpace& space) {
  return {{"key_space", space.name},
          {"layout", space.fingerprint()},
          {"slots", space.slots},
          {"max_count", spaces.max_count()}};
}

void add_samples(metrics::Page& page, const KeySpaces& spaces, int64_t now_unix_ms) {
  for (const auto& space : spaces.all())
    add_generator_samples(page, {{"key_space", space.name}}, *space.generator, space.layout, now_unix_ms);
}

}  // namespace

void add_routes(http::Router& router, RouteParts parts) {
  const KeySpaces& spaces = *parts.spaces;
  router.add("POST", "/ids/*", Rights::read, [&spaces](const Call& call) { return draw(spaces, call); });
  router.add("GET", "/decode/*", Rights::read,
             [&spaces](const Call& call) { return show_decoded(spaces, call); });
  router.add("GET", "/key-spaces", Rights::read, [&spaces](const Call&) {
    json all = json::array();
    for (const auto& space : spaces.all()) all.push_back(describe(spaces, space));
    return Outcome{http::json_response({{"key_spaces", std::move(all)}})};
  });
  router.add("GET", "/key-spaces/*", Rights::read, [&spaces](const Call& call) {
    const auto space = spaces.find(call.arguments[0]);
    return space ? Outcome{http::json_response(describe(spaces, **space))} : refusal(space.error());
  });
  router.add("GET", "/healthz", std::nullopt,
             [](const Call&) { return Outcome{http::text_response("ok\n")}; });
  router.add("GET", "/readyz", std::nullopt, [not_ready = std::move(parts.not_ready)](const Call&) {
    const auto reason = not_ready();
    return Outcome{reason ? http::error_response(503, *reason) : http::text_response("ready\n")};
  });
  router.add("GET", "/metrics", std::nullopt,
             [&spaces, clock = parts.clock, add_metrics = std::move(parts.add_metrics)](const Call&) {
               metrics::Page page;
               add_samples(page, spaces, clock->unix_millis());
               if (add_metrics) add_metrics(page);
               return Outcome{http::text_response(page.text(), metrics::page_content_type)};
             });
}

}  // namespace evenkeel::ids
