// Deferrable sends and ready-to-restarts as no honest peer would send them, or a foreign one would.
// [ses.md 4.5]
#include "ses/test/deferral_fixture.h"

namespace uet::ses::test {
namespace {

class DeferralHostileTest : public DeferralTest {
 protected:
  static constexpr uint32_t kToken = 0xA1B2C3D4;

  wire::StandardRequest deferrable_request(uint32_t length, uint32_t token = kToken,
                                           uint32_t target_token = 0) {
    wire::StandardRequest h = request(SesOpcode::deferrable_send, length);
    h.buffer_offset = wire::RestartTokens{token, target_token}.pack();
    return h;
  }
  // The next send of B, which must be a ready-to-restart; it gets no answer.
  wire::RestartTokens called() {
    network_.clear();
    b_->pds.transmit(now_);
    EXPECT_EQ(network_.size(), 1u);
    if (network_.empty()) return {};
    const Octets& rtr = network_[0].octets;
    EXPECT_EQ(rtr[0], std::byte{0x0c});
    return {word(rtr, 24), word(rtr, 28)};
  }
  // A ready-to-restart to A, as B or another peer of A sends it.
  std::string restart_of_a(wire::RestartTokens tokens, uint32_t initiator = 101, JobId job = kJob,
                           PeerId from = PeerId(0), pds::Mode mode = pds::Mode::rud) {
    wire::StandardRequest h = request(SesOpcode::deferrable_rtr, 0);
    h.common.pid_on_fep = PidOnFep(0);  // neither is looked at [SES-102]
    h.common.resource_index = ResourceIndex(0);
    h.common.ri_generation = 99;
    h.common.job_id = job;
    h.initiator = initiator;
    h.match_bits = tokens.pack();
    return give_a(h, {}, from, mode);
  }
  std::string give_a(const wire::StandardRequest& h, const Octets& payload, PeerId from = PeerId(0),
                     pds::Mode mode = pds::Mode::rud) {
    Octets octets(wire::StandardRequest::kSize);
    wire::Writer w(octets);
    h.emit(w);
    octets.insert(octets.end(), payload.begin(), payload.end());
    pds::RxRequest rx;
    rx.peer = from;
    rx.mode = mode;
    rx.next_hdr = wire::NextHeader::standard;
    rx.token = {pds::PdcHandle(StubPds::kTargetPdc), Psn(5000 + next_psn_++)};
    rx.ses = octets;
    return said(a_->exchange->on_request(rx, now_));
  }
  PeerId another_peer_of_a() {
    FabricAddress address;
    address = FabricAddress::v4(0x0A000101);
    return *a_->peers.find_or_add(address, now_);
  }
  // The token of A's send, which waits at B.
  uint32_t token_of_waiting(const Octets& data) {
    send(deferrable(data));
    transmit();
    const uint32_t token = word(network_[0].octets, 12);
    deliver_all();
    return token;
  }
};

// [SES-099, T-28] Tokens that were never given, another peer, process or job: OP_VIOLATION, and the
// send waits on.
TEST_F(DeferralHostileTest, OnlyTheTargetOfASendMayCallForIt) {
  const Octets data = pattern(3000);
  const uint32_t token = token_of_waiting(data);
  EXPECT_EQ(restart_of_a({token ^ 1, 7}), "OP_VIOLATION gen 99");
  EXPECT_EQ(restart_of_a({0, 0}), "OP_VIOLATION gen 99");
  EXPECT_EQ(restart_of_a({0, 7}), "OP_VIOLATION gen 99");
  EXPECT_EQ(restart_of_a({token, 7}, 102), "OP_VIOLATION gen 99");
  EXPECT_EQ(restart_of_a({token, 7}, 101, JobId(0x103)), "OP_VIOLATION gen 99");
  EXPECT_EQ(restart_of_a({token, 7}, 101, kJob, another_peer_of_a()), "OP_VIOLATION gen 99");
  EXPECT_EQ(a_->ses->counters()[Counter::rx_restart_refused], 6u);
  transmit();
  EXPECT_TRUE(network_.empty());
  EXPECT_EQ(restart_of_a({token, 7}), "accept");
  transmit();
  EXPECT_FALSE(network_.empty());
}

// [SES-063, SES-098] In one packet, without payload, on a PDC.
TEST_F(DeferralHostileTest, AReadyToRestartIsOneEmptyPacket) {
  const Octets data = pattern(3000);
  const uint32_t token = token_of_waiting(data);
  wire::StandardRequest h = request(SesOpcode::deferrable_rtr, 0);
  h.initiator = 101;
  h.match_bits = wire::RestartTokens{token, 7}.pack();
  EXPECT_EQ(give_a(h, pattern(4)), "OP_VIOLATION");
  h.common.eom = false;
  EXPECT_EQ(give_a(h, {}), "OP_VIOLATION");
  h.common.eom = true;
  EXPECT_EQ(give_a(h, {}, PeerId(0), pds::Mode::rudi), "OP_VIOLATION");
  EXPECT_EQ(give_a(h, {}, PeerId(0), pds::Mode::uud), "drop");
  h.common.ie = true;
  EXPECT_EQ(give_a(h, {}), "INITIATOR_ERR");
  h.common.ie = false;
  transmit();
  EXPECT_TRUE(network_.empty());
  EXPECT_EQ(give_a(h, {}, PeerId(0), pds::Mode::rod), "accept");
  config_.profiles = kAiBase | kHpc;
  start();
  EXPECT_EQ(give_a(h, {}), "UNSUPPORTED_OP");  // [SES-186]
}

// [SES-099, T-28] The same ready-to-restart twice has the message sent once more, not twice;
// another one during that attempt is obeyed when the attempt is deferred.
TEST_F(DeferralHostileTest, AReadyToRestartCountsOnce) {
  const Octets data = pattern(1000);
  const uint32_t token = token_of_waiting(data);
  EXPECT_EQ(restart_of_a({token, 7}), "accept");
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  EXPECT_EQ(restart_of_a({token, 7}), "accept");
  deliver_all();
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferred], 2u);
  EXPECT_EQ(restart_of_a({token, 8}), "accept");
  transmit();
  EXPECT_EQ(restart_of_a({token, 9}), "accept");
  deliver_all();
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferred], 4u);
  EXPECT_EQ(take(*a_), "");
}

// [SES-099] After the end of the send there is no message to call; before its first packet the call
// is only noted.
TEST_F(DeferralHostileTest, ACallTooLateOrTooEarlyDoesNoHarm) {
  const Octets data = pattern(1000);
  Octets room(1000);
  receive(room);
  a_->pds.window = 0;
  send(deferrable(data));
  // The token cannot be known yet, so guesses are tried: every value is refused but one.
  EXPECT_EQ(restart_of_a({1, 2}), "OP_VIOLATION gen 99");
  a_->pds.window = 16;
  transmit();
  const uint32_t token = word(network_[0].octets, 12);
  EXPECT_EQ(restart_of_a({token, 5}), "accept");  // it will not be needed
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 1000 #1");
  EXPECT_EQ(restart_of_a({token, 5}), "OP_VIOLATION gen 99");
  transmit();
  EXPECT_TRUE(network_.empty());
}

// [SES-098, WIRE-064] The reference provider has the two tokens in the other order.
TEST_F(DeferralHostileTest, TheReverseOrderOfTheTokensIsAcceptedToo) {
  const Octets data = pattern(3000);
  const uint32_t token = token_of_waiting(data);
  EXPECT_EQ(restart_of_a({0x77, token}), "accept");
  transmit();
  ASSERT_FALSE(network_.empty());
  EXPECT_EQ(word(network_[0].octets, 12), token);
  EXPECT_EQ(word(network_[0].octets, 16), 0x77u);
}

// [SES-099, T-28] A receive that was set aside is for one message: no other sender gets it, with
// any tokens.
TEST_F(DeferralHostileTest, ASetAsideReceiveIsForOneMessage) {
  Octets room(4);
  EXPECT_EQ(said(standard(deferrable_request(4), 4)), "OK");
  receive(room);
  const wire::RestartTokens tokens = called();
  EXPECT_EQ(tokens.initiator, kToken);
  const wire::StandardRequest h = deferrable_request(4, kToken, tokens.target);
  from_ = another_peer();
  EXPECT_EQ(said(standard(h, 4)), "OK");  // deferred, until another receive is posted
  from_ = PeerId(0);
  wire::StandardRequest other = h;
  other.initiator = 6;
  EXPECT_EQ(said(standard(other, 4)), "OK");
  other = deferrable_request(4, kToken + 1, tokens.target);
  EXPECT_EQ(said(standard(other, 4)), "OK");
  EXPECT_EQ(count(Counter::rx_restart_stray), 3u);
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(said(standard(h, 4)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #2");
  EXPECT_EQ(said(standard(h, 4)), "OK");  // once only: it is a new message now
  EXPECT_EQ(take(*b_), "");
}

// [SES-021, SES-120] Another message under the same token is not the matched one: the receive is
// freed.
TEST_F(DeferralHostileTest, ATokenStandsForOneMessage) {
  Octets room(10), untagged(10);
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.tag = 6;
  for (const int change : {0, 1, 2}) {
    SCOPED_TRACE(change);
    start();
    wire::StandardRequest h = deferrable_request(4);
    h.common.opcode = SesOpcode::deferrable_tsend;
    h.match_bits = 6;
    EXPECT_EQ(said(standard(h, 4)), "OK");
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
    const uint32_t target_token = called().target;
    receive(untagged, 3);
    wire::StandardRequest other = deferrable_request(4, kToken, target_token);
    other.common.opcode = SesOpcode::deferrable_tsend;
    other.match_bits = 6;
    if (change == 0) other.match_bits = 7;
    if (change == 1) other.request_length = 5;
    if (change == 2) other.common.opcode = SesOpcode::deferrable_send;
    const std::string verdict = said(standard(other, other.request_length));
    EXPECT_EQ(verdict, change == 0 ? "OK" : "accept");
    EXPECT_EQ(take(*b_), change == 0   ? ""
                         : change == 1 ? "tagged_recv ok 5 tag 6 #2"
                                       : "recv ok 4 #3");
    // The tagged receive is for everybody again.
    wire::StandardRequest plain = request(SesOpcode::tagged_send, 3);
    plain.match_bits = 6;
    if (change == 1) continue;
    EXPECT_EQ(said(standard(plain, 3)), "accept");
    EXPECT_EQ(take(*b_), "tagged_recv ok 3 tag 6 #2");
  }
}

// [SES-095, SES-115, SES-107] Packets of one that waits are held to the same rules as all others:
// beyond its length, with changed fields, a second beginning.
TEST_F(DeferralHostileTest, PacketsOfOneThatWaitsAreChecked) {
  const auto begin = [&] {
    start();
    EXPECT_EQ(said(standard(part(deferrable_request(5000), 1024, 1024), 1024)), "OK");
  };
  const wire::StandardRequest h = deferrable_request(5000);
  begin();
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OK");
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OP_VIOLATION");
  EXPECT_EQ(said(standard(part(h, 2048, 1024), 1024)), "OP_VIOLATION");  // the same for the rest
  begin();
  EXPECT_EQ(said(standard(part(h, 5120, 1024), 1024)), "OP_VIOLATION");
  begin();
  wire::StandardRequest other = part(h, 2048, 1024);
  other.buffer_offset += 1;  // the tokens
  EXPECT_EQ(said(standard(other, 1024)), "OP_VIOLATION");
  begin();
  other = part(h, 2048, 1024);
  other.initiator = 9;
  EXPECT_EQ(said(standard(other, 1024)), "PERM_VIOLATION");
  begin();
  other = part(h, 2048, 1024);
  other.common.opcode = SesOpcode::send;
  EXPECT_EQ(said(standard(other, 1024)), "OP_VIOLATION");
}

// [SES-097] The end of one that waits: once, within its length, for one that waits.
TEST_F(DeferralHostileTest, TheEndOfOneThatWaitsIsChecked) {
  const wire::StandardRequest h = deferrable_request(5000);
  const auto end_at = [&](uint32_t offset, wire::StandardRequest e) {
    e.common.som = false;
    e.common.eom = true;
    e.message_offset = offset;
    e.payload_length = 0;
    return said(standard(e, 0));
  };
  // For an unknown message: refused, and it leaves no record.
  EXPECT_EQ(end_at(1024, h), "OP_VIOLATION");
  EXPECT_TRUE(b_->ses->idle());
  // In time, early, and after all it counts there is.
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OK");
  EXPECT_FALSE(b_->ses->idle());
  EXPECT_EQ(end_at(1024, h), "OK");
  EXPECT_TRUE(b_->ses->idle());
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024)), "OK");
  EXPECT_EQ(end_at(2048, h), "OK");
  EXPECT_FALSE(b_->ses->idle());
  EXPECT_EQ(end_at(2048, h), "OP_VIOLATION");  // twice
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OP_VIOLATION");
  EXPECT_TRUE(b_->ses->idle());  // that was the last of its octets
  // Beyond its length, and as another operation.
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OK");
  EXPECT_EQ(end_at(5001, h), "OP_VIOLATION");
  wire::StandardRequest other = h;
  other.common.opcode = SesOpcode::deferrable_tsend;
  EXPECT_EQ(end_at(1024, other), "OP_VIOLATION");
  EXPECT_EQ(end_at(1024, h), "OP_VIOLATION");
  EXPECT_TRUE(b_->ses->idle());
  // A message that is being received does not end this way.
  Octets room(5000);
  start();
  receive(room);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_EQ(end_at(1024, h), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-105, SES-106] Or its initiator cancels it while it says so.
TEST_F(DeferralHostileTest, AMsgErrorEndsOneThatWaits) {
  const wire::StandardRequest h = deferrable_request(5000);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OK");
  wire::StandardRequest e = h;
  e.common.opcode = SesOpcode::msg_error;
  e.common.som = false;
  e.message_offset = 1024;
  EXPECT_EQ(said(standard(e, 0)), "INITIATOR_ERR");
  EXPECT_TRUE(b_->ses->idle());
}

// [SES-108, SES-097] A message that neither continues nor ends is forgotten in time.
TEST_F(DeferralHostileTest, HalfOfOneThatWaitsIsForgotten) {
  EXPECT_EQ(said(standard(part(deferrable_request(5000), 0, 1024), 1024)), "OK");
  now_ = now_ + Duration::seconds(61);
  b_->advance(now_);
  now_ = now_ + Duration::seconds(61);
  b_->advance(now_);
  EXPECT_TRUE(b_->ses->idle());
  EXPECT_TRUE(b_->next_deadline().is_never());
}

// [SES-100, SES-188] On ROD nothing is deferred: its PDC waits for a receive.
TEST_F(DeferralHostileTest, NothingWaitsOnRod) {
  EXPECT_EQ(said(standard(deferrable_request(4), 4, pds::Mode::rod)), "nack NO_RESOURCE");
  EXPECT_EQ(count(Counter::rx_deferred), 0u);
}

// [SES-103, SES-126, SES-093] Without a token, or without the profile, it is a send like any other.
TEST_F(DeferralHostileTest, AMessageThatCannotWaitIsAPlainSend) {
  EXPECT_EQ(said(standard(deferrable_request(4, 0), 4)), "OK modified 4");  // kept
  config_.profiles = kAiBase | kHpc;
  start();
  EXPECT_EQ(said(standard(deferrable_request(4), 4)), "OK modified 4");
  EXPECT_EQ(count(Counter::rx_deferred), 0u);
  config_.profiles = kAiBase;
  start();
  EXPECT_EQ(said(standard(deferrable_request(4), 4)), "NO_MATCH");  // [SES-128]
}

// [SES-035, T-25] One peer's messages that wait leave as much room to others, however many tokens
// it makes up.
TEST_F(DeferralHostileTest, OnePeerDoesNotFillTheTable) {
  config_.deferred_messages = 1024;
  config_.unexpected_messages = 16;
  start();
  for (uint32_t i = 1; i <= 100; ++i) standard(deferrable_request(4, i), 4);
  EXPECT_EQ(count(Counter::rx_deferred), 8u);
  EXPECT_EQ(count(Counter::rx_no_match), 92u);
  from_ = another_peer();
  EXPECT_EQ(said(standard(deferrable_request(4, 1), 4)), "OK");
}

// [SES-035, T-25] The records of one endpoint are limited as well; ended messages make room again.
TEST_F(DeferralHostileTest, OnePeerDoesNotFillTheTableOfAnEndpoint) {
  config_.deferred_messages = 6;
  start();
  for (uint32_t i = 1; i <= 6; ++i) {
    EXPECT_EQ(said(standard(deferrable_request(4, i), 4)), i <= 3 ? "OK" : "NO_MATCH") << i;
  }
  const PeerId sender = from_;
  from_ = another_peer();
  EXPECT_EQ(said(standard(deferrable_request(4, 1), 4)), "OK");
  EXPECT_EQ(said(standard(deferrable_request(4, 2), 4)), "OK");
  EXPECT_EQ(said(standard(deferrable_request(4, 3), 4)), "NO_MATCH");
  from_ = another_peer(1);
  EXPECT_EQ(said(standard(deferrable_request(4, 1), 4)), "OK");
  now_ = now_ + Duration::seconds(10);
  b_->advance(now_);
  from_ = sender;
  for (uint32_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(said(standard(deferrable_request(4, i), 4)), i <= 3 ? "OK" : "NO_MATCH") << i;
  }
}

// [SES-098, T-25] A peer that does not answer its ready-to-restarts delays no other peer.
TEST_F(DeferralHostileTest, OnePeerDoesNotHoldAllReadyToRestarts) {
  config_.restarts = 4;
  start();
  std::vector<Octets> rooms(7, Octets(4));
  for (uint32_t i = 1; i <= 3; ++i) EXPECT_EQ(said(standard(deferrable_request(4, i), 4)), "OK");
  from_ = another_peer();
  EXPECT_EQ(said(standard(deferrable_request(4, 9), 4)), "OK");
  for (uint32_t i = 0; i < 4; ++i) receive(rooms[i]);
  b_->pds.transmit(now_);
  ASSERT_EQ(network_.size(), 3u);
  std::string called;
  for (const Parcel& p : network_) called += std::to_string(word(p.octets, 24));
  EXPECT_EQ(called, "129");
  deliver(0);  // A knows no such send, which gives the place to the next
  ASSERT_TRUE(network_.back().is_answer);
  deliver(network_.size() - 1);
  b_->pds.transmit(now_);
  ASSERT_EQ(network_.size(), 3u);
  EXPECT_EQ(word(network_.back().octets, 24), 3u);
}

// [SES-098, T-25] If one message cannot be called because no flow is free, the next one is called;
// repeated attempts get rarer.
TEST_F(DeferralHostileTest, AnUncallableMessageDelaysNoOther) {
  config_.flows = 1;
  start();
  const Octets hello = pattern(4);
  ASSERT_TRUE(b_->ses->send(b_->ep, send_request(hello), now_).ok());  // A has the flow
  deliver_all();
  const PeerId sender = from_;
  from_ = another_peer();
  EXPECT_EQ(said(standard(deferrable_request(4, 9), 4)), "OK");
  from_ = sender;
  EXPECT_EQ(said(standard(deferrable_request(4, 1), 4)), "OK");
  std::vector<Octets> rooms(2, Octets(4));
  for (Octets& room : rooms) receive(room);
  network_.clear();
  b_->pds.transmit(now_);
  ASSERT_EQ(network_.size(), 1u);
  EXPECT_EQ(word(network_[0].octets, 24), 1u) << "the second was called";

  uint32_t wakes = 0;
  const Instant end = now_ + Duration::seconds(5);
  while (b_->next_deadline() <= end) {
    now_ = std::max(now_, b_->next_deadline());
    b_->advance(now_);
    ++wakes;
  }
  EXPECT_GT(wakes, 8u);
  EXPECT_LT(wakes, 40u) << "five seconds, mostly in steps of 200 ms";
}

// [SES-102] The address of the peer that is called: as we know it, else 0.
TEST_F(DeferralHostileTest, TheCalledProcessIsNamedWhereItIsKnown) {
  Octets room(4);
  const Octets hello = pattern(4);
  SendRequest s = send_request(hello);
  s.to.ri = ResourceIndex(9);
  s.to.initiator_id = 5;
  ASSERT_TRUE(b_->ses->send(b_->ep, s, now_).ok());
  deliver_all();
  EXPECT_EQ(said(standard(deferrable_request(4), 4)), "OK");
  receive(room);
  called();
  EXPECT_EQ(hex(network_[0].octets).substr(16, 8), "00070009");  // PIDonFEP 7, index 9
  wire::StandardRequest unknown = deferrable_request(4, 3);
  unknown.initiator = 8;
  EXPECT_EQ(said(standard(unknown, 4)), "OK");
  receive(room);
  called();
  EXPECT_EQ(hex(network_[0].octets).substr(16, 8), "00000000");
}

}  // namespace
}  // namespace uet::ses::test
