// PdcIds: every id keeps its record, in whatever order ids come into use.
#include "pds/pdc/pdc_ids.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

// Each id once, in an order in which neighbours are far apart.
template <class Fn>
void for_each_id(uint32_t count, Fn fn) {
  constexpr uint32_t kStride = 40'503;  // odd: comes to each of 65,536 numbers
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; ++i) {
    number = (number + kStride) & 0xffff;
    if (number != 0) fn(Pdcid(static_cast<uint16_t>(number)), i);
  }
}

class PdcIdsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ids_.create(arena_).ok()); }

  Arena arena_;
  PdcIds ids_;
};

// [PDS-011] Neither 0 nor an id that was never in use has a PDC.
TEST_F(PdcIdsTest, AnIdWithoutARecordHasNoPdc) {
  EXPECT_EQ(ids_.place_of(Pdcid(0)), 0);
  EXPECT_EQ(ids_.place_of(Pdcid(7)), 0);
  ids_.record_of(Pdcid(64)).place = 3;  // stands at 0 of the first 64 places
  EXPECT_EQ(ids_.place_of(Pdcid(0)), 0);
  EXPECT_EQ(ids_.place_of(Pdcid(128)), 0) << "which would stand there, too";
  EXPECT_EQ(ids_.place_of(Pdcid(64)), 3);
}

TEST_F(PdcIdsTest, ANewRecordIsEmpty) {
  const PdcIds::Record& record = ids_.record_of(Pdcid(9));
  EXPECT_EQ(record.place, 0);
  EXPECT_EQ(record.last_psn, 0);
}

// [PDS-044] All 65,535 ids can be in use; the record of an id stays when others come.
TEST_F(PdcIdsTest, EveryIdKeepsItsRecord) {
  for_each_id(65'536, [&](Pdcid id, uint32_t i) {
    PdcIds::Record& record = ids_.record_of(id);
    record.place = static_cast<uint16_t>(i);
    record.last_psn = static_cast<uint16_t>(~i);
  });
  for_each_id(65'536, [&](Pdcid id, uint32_t i) {
    ASSERT_EQ(ids_.place_of(id), static_cast<uint16_t>(i)) << id.value();
    ASSERT_EQ(ids_.record_of(id).last_psn, static_cast<uint16_t>(~i)) << id.value();
  });
  EXPECT_EQ(ids_.place_of(Pdcid(0)), 0);
}

// All memory is reserved at set-up: PDCs that come and go take none later.
TEST_F(PdcIdsTest, RecordsTakeNothingFromTheArena) {
  const size_t before = arena_.used_bytes();
  for_each_id(65'536, [&](Pdcid id, uint32_t) { ids_.record_of(id); });
  EXPECT_EQ(arena_.used_bytes(), before);
}

}  // namespace
}  // namespace uet::pds
