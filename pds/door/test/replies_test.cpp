// NACKs and late ACKs, and the budgets that limit them. [PDS 10.1, PDS-072]
#include "pds/door/replies.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;

class RepliesPartTest : public AllParts {
 protected:
  RepliesPartTest() { EXPECT_TRUE(replies_.create(arena_).ok()); }

  std::vector<wire::Nack> nacks() {
    batch_.clear();
    replies_.send_replies(batch_);
    std::vector<wire::Nack> all;
    for (const TxPacket& packet : batch_.packets()) {
      wire::Reader in({packet.header, packet.header_bytes});
      all.push_back(wire::Nack::read(in));
    }
    return all;
  }
  void refuse(Pdc& pdc, NackCode code, Instant now = kNow) {
    AckTrigger trigger;
    trigger.psn = kFirst + 4;
    trigger.ev = Entropy(99);
    trigger.retx = true;
    replies_.nack(pdc, code, trigger, now);
  }
  Inbound stranger(uint8_t host) {
    datagram_.from = address(host);
    Inbound in;
    in.datagram = &datagram_;
    in.trigger.psn = kFirst;
    in.spdcid = kPeerId;
    return in;
  }

  RxDatagram datagram_;
};

// [PDS-110, PDS-111] The NACK names the packet, its RETX, and by default the next PSN in sequence.
TEST_F(RepliesPartTest, ANackNamesThePacket) {
  Pdc& pdc = target();
  pdc.rx.accept(res_.rx_pool, kFirst + 1, false);
  refuse(pdc, NackCode::no_resource);
  const auto all = nacks();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].nack_psn, kFirst + 4);
  EXPECT_EQ(all[0].payload, (kFirst + 2).value());
  EXPECT_TRUE(all[0].retx);
  EXPECT_EQ(all[0].spdcid, pdc.id);
  EXPECT_EQ(all[0].dpdcid, kPeerId);
  EXPECT_EQ(batch_.packets()[0].ev, Entropy(99)) << "the EV of the packet is echoed";
  EXPECT_EQ(batch_.packets()[0].dscp, res_.config.control_dscp);
}

// [PDS-110] Without a bitmap the PDC is not there for the peer.
TEST_F(RepliesPartTest, WithoutABitmapANackNamesNoPdc) {
  refuse(target(), NackCode::no_bitmap);
  EXPECT_EQ(nacks().at(0).spdcid, Pdcid(0));
}

// [PDS-072] The number of NACKs to one peer is limited in each second.
TEST_F(RepliesPartTest, APeerHasABudgetOfNacks) {
  res_.config.nacks_per_second_per_peer = 20;
  Pdc& pdc = target();
  for (int i = 0; i < 5; ++i) refuse(pdc, NackCode::no_resource);
  EXPECT_EQ(nacks().size(), 2u) << "a tenth at once";
  EXPECT_EQ(counted(Count::drop_nack_limited), 3u);
  refuse(pdc, NackCode::no_resource, kNow + Duration::milliseconds(50));
  EXPECT_EQ(nacks().size(), 1u);
}

// [PDS-072] The same for packets without a PDC. One host cannot use up the budget of the others.
TEST_F(RepliesPartTest, AHostDoesNotUseUpTheBudgetOfStrangers) {
  res_.config.nacks_per_second_no_pdc = 40;
  for (int i = 0; i < 9; ++i) replies_.nack_stranger(stranger(20), NackCode::inv_dpdcid, kNow);
  EXPECT_EQ(nacks().size(), 2u);
  uint32_t others = 0;
  for (uint8_t host = 21; host < 40; ++host) {
    replies_.nack_stranger(stranger(host), NackCode::inv_dpdcid, kNow);
  }
  others += static_cast<uint32_t>(nacks().size());
  EXPECT_EQ(others, 2u) << "what is left of the four of all";
}

// [PDS-252] A NACK counts against the octets that an unproven source may get.
TEST_F(RepliesPartTest, AnUnprovenSourceWithoutOctetsGetsNoNack) {
  Pdc& pdc = target(Mode::rud, false);
  refuse(pdc, NackCode::no_resource);
  EXPECT_EQ(nacks().size(), 0u);
  pdc.proof.earn(100);
  refuse(pdc, NackCode::no_resource);
  EXPECT_EQ(nacks().size(), 1u);
}

// [PDS-072] The queue has a length, and what finds no room is counted.
TEST_F(RepliesPartTest, AFullQueueDropsReplies) {
  for (uint32_t i = 0; i <= res_.config.reply_queue; ++i) {
    replies_.queue_nack({}, address(9), Entropy(1), 0);
  }
  EXPECT_EQ(counted(Count::drop_reply_full), 1u);
  EXPECT_EQ(nacks().size(), TxBatch::kCapacity) << "the rest goes with the next batch";
  EXPECT_FALSE(replies_.empty());
}

// [WIRE-121] Answers to a SYN go where its sender listens: its own port if the packet says so.
TEST_F(RepliesPartTest, APacketSaysWhereItsSenderListens) {
  Inbound in = stranger(20);
  datagram_.from.port = 40000;
  in.syn = true;
  EXPECT_EQ(replies_.reply_address(in).port, kUetPort);
  in.private_mark = true;
  EXPECT_EQ(replies_.reply_address(in).port, 40000);
}

}  // namespace
}  // namespace uet::pds::part
