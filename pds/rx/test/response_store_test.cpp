// Responses that are kept until their requester has seen them, and the places that they take.
// [PDS 9]
#include "pds/rx/response_store.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class ResponseStorePartTest : public AllParts {
 protected:
  ~ResponseStorePartTest() override {
    table_.for_each([&](Pdc& pdc) {
      while (StoredResponse* const e = pdc.responses.first()) store_.free_stored(pdc, *e);
    });
  }
  void create(uint32_t entries) {
    res_.config.gd_entries = entries;
    ASSERT_TRUE(store_.create(arena_).ok());
  }
  bool may_store(const Pdc& pdc, int offset) const {
    return store_.may_store(pdc, kFirst + offset, pdc.rx.all_received_below(kFirst + offset));
  }
  // A request whose response is kept.
  void receive(Pdc& pdc, int offset, bool is_guaranteed = true) {
    const Psn psn = kFirst + offset;
    ASSERT_TRUE(may_store(pdc, offset));
    Verdict verdict;
    verdict.kind = Verdict::Kind::respond;
    verdict.guaranteed = is_guaranteed;
    AckTrigger trigger;
    trigger.psn = psn;
    store_.store(pdc, trigger, verdict);
    pdc.rx.accept(res_.rx_pool, psn, is_guaranteed);
  }
  uint32_t due() {
    uint32_t count = 0;
    while (store_.next_due() != nullptr) ++count;
    return count;
  }
};

// [PDS-100, PDS-081] A response is sent at once and kept; the cumulative ACK stays below it.
TEST_F(ResponseStorePartTest, AResponseIsKeptUntilItIsCleared) {
  create(64);
  Pdc& pdc = target();
  receive(pdc, 0);
  EXPECT_EQ(due(), 1u);
  EXPECT_NE(store_.stored_for(pdc, kFirst), nullptr);
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst - 1);
  store_.clear_up_to(pdc, kFirst);
  EXPECT_EQ(store_.find(pdc, kFirst), nullptr);
  EXPECT_EQ(store_.size(), 0u);
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst);
}

// [PDS-102] A clear is cumulative, and none of it comes back.
TEST_F(ResponseStorePartTest, AClearTakesAllUpToItsPsn) {
  create(64);
  Pdc& pdc = target();
  for (int i = 0; i < 4; ++i) receive(pdc, i);
  store_.clear_up_to(pdc, kFirst + 2);
  store_.clear_up_to(pdc, kFirst + 1);
  EXPECT_EQ(store_.size(), 1u);
  EXPECT_NE(store_.find(pdc, kFirst + 3), nullptr);
}

// [PDS-102] A clear of packets that were not received or not answered is invalid.
TEST_F(ResponseStorePartTest, AClearOfWhatWasNotAnsweredIsDropped) {
  create(64);
  Pdc& pdc = target();
  receive(pdc, 0);
  store_.clear_up_to(pdc, kFirst + 1);
  EXPECT_EQ(counted(Count::drop_clear_range), 1u);
  EXPECT_EQ(store_.size(), 1u);
  AckTrigger trigger;
  trigger.psn = kFirst + 1;
  EXPECT_TRUE(store_.await(pdc, trigger));
  pdc.rx.accept(res_.rx_pool, kFirst + 1, true);
  store_.clear_up_to(pdc, kFirst + 1);
  EXPECT_EQ(counted(Count::drop_clear_range), 2u);
  EXPECT_NE(store_.find(pdc, kFirst + 1), nullptr);
  EXPECT_EQ(store_.stored_for(pdc, kFirst + 1), nullptr) << "its answer is not given yet";
  EXPECT_EQ(store_.find(pdc, kFirst), nullptr) << "what lies before it is cleared";
}

// [PDS-109] A response above a gap takes the place of the packet that fills the gap as well, which
// then takes none. Otherwise all would wait for a packet that finds no room.
TEST_F(ResponseStorePartTest, ThePacketThatFillsAGapFindsItsPlace) {
  create(2);
  res_.config.peer_share_percent = 100;
  Pdc& pdc = target();
  receive(pdc, 1);
  EXPECT_FALSE(may_store(pdc, 3));
  EXPECT_TRUE(may_store(pdc, 0));
  receive(pdc, 0);
  EXPECT_EQ(pdc.responses.places(), 2u);
  store_.clear_up_to(pdc, kFirst + 1);
  EXPECT_TRUE(may_store(pdc, 2));
}

// [PDS-109] Without a free place a host gets one beyond its share, which no response above a gap
// changes into one of the others.
TEST_F(ResponseStorePartTest, ThePlaceBeyondTheShareStaysOne) {
  create(64);
  Pdc& pdc = target();
  int held = 0;
  for (; static_cast<int>(pdc.responses.places()) == held; ++held) receive(pdc, held);
  EXPECT_FALSE(may_store(pdc, held)) << "one only";
  store_.clear_up_to(pdc, kFirst + held - 2);
  ASSERT_NE(store_.find(pdc, kFirst + held - 1), nullptr);
  EXPECT_EQ(pdc.responses.places(), 0u);
  receive(pdc, held + 1, false);
  EXPECT_EQ(pdc.responses.places(), 2u);
  store_.free_stored(pdc, *store_.find(pdc, kFirst + held + 1));
  EXPECT_EQ(pdc.responses.places(), 0u);
}

// [PDS-109] A response that waits for the application gives the place beyond the share back when
// another is free, so the next one finds it, however often.
TEST_F(ResponseStorePartTest, ThePlaceBeyondTheShareIsGivenBack) {
  create(64);
  Pdc& pdc = target();
  int end = 0;
  for (; static_cast<int>(pdc.responses.places()) == end; ++end) receive(pdc, end);
  const uint32_t share = pdc.responses.places();
  store_.clear_up_to(pdc, kFirst + end - 1);
  int oldest = end;
  for (uint32_t i = 0; i < share; ++i) receive(pdc, end++);
  for (uint32_t i = 0; i <= res_.config.gd_extra(); ++i) {
    ASSERT_TRUE(may_store(pdc, end));
    AckTrigger trigger;
    trigger.psn = kFirst + end++;
    ASSERT_TRUE(store_.await(pdc, trigger));
    pdc.rx.accept(res_.rx_pool, trigger.psn, true);
    EXPECT_TRUE(store_.find(pdc, trigger.psn)->is_extra);
    EXPECT_FALSE(may_store(pdc, end)) << "one only";
    store_.clear_up_to(pdc, kFirst + oldest++);
    EXPECT_FALSE(store_.find(pdc, trigger.psn)->is_extra);
    EXPECT_EQ(pdc.responses.places(), share);
    EXPECT_EQ(peers_[peer_].responses, share);
  }
}

// [PDS-109] A PDC has at most gd_per_pdc responses, and one fewer above a gap.
TEST_F(ResponseStorePartTest, APdcHasALimit) {
  create(64);
  res_.config.gd_per_pdc = 2;
  Pdc& pdc = target();
  receive(pdc, 0);
  EXPECT_FALSE(may_store(pdc, 2));
  EXPECT_TRUE(may_store(pdc, 1));
}

// [PDS-255] A source that may be forged holds a few responses, and leaves a quarter of the store.
TEST_F(ResponseStorePartTest, AnUnprovenSourceHoldsAFewResponses) {
  create(64);
  Pdc& pdc = target(Mode::rud, false);
  int kept = 0;
  for (; kept < 30 && may_store(pdc, kept); ++kept) receive(pdc, kept);
  EXPECT_EQ(kept, 16);
  EXPECT_EQ(peers_[peer_].responses, 0u) << "they count for no peer";
  EXPECT_TRUE(may_store(target(), 0));
}

// [PDS-106] When much is kept, the source is asked to clear.
TEST_F(ResponseStorePartTest, AnAlmostFullStoreAsksForAClear) {
  create(64);
  res_.config.gd_per_pdc = 4;
  Pdc& pdc = target();
  for (int i = 0; i < 2; ++i) receive(pdc, i);
  EXPECT_FALSE(pdc.responses.is_clear_due());
  receive(pdc, 2);
  EXPECT_TRUE(pdc.responses.is_clear_due());
  EXPECT_TRUE(was_called("want_control"));
}

// [PDS-075] Its requester asks again: the kept response goes once more, with the notes of that
// packet.
TEST_F(ResponseStorePartTest, AKeptResponseGoesAgain) {
  create(64);
  Pdc& pdc = target();
  receive(pdc, 0);
  EXPECT_EQ(due(), 1u);
  AckTrigger again;
  again.psn = kFirst;
  again.retx = true;
  for (int i = 0; i < 2; ++i) store_.send_again(*store_.stored_for(pdc, kFirst), again);
  StoredResponse* const next = store_.next_due();
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next->trigger.retx);
  EXPECT_EQ(due(), 0u) << "once";
}

// Responses of many PDCs under one PSN are found by their PDC.
TEST_F(ResponseStorePartTest, ResponsesOfTwoPdcsAreKeptApart) {
  create(256);
  Pdc& one = target();
  Pdc& other = target();
  for (int i = 0; i < 100; ++i) receive(one, i);
  receive(other, 0);
  EXPECT_EQ(store_.find(other, kFirst)->pdc, other.handle);
  store_.clear_up_to(one, kFirst + 99);
  EXPECT_EQ(store_.size(), 1u);
  EXPECT_NE(store_.find(other, kFirst), nullptr);
}

}  // namespace
}  // namespace uet::pds::part
