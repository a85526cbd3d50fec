// Rendezvous sends between two Ses: the beginning is pushed, the target reads the rest.
// [ses.md 4.4]
#include "ses/test/rendezvous_fixture.h"

namespace uet::ses::test {
namespace {

// [SES-057, SES-088, SES-089, SES-091, WIRE-068, LF-041] One packet is pushed, with the extension
// that says where the rest is; the send ends when the rest was read and that is acknowledged.
TEST_F(RendezvousTest, TheRestIsReadByTheTarget) {
  const Octets data = pattern(5000);
  Octets room(5000);
  receive(room);
  send(by_rendezvous(data));
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  const Octets packet = network_[0].octets;
  ASSERT_EQ(packet.size(), 44u + 24 + 1024);
  EXPECT_EQ(packet[0], std::byte{0x06});  // RENDEZVOUS_SEND
  EXPECT_EQ(packet[1], std::byte{0x0b});  // REL, both ends: one packet
  const Octets length{packet.begin() + 40, packet.begin() + 44};
  EXPECT_EQ(length, (Octets{std::byte{0}, std::byte{0}, std::byte{0x13}, std::byte{0x88}}));
  // Eager 1024; generation 0, process 7, index 3; offset 0.
  const std::vector<int> expected{0, 0, 4, 0, 0, 0, 0x70, 3, 0, 0, 0, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(packet[44 + i]), expected[i]) << i;
  }
  deliver(0);
  EXPECT_EQ(take(*b_), "");
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + 1024, room.begin()));
  deliver(0);  // the answer: accepted, but not read
  EXPECT_EQ(take(*a_), "");
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(take(*b_), "recv ok 5000 #2");
  EXPECT_EQ(room, data);
  EXPECT_EQ(a_->ses->memory().size(), 0u);
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [SES-045, SES-187, LF-041] The rendezvous is not used below the length, to a peer without
// support, or for copied data; by default it is off.
TEST_F(RendezvousTest, IsChosenForLongMessagesToHpcPeersOnly) {
  Octets room(3000);
  const Octets data = pattern(2000), shorter = pattern(1999);
  const auto sent_by = [&](const SendRequest& s) {
    const uint64_t before = sent_so(*a_);
    receive(room);
    send(s);
    deliver_all();
    EXPECT_EQ(take(*a_), "send ok " + std::to_string(s.iov[0].length) + " #1");
    return sent_so(*a_) - before;
  };
  EXPECT_EQ(sent_by(by_rendezvous(data)), 1u);
  EXPECT_EQ(sent_by(by_rendezvous(shorter)), 0u);
  EXPECT_EQ(sent_by(send_request(data)), 0u);  // no capabilities are AI Base
  SendRequest full = by_rendezvous(data);
  full.to.capabilities = kAiBase | kAiFull;
  EXPECT_EQ(sent_by(full), 0u);
  EXPECT_EQ(Config{}.rendezvous_bytes, UINT32_MAX);
}

// [SES-061, SES-089, SES-019, SES-092] Any order of all packets in both directions, any length.
TEST_F(RendezvousTest, PacketsInAnyOrderArriveByteExact) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    const Octets data = pattern(2000 + rng.below(60'000));
    Octets room(62'000);
    const bool is_early = rng.chance(0.5);
    ReceiveRequest r = receive_request(room);
    r.tagged = true;
    r.tag = 42;
    if (is_early) {
      ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
    }
    SendRequest s = by_rendezvous(data);
    s.tagged = true;
    s.tag = 42;
    s.flags = kOpRemoteData | (rng.chance(0.5) ? kOpDeliveryComplete : 0u);
    s.data = 0x1122334455667788;
    send(s);
    deliver_all(&rng);
    if (!is_early) {
      EXPECT_EQ(take(*a_), "");
      ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
      deliver_all(&rng);
    }
    const std::string length = std::to_string(data.size());
    EXPECT_EQ(take(*a_), "tagged_send ok " + length + " #1");
    EXPECT_EQ(take(*b_), "tagged_recv ok " + length + " tag 42 data 1234605616436508552 #2");
    EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
    EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
    EXPECT_EQ(a_->ses->memory().size(), 0u);
  }
}

// [SES-090, SES-126] Kept without its rest: OVERFLOW, with the octets that are kept.
TEST_F(RendezvousTest, AnUnexpectedOneIsKeptWithoutItsRest) {
  config_.unexpected_bytes = 64 * 1024;  // much less than the message
  start();
  const Octets data = pattern(200'000);
  Octets room(200'000);
  send(by_rendezvous(data));
  transmit();
  deliver(0);
  ASSERT_EQ(network_.size(), 1u);
  const Octets answer = network_[0].octets;  // RESPONSE, list 1; OK; modified length 1024
  ASSERT_EQ(answer.size(), 12u);
  EXPECT_EQ(answer[0], std::byte{0x41});
  EXPECT_EQ(answer[1], std::byte{0x01});
  EXPECT_EQ(answer[10], std::byte{0x04});
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  receive(room);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 200000 #1");
  EXPECT_EQ(take(*b_), "recv ok 200000 #2");
  EXPECT_EQ(room, data);
}

// [SES-089, SES-091, SES-137] Only as much is read as there is room for, and the send still ends:
// by the response, or for a kept message by a read of length 0.
TEST_F(RendezvousTest, ATruncatedOneIsReadAsFarAsItFits) {
  const Octets data = pattern(5000);
  for (const size_t fits : {size_t{4000}, size_t{1024}, size_t{10}}) {
    for (const bool is_early : {true, false}) {
      SCOPED_TRACE(testing::Message() << fits << (is_early ? " early" : " late"));
      start();
      Octets room(fits);
      if (is_early) receive(room);
      send(by_rendezvous(data));
      deliver_all();
      if (!is_early) {
        receive(room);
        deliver_all();
      }
      const std::string octets = std::to_string(fits) + "+" + std::to_string(5000 - fits);
      EXPECT_EQ(take(*b_), "recv truncated " + octets + " #2");
      EXPECT_EQ(take(*a_), "send ok 5000 #1");
      EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
      EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
    }
  }
}

// [SES-048, SES-148] With delivery-complete the send ends when all is in its place, as it does
// without.
TEST_F(RendezvousTest, DeliveryCompleteEndsWhenAllIsPlaced) {
  const Octets data = pattern(5000);
  for (const size_t fits : {size_t{5000}, size_t{3000}, size_t{5}}) {
    for (const bool is_early : {true, false}) {
      SCOPED_TRACE(testing::Message() << fits << (is_early ? " early" : " late"));
      start();
      Octets room(fits);
      if (is_early) receive(room);
      SendRequest s = by_rendezvous(data);
      s.flags = kOpDeliveryComplete;
      send(s);
      if (!is_early) deliver_all();
      if (!is_early) {
        EXPECT_EQ(take(*a_), "");
        receive(room);
      }
      while (a_->completions.empty()) {
        transmit();
        ASSERT_FALSE(network_.empty());
        deliver(0);
      }
      EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
      deliver_all();
      EXPECT_EQ(b_->completions.size(), 1u);
      EXPECT_EQ(take(*a_), "send ok 5000 #1");
      EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
    }
  }
}

// [SES-138] A target that rejects too long messages reads nothing.
TEST_F(RendezvousTest, OneThatIsTooLongMayBeRejected) {
  options_.reject_truncated = true;
  start();
  Octets room(4999);
  const Octets data = pattern(5000);
  receive(room);
  send(by_rendezvous(data));
  deliver_all();
  EXPECT_EQ(take(*a_), "send refused TOO_LONG 0 #1");
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(a_->ses->memory().size(), 0u);
}

// [SES-092, SES-116, SES-083] Only the target may access the source: read it, within its bounds,
// and for as long as the send lasts.
TEST_F(RendezvousTest, TheSourceIsForTheTargetAlone) {
  const Octets data = pattern(5000);
  send(by_rendezvous(data));
  const uint64_t key = exposed_key();
  deliver_all();
  FabricAddress address;
  address = FabricAddress::v4(0x0A000101);
  const PeerId other = *a_->peers.find_or_add(address, now_);
  EXPECT_EQ(said(read_of_a(key, 1024, 100, other)), "BAD_MKEY");
  EXPECT_EQ(said(read_of_a(key ^ uint64_t{1} << 30, 1024, 100)), "BAD_MKEY");
  EXPECT_EQ(said(read_of_a(key, 4901, 100)), "BAD_ADDR");
  EXPECT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(uintptr_t{1}), now_));
  EXPECT_EQ(take(*a_), "send cancelled 0 #1");
  EXPECT_EQ(said(read_of_a(key, 1024, 100)), "BAD_MKEY");
}

// [LF-058, SES-175] A cancelled message that was kept ends its receive in error; after the first
// read it cannot be cancelled.
TEST_F(RendezvousTest, CancelEndsTheReceiveOfAKeptMessage) {
  Octets room(5000);
  send(by_rendezvous(stored(pattern(5000))));
  deliver_all();
  EXPECT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(uintptr_t{1}), now_));
  receive(room);
  deliver_all();
  EXPECT_EQ(take(*a_), "send cancelled 0 #1");
  EXPECT_EQ(take(*b_), "recv refused BAD_MKEY 0 #2");
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [SES-177, PDS-182] Either end may close its endpoint at any moment.
TEST_F(RendezvousTest, EndpointsCloseAtAnyMoment) {
  const Octets data = pattern(9000);
  for (const bool closes_target : {true, false}) {
    for (uint32_t steps = 0; steps < 30; ++steps) {
      SCOPED_TRACE(testing::Message() << closes_target << " after " << steps);
      start();
      Octets room(9000);
      if (steps % 3 != 0) receive(room);
      send(by_rendezvous(data));
      a_->pds.allows_void_resend = true;
      for (uint32_t i = 0; i < steps; ++i) {
        transmit();
        if (!network_.empty()) deliver(0);
      }
      Node& closing = closes_target ? *b_ : *a_;
      const size_t unfinished = closing.completions.empty() ? 1 : 0;
      closing.ses->close_endpoint(closing.ep, now_);
      if (!closes_target || steps % 3 != 0) {
        EXPECT_EQ(closing.completions.size(), 1u);
      }
      if (unfinished == 1 && !closing.completions.empty()) {
        EXPECT_FALSE(closing.completions[0].ok());
      }
      deliver_all();
      EXPECT_TRUE(closing.ses->idle());
    }
  }
}

// [LF-059] A kept one can be seen in full length, claimed, and discarded, which ends the send.
TEST_F(RendezvousTest, AKeptOneIsPeekedClaimedAndDiscarded) {
  Octets room(5000);
  const Octets data = pattern(5000);
  send(by_rendezvous(data, 1));
  send(by_rendezvous(data, 3));
  deliver_all();
  const ReceiveRequest filter = receive_request(room);
  const Peeked first = b_->ses->claims().peek(b_->ep, filter, true, now_);
  EXPECT_TRUE(first.found);
  EXPECT_EQ(first.bytes, 5000u);
  const Peeked second = b_->ses->claims().peek(b_->ep, filter, true, now_);
  EXPECT_TRUE(b_->ses->claims().discard(b_->ep, first.claim, now_));
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_TRUE(b_->ses->claims().receive(b_->ep, second.claim, filter, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #3");
  EXPECT_EQ(take(*b_), "recv ok 5000 #2");
  EXPECT_EQ(room, data);
}

// [SES-118] At most rendezvous_reads messages are read at once, and half of them from one peer. The
// others are read later.
TEST_F(RendezvousTest, FewAreReadAtOnce) {
  config_.rendezvous_reads = 4;
  start();
  std::vector<Octets> rooms(10, Octets(5000));
  for (Octets& room : rooms) receive(room);
  for (uint8_t i = 0; i < 10; ++i) send(by_rendezvous(stored(pattern(5000, i)), 10u + i));
  transmit();
  size_t pushed = network_.size();
  while (pushed-- != 0) deliver(0);
  network_.clear();  // the answers come again
  transmit();
  uint32_t reads = 0;
  for (const Parcel& p : network_) reads += !p.is_answer && p.octets.at(0) == std::byte{0x02};
  EXPECT_EQ(reads, 2u * 4);  // of each the 4 packets that ask for 3,976 octets
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(a_->completions.size(), 10u);
  for (uint8_t i = 0; i < 10; ++i) EXPECT_EQ(rooms[i], pattern(5000, i)) << int{i};
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [SES-118] A message whose source cannot be exposed, because the table is full, is sent as a plain
// send.
TEST_F(RendezvousTest, WithoutAPlaceMessagesGoAsPlainSends) {
  config_.rendezvous_sends = 1;
  start();
  const Octets data = pattern(5000);
  std::vector<Octets> rooms(2, Octets(5000));
  send(by_rendezvous(data));
  send(by_rendezvous(data, 3));
  EXPECT_EQ(sent_so(*a_), 1u);
  for (Octets& room : rooms) receive(room);
  deliver_all();
  EXPECT_EQ(a_->completions.size(), 2u);
  EXPECT_EQ(rooms[0], data);
  EXPECT_EQ(rooms[1], data);
}

// [SES-132, SES-135, SES-029] On ROD one that is kept holds up nothing that must be sent again, and
// its source can be read although the index of the sender is disabled.
TEST_F(RendezvousTest, AKeptMessageDoesNotDelayResends) {
  options_.mode = pds::Mode::rod;
  config_.unexpected_messages = 2;  // one for each peer
  start();
  const Octets data = pattern(5000), other = pattern(50, 9);
  Octets room(5000), later(50);
  SendRequest first = by_rendezvous(data), second = send_request(other, 3);
  first.tagged = second.tagged = true;
  first.tag = 1;
  second.tag = 2;
  send(first);
  send(second);
  deliver_all();
  ReceiveRequest r = receive_request(later, 4);
  r.tagged = true;
  r.tag = 2;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  elapse(Duration::milliseconds(300));
  EXPECT_EQ(take(*a_), "tagged_send ok 50 #3");
  EXPECT_EQ(take(*b_), "tagged_recv ok 50 tag 2 #4");
  r = receive_request(room);
  r.tagged = true;
  r.tag = 1;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 5000 #1");
  EXPECT_EQ(room, data);
}

// [LF-060] A fence waits until the target has read.
TEST_F(RendezvousTest, AFenceWaitsForTheReads) {
  Octets room(5000), last(5);
  send(by_rendezvous(stored(pattern(5000))));
  SendRequest fenced = send_request(stored(pattern(5)), 3);
  const Octets five = pattern(5);
  fenced.iov = keep(five);
  fenced.flags = kOpFence;
  send(fenced);
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  receive(room);
  receive(last);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1 | send ok 5 #3");
}

// [PDS-119, SES-089] The PDC of the reads ends in the middle: they start again, and the source
// stays until they are finished.
TEST_F(RendezvousTest, FailedReadsStartAgain) {
  const Octets data = pattern(9000);
  for (uint32_t run = 0; run < 64; ++run) {
    const uint32_t steps = run / 4;
    const bool is_cut = run % 2 != 0;
    const bool is_kept = run % 4 >= 2;
    SCOPED_TRACE(testing::Message()
                 << "after " << steps << (is_cut ? " cut" : "") << (is_kept ? " kept" : ""));
    start();
    Octets room(is_cut ? 6000 : 9000);
    if (!is_kept) receive(room);
    send(by_rendezvous(data));
    transmit();
    deliver(0);
    if (is_kept) receive(room);
    transmit();
    for (uint32_t i = 0; i < steps && !network_.empty(); ++i) {
      deliver(0);
      transmit();
    }
    const bool was_over = !b_->completions.empty();
    b_->pds.fail_flow(0, {.reason = pds::FailureReason::nack, .nack = wire::NackCode::closing},
                      now_);
    EXPECT_TRUE(a_->completions.empty() || was_over) << "before all is read";
    deliver_all();
    EXPECT_EQ(take(*b_), is_cut ? "recv truncated 6000+3000 #2" : "recv ok 9000 #2");
    if (!was_over) {
      EXPECT_EQ(take(*a_), "send ok 9000 #1");
    }
    EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
  }
}

// [SES-088, SES-115, WIRE-069] A foreign initiator may push nothing, or several packets; but not
// more than there is, and every packet says the same.
TEST_F(RendezvousTest, ForeignEagerPartsAreChecked) {
  const auto packet = [&](uint32_t offset, uint32_t length, uint32_t eager, uint64_t key,
                          uint16_t id = 77) {
    wire::StandardRequest h = request(SesOpcode::rendezvous_send, 9000);
    h.message_id = MessageId(id);
    h.common.som = offset == 0;
    h.common.eom = offset + length == eager;
    h.message_offset = offset;
    h.payload_length = static_cast<uint16_t>(length);
    Octets octets(wire::StandardRequest::kSize + wire::Rendezvous::kSize);
    wire::Writer w(octets);
    h.emit(w);
    wire::Rendezvous{.eager_length = eager, .read_memory_key = key}.emit(w);
    const Octets data = pattern(length);
    octets.insert(octets.end(), data.begin(), data.end());
    return octets;
  };
  const auto given = [&](const Octets& o) {
    return said(give_octets(o, wire::NextHeader::standard));
  };
  EXPECT_EQ(given(packet(0, 0, 0, 1)), "OK");  // kept, without any octet
  EXPECT_EQ(given(packet(0, 1024, 2048, 1)), "accept");
  EXPECT_EQ(given(packet(1024, 1024, 2048, 1)), "OK modified 2048");
  EXPECT_EQ(given(packet(0, 100, 9001, 1)), "OP_VIOLATION");
  EXPECT_EQ(given(packet(0, 8193, 8193, 1)), "OP_VIOLATION");
  EXPECT_EQ(given(packet(0, 1024, 2048, 1, 78)), "accept");
  EXPECT_EQ(given(packet(1024, 1024, 2048, 2, 78)), "OP_VIOLATION");
  const Octets whole = packet(0, 100, 100, 1);
  for (size_t cut = 0; cut < 68; ++cut) {
    EXPECT_EQ(given({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(cut)}), "OP_VIOLATION");
  }
  // [SES-043] The standard header only.
  EXPECT_EQ(said(give_octets(whole, wire::NextHeader::medium)), "OP_VIOLATION");
  EXPECT_EQ(said(give_octets(whole, wire::NextHeader::small)), "OP_VIOLATION");
}

// [SES-118, T-02] A peer whose rendezvous messages all have receives, and which answers no read,
// keeps half of the places for such messages; other peers find places.
TEST_F(RendezvousTest, APeerLeavesPlacesToOtherPeers) {
  config_.unexpected_messages = config_.rx_messages = 8;
  start();
  std::vector<Octets> rooms(40, Octets(5000));
  for (Octets& room : rooms) receive(room);
  uint64_t key = 0;
  const auto send_until_refused = [&] {
    for (uint32_t sent = 0; sent < rooms.size(); ++sent) {
      wire::StandardRequest h = request(SesOpcode::rendezvous_send, 5000);
      wire::Rendezvous source;
      source.eager_length = 1024;
      source.read_memory_key = ++key;
      Octets octets(wire::StandardRequest::kSize + wire::Rendezvous::kSize + 1024);
      wire::Writer w(octets);
      h.emit(w);
      source.emit(w);
      if (said(give_octets(octets, wire::NextHeader::standard)) != "accept") return sent;
    }
    return 0u;
  };
  EXPECT_EQ(send_until_refused(), 12u) << "of 2 * 8 + 8";
  EXPECT_EQ(count(Counter::rx_peer_slots_used), 1u);
  from_ = another_peer();
  EXPECT_EQ(send_until_refused(), 6u);
}

// [SES-091] A peer that refuses the report that no more will be read has received it: it is sent
// once.
TEST_F(RendezvousTest, ARefusedReleaseIsNotRepeated) {
  start();
  Octets room(5000);
  receive(room);
  send(by_rendezvous(stored(pattern(5000))));
  transmit();
  deliver(0);  // matched: B reads the rest
  a_->pds.only_answers = wire::ReturnCode::perm_violation;
  deliver_all();
  EXPECT_EQ(take(*b_).substr(0, 12), "recv refused");
  const size_t heard = b_->pds.last_answers.size();
  EXPECT_GT(heard, 1u) << "the read, and that no more will be read";
  elapse(Duration::seconds(2));
  EXPECT_EQ(b_->pds.last_answers.size(), heard);
  EXPECT_TRUE(b_->ses->idle());
}

}  // namespace
}  // namespace uet::ses::test
