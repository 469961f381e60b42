#include "idgen/registry/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idgen/registry/open_registry.h"

namespace evenkeel::idgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RegistrySettings remote(RegistryProvider provider) {
  RegistrySettings settings;
  settings.provider = provider;
  settings.endpoints = {{"db0.example.com", 3306}};
  settings.user = "evenkeel";
  return settings;
}

TEST(RegistrySettings, TheLeastThatEachProviderNeedsIsEnough) {
  for (const auto provider : {RegistryProvider::mysql, RegistryProvider::redis, RegistryProvider::zookeeper,
                              RegistryProvider::etcd})
    EXPECT_THAT(check_registry(remote(provider)), IsEmpty()) << to_string(provider);
  RegistrySettings files;
  files.directory = "/var/lib/evenkeel/registry";
  EXPECT_THAT(check_registry(files), IsEmpty());
}

TEST(RegistrySettings, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_THAT(check_registry(RegistrySettings{}), ElementsAre("a file registry needs a directory"));
  auto settings = remote(RegistryProvider::redis);
  settings.endpoints.push_back({"db1", 6379});
  settings.directory = "/tmp/x";
  settings.prefix = "a:b";
  settings.timeout_ms = 0;
  settings.tls.certificate = "c.pem";
  EXPECT_THAT(check_registry(settings),
              ElementsAre(HasSubstr("has one address, found 2"),
                          "directory belongs to a file registry, this one is redis",
                          "tls: certificate and key belong together; one of them is missing",
                          HasSubstr("prefix 'a:b'"), "timeout is 0 ms; allowed are 100 to 60000"));
  settings = remote(RegistryProvider::zookeeper);
  settings.tls.mode = RegistryTls::Mode::required;
  EXPECT_THAT(check_registry(settings), ElementsAre(HasSubstr("has no TLS")));
  settings = remote(RegistryProvider::mysql);
  settings.endpoints.clear();
  settings.user.clear();
  settings.database.clear();
  EXPECT_THAT(check_registry(settings),
              ElementsAre("a mysql registry needs the address of its server", "a mysql registry needs a user",
                          "a mysql registry needs the database that holds its table"));
  settings = remote(RegistryProvider::file);
  settings.directory = "d";
  EXPECT_THAT(check_registry(settings), ElementsAre(HasSubstr("a file registry has no address")));
}

TEST(RegistrySettings, WrongOnesOpenNothing) {
  const ManualClock clock;
  EXPECT_EQ(open_registry(RegistrySettings{}, clock).error().message,
            "registry: a file registry needs a directory");
}

TEST(RegistrySettings, EndpointsArePrintedAsTheyAreWritten) {
  EXPECT_EQ(to_string(RegistryEndpoint{"::1", 2379}), "[::1]:2379");
  EXPECT_EQ(to_string(RegistryEndpoint{"db0", 3306}), "db0:3306");
}

TEST(RegistrySettings, RemoteStoresReserveAnHourFilesSeconds) {
  EXPECT_EQ(default_window_ms(RegistryProvider::file), 3'000);
  EXPECT_EQ(default_window_ms(RegistryProvider::etcd), 3'600'000);
  EXPECT_EQ(default_renew_ms(3'600'000), 1'200'000);
}

}  // namespace
}  // namespace evenkeel::idgen
