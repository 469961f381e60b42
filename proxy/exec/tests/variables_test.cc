#include "proxy/exec/variables.h"

#include <gtest/gtest.h>

#include "proxy/exec/sum_reply.h"

namespace evenkeel::exec {
namespace {

using mysql::Flavour;

VariablesPtr variables(std::vector<Variables::Item> items) {
  return std::make_shared<const Variables>(std::move(items));
}

TEST(Variables, AreFoundByNameWhateverTheOrderTheyCameIn) {
  const auto set = variables({{"sql_mode", "''"}, {"@x", "1"}, {"big_tables", "0"}});
  EXPECT_EQ(set->find("@x"), "1");
  EXPECT_EQ(set->find("big_tables"), "0");
  EXPECT_EQ(set->find("sql_mode"), "''");
  EXPECT_EQ(set->find("sql"), "");
  EXPECT_EQ(set->find("zzz"), "");
}

TEST(Variables, WithChangesAddsReplacesAndRemoves) {
  const auto base = variables({{"@x", "1"}, {"sql_mode", "''"}});
  const auto changed = with(base, {{"@x", "2"}, {"sql_mode", ""}, {"time_zone", "'+00:00'"}});
  EXPECT_EQ(*changed, Variables({{"@x", "2"}, {"time_zone", "'+00:00'"}}));
  EXPECT_EQ(base->find("@x"), "1") << "the base is a value";
}

TEST(Variables, ALaterChangeOfTheSameNameWins) {
  EXPECT_EQ(with(variables({}), {{"@x", "1"}, {"@x", "2"}})->find("@x"), "2");
  EXPECT_EQ(with(variables({}), {{"@x", "1"}, {"@x", ""}})->items().size(), 0u);
}

TEST(Difference, IsEmptyBetweenEqualStates) {
  const Variables state({{"@x", "1"}, {"sql_mode", "''"}});
  EXPECT_EQ(difference(state, state, Flavour::mysql), "");
  EXPECT_EQ(difference(Variables(), Variables(), Flavour::mysql), "");
}

TEST(Difference, SetsWhatIsNewAndGivesBackWhatIsGone) {
  const Variables from({{"@gone", "1"}, {"big_tables", "1"}, {"sql_mode", "''"}});
  const Variables to({{"@new", "'a'"}, {"sql_mode", "'ANSI'"}});
  EXPECT_EQ(difference(from, to, Flavour::mysql),
            "SET @gone = NULL, @new = 'a', big_tables = DEFAULT, sql_mode = 'ANSI'");
}

TEST(Difference, NamesIsolationAsEachServerDoes) {
  const Variables to({{"transaction_isolation", "'SERIALIZABLE'"}, {"transaction_read_only", "1"}});
  EXPECT_EQ(difference(Variables(), to, Flavour::mysql),
            "SET transaction_isolation = 'SERIALIZABLE', transaction_read_only = 1");
  EXPECT_EQ(difference(Variables(), to, Flavour::mariadb),
            "SET tx_isolation = 'SERIALIZABLE', tx_read_only = 1");
}

TEST(AddCounts, SumsWordByWord) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  add_counts("Rows matched: 3  Changed: 1  Warnings: 0", counts);
  add_counts("Rows matched: 40  Changed: 5  Warnings: 2", counts);
  const std::vector<std::pair<std::string, uint64_t>> expected{
      {"Rows matched", 43}, {"Changed", 6}, {"Warnings", 2}};
  EXPECT_EQ(counts, expected);
}

TEST(AddCounts, AppendsWordsNotSeenBefore) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  add_counts("Records: 2  Duplicates: 0", counts);
  add_counts("Records: 1  Duplicates: 1  Warnings: 4", counts);
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[2].first, "Warnings");
  EXPECT_EQ(counts[0].second, 3u);
}

TEST(AddCounts, LeavesOtherTextAlone) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  add_counts("", counts);
  add_counts("all is well", counts);
  add_counts("note: none", counts);
  add_counts("Rows matched: 18446744073709551616", counts);
  EXPECT_TRUE(counts.empty());
}

}  // namespace
}  // namespace evenkeel::exec
