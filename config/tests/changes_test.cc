#include "config/changes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "2:3 limits.slow_query applies", "4:1 worker.id gone, fixed".
std::vector<std::string> told(std::string_view before, std::string_view now) {
  const auto found = changes(before, now, "case.yaml");
  if (!found) return {found.error().message};
  std::vector<std::string> out;
  for (const Change& change : *found) {
    out.push_back(fmt::format("{}:{} {}{} {}", change.mark.line, change.mark.column, change.path,
                              change.removed ? " gone," : "",
                              change.foreign   ? "foreign"
                              : change.applies ? "applies"
                                               : "fixed"));
  }
  return out;
}

TEST(Changes, AreNoneWhereTheSameStands) {
  EXPECT_THAT(told("a: {b: [1, 2]}\nc: x", "# a comment\nc: 'x'\na:\n  b:\n    - 1\n    - 2\n"), IsEmpty());
}

TEST(Changes, AreNamedByPathAndPlace) {
  EXPECT_THAT(told("limits: {slow_query: 1s}\nusers: [{name: a}, {name: b}]\n",
                   "limits:\n  slow_query: 2s\nusers: [{name: a}, {name: c}]\n"),
              ElementsAre("2:15 limits.slow_query applies", "3:27 users[1].name applies"));
}

TEST(Changes, OfALengthAreOneChange) {
  EXPECT_THAT(told("instances: [{name: a}]", "instances: [{name: x}, {name: a}]"),
              ElementsAre("1:12 instances fixed"));
  EXPECT_THAT(told("users: [{name: a}]", "users: []"), ElementsAre("1:8 users applies"));
}

TEST(Changes, OfASectionThatCameOrWentAreToldByKey) {
  EXPECT_THAT(told("a: 1", "a: 1\nlimits: {worker_threads: 3, clients: 5}"),
              ElementsAre("2:10 limits.worker_threads fixed", "2:29 limits.clients applies"));
  EXPECT_THAT(told("a: 1\nlimits: {worker_threads: 3, clients: 5}", "a: 1"),
              ElementsAre("2:10 limits.worker_threads gone, fixed", "2:29 limits.clients gone, applies"));
  EXPECT_THAT(told("a: 1\npool:", "a: 1\npool: {connections: 5}"),
              ElementsAre("2:8 pool.connections applies"));
}

TEST(Changes, OfAnotherProgramAreTold) {
  EXPECT_THAT(told("ids: {threads: 1}", "ids: {threads: 2}"), ElementsAre("1:16 ids.threads foreign"));
}

TEST(Changes, OfKindAreChanges) {
  EXPECT_THAT(told("worker: {id: 3}", "worker: 3"), ElementsAre("1:9 worker fixed"));
}

TEST(Changes, NeedsYaml) {
  const auto found = changes("a: 1", "a: [", "case.yaml");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, testing::HasSubstr("case.yaml:"));
}

TEST(Changes, ApplyAtRunTimeWhereTheTableSaysSo) {
  for (const char* path :
       {"log.level", "users", "users[3].backend.password", "control.user", "limits.clients",
        "pool.connections", "steering.tables[0].mode", "transactions", "listeners[0].tls.certificate",
        "admin.users[0].rights", "admin.tokens", "admin.listeners[0].tls.key", "admin.http.listeners[2].tls",
        "admin.http.hosts", "admin.http.max_body"})
    EXPECT_TRUE(applies_at_run_time(path)) << path;
  for (const char* path :
       {"listeners", "listeners[0].address", "instances[0].address", "instances[0].tls.ca", "schemas",
        "schemas[0].tables[0].topology.tables", "generators", "worker.id", "registry.provider",
        "state_directory", "limits.worker_threads", "limits.statement_cache", "admin", "admin.listeners",
        "admin.http.listeners", "admin.http.listeners[0].address", "limitsx", "userspace"})
    EXPECT_FALSE(applies_at_run_time(path)) << path;
}

}  // namespace
}  // namespace evenkeel::config
