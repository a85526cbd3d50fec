// PDCs: allocation, look-up, and what is remembered of those that have closed. [PDS 2, PDS-176]
#include "pds/pdc/pdc_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

namespace uet::pds {
namespace {

constexpr Instant kNow = Instant::from_ns(1'000'000'000);

class PdcTableTest : public ::testing::Test {
 protected:
  void make(uint32_t max_pdcs, uint32_t per_role, uint32_t tombstones = 8) {
    ASSERT_TRUE(table_.create(arena_, {max_pdcs, per_role, tombstones}, rng_).ok());
  }
  Pdc& target(uint32_t peer, uint16_t peer_id) {
    Pdc* const pdc = table_.allocate(false, rng_);
    EXPECT_NE(pdc, nullptr);
    pdc->peer = PeerId(peer);
    pdc->peer_id = Pdcid(peer_id);
    pdc->tx.start(pdc->start.psn());
    EXPECT_TRUE(table_.bind_peer(*pdc));
    return *pdc;
  }
  // Its Close command has come.
  static void receive_close(Pdc& pdc) {
    pdc.life.change(PdcEvent::opened);
    pdc.life.change(PdcEvent::close_held);
  }
  // Opens and frees a number of PDCs. Each begins at start_of(pdc), which must not be within 2^16
  // of the end of the last PDC with its id.
  template <class StartOf>
  void expect_starts_apart(uint32_t pdcs, StartOf start_of) {
    std::vector<std::optional<Psn>> last(65536);
    for (uint32_t i = 0; i < pdcs; ++i) {
      Pdc& pdc = target(1, 1);
      const Psn start = start_of(pdc);
      std::optional<Psn>& before = last[pdc.id.value()];
      if (before) {
        const int32_t distance = start - *before;
        ASSERT_TRUE(distance >= 65536 || distance <= -65536);
      }
      before = start - 1;
      pdc.tx.start(start);
      table_.free(pdc);
    }
  }
  Arena arena_;
  SeededRandom rng_{42};
  PdcTable table_;
};

// [PDS-010, PDS-011, PDS-014]
TEST_F(PdcTableTest, FindsByBothKeys) {
  make(16, 16);
  Pdc& a = target(1, 7);
  Pdc& b = target(2, 7);
  EXPECT_NE(a.id, b.id);
  EXPECT_NE(a.id, Pdcid(0));
  EXPECT_EQ(table_.find(a.id), &a);
  EXPECT_EQ(table_.find_peer(PeerId(1), Pdcid(7)), &a);
  EXPECT_EQ(table_.find_peer(PeerId(2), Pdcid(7)), &b);
  EXPECT_EQ(table_.find_peer(PeerId(2), Pdcid(8)), nullptr);
  EXPECT_EQ(table_.find(Pdcid(0)), nullptr);
  const PdcHandle handle = a.handle;
  const Pdcid id = a.id;
  table_.free(a);
  EXPECT_EQ(table_.find(id), nullptr);
  EXPECT_EQ(table_.get(handle), nullptr);
  EXPECT_EQ(table_.find_peer(PeerId(1), Pdcid(7)), nullptr);
  EXPECT_EQ(table_.get(b.handle), &b);
}

// A peer that gives one id to two PDCs confuses only itself.
TEST_F(PdcTableTest, DoubleUseOfAPeerIdIsHarmless) {
  make(16, 16);
  Pdc& a = target(1, 7);
  Pdc& b = target(1, 7);
  table_.free(b);
  EXPECT_EQ(table_.find_peer(PeerId(1), Pdcid(7)), &a);
}

// [PDS-018]
TEST_F(PdcTableTest, EachRoleLeavesPdcsToTheOther) {
  make(8, 6);
  for (int i = 0; i < 6; ++i) EXPECT_NE(table_.allocate(true, rng_), nullptr);
  EXPECT_EQ(table_.allocate(true, rng_), nullptr);
  EXPECT_EQ(table_.free_count(false), 2u);
  for (uint16_t i = 0; i < 2; ++i) target(1, static_cast<uint16_t>(i + 1));
  EXPECT_EQ(table_.allocate(false, rng_), nullptr);
  EXPECT_EQ(table_.size(), 8u);
}

// A source whose numbers the test chooses, as fractions of 65,536.
class ChosenRandom final : public RandomSource {
 public:
  uint64_t u64() override {
    ++draws;
    if (next.empty()) return last << 48;
    last = next.front();
    next.erase(next.begin());
    return last << 48;
  }
  std::vector<uint64_t> next;
  uint64_t last = 0;
  int draws = 0;
};

// [PDS-019, TSS-070, T-04] Every id is random: it depends on nothing but the draw.
TEST_F(PdcTableTest, IdsAreDrawn) {
  make(4, 4);
  ChosenRandom random;
  random.next = {40000, 7};  // an id, and a Start_PSN
  Pdc* const first = table_.allocate(false, random);
  EXPECT_EQ(first->id, Pdcid(40000));
  random.next = {40000, 0, 65535, 7};  // taken, and never given
  EXPECT_EQ(table_.allocate(false, random)->id, Pdcid(65535));
  table_.free(*first);
  random.next = {40000, 7};
  EXPECT_EQ(table_.allocate(false, random)->id, Pdcid(40000));
}

// When no draw finds a free id, the first free one behind the last draw has to do.
TEST_F(PdcTableTest, IdsAreFoundAmongFewFreeOnes) {
  make(4, 4);
  ChosenRandom random;
  random.next = {500, 7};
  table_.allocate(false, random);
  random.next.assign(64, 500);
  random.next.push_back(7);
  EXPECT_EQ(table_.allocate(false, random)->id, Pdcid(501));
  EXPECT_EQ(random.draws, 2 + 65);
}

// [PDS-044]
TEST_F(PdcTableTest, StartPsnKeepsItsDistance) {
  make(4, 4);
  expect_starts_apart(3 * 65535, [](Pdc& pdc) { return pdc.start.psn(); });
}

// [TSS-057, PDS-050] The same for secured PDCs, from 2^16 to 2^31.
TEST_F(PdcTableTest, LowStartPsnKeepsItsDistance) {
  make(4, 4);
  expect_starts_apart(5 * 65535, [&](Pdc& pdc) {
    const Psn start = table_.draw_low_start(pdc.id, rng_);
    EXPECT_GE(start.value(), 1u << 16);
    EXPECT_LT(start.value(), 1u << 31);
    return start;
  });
}

// [PDS-176]
TEST_F(PdcTableTest, TombstonesKeepTheIdAndExpire) {
  make(4, 4, 2);
  Pdc& a = target(1, 7);
  const Pdcid id = a.id;
  const Psn start = a.start.psn();
  a.end.close_at_psn(Psn(99));
  table_.bury(a, kNow + Duration::milliseconds(1));
  ASSERT_NE(table_.find_tombstone(id), nullptr);
  EXPECT_EQ(table_.find_tombstone(id)->close_psn, Psn(99));
  EXPECT_EQ(table_.find_tombstone(PeerId(1), Pdcid(7), start), table_.find_tombstone(id));
  EXPECT_EQ(table_.find_tombstone(PeerId(1), Pdcid(7), start + 1), nullptr);
  EXPECT_EQ(table_.find(id), nullptr);
  EXPECT_EQ(table_.next_expiry(), kNow + Duration::milliseconds(1));
  table_.expire_tombstones(kNow);
  EXPECT_NE(table_.find_tombstone(id), nullptr);
  table_.expire_tombstones(kNow + Duration::milliseconds(1));
  EXPECT_EQ(table_.find_tombstone(id), nullptr);
  EXPECT_TRUE(table_.next_expiry().is_never());
}

// [PDS-176] A tombstone of a reclaimed PDC is kept longer, and delays no other: neither the expiry
// of those that closed in order, nor, when the table is full, their places.
TEST_F(PdcTableTest, ReclaimedTombstonesGiveWay) {
  make(8, 8, 2);
  const auto bury = [&](uint16_t peer_id, bool closed, Duration kept) {
    Pdc* const pdc = table_.allocate(false, rng_);
    EXPECT_NE(pdc, nullptr);
    pdc->peer = PeerId(1);
    pdc->peer_id = Pdcid(peer_id);
    if (closed) receive_close(*pdc);
    const Pdcid id = pdc->id;
    table_.bury(*pdc, kNow + kept);
    return id;
  };
  const Pdcid forged = bury(1, false, Duration::seconds(60));
  const Pdcid closed = bury(2, true, Duration::milliseconds(1));
  EXPECT_EQ(table_.next_expiry(), kNow + Duration::milliseconds(1));
  const Pdcid another = bury(3, true, Duration::milliseconds(2));
  EXPECT_EQ(table_.find_tombstone(forged), nullptr) << "no room: the forged one goes";
  EXPECT_NE(table_.find_tombstone(closed), nullptr);
  table_.expire_tombstones(kNow + Duration::milliseconds(1));
  EXPECT_EQ(table_.find_tombstone(closed), nullptr);
  const Pdcid later = bury(4, false, Duration::seconds(60));
  table_.expire_tombstones(kNow + Duration::milliseconds(2));
  EXPECT_EQ(table_.find_tombstone(another), nullptr);
  EXPECT_NE(table_.find_tombstone(later), nullptr);
  EXPECT_EQ(table_.next_expiry(), kNow + Duration::seconds(60));
}

// [PDS-176] Two rounds over all PDCIDs skip the id of a tombstone.
TEST_F(PdcTableTest, APdcidIsNotGivenOutWhileItsTombstoneStands) {
  make(4, 4, 2);
  Pdc& a = target(1, 7);
  const Pdcid id = a.id;
  table_.bury(a, kNow + Duration::milliseconds(1));
  const auto is_given_out = [&] {
    bool found = false;
    for (uint32_t i = 0; i < 2 * 65536; ++i) {
      Pdc* const pdc = table_.allocate(true, rng_);
      found = found || pdc->id == id;
      table_.free(*pdc);
    }
    return found;
  };
  EXPECT_FALSE(is_given_out());
  table_.expire_tombstones(kNow + Duration::milliseconds(1));
  EXPECT_TRUE(is_given_out());
}

// [PDS-176] A tombstone stays until it expires, however many PDCs close, also with the same PDCID.
TEST_F(PdcTableTest, TombstonesOfOrderlyClosesStay) {
  make(8, 8, 2);
  std::vector<Pdcid> ids;
  for (uint16_t i : {uint16_t{1}, uint16_t{2}, uint16_t{3}}) {
    Pdc& pdc = target(1, i);
    receive_close(pdc);
    ids.push_back(pdc.id);
    EXPECT_EQ(table_.may_bury(), i < 3);
    table_.bury(pdc, kNow + Duration::seconds(i));
  }
  EXPECT_NE(table_.find_tombstone(ids[0]), nullptr);
  EXPECT_NE(table_.find_tombstone(ids[1]), nullptr);
  EXPECT_EQ(table_.find_tombstone(ids[2]), nullptr);
  table_.expire_tombstones(kNow + Duration::seconds(1));
  EXPECT_TRUE(table_.may_bury());
  Pdc& again = target(1, 2);
  receive_close(again);
  const Pdcid id = again.id;
  const Psn start = again.start.psn();
  table_.bury(again, kNow + Duration::seconds(9));
  EXPECT_NE(table_.find_tombstone(ids[1]), nullptr);
  ASSERT_NE(table_.find_tombstone(PeerId(1), Pdcid(2), start), nullptr);
  EXPECT_EQ(table_.find_tombstone(PeerId(1), Pdcid(2), start)->id, id);
}

// [PDS-193, TSS-135] The seed, which the provider draws from the system, decides PDCID and
// Start_PSN: after a restart with another seed both differ and cannot be predicted.
TEST(PdcSeedTest, AnotherSeedIsAnotherPlace) {
  std::set<uint16_t> ids;
  std::set<uint32_t> starts;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto first = [seed] {
      Arena arena;
      PdcTable table;
      SeededRandom rng(seed);
      EXPECT_TRUE(table.create(arena, {16, 16, 16, 0}, rng).ok());
      const Pdc* const pdc = table.allocate(true, rng);
      return std::pair{pdc->id.value(), pdc->start.psn().value()};
    };
    const auto [id, start] = first();
    EXPECT_EQ(first(), (std::pair{id, start})) << "the same seed, the same place";
    ids.insert(id);
    starts.insert(start);
  }
  EXPECT_EQ(starts.size(), 100u);
  EXPECT_GE(ids.size(), 95u);  // of 65,535: two of a hundred may meet
}

}  // namespace
}  // namespace uet::pds
