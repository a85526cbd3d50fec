// Who may open a PDC, and what becomes of a SYN that may not. [PDS 4, 7.1 V6]
#include "pds/door/door.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;

constexpr Pdcid kStranger(33);  // of the peer that sends SYNs

class DoorPartTest : public AllParts {
 protected:
  DoorPartTest() {
    res_.config.max_pdcs = 8;
    res_.config.newcomer_percent = 0;
    res_.config.challenge_above = 0;
    EXPECT_TRUE(replies_.create(arena_).ok() && secure_psn_.create(arena_).ok());
  }

  // A SYN of that host, of the packet at that distance from its Start_PSN.
  Inbound syn(uint8_t host, Psn start = kFirst, int offset = 0) {
    datagram_.from = address(host);
    Inbound in;
    in.datagram = &datagram_;
    in.syn = true;
    in.start_psn = start;
    in.trigger.psn = start + offset;
    in.spdcid = kStranger;
    in.next_hdr = wire::NextHeader::standard;
    in.arrival = kNow;
    return in;
  }
  Pdc* open(const Inbound& in) { return door_.look_up_syn(in, kNow); }
  // The NACKs that leave: code and payload of each.
  std::vector<std::pair<NackCode, uint32_t>> nacks() {
    batch_.clear();
    replies_.send_replies(batch_);
    std::vector<std::pair<NackCode, uint32_t>> all;
    for (const TxPacket& packet : batch_.packets()) {
      wire::Reader in({packet.header, packet.header_bytes});
      const wire::Nack h = wire::Nack::read(in);
      all.emplace_back(h.nack_code, h.payload);
    }
    return all;
  }
  // The only one.
  NackCode refusal() {
    const auto all = nacks();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? NackCode::none : all[0].first;
  }

  RxDatagram datagram_;
  Challenger challenger_{res_, table_, proofs_, replies_};
  Opening opening_{res_, table_, schedule_, contexts_, idle_, secure_psn_, counts_};
  Door door_{res_, table_, replies_, closing_, ending_, reclaim_, challenger_, opening_};
};

// [PDS-T1, PDS-045] A SYN opens a target at its Start_PSN, whichever of its packets came first.
TEST_F(DoorPartTest, ASynOpensATarget) {
  Pdc* const pdc = open(syn(20, Psn(500), 3));
  ASSERT_NE(pdc, nullptr);
  EXPECT_EQ(pdc->state(), PdcState::established);
  EXPECT_FALSE(pdc->is_initiator());
  EXPECT_EQ(pdc->start.psn(), Psn(500));
  EXPECT_EQ(pdc->rx.base(), Psn(500));
  EXPECT_EQ(pdc->tx.next(), Psn(500)) << "the return direction begins there, too [PDS-031]";
  EXPECT_EQ(pdc->peer_id, kStranger);
  EXPECT_FALSE(pdc->proof.is_confirmed());
  EXPECT_EQ(proofs_.half_open(), 1u);
  EXPECT_EQ(peers_[pdc->peer].targets, 1u);
  EXPECT_EQ(shares_.held({0, 1}), 1u);
  EXPECT_EQ(nacks().size(), 0u);
}

// [PDS-046] The other SYNs of the same start are of that PDC.
TEST_F(DoorPartTest, SynsOfOneStartAreOfOnePdc) {
  Pdc* const pdc = open(syn(20));
  EXPECT_EQ(open(syn(20, kFirst, 5)), pdc);
  EXPECT_NE(open(syn(21)), pdc) << "another host";
  EXPECT_EQ(table_.size(), 2u);
}

// [PDS-191] Another start shows that the peer restarted: the old PDC is asked for.
TEST_F(DoorPartTest, AnotherStartIsRefusedWhileThePdcIsThere) {
  open(syn(20));
  EXPECT_EQ(open(syn(20, Psn(7000))), nullptr);
  EXPECT_EQ(refusal(), NackCode::invalid_syn);
  EXPECT_TRUE(was_called("ask_close"));
}

// [PDS-045] A PSN beyond the default range of its Start_PSN is refused: before the first answer no
// peer sends it.
TEST_F(DoorPartTest, APsnFarFromItsStartOpensNothing) {
  EXPECT_EQ(open(syn(20, kFirst, static_cast<int>(res_.config.tracked_packets()))), nullptr);
  EXPECT_EQ(refusal(), NackCode::invalid_syn);
  EXPECT_EQ(table_.size(), 0u);
}

// [PDS-040, PDS-162] Of the control packets a NOOP alone opens a PDC, and of the requests none that
// carries a response.
TEST_F(DoorPartTest, OnlyRequestsAndNoopsOpenAPdc) {
  Inbound in = syn(20);
  in.is_control = true;
  in.ctl_type = wire::CtlType::close_cmd;
  EXPECT_EQ(open(in), nullptr);
  EXPECT_EQ(refusal(), NackCode::unexp_event);
  in.ctl_type = wire::CtlType::noop;
  EXPECT_NE(open(in), nullptr);
  Inbound response = syn(21);
  response.next_hdr = wire::NextHeader::response;
  EXPECT_EQ(open(response), nullptr);
  EXPECT_EQ(refusal(), NackCode::pdc_hdr_mismatch);
}

// [PDS-047, PDS-048] Each exhausted resource has its code; a refused SYN leaves no state.
TEST_F(DoorPartTest, EachExhaustedResourceRefusesASyn) {
  answers().context = nullptr;
  EXPECT_EQ(open(syn(20)), nullptr);
  EXPECT_EQ(refusal(), NackCode::no_ccc_avail);
  answers().context = &context_;
  while (Pdc* const pdc = table_.allocate(false, random_)) pdc->life.change(PdcEvent::opened);
  const uint32_t refs = context_.refs;
  EXPECT_EQ(open(syn(20)), nullptr);
  EXPECT_EQ(refusal(), NackCode::no_pdc_avail);
  EXPECT_EQ(context_.refs, refs);
  while (res_.rx_pool.can_take()) ASSERT_NE(res_.rx_pool.take(), nullptr);
  EXPECT_EQ(open(syn(20)), nullptr);
  EXPECT_EQ(refusal(), NackCode::no_bitmap);
  EXPECT_EQ(proofs_.half_open(), 0u);
}

// [T-01] Half-open PDCs leave the rest to peers that are proven.
TEST_F(DoorPartTest, HalfOpenPdcsHaveALimit) {
  res_.config.half_open_percent = 25;
  EXPECT_NE(open(syn(20)), nullptr);
  EXPECT_NE(open(syn(21)), nullptr);
  EXPECT_EQ(open(syn(22)), nullptr);
  EXPECT_EQ(refusal(), NackCode::no_pdc_avail);
  EXPECT_EQ(counted(Count::half_open_limit), 1u);
}

// [PDS-251] With too many of them a SYN must show that its sender receives our packets. Only then
// it opens a PDC, which is proven.
TEST_F(DoorPartTest, ASynIsChallengedUnderAFlood) {
  res_.config.challenge_above = 1;
  EXPECT_NE(open(syn(20)), nullptr);
  EXPECT_EQ(open(syn(21)), nullptr);
  const auto told = nacks();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, NackCode::new_start_psn);
  EXPECT_EQ(open(syn(22, Psn(told[0].second))), nullptr) << "it is good for one address";
  Pdc* const pdc = open(syn(21, Psn(told[0].second)));
  ASSERT_NE(pdc, nullptr);
  EXPECT_TRUE(pdc->proof.is_confirmed());
  EXPECT_EQ(table_.size(), 2u);
}

// [PDS-176] A late packet of a PDC that has closed: answered again, and never executed.
TEST_F(DoorPartTest, ATombstoneAnswersLatePackets) {
  Pdc* const pdc = open(syn(20));
  pdc->end.close_at_psn(kFirst + 5);
  pdc->life.change(PdcEvent::freed);
  table_.bury(*pdc, kNow + kRto);
  EXPECT_EQ(open(syn(20, kFirst, 3)), nullptr);
  EXPECT_EQ(counted(Count::ack_after_close), 1u);
  replies_.send_replies(batch_);
  EXPECT_EQ(open(syn(20, kFirst, 6)), nullptr);
  EXPECT_EQ(
      nacks(),
      (std::vector<std::pair<NackCode, uint32_t>>{{NackCode::closing, (kFirst + 6).value()}}));
  EXPECT_NE(open(syn(20, Psn(9000))), nullptr) << "a new one";
}

// [PDS-112] A SYN that the client refused leaves no PDC behind, unless something came of it.
TEST_F(DoorPartTest, AnUnusedPdcIsDiscarded) {
  Pdc* const pdc = open(syn(20));
  client_.has_open = true;
  door_.drop_if_unused(pdc->handle);
  EXPECT_FALSE(was_called("discard")) << "the client tracks a message of it";
  client_.has_open = false;
  pdc->rx.accept(res_.rx_pool, kFirst, false);
  door_.drop_if_unused(pdc->handle);
  EXPECT_FALSE(was_called("discard"));
  door_.drop_if_unused(open(syn(21))->handle);
  EXPECT_TRUE(was_called("discard"));
}

// [PDS-T2, PDS-T5, PDS-T6] A secured PDC begins where the target says, at the earliest.
TEST_F(DoorPartTest, ASecuredTargetSaysWhereItBegins) {
  res_.config.start_method = StartMethod::random_1rtt;
  datagram_.sdi = 77;
  Pdc* const pdc = open(syn(20));
  ASSERT_NE(pdc, nullptr);
  EXPECT_EQ(pdc->state(), PdcState::pending);
  const Psn told = pdc->start.psn();
  EXPECT_FALSE(door_.leave_pending(*pdc, syn(20), kNow));
  EXPECT_EQ(nacks(),
            (std::vector<std::pair<NackCode, uint32_t>>{{NackCode::new_start_psn, told.value()}}));
  EXPECT_TRUE(door_.leave_pending(*pdc, syn(20, told), kNow));
  EXPECT_EQ(pdc->state(), PdcState::established);
}

// [T-03] An unauthenticated source does not keep the PDCID of a peer from its owner.
TEST_F(DoorPartTest, ASecuredSynDisplacesAPdcInTheClear) {
  Pdc* const clear = open(syn(20));
  datagram_.sdi = 77;
  open(syn(20));
  EXPECT_EQ(calls_of("fail").size(), 1u);
  EXPECT_EQ(table_.size(), 2u);
  EXPECT_EQ(clear->sdi, 0u);
}

}  // namespace
}  // namespace uet::pds::part
