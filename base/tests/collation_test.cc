#include "base/mysql/collation.h"

#include <gtest/gtest.h>
#include <string>

namespace evenkeel::mysql {
namespace {

TEST(Collation, EveryRowIsFoundByIdAndByName) {
  for (const Flavour flavour : {Flavour::mysql, Flavour::mariadb}) {
    for (const Collation& row : collations(flavour)) {
      EXPECT_EQ(find_collation(row.id, flavour), &row) << row.name;
      EXPECT_EQ(find_collation(row.name, flavour), &row) << row.name;
      std::string upper(row.name);
      for (char& c : upper) c = static_cast<char>(toupper(c));
      EXPECT_EQ(find_collation(upper, flavour), &row) << upper;
      EXPECT_NE(default_collation_of(row.charset, flavour), nullptr) << row.charset;
    }
  }
  EXPECT_EQ(collations(Flavour::mariadb).size(), 1242u);
  EXPECT_EQ(collations(Flavour::mysql).size(), 286u);
}

TEST(Collation, IdsMeanTheSameCharsetWidthAndPaddingOnBothFlavours) {
  int names_that_differ = 0;
  for (const Collation& mine : collations(Flavour::mysql)) {
    const Collation* other = find_collation(mine.id, Flavour::mariadb);
    if (other == nullptr) continue;
    EXPECT_EQ(mine.charset, other->charset) << mine.id;
    EXPECT_EQ(mine.max_bytes, other->max_bytes) << mine.id;
    EXPECT_EQ(mine.pad_space, other->pad_space) << mine.id;
    EXPECT_EQ(mine.binary, other->binary) << mine.id;
    names_that_differ += mine.name != other->name;
  }
  EXPECT_EQ(names_that_differ, 5);  // the croatian ones
}

TEST(Collation, OneNameTwoIds) {
  EXPECT_EQ(find_collation("utf8mb4_croatian_ci", Flavour::mysql)->id, 245);
  EXPECT_EQ(find_collation("utf8mb4_croatian_ci", Flavour::mariadb)->id, 608);
  EXPECT_EQ(find_collation(245, Flavour::mariadb)->name, "utf8mb4_croatian_mysql561_ci");
}

TEST(Collation, DefaultsDifferForUtf8mb4) {
  EXPECT_EQ(default_collation_of("utf8mb4", Flavour::mysql)->name, "utf8mb4_0900_ai_ci");
  EXPECT_EQ(default_collation_of("utf8mb4", Flavour::mariadb)->name, "utf8mb4_general_ci");
  EXPECT_EQ(default_collation_of("gb18030", Flavour::mariadb), nullptr);
  EXPECT_EQ(default_collation_of("gb18030")->id, 248);
  EXPECT_EQ(default_collation_of("LATIN1", Flavour::mysql)->id, 8);
}

TEST(Collation, OldNamesOfUtf8) {
  EXPECT_EQ(find_collation("utf8_general_ci", Flavour::mysql)->id, 33);
  EXPECT_EQ(find_collation("UTF8_bin", Flavour::mariadb)->id, 83);
  EXPECT_EQ(default_collation_of("utf8")->id, 33);
  EXPECT_EQ(find_collation("utf8mb4_bin")->id, 46);
}

TEST(Collation, Padding) {
  EXPECT_FALSE(find_collation(collation_binary)->pad_space);
  EXPECT_FALSE(find_collation("utf8mb4_0900_ai_ci")->pad_space);
  EXPECT_FALSE(find_collation("utf8mb4_0900_bin")->pad_space);
  EXPECT_TRUE(find_collation("utf8mb4_bin")->pad_space);
  EXPECT_FALSE(find_collation("utf8mb4_uca1400_nopad_ai_ci")->pad_space);
  EXPECT_FALSE(find_collation("latin1_swedish_nopad_ci")->pad_space);
}

TEST(Collation, UnknownIsNull) {
  EXPECT_EQ(find_collation(uint16_t{0}), nullptr);
  EXPECT_EQ(find_collation(uint16_t{65535}), nullptr);
  EXPECT_EQ(find_collation(uint16_t{255}, Flavour::mariadb), nullptr);
  EXPECT_EQ(find_collation(""), nullptr);
  EXPECT_EQ(find_collation("utf8"), nullptr);
  EXPECT_EQ(find_collation(std::string(64, 'u')), nullptr);
  EXPECT_EQ(find_collation("utf8" + std::string(60, '_')), nullptr);
  EXPECT_EQ(find_collation(std::string(1000, 'u')), nullptr);
}

TEST(Collation, StepsOfCharsets) {
  EXPECT_EQ(step_of("GBK"), CharsetStep::gbk);
  EXPECT_EQ(step_of("cp932"), CharsetStep::sjis);
  EXPECT_EQ(step_of("utf16le"), CharsetStep::not_allowed);
  EXPECT_EQ(step_of("utf8mb4"), CharsetStep::bytewise);
}

}  // namespace
}  // namespace evenkeel::mysql
