#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "idgen/library/evenkeel_idgen.h"
#include "idgen/registry/tests/scratch_directory.h"

namespace evenkeel::idgen {
namespace {

class CInterfaceTest : public ::testing::Test {
 protected:
  CInterfaceTest() { options_.directory = directory_.c_str(); }
  ~CInterfaceTest() override { evenkeel_idgen_close(ids_); }
  int open() { return evenkeel_idgen_open(&options_, &ids_); }
  static std::string error() { return evenkeel_idgen_last_error(); }

  ScratchDirectory folder_;
  const std::string directory_ = folder_.path() + "/ids";
  evenkeel_idgen_options options_ = EVENKEEL_IDGEN_OPTIONS;
  evenkeel_idgen* ids_ = nullptr;
};

TEST_F(CInterfaceTest, DrawsAndDecodes) {
  options_.worker_id = 7;
  ASSERT_EQ(open(), EVENKEEL_IDGEN_OK) << error();
  uint64_t first = 0;
  ASSERT_EQ(evenkeel_idgen_next(ids_, &first), EVENKEEL_IDGEN_OK) << error();
  uint64_t batch[100];
  ASSERT_EQ(evenkeel_idgen_next_batch(ids_, batch, 100), EVENKEEL_IDGEN_OK) << error();
  EXPECT_GT(batch[0], first);
  EXPECT_EQ(batch[99], batch[0] + 99);
  evenkeel_idgen_fields fields{};
  fields.size = sizeof(fields);
  ASSERT_EQ(evenkeel_idgen_decode(ids_, batch[99], &fields), EVENKEEL_IDGEN_OK) << error();
  EXPECT_EQ(fields.worker, 7U);
  EXPECT_EQ(fields.sequence, batch[99] & 4095);
  EXPECT_EQ(fields.slot, batch[99] % 128);
  EXPECT_EQ(fields.tick, batch[99] >> 22);
}

TEST_F(CInterfaceTest, AHeldWorkerIdIsALeaseError) {
  options_.worker_id = 7;
  ASSERT_EQ(open(), EVENKEEL_IDGEN_OK) << error();
  evenkeel_idgen* other = nullptr;
  EXPECT_EQ(evenkeel_idgen_open(&options_, &other), EVENKEEL_IDGEN_LEASE);
  EXPECT_EQ(other, nullptr);
  EXPECT_NE(error().find("pid"), std::string::npos) << error();
}

TEST_F(CInterfaceTest, WrongArgumentsAreNamed) {
  EXPECT_EQ(evenkeel_idgen_open(nullptr, &ids_), EVENKEEL_IDGEN_BAD_ARGUMENT);
  EXPECT_EQ(evenkeel_idgen_open(&options_, nullptr), EVENKEEL_IDGEN_BAD_ARGUMENT);
  options_.layout = "wider";
  EXPECT_EQ(open(), EVENKEEL_IDGEN_BAD_ARGUMENT);
  EXPECT_NE(error().find("'wider'; there are: classic"), std::string::npos) << error();
  options_.layout = "classic";
  options_.worker_id = 1024;
  EXPECT_EQ(open(), EVENKEEL_IDGEN_BAD_ARGUMENT) << error();
  options_.worker_id = -2;
  EXPECT_EQ(open(), EVENKEEL_IDGEN_BAD_ARGUMENT) << error();
  options_.worker_id = -1;
  options_.directory = nullptr;
  EXPECT_EQ(open(), EVENKEEL_IDGEN_BAD_ARGUMENT);
  EXPECT_NE(error().find("directory"), std::string::npos) << error();
  uint64_t id = 0;
  EXPECT_EQ(evenkeel_idgen_next(nullptr, &id), EVENKEEL_IDGEN_BAD_ARGUMENT);
  EXPECT_EQ(evenkeel_idgen_close(nullptr), EVENKEEL_IDGEN_OK);
}

// A caller compiled against another version of the header gives shorter or longer structures.
TEST_F(CInterfaceTest, StructuresOfOtherVersionsAreReadAndWrittenByTheirSize) {
  options_.size = offsetof(evenkeel_idgen_options, slots);
  options_.slots = 0;  // beyond the size: not read
  ASSERT_EQ(open(), EVENKEEL_IDGEN_OK) << error();
  uint64_t id = 0;
  ASSERT_EQ(evenkeel_idgen_next(ids_, &id), EVENKEEL_IDGEN_OK) << error();
  evenkeel_idgen_fields fields{};
  std::memset(&fields, 0xee, sizeof(fields));
  fields.size = offsetof(evenkeel_idgen_fields, tick);
  ASSERT_EQ(evenkeel_idgen_decode(ids_, id, &fields), EVENKEEL_IDGEN_OK) << error();
  EXPECT_GT(fields.unix_ms, 1'700'000'000'000);
  EXPECT_EQ(fields.tick, 0xeeeeeeeeeeeeeeeeU);
  struct {
    evenkeel_idgen_options known;
    int64_t later[4];
  } longer = {EVENKEEL_IDGEN_OPTIONS, {1, 2, 3, 4}};
  longer.known.size = sizeof(longer);
  longer.known.directory = directory_.c_str();
  evenkeel_idgen* other = nullptr;
  EXPECT_EQ(evenkeel_idgen_open(&longer.known, &other), EVENKEEL_IDGEN_OK) << error();
  EXPECT_EQ(evenkeel_idgen_close(other), EVENKEEL_IDGEN_OK);
}

TEST_F(CInterfaceTest, EachThreadHasItsOwnError) {
  ASSERT_NE(evenkeel_idgen_open(nullptr, &ids_), EVENKEEL_IDGEN_OK);
  const std::string mine = error();
  std::thread([] { EXPECT_EQ(error(), ""); }).join();
  EXPECT_EQ(error(), mine);
  EXPECT_NE(mine, "");
}

TEST_F(CInterfaceTest, TellsItsVersion) { EXPECT_STREQ(evenkeel_idgen_version(), EVENKEEL_VERSION); }

}  // namespace
}  // namespace evenkeel::idgen
