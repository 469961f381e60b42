#include <gtest/gtest.h>

#include "proxy/control/instance_facts.h"

namespace evenkeel::control {
namespace {

TEST(Version, OfBothFlavours) {
  EXPECT_EQ(parse_version("10.11.6-MariaDB-0+deb12u1"), (ParsedVersion{Flavour::mariadb, 101106}));
  EXPECT_EQ(parse_version("5.5.5-10.11.6-MariaDB"), (ParsedVersion{Flavour::mariadb, 101106}));
  EXPECT_EQ(parse_version("9.7.4"), (ParsedVersion{Flavour::mysql, 90704}));
  EXPECT_EQ(parse_version("8.0.36-0ubuntu0.22.04.1"), (ParsedVersion{Flavour::mysql, 80036}));
  EXPECT_EQ(parse_version("5.5.5"), (ParsedVersion{Flavour::mysql, 50505})) << "not the prefix alone";
  EXPECT_EQ(parse_version("5.5.5-"), std::nullopt);
  EXPECT_EQ(parse_version(""), std::nullopt);
  EXPECT_EQ(parse_version("nine.7"), std::nullopt);
  EXPECT_EQ(parse_version("8.0"), std::nullopt);
}

InstanceFacts facts(std::string instance) {
  InstanceFacts made;
  made.instance = std::move(instance);
  made.version = "10.11.6-MariaDB";
  made.flavour = Flavour::mariadb;
  made.version_id = 101106;
  made.collation = "utf8mb4_general_ci";
  made.max_allowed_packet = 16 << 20;
  made.sql_mode = "STRICT_TRANS_TABLES";
  made.time_zone = "SYSTEM (UTC)";
  return made;
}

std::string compared(const InstanceFacts& other) {
  std::vector<Finding> findings;
  compare_facts({facts("ds0"), other}, findings);
  return to_text(findings);
}

TEST(Agreement, EqualInstancesAreFit) {
  EXPECT_EQ(compared(facts("ds1")), "");
  InstanceFacts patch = facts("ds1");
  patch.version_id = 101119;
  EXPECT_EQ(compared(patch), "") << "a patch version is no family";
}

TEST(Agreement, WhatWouldGiveWrongResultsIsAnError) {
  InstanceFacts other = facts("ds1");
  other.version_id = 101206;
  EXPECT_EQ(compared(other), "error: the version family differs: MariaDB 10.11 on ds0, MariaDB 10.12 on ds1");
  other = facts("ds1");
  other.flavour = Flavour::mysql;
  other.version_id = 90704;
  EXPECT_EQ(compared(other), "error: the version family differs: MariaDB 10.11 on ds0, MySQL 9.7 on ds1");
  other = facts("ds1");
  other.lower_case_table_names = 1;
  EXPECT_EQ(compared(other), "error: lower_case_table_names differs: 0 on ds0, 1 on ds1");
  other = facts("ds1");
  other.collation = "latin1_swedish_ci";
  EXPECT_EQ(compared(other),
            "error: the default collation differs: utf8mb4_general_ci on ds0, latin1_swedish_ci on ds1");
}

TEST(Agreement, WhatDeservesALookIsAWarning) {
  InstanceFacts other = facts("ds1");
  other.max_allowed_packet = 1 << 20;
  other.sql_mode = "";
  other.time_zone = "+02:00";
  EXPECT_EQ(compared(other),
            "warning: max_allowed_packet differs: 16777216 on ds0, 1048576 on ds1\n"
            "warning: the default sql_mode differs: 'STRICT_TRANS_TABLES' on ds0, '' on ds1\n"
            "warning: the time zone differs: SYSTEM (UTC) on ds0, +02:00 on ds1");
}

TEST(Agreement, NothingIsFineToo) {
  std::vector<Finding> findings;
  compare_facts({}, findings);
  EXPECT_TRUE(findings.empty());
}

}  // namespace
}  // namespace evenkeel::control
