// Deferrable sends between two Ses: deferred, requested again, lost on the way, cancelled, closed.
// [ses.md 4.5]
#include "ses/test/deferral_fixture.h"

#include <set>

namespace uet::ses::test {
namespace {

// [SES-059, SES-093, SES-095, SES-097, SES-127, WIRE-063] The octets as the specification has them.
TEST_F(DeferralTest, ASendWithoutAReceiveIsDeferred) {
  const Octets data = pattern(5000);
  a_->pds.window = 2;
  send(deferrable(data));
  transmit();
  ASSERT_EQ(network_.size(), 2u);
  const Octets first = network_[0].octets;
  EXPECT_EQ(first.size(), 44u + 1024);
  EXPECT_EQ(first[0], std::byte{0x08});  // DEFERRABLE_SEND
  EXPECT_EQ(first[1], std::byte{0x09});  // REL, SOM
  const uint32_t token = word(first, 12);
  EXPECT_NE(token, 0u);
  EXPECT_EQ(word(first, 16), 0u);  // no target token yet
  EXPECT_EQ(word(network_[1].octets, 12), token);
  deliver(0);
  deliver(0);
  // The answer to both packets: RESPONSE with list 1; OK; message ID; generation; job; length 0.
  ASSERT_EQ(network_.size(), 2u);
  for (const Parcel& p : network_) {
    EXPECT_EQ(hex(p.octets), "4101" + hex(first).substr(4, 4) + "00000102" + "00000000");
  }
  EXPECT_EQ(b_->ses->counters()[Counter::rx_deferred], 1u);
  EXPECT_EQ(b_->ses->counters()[Counter::rx_unexpected], 0u);
  deliver(0);
  transmit();
  // No further data: the end, with the same opcode and ID, after the 2048 octets that went.
  ASSERT_EQ(network_.size(), 2u);
  const Octets end = network_[1].octets;
  ASSERT_EQ(end.size(), 44u);
  EXPECT_EQ(end[0], std::byte{0x08});
  EXPECT_EQ(end[1], std::byte{0x0a});  // REL, EOM
  EXPECT_EQ(hex(end).substr(4, 4), hex(first).substr(4, 4));
  EXPECT_EQ(word(end, 12), token);
  EXPECT_EQ(word(end, 32) & 0x3FFFu, 0u);  // payload length
  EXPECT_EQ(word(end, 36), 2048u);         // message offset
  EXPECT_EQ(word(end, 40), 5000u);
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  EXPECT_TRUE(b_->ses->idle());  // nothing is half received
}

// [SES-062, SES-098, SES-099, SES-034, WIRE-063, WIRE-064] Ready to restart, and the whole message
// once more.
TEST_F(DeferralTest, ASendThatWaitsIsCalledBack) {
  const Octets data = pattern(5000);
  Octets room(5000);
  a_->pds.window = 2;
  send(deferrable(data));
  transmit();
  const Octets first = network_[0].octets;
  const uint32_t token = word(first, 12);
  deliver_all();
  receive(room);
  transmit();
  // Ready to restart: SOM and EOM, the two tokens in the key's place, its own initiator ID.
  ASSERT_EQ(network_.size(), 1u);
  const Octets rtr = network_[0].octets;
  ASSERT_EQ(rtr.size(), 44u);
  EXPECT_EQ(rtr[0], std::byte{0x0c});
  EXPECT_EQ(rtr[1], std::byte{0x0b});
  EXPECT_EQ(hex(rtr).substr(10, 6), "000102");
  EXPECT_EQ(word(rtr, 20), 101u);
  EXPECT_EQ(word(rtr, 24), token);
  const uint32_t target_token = word(rtr, 28);
  EXPECT_NE(target_token, 0u);
  EXPECT_EQ(word(rtr, 40), 0u);
  deliver(0);
  transmit();
  // From the start again, as a separate message, with both tokens.
  const Octets again = network_.back().octets;
  EXPECT_EQ(again[0], std::byte{0x08});
  EXPECT_EQ(word(again, 12), token);
  EXPECT_EQ(word(again, 16), target_token);
  EXPECT_NE(hex(again).substr(4, 4), hex(first).substr(4, 4));
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(take(*b_), "recv ok 5000 #2");
  EXPECT_EQ(room, data);
  EXPECT_EQ(b_->ses->counters()[Counter::rx_restarted], 1u);
  EXPECT_EQ(b_->ses->counters()[Counter::rx_restart_stray], 0u);
  EXPECT_TRUE(is_forgotten());
}

// [SES-094] If a receive is there it is a send like any other, except for opcode and token on the
// wire.
TEST_F(DeferralTest, AReceiveThatIsThereIsUsedAtOnce) {
  const Octets data = pattern(5000), tagged = pattern(2000, 9);
  Octets room(5000), tagged_room(2000);
  receive(room);
  receive(tagged_room, 3, 42);
  SendRequest s = deferrable(tagged, 5, 42);
  s.flags = kOpRemoteData | kOpDeliveryComplete;
  s.data = 77;
  send(deferrable(data));
  send(s);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1 | tagged_send ok 2000 #5");
  EXPECT_EQ(take(*b_), "recv ok 5000 #2 | tagged_recv ok 2000 tag 42 data 77 #3");
  EXPECT_EQ(room, data);
  EXPECT_EQ(tagged_room, tagged);
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferrable], 2u);
  EXPECT_EQ(count(Counter::rx_deferred), 0u);
  EXPECT_TRUE(is_forgotten());
}

// [SES-102, SES-100, SES-185, SES-187, LF-041] From the configured length on, on RUD, to a peer
// that supports it and need not keep messages; the options can change the length and the peers, or
// turn it off.
TEST_F(DeferralTest, IsChosenForLongMessagesToPeersThatKeepNone) {
  const Octets data = pattern(1000), shorter = pattern(999);
  Octets room(2000);
  const auto goes_deferrable = [&](const SendRequest& s) {
    const uint64_t before = a_->ses->counters()[Counter::tx_deferrable];
    receive(room);
    send(s);
    deliver_all();
    EXPECT_EQ(take(*a_), "send ok " + std::to_string(s.iov[0].length) + " #1");
    return a_->ses->counters()[Counter::tx_deferrable] != before;
  };
  const auto to = [&](uint8_t capabilities) {
    SendRequest s = deferrable(data);
    s.to.capabilities = capabilities;
    return s;
  };
  EXPECT_TRUE(goes_deferrable(to(kAiBase | kAiFull)));
  EXPECT_FALSE(goes_deferrable(deferrable(shorter)));
  EXPECT_FALSE(goes_deferrable(to(0)));
  EXPECT_FALSE(goes_deferrable(to(kAiBase | kHpc)));
  config_.profiles = kEveryProfile;
  start();
  EXPECT_FALSE(goes_deferrable(to(kEveryProfile)));
  EXPECT_TRUE(goes_deferrable(to(kAiBase | kAiFull)));
  config_.defer_to = DeferTo::everybody;
  start();
  EXPECT_TRUE(goes_deferrable(to(kEveryProfile)));
  EXPECT_FALSE(goes_deferrable(to(kAiBase | kHpc)));
  config_.defer_to = DeferTo::nobody;
  start();
  EXPECT_FALSE(goes_deferrable(to(kAiBase | kAiFull)));
  config_.defer_to = DeferTo::everybody;
  options_.mode = pds::Mode::rod;
  start();
  EXPECT_FALSE(goes_deferrable(to(kAiBase | kAiFull)));
  EXPECT_EQ(Config{}.defer_bytes, 8192u);
  EXPECT_EQ(Config{}.defer_to, DeferTo::who_keeps_nothing);
}

// [SES-093, SES-034, T-28] Each send has a different token, never 0, of all 32 bits; if none is
// free it goes as a plain send.
TEST_F(DeferralTest, TokensAreRandomAndOfOneSendEach) {
  a_->pds.window = 100;
  const Octets data = pattern(1000);
  for (uintptr_t i = 0; i < 34; ++i) send(deferrable(data, 10 + i));
  transmit();
  ASSERT_EQ(network_.size(), 34u);
  std::set<uint32_t> tokens;
  uint32_t bits = 0;
  for (size_t i = 0; i < 34; ++i) {
    EXPECT_EQ(network_[i].octets[0], i < 32 ? std::byte{0x08} : std::byte{0x05}) << i;
    if (i < 32) tokens.insert(word(network_[i].octets, 12));
    if (i < 32) bits |= word(network_[i].octets, 12);
  }
  EXPECT_EQ(tokens.size(), 32u);
  EXPECT_EQ(tokens.count(0), 0u);
  EXPECT_EQ(bits, 0xFFFFFFFFu);
}

// [SES-019, SES-020, SES-099] Any order of all packets in both directions, any lengths, and answers
// and ready-to-restarts that overtake each other.
TEST_F(DeferralTest, PacketsInAnyOrderArriveByteExact) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    a_->pds.window = 1 + static_cast<uint32_t>(rng.below(20));
    std::vector<Octets> data, rooms;
    for (uint32_t i = 0; i < 4; ++i) data.push_back(pattern(1000 + rng.below(20'000), uint8_t(i)));
    for (uint32_t i = 0; i < 4; ++i) rooms.emplace_back(data[i].size());
    uint32_t posted = 0;
    for (uintptr_t i = 0; i < 4; ++i) {
      SendRequest s = deferrable(data[i], 10 + i, 100 + i);
      s.flags = rng.chance(0.5) ? kOpDeliveryComplete : 0u;
      send(s);
    }
    // Receives are posted at any moment between the packets.
    for (transmit(); posted != 4 || !network_.empty(); transmit()) {
      if (posted != 4 && (network_.empty() || rng.chance(0.1))) {
        receive(rooms[posted], 20 + posted, 100 + posted);
        ++posted;
      } else {
        deliver(rng.below(network_.size()));
      }
    }
    EXPECT_EQ(a_->completions.size(), 4u);
    EXPECT_EQ(b_->completions.size(), 4u);
    for (const Node* node : {a_.get(), b_.get()}) {
      for (const Completion& c : node->completions) EXPECT_TRUE(c.ok());
    }
    EXPECT_EQ(rooms, data);
    EXPECT_TRUE(is_forgotten());
  }
}

// [SES-099] A ready-to-restart that overtakes the answer is obeyed when the answer comes.
TEST_F(DeferralTest, AReadyToRestartMayOvertakeTheAnswer) {
  const Octets data = pattern(1000);
  Octets room(1000);
  send(deferrable(data));
  transmit();
  deliver(0);  // the answer is under way
  receive(room);
  transmit();
  ASSERT_EQ(network_.size(), 2u);
  deliver(1);
  transmit();
  EXPECT_EQ(network_.size(), 2u);  // it waits for the answer: nothing new of A but its own answer
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferred], 0u);
  deliver_all();
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferred], 1u);
  EXPECT_EQ(take(*a_), "send ok 1000 #1");
  EXPECT_EQ(take(*b_), "recv ok 1000 #2");
  EXPECT_EQ(room, data);
  EXPECT_TRUE(is_forgotten());
}

// [SES-062, SES-122, SES-127] Deferred messages are matched in their order of arrival, by tag and
// source like kept ones; a message for a receive that was set aside for another one waits.
TEST_F(DeferralTest, ReceivesAreSetAsideInOrderOfArrival) {
  const Octets first = pattern(1000, 1), second = pattern(1500, 2), other = pattern(2000, 3);
  send(deferrable(first, 11, 5));
  send(deferrable(other, 13, 6));
  send(deferrable(second, 12, 5));
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  Octets room(2000), later(2000);
  receive(room, 21, 5);
  const Octets late = pattern(10, 4);  // a plain one of the same tag: not for that receive
  send(deferrable(late, 14, 5));
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 10 #14 | tagged_send ok 1000 #11");  // kept
  EXPECT_EQ(take(*b_), "tagged_recv ok 1000 tag 5 #21");
  receive(later, 22, 5);
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 1500 #12");
  EXPECT_EQ(take(*b_), "tagged_recv ok 1500 tag 5 #22");
  EXPECT_TRUE(std::equal(second.begin(), second.end(), later.begin()));
  receive(room, 23, 6);
  receive(later, 24, 5);
  deliver_all();
  EXPECT_EQ(take(*b_), "tagged_recv ok 10 tag 5 #24 | tagged_recv ok 2000 tag 6 #23");
  EXPECT_TRUE(is_forgotten());
}

// [SES-035, SES-096] More than the target remembers find no match and are tried again; so are those
// beyond one peer's share.
TEST_F(DeferralTest, ATargetRemembersOnlyAsManyAsConfigured) {
  std::vector<Octets> data, rooms(10, Octets(1000));
  for (uint8_t i = 0; i < 10; ++i) data.push_back(pattern(1000, i));
  for (uintptr_t i = 0; i < 10; ++i) send(deferrable(data[i], 10 + i));
  deliver_all();
  EXPECT_EQ(count(Counter::rx_deferred), 8u);
  EXPECT_EQ(count(Counter::rx_no_match), 2u);
  EXPECT_EQ(take(*a_), "");
  for (uintptr_t i = 0; i < 10; ++i) receive(rooms[i], 30 + i);
  deliver_all();
  EXPECT_EQ(a_->completions.size(), 8u);
  elapse(Duration::milliseconds(250));
  EXPECT_EQ(a_->completions.size(), 10u);
  std::sort(rooms.begin(), rooms.end());  // the last two after a random time each
  EXPECT_EQ(rooms, data);
  EXPECT_TRUE(is_forgotten());
  config_.deferred_messages = 1024;
  config_.unexpected_messages = 6;
  start();
  for (uintptr_t i = 0; i < 10; ++i) send(deferrable(data[i], 10 + i));
  deliver_all();
  EXPECT_EQ(count(Counter::rx_deferred), 3u);  // half of them for one peer
}

// [SES-097, SES-135] It waits for as long as the peer lives, far beyond the patience for refusals.
TEST_F(DeferralTest, ADeferredSendIsNoError) {
  const Octets data = pattern(9000);
  Octets room(9000);
  send(deferrable(data));
  deliver_all();
  elapse(Duration::seconds(300));
  EXPECT_EQ(take(*a_), "");
  EXPECT_EQ(count(Counter::rx_deferred_expired), 0u);  // its initiator was heard every 5 s
  EXPECT_GE(count(Counter::rx_deferred), 59u);
  EXPECT_LE(count(Counter::rx_deferred), 61u);
  receive(room);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 9000 #1");
  EXPECT_EQ(room, data);
}

// [SES-101] Each side drops a silent message: the initiator starts again after 5 s, the target
// forgets after 10 s, and then either finds the other again.
TEST_F(DeferralTest, IdleStateIsDroppedOnBothSides) {
  const Octets data = pattern(1000);
  Octets room(1000);
  send(deferrable(data));
  deliver_all();
  EXPECT_EQ(a_->next_deadline() - now_, Duration::seconds(5));
  EXPECT_EQ(b_->next_deadline() - now_, Duration::seconds(10));
  now_ = now_ + Duration::seconds(10);
  b_->advance(now_);  // A is stopped
  EXPECT_EQ(count(Counter::rx_deferred_expired), 1u);
  EXPECT_TRUE(b_->next_deadline().is_never());
  receive(room);
  deliver_all();
  EXPECT_EQ(take(*b_), "");
  elapse(Duration::seconds(1));  // A continues
  EXPECT_EQ(take(*a_), "send ok 1000 #1");
  EXPECT_EQ(take(*b_), "recv ok 1000 #2");
  EXPECT_TRUE(is_forgotten());
}

// [SES-101, SES-099] The initiator started again just before the ready-to-restart came: that
// attempt takes the receive that was set aside, whichever arrives first.
TEST_F(DeferralTest, ANewAttemptMeetsTheReadyToRestart) {
  for (const bool restart_first : {true, false}) {
    start();
    const Octets data = pattern(1000);
    Octets room(1000);
    send(deferrable(data));
    deliver_all();
    receive(room);
    b_->pds.transmit(now_);
    now_ = now_ + Duration::milliseconds(5001);
    a_->advance(now_);
    a_->pds.transmit(now_);
    ASSERT_EQ(network_.size(), 2u);
    deliver(restart_first ? 0 : 1);
    deliver_all();
    EXPECT_EQ(take(*a_), "send ok 1000 #1");
    EXPECT_EQ(take(*b_), "recv ok 1000 #2");
    EXPECT_EQ(room, data);
    EXPECT_TRUE(is_forgotten());
  }
}

}  // namespace
}  // namespace uet::ses::test
