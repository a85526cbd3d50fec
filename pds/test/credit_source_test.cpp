// Credit at the source: what its packets ask for, when it asks without one, and what grants let go.
// Figures by hand, of the sizes in credit_bench.h.
#include "pds/schedule/backlog.h"
#include "pds/test/credit_bench.h"

#include <set>

namespace uet::pds::test {
namespace {

using Units = std::vector<uint32_t>;

// [CMS-121, CMS-127, PDS-063] Every request carries the number of its context and its demand: a
// source with enough credit asks for a packet.
TEST(CreditSourceTest, EveryRequestAsks) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    CreditBench b;
    const auto out = b.open_initiator(4, mode);
    ASSERT_EQ(out.size(), 4u);
    for (const Bench::Out& o : out) {
      const auto h = o.as<wire::Request>();
      EXPECT_EQ(h.type,
                mode == Mode::rod ? wire::PdsType::rod_cc_request : wire::PdsType::rud_cc_request);
      EXPECT_EQ(h.credit_target, 5u) << "1,172 octets";
      EXPECT_EQ(h.ccc_id, out[0].as<wire::Request>().ccc_id);
    }
  }
}

// [CMS-122, CMS-123, CMS-127] After the first answer only credit lets packets go; without any, a
// Credit Request CP asks for all that waits, once.
TEST(CreditSourceTest, WithoutCreditItAsks) {
  CreditBench b;
  b.open_source();
  b.post(3);
  const auto first = b.sent();
  EXPECT_TRUE(first.requests.empty());
  ASSERT_EQ(first.asked.size(), 1u);
  EXPECT_EQ(first.asked[0].credit_target, 14u) << "3 x 1,132 octets";
  EXPECT_TRUE(b.sent().asked.empty());
  EXPECT_EQ(b.count(Count::credit_request_tx), 1u);
}

// [CMS-022, CMS-123, CMS-124, CMS-125] Any credit admits a packet, which takes its octets.
TEST(CreditSourceTest, GrantsLetPacketsGo) {
  CreditBench b;
  b.open_source();
  b.post(40);
  EXPECT_TRUE(b.sent().requests.empty());
  b.grant(1);  // 256 octets: one packet; 840 are owed after it
  EXPECT_EQ(b.sent().requests.size(), 1u);
  b.grant(4);  // 768 more: 72 are owed
  EXPECT_EQ(b.sent().requests.size(), 0u);
  b.grant(4);
  EXPECT_EQ(b.sent().requests.size(), 0u) << "a repeated grant counts once";
  b.grant(13);  // 2,304 more: 2,232, so three packets
  EXPECT_EQ(b.sent().requests.size(), 3u);
}

// [CMS-022, CMS-043] Credit in an ACK counts as in a Credit CP.
TEST(CreditSourceTest, CreditComesInAcks) {
  CreditBench b;
  b.open_source();
  b.post(40);
  EXPECT_TRUE(b.sent().requests.empty());
  wire::AckCc h;
  h.ack = b.ack(b.start);
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.cc_type = wire::CcType::credit;
  h.state = wire::CreditState{.credit = 5}.pack();
  b.rx_header(h);
  EXPECT_EQ(b.sent().requests.size(), 2u) << "1,280 octets";
}

// [CMS-126] The demand includes the granted octets and the packet itself.
TEST(CreditSourceTest, TargetsIncludeTheGrants) {
  CreditBench b;
  b.open_source();
  b.post(10);  // 11,320 octets: 45 units
  const auto first = b.sent();
  ASSERT_EQ(first.asked.size(), 1u);
  EXPECT_EQ(first.asked[0].credit_target, 45u);
  b.grant(4);
  const auto next = b.sent();
  ASSERT_EQ(next.requests.size(), 1u);
  EXPECT_EQ(next.requests[0].credit_target, 45u) << "4 + (11,320 - 1,024) / 256";
}

// Three packets wait, and a Credit Request for them was sent.
struct AskingBench : CreditBench {
  AskingBench() {
    open_source();
    post(3);
    EXPECT_EQ(sent().asked.size(), 1u);
  }
};

// [CMS-129] Without an answer it asks again, after 250 us and then at twice the distance.
TEST(CreditSourceTest, ItAsksAgain) {
  AskingBench b;
  std::vector<int> at;
  for (int us = 10; us <= 2000; us += 10) {
    b.elapse(10_us);
    for (const auto& asked : b.sent().asked) {
      EXPECT_EQ(asked.credit_target, 14u);
      at.push_back(us);
    }
  }
  ASSERT_EQ(at.size(), 3u);
  EXPECT_NEAR(at[0], 250, 10);  // looked at every 10 us
  EXPECT_NEAR(at[1], at[0] + 500, 10);
  EXPECT_NEAR(at[2], at[1] + 1000, 10);
}

// [CMS-129] A peer that never answers gets a packet of data after four requests, and one after each
// further one, so that it can show that it has lost the PDC.
TEST(CreditSourceTest, UnansweredItSendsAPacket) {
  AskingBench b;
  std::vector<int> at;
  for (int us = 50; us <= 12'000 && at.empty(); us += 50) {
    b.elapse(50_us);
    if (!b.sent().requests.empty()) at.push_back(us);
  }
  ASSERT_EQ(at.size(), 1u);
  EXPECT_NEAR(at[0], 250 + 500 + 1000 + 2000, 250);
  EXPECT_EQ(b.count(Count::credit_on_trust), 1u);
  EXPECT_EQ(b.count(Count::credit_request_tx), 5u);
  b.rx_header(b.nack(wire::NackCode::inv_dpdcid, b.start + 1));
  EXPECT_EQ(b.count(Count::nack_rx_inv_dpdcid), 1u);
}

// [CMS-129] The peer may have lost the PDC: a Credit Request has the PSN that was answered last.
// When the peer refuses that PSN, the PDC ends.
TEST(CreditSourceTest, ARefusedRequestEndsThePdc) {
  CreditBench b;
  b.open_source();
  b.rx_header(b.nack(wire::NackCode::inv_dpdcid, b.start));
  EXPECT_EQ(b.count(Count::drop_nack_range), 1u) << "nothing was asked";
  b.post(3);
  EXPECT_EQ(b.sent().asked_with, std::vector<Psn>{b.start});
  b.rx_header(b.nack(wire::NackCode::inv_dpdcid, Psn{}));
  EXPECT_EQ(b.count(Count::drop_nack_range), 2u) << "any PSN will not do";
  b.rx_header(b.nack(wire::NackCode::inv_dpdcid, b.start));
  EXPECT_EQ(b.count(Count::pdc_closed_nack), 1u);
}

// [PDS-163, CMS-129] UNEXP_EVENT does not say that the PDC is lost. A copy of the refusal of a
// Probe names the same PSN as the Credit Request, if both went with nothing outstanding.
TEST(CreditSourceTest, AnUnexpectedRequestHarmsNoPdc) {
  CreditBench b;
  b.open_source();
  b.post(3);
  EXPECT_EQ(b.sent().asked_with, std::vector<Psn>{b.start});
  b.rx_header(b.nack(wire::NackCode::unexp_event, b.start));
  EXPECT_EQ(b.count(Count::drop_nack_range), 1u);
  EXPECT_EQ(b.count(Count::pdc_closed_nack), 0u);
  b.grant(14);
  EXPECT_EQ(b.sent().requests.size(), 3u);
}

// [CMS-129] Requests go on any of the PDCs, also while no packet goes: one may be lost at the peer.
TEST(CreditSourceTest, EachPdcAsks) {
  CreditBench b;
  FabricAddress to = b.from;
  to.port = kUetPort;
  ASSERT_TRUE(b.peers.find_or_add(b.from, b.now).ok());
  b.flow = *b.pds->flow(*b.peers.find_or_add(to, b.now), TrafficClass(0), Mode::rud, JobId(1));
  b.post(100);
  b.post(100);
  std::set<Pdcid> pdcs;
  for (const wire::Request& h : b.sent().requests) {
    if (!pdcs.insert(h.spdcid).second) continue;
    b.own = h.spdcid;
    wire::Ack ack = b.ack(h.start_psn());
    ack.spdcid = Pdcid(static_cast<uint16_t>(pdcs.size()));
    b.rx_header(ack);
  }
  ASSERT_EQ(pdcs.size(), 2u);
  std::set<Pdcid> asking;
  for (int i = 0; i < 38; ++i) {  // 3.8 ms: requests after 0.25, 0.75, 1.75 and 3.75 ms
    for (const Bench::Out& o : b.tx()) {
      ASSERT_EQ(o.type(), wire::PdsType::control);
      const auto h = o.as<wire::Control>();
      if (h.ctl_type == CtlType::credit_req) asking.insert(h.spdcid);
    }
    b.elapse(100_us);
  }
  EXPECT_EQ(asking, pdcs);
}

// [CMS-193] A Close command that was lost goes again without credit.
TEST(CreditSourceTest, ALostCloseNeedsNoCredit) {
  CreditBench b;
  b.open_source();
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.tx().size(), 1u);
  uint32_t closes = 0;
  for (int i = 0; i < 20 && closes == 0; ++i) {
    b.elapse(1_ms);
    for (const Bench::Out& o : b.tx()) {
      ASSERT_EQ(o.type(), wire::PdsType::control);
      const auto h = o.as<wire::Control>();
      EXPECT_EQ(h.ctl_type, CtlType::close_cmd);
      closes += h.retx ? 1 : 0;
    }
  }
  EXPECT_EQ(closes, 1u);
}

// [CMS-193, CMS-126] A message that the peer refuses while it waits for credit demands no more; the
// NOOP in its place needs none.
TEST(CreditSourceTest, ARefusedMessageWantsNoCredit) {
  CreditBench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(wire::NackCode::trimmed_lasthop, b.start + 1));
  auto sent = b.sent();
  ASSERT_EQ(sent.asked.size(), 1u);
  EXPECT_EQ(sent.asked[0].credit_target, 5u) << "1,096 octets";
  b.rx_header(b.nack(wire::NackCode::exp_nack_err, b.start + 1));
  EXPECT_EQ(b.lines(),
            (Lines{"CP NOOP psn " + std::to_string(b.start.value() + 1) + " retx ar payload 0"}));
  b.post(1);
  EXPECT_TRUE(b.sent().asked.empty()) << "1,132 octets are 5 units, too, and were reported";
  b.elapse(300_us);
  sent = b.sent();
  ASSERT_EQ(sent.asked.size(), 1u);
  EXPECT_EQ(sent.asked[0].credit_target, 5u);
}

// [CMS-126] Contexts that are held back do not count as senders.
TEST(CreditSourceTest, HeldContextsHaveNoShare) {
  uint32_t senders = 0;
  {
    Backlog held(senders);
    Backlog live(senders);
    held.add(10);
    live.mark(5);
    EXPECT_EQ(senders, 2u);
    held.set_held(true);
    EXPECT_EQ(senders, 1u);
    held.take(10);
    held.mark(3);
    EXPECT_EQ(senders, 1u);
    held.set_held(false);
    EXPECT_EQ(senders, 2u);
    held.set_held(true);
    live.unmark(5);
    EXPECT_EQ(senders, 0u);
  }
  EXPECT_EQ(senders, 0u);
}

// [CMS-126] Contexts that may send share their requests: of 10,040 octets each requests a half.
// When the first one has used its credit, the second one asks for a whole packet.
TEST(CreditSourceTest, ContextsThatMaySendShareTheirRequests) {
  CreditBench b;
  b.open_source();
  b.post(1);
  EXPECT_EQ(b.sent().asked.size(), 1u);
  b.grant(5);  // 1,280 octets: two packets
  b.post(9);
  FabricAddress other = b.from;
  ++other.ip[3];
  b.flow = *b.pds->flow(*b.peers.find_or_add(other, b.now), TrafficClass(0), Mode::rud, JobId(1));
  b.post(2);
  const auto targets = [&] {
    Units all;
    for (const wire::Request& h : b.sent().requests) all.push_back(h.credit_target);
    return all;
  };
  EXPECT_EQ(targets(), (Units{25, 25, 5, 5}));
  b.grant(14);  // 2,304 more, and 912 were owed: two packets again, and halves of 7,664 octets
  b.post(2);
  EXPECT_EQ(targets(), (Units{29, 29, 5, 5}));
}

// [CMS-129] When no PDC waits any more, no request goes out and no timer is left.
TEST(CreditSourceTest, ClosedPdcsAskForNoCredit) {
  AskingBench b;
  b.pds->close_all(true, b.now);
  ASSERT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.pds->usage().timers, 0u);
}

// [CMS-128] A packet that was cut asks for credit; while the peer does not know the PDC, that would
// be refused, and the packet goes again on trust.
TEST(CreditSourceTest, ALostPacketAsksForCredit) {
  CreditBench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(wire::NackCode::trimmed_lasthop, b.start + 1));
  const auto sent = b.sent();
  EXPECT_TRUE(sent.requests.empty());
  ASSERT_EQ(sent.asked.size(), 1u);
  EXPECT_EQ(sent.asked[0].credit_target, 5u) << "1,096 octets";
  b.grant(5);
  const auto again = b.sent().requests;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].retx);

  CreditBench syn;
  syn.open_initiator(1);
  syn.rx_header(syn.nack(wire::NackCode::trimmed_lasthop, syn.start));
  const auto resent = syn.sent();
  ASSERT_EQ(resent.requests.size(), 1u);
  EXPECT_TRUE(resent.requests[0].syn && resent.requests[0].retx);
  EXPECT_TRUE(resent.asked.empty());
}

// [CMS-128] If no PDC could ask and nothing is in flight, an MTU may go without credit: of 1,096
// octets one packet and a part of the next.
TEST(CreditSourceTest, ANewPdcNeedsNoCredit) {
  CreditBench b;
  b.open_source();
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.tx().size(), 1u);  // Close command
  b.rx_header(b.ack(b.start + 1));
  ASSERT_EQ(b.pds->open_pdcs(), 0u);
  b.post(3);
  const auto sent = b.sent();
  ASSERT_EQ(sent.requests.size(), 2u);
  EXPECT_TRUE(sent.requests[0].syn);
  EXPECT_EQ(b.count(Count::credit_on_trust), 1u);
  EXPECT_TRUE(sent.asked.empty());
}

// [CMS-142] With NSCC and credit, both must allow a packet.
TEST(CreditSourceTest, PacketsNeedAWindowAndCredit) {
  CreditBench b(cms::Algorithm::both);
  b.open_source();
  b.post(400);
  EXPECT_TRUE(b.sent().requests.empty());
  b.grant(879);
  EXPECT_EQ(b.sent().requests.size(), 205u) << "225,000 octets of window, less than an MTU free";
}

// [CMS-006] The contexts toward a peer have different numbers, which do not come back at once;
// there are 256 of them.
TEST(CreditSourceTest, ContextsTowardAPeerHaveDifferentNumbers) {
  CreditBench b;
  b.open_initiator(1);
  const auto peer = b.peers.find_or_add(b.from, b.now);
  FabricAddress to = b.from;
  to.port = kUetPort;
  const PeerId id = *b.peers.find_or_add(to, b.now);
  (void)peer;
  std::set<uint8_t> seen;
  std::vector<FlowId> flows;
  for (uint32_t i = 0; i < 255; ++i) {  // each ROD flow has its own context
    const auto flow = b.pds->flow(id, TrafficClass(0), Mode::rod, JobId(2 + i));
    ASSERT_TRUE(flow.ok()) << i;
    flows.push_back(*flow);
    b.client.post(*flow, 1000 + i, 10);
  }
  for (const wire::Request& h : b.sent().requests) {
    EXPECT_TRUE(seen.insert(h.ccc_id).second) << int{h.ccc_id};
  }
  EXPECT_EQ(seen.size(), 255u);
  EXPECT_EQ(b.pds->flow(id, TrafficClass(8), Mode::rud, JobId(1)).error(), Errc::again);
}

TEST(CreditSourceTest, NumbersDoNotComeBackAtOnce) {
  CreditBench b;
  b.open_initiator(1);
  FabricAddress to = b.from;
  to.port = kUetPort;
  const PeerId id = *b.peers.find_or_add(to, b.now);
  std::set<uint8_t> seen;
  for (uint32_t i = 0; i < 100; ++i) {
    const auto flow = b.pds->flow(id, TrafficClass(4), Mode::rud, JobId(1));
    ASSERT_TRUE(flow.ok());
    b.client.post(*flow, 100 + i, 10);
    const auto sent = b.sent().requests;
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(seen.insert(sent[0].ccc_id).second) << i;
    b.own = sent[0].spdcid;
    b.rx_header(b.ack(sent[0].psn));
    b.pds->release(*flow);
    b.tx();  // Close command
    b.rx_header(b.ack(sent[0].psn + 1));
    b.tx();
  }
}

// [T-33, CMS-125] Excessive credit makes one window; credit that is taken back has no effect.
// Grants of another source are ignored.
TEST(CreditSourceTest, InflatedCreditMakesOneWindow) {
  CreditBench b;
  b.open_source();
  b.post(900);
  EXPECT_TRUE(b.sent().requests.empty());
  b.from = address(8);
  b.grant(100);
  EXPECT_EQ(b.count(Count::drop_bad_peer), 1u);
  b.from = address(9, 50000);
  EXPECT_TRUE(b.sent().requests.empty());
  b.grant(0x7F'FFFF);
  EXPECT_EQ(b.count(Count::credit_clamped), 1u);
  EXPECT_EQ(b.sent().requests.size(), 206u) << "225,000 / 1,096, up";
  b.grant(1);
  EXPECT_EQ(b.count(Count::credit_old), 1u);
  EXPECT_TRUE(b.sent().requests.empty());
}

// [CMS-022] Without credit in use, credit in ACKs is only counted; requests have no state.
TEST(CreditSourceTest, CreditIsNothingWithoutIt) {
  CreditBench b(cms::Algorithm::fixed);
  const auto out = b.open_initiator(4);
  for (const Bench::Out& o : out) EXPECT_EQ(o.type(), wire::PdsType::rud_request);
  b.rx_header(b.ack(b.start));
  b.grant(0x7F'FFFF);
  EXPECT_EQ(b.count(Count::credit_unused), 1u);
  EXPECT_EQ(b.lines(), Lines{});
  b.ask(3, 100);
  EXPECT_EQ(b.count(Count::creq_unused), 1u);
  EXPECT_EQ(b.lines(), Lines{});
}

}  // namespace
}  // namespace uet::pds::test
