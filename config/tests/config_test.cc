#include "config/config.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "config/sections.h"

// Tests run in the root of the source tree.

namespace evenkeel::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t now_unix_ms = 1'780'000'000'000;  // 2026-05-28

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<std::string> environment(const std::string& name) {
  static const std::map<std::string, std::string> variables = {{"APP_PASSWORD", "sesame-app"},
                                                               {"SHOP_PASSWORD", "sesame-shop"},
                                                               {"LONG_TOKEN", "sesame-of-a-service"},
                                                               {"EMPTY", ""}};
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

// "ok" and the warnings, or the errors.
std::string outcome(std::string_view text) {
  auto config = parse(text, "case.yaml", environment, now_unix_ms);
  if (!config) {
    EXPECT_EQ(config.error().kind, ErrorKind::config);
    return config.error().message;
  }
  std::string lines = "ok";
  for (const std::string& warning : config->warnings) lines += "\n" + warning;
  return lines;
}

// Each file of cases/ ends with the lines expected of it, each after "#> ".
class ConfigCase : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfigCase, GivesTheExpectedLines) {
  const std::string text = contents("config/tests/cases/" + GetParam());
  std::string expected;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "#> ") == 0) expected += (expected.empty() ? "" : "\n") + line.substr(3);
  }
  const std::string found = outcome(text);
  EXPECT_EQ(found, expected);
  EXPECT_THAT(found, Not(HasSubstr("sesame")));
  EXPECT_THAT(found, Not(HasSubstr("hunter2")));
}

std::vector<std::string> case_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("config/tests/cases")) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, ConfigCase, ::testing::ValuesIn(case_files()),
                         [](const auto& of) { return of.param.substr(0, of.param.find('.')); });

// The text between "```yaml" and "```" that follows `heading` in a Markdown file.
std::string yaml_block(const std::string& markdown, const std::string& heading) {
  const std::string open = "```yaml\n";
  const size_t begin = markdown.find(open, markdown.find(heading));
  EXPECT_NE(begin, std::string::npos);
  const size_t end = markdown.find("```", begin + open.size());
  return markdown.substr(begin + open.size(), end - begin - open.size());
}

Config example() {
  const std::string text = yaml_block(contents("docs/configuration.md"), "## A complete example");
  auto config = parse(text, "example.yaml", environment, now_unix_ms);
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config ? *config : Config{};
}

TEST(Example, OfTheReferenceIsRead) {
  const Config config = example();
  ASSERT_EQ(config.net.listeners.size(), 1u);
  EXPECT_EQ(config.net.listeners[0].address, "0.0.0.0");
  EXPECT_EQ(config.net.listeners[0].port, 3306);
  EXPECT_EQ(config.net.listeners[0].tls.mode, net::TlsSettings::Mode::generated);
  ASSERT_EQ(config.backend.instances.size(), 4u);
  EXPECT_EQ(config.backend.instances[3].host, "db3.example.com");
  ASSERT_EQ(config.session.users.size(), 1u);
  EXPECT_EQ(config.session.users[0].account_on("ds0").password, "sesame-shop");
  ASSERT_EQ(config.generators.size(), 1u);
  EXPECT_EQ(config.generators[0].worker.fixed_id, 3u);
  EXPECT_EQ(config.registry.directory, "/var/lib/evenkeel/registry");
  const rule::LogicalTable* orders = config.rules->find_table("shop", "orders");
  ASSERT_NE(orders, nullptr);
  EXPECT_EQ(orders->slot_count(), 128u);
  EXPECT_EQ(orders->slots[127], (rule::ActualTable{3, "shop_15", "orders_127"}));
  EXPECT_TRUE(orders->key_is_generated());
  EXPECT_EQ(config.rules->find_table("shop", "lines")->binding_group, orders->binding_group);
  EXPECT_THAT(config.warnings, ::testing::IsEmpty());
}

// A key that the reference does not name is a key that nobody finds.
TEST(Reference, NamesEveryKey) {
  const std::string reference = contents("docs/configuration.md");
  for (const KnownKeys& section : known_keys()) {
    for (const std::string& key : section.keys) {
      EXPECT_NE(reference.find("`" + key + "`"), std::string::npos) << key << " of " << section.section;
    }
  }
}

std::set<std::string> names_of(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

TEST(Schema, HasExactlyTheKeysThatAreRead) {
  const auto schema = nlohmann::json::parse(contents("docs/config.schema.json"));
  std::set<std::string> sections;
  for (const KnownKeys& known : known_keys()) {
    SCOPED_TRACE(known.section);
    if (!known.section.empty()) sections.insert(known.section);
    const auto& part = known.section.empty() ? schema : schema.at("$defs").at(known.section);
    EXPECT_EQ(names_of(part.at("properties")), std::set<std::string>(known.keys.begin(), known.keys.end()));
    EXPECT_EQ(part.at("additionalProperties"), false);
    const auto required = part.value("required", std::vector<std::string>());
    EXPECT_EQ(std::set<std::string>(required.begin(), required.end()),
              std::set<std::string>(known.required.begin(), known.required.end()));
    for (const auto& [key, value] : part.at("properties").items()) {
      EXPECT_TRUE(value.contains("description")) << key;
    }
  }
  std::set<std::string> defined;
  for (const auto& [name, value] : schema.at("$defs").items()) {
    if (value.value("type", "") == "object") defined.insert(name);
  }
  EXPECT_EQ(defined, sections);
}

TEST(Schema, EveryReferenceLeadsSomewhere) {
  const auto schema = nlohmann::json::parse(contents("docs/config.schema.json"));
  std::vector<const nlohmann::json*> waiting = {&schema};
  int references = 0;
  while (!waiting.empty()) {
    const nlohmann::json* node = waiting.back();
    waiting.pop_back();
    for (const auto& [name, value] : node->items()) {
      if (name == "$ref" && value.is_string()) {
        const std::string to = value;
        ASSERT_EQ(to.compare(0, 8, "#/$defs/"), 0) << to;
        EXPECT_TRUE(schema.at("$defs").contains(to.substr(8))) << to;
        ++references;
      }
      if (value.is_structured()) waiting.push_back(&value);
    }
  }
  EXPECT_GT(references, 10);
}

std::string with_user(const std::string& user) {
  return "listeners: [{address: '127.0.0.1:3306', tls: {mode: off}}]\n"
         "instances: [{name: ds0, address: 'db0:3306'}, {name: ds1, address: 'db1:3306'}]\n"
         "schemas: []\nusers: [{name: app, " +
         user + ", backend: {user: shop, password: '${SHOP_PASSWORD}'}}]\n";
}

session::User user_of(const std::string& user) {
  auto config = parse(with_user(user), "case.yaml", environment, now_unix_ms);
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config ? config->session.users[0] : session::User{};
}

// SHA1(SHA1('sesame-app')) and SHA256(SHA256('sesame-app')), from Python's hashlib.
const char native_hex[] = "106F04F0DCEFE89A9C8FDEE23720F43F29F8312E";
const char sha2_hex[] = "b13ab87dea68427174a6fc86adb4e2e8a8571d29f30eb726ace0e49f398291ae";

TEST(Users, PasswordGivesBothVerifiers) {
  const session::User from_password = user_of("password: '${APP_PASSWORD}'");
  const session::User from_verifiers =
      user_of(fmt::format("native_verifier: '*{}', sha2_verifier: '{}'", native_hex, sha2_hex));
  ASSERT_TRUE(from_password.native_verifier.has_value());
  EXPECT_EQ(from_password.native_verifier, from_verifiers.native_verifier);
  EXPECT_EQ(from_password.sha2_verifier, from_verifiers.sha2_verifier);
  EXPECT_FALSE(from_password.empty_password);
}

TEST(Users, OneVerifierOffersOnePlugin) {
  const session::User user = user_of(fmt::format("native_verifier: '{}'", native_hex));
  EXPECT_TRUE(user.native_verifier.has_value());
  EXPECT_FALSE(user.sha2_verifier.has_value());
}

TEST(Users, EmptyPasswordIsSaidSo) {
  const session::User user = user_of("password: ''");
  EXPECT_TRUE(user.empty_password);
  EXPECT_FALSE(user.native_verifier.has_value());
}

TEST(Users, AccountsMayDifferByInstance) {
  const session::User user =
      user_of("password: '', backend_by_instance: {ds1: {user: other, password: '${APP_PASSWORD}'}}");
  EXPECT_EQ(user.account_on("ds0").user, "shop");
  EXPECT_EQ(user.account_on("ds1"), (session::BackendAccount{"other", "sesame-app"}));
}

TEST(Values, HaveUnits) {
  auto config =
      parse(with_user("password: ''") +
                "pool: {idle_lifetime: 90s, connect_timeout: 250ms, max_lifetime: 0}\n"
                "limits: {wait_timeout: 8h, query_timeout: 5m, packet: 16MiB, client_write_low_mark: 4096}\n",
            "case.yaml", environment, now_unix_ms);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->backend.idle_lifetime.count(), 90'000);
  EXPECT_EQ(config->backend.connect_timeout.count(), 250);
  EXPECT_EQ(config->backend.max_lifetime.count(), 0);
  EXPECT_EQ(config->session.wait_timeout.count(), 28'800'000);
  EXPECT_EQ(config->session.query_timeout.count(), 300'000);
  EXPECT_EQ(config->session.max_packet, 16u << 20);
  EXPECT_EQ(config->net.client_write_low_mark, 4096u);
}

TEST(Load, SaysWhyAFileCannotBeRead) {
  auto config = load("config/tests/no_such_file.yaml", environment, now_unix_ms);
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().message,
            "config/tests/no_such_file.yaml: cannot be read: No such file or directory");
}

TEST(Load, ReadsTheFile) {
  auto config = load("config/tests/cases/minimal.yaml", environment, now_unix_ms);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->source, "config/tests/cases/minimal.yaml");
}

}  // namespace
}  // namespace evenkeel::config
