// Room for messages that found no receive: 16 records and 16 pages. [SES-126, SES-189]
#include "ses/receives/kept_room.h"

#include "ses/test/parts.h"

#include <initializer_list>
#include <vector>

namespace uet::ses::test {
namespace {

constexpr uint32_t kPage = UnexpectedPool::kPageBytes;

class KeptRoomTest : public PartTest {
 protected:
  KeptRoomTest() {
    EXPECT_TRUE(room_.create(arena_, res_.config, peers_).ok());
    room_.report_to(res_);
  }
  bool store(UnexpectedMessage& u, uint32_t offset, uint32_t bytes, bool is_confirmed = true) {
    return room_.store(u, offset, std::vector<std::byte>(bytes, std::byte{7}), is_confirmed);
  }

  KeptRoom room_;
};

// [SES-189] A length that a header claims costs nothing; octets do, by the page.
TEST_F(KeptRoomTest, OctetsAreChargedAsTheyArrive) {
  UnexpectedMessage& u = *room_.admit({peer_}, 3 * kPage);
  EXPECT_EQ(peers_[peer_].kept_messages, 1u);
  EXPECT_EQ(peers_[peer_].kept_pages, 0u);
  ASSERT_TRUE(store(u, kPage, 1));
  EXPECT_EQ(peers_[peer_].kept_pages, 1u);
  ASSERT_TRUE(store(u, kPage + 1, 10));
  EXPECT_EQ(peers_[peer_].kept_pages, 1u);
  ASSERT_TRUE(store(u, 0, 2 * kPage + 1));
  EXPECT_EQ(peers_[peer_].kept_pages, 3u);
  room_.drop(u);
}

// [SES-189] One peer leaves as much as it takes, of records and of pages.
TEST_F(KeptRoomTest, APeerLeavesHalf) {
  int records = 0;
  while (room_.admit({peer_}, 1) != nullptr) ++records;
  EXPECT_EQ(records, 8);
  const PeerId other = another_peer(2);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(store(*room_.admit({other}, 4 * kPage), 0, 4 * kPage));
  EXPECT_EQ(room_.admit({other}, 1), nullptr) << "it has 8 pages";
  EXPECT_NE(room_.admit({another_peer(3)}, 4 * kPage), nullptr);
}

// [SES-189] Other messages took the room meanwhile: nothing of the octets is kept.
TEST_F(KeptRoomTest, RoomMayEndWithinAMessage) {
  UnexpectedMessage* kept[3];
  for (UnexpectedMessage*& u : kept) u = room_.admit({peer_}, 4 * kPage);
  ASSERT_TRUE(store(*kept[0], 0, 4 * kPage));
  ASSERT_TRUE(store(*kept[1], 0, 4 * kPage));
  EXPECT_FALSE(store(*kept[2], 0, 1));
  EXPECT_EQ(peers_[peer_].kept_pages, 8u);
  EXPECT_TRUE(store(*kept[0], 5, 100)) << "it has the page";
  room_.drop(*kept[0]);
  EXPECT_TRUE(store(*kept[2], 0, 1));
}

// [SES-189, T-01] Sources that may be forged leave a quarter to the others.
TEST_F(KeptRoomTest, UnprovenSourcesLeaveAQuarter) {
  for (const uint8_t host : std::initializer_list<uint8_t>{1, 1, 2}) {
    UnexpectedMessage* const u = room_.admit({another_peer(host), false}, 4 * kPage);
    ASSERT_NE(u, nullptr);
    ASSERT_TRUE(store(*u, 0, 4 * kPage, false));
  }
  EXPECT_EQ(room_.admit({another_peer(3), false}, 1), nullptr);
  EXPECT_NE(room_.admit({another_peer(3), true}, 1), nullptr);
}

// [SES-133, CMS-116] All goes back; an index sees it, and PDS hears how much is used.
TEST_F(KeptRoomTest, ADroppedMessageGivesAllBack) {
  const uint32_t refs = peers_[peer_].refs;
  UnexpectedMessage& u = *room_.admit({peer_}, 3 * kPage);
  ASSERT_TRUE(store(u, 0, 2 * kPage));
  EXPECT_EQ(pds_.pressure, 2 * kPage);
  EXPECT_EQ(peers_[peer_].refs, refs + 1) << "it must not come to mean another peer";
  const uint64_t released = room_.released_total();
  const uint32_t claim = room_.claim_of(u);
  room_.drop(u);
  EXPECT_EQ(pds_.pressure, 0u);
  EXPECT_EQ(peers_[peer_].refs, refs);
  EXPECT_EQ(peers_[peer_].kept_messages + peers_[peer_].kept_pages, 0u);
  EXPECT_EQ(room_.released_total(), released + 1);
  EXPECT_EQ(room_.pool().free_pages(), room_.pool().pages());
  EXPECT_EQ(room_.get(claim), nullptr);
}

}  // namespace
}  // namespace uet::ses::test
