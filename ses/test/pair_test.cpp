// Messages between two Ses: sends, tagged sends, writes, reads of every size, in any packet order.
#include "ses/test/pair.h"

#include <array>
#include <cstdio>

namespace uet::ses::test {
namespace {

// [SES-056, SES-141, SES-142, SES-149] Answered by a default response, complete on both sides.
TEST_F(PairTest, AShortSendFillsThePostedReceive) {
  const Octets data = pattern(100);
  Octets room(128);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 100 #1");
  EXPECT_EQ(take(*b_), "recv ok 100 #2");
  EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
  EXPECT_EQ(room[100], std::byte{0});
  EXPECT_TRUE(a_->ses->idle());
  EXPECT_TRUE(b_->ses->idle());
}

// [SES-022, SES-011] A zero-length message is one packet and completes on both sides.
TEST_F(PairTest, ZeroLengthMessagesOfEveryKindComplete) {
  Octets none, memory(8);
  const uint64_t key = expose(memory);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(none), now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(none), now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, none, key, 8), now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, none, key, 8), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 0 #1 | write ok 0 #1 | read ok 0 #1");
  EXPECT_EQ(take(*b_), "recv ok 0 #2");
  EXPECT_EQ(a_->pds.asked.messages_done, 1u);
}

// [PDS-230, SES-020, SES-019, SES-023] Any packet first, placement by offset, completion by octets
// counted; header data comes with the first packet of the message only.
TEST_F(PairTest, PacketsInAnyOrderArriveByteExact) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    const Octets data = pattern(1 + rng.below(40'000));
    const Octets written = pattern(1 + rng.below(40'000), 77);
    Octets room(40'000), memory(50'000), back(1 + rng.below(40'000));
    const uint64_t key = expose(memory);
    ReceiveRequest r = receive_request(room);
    r.tagged = true;
    r.tag = 42;
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
    SendRequest s = send_request(data);
    s.tagged = true;
    s.tag = 42;
    s.flags = kOpRemoteData;
    s.data = 0x1122334455667788;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, written, key, 5), now_).ok());
    deliver_all(&rng);
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key, 5), now_).ok());
    deliver_all(&rng);
    ASSERT_EQ(a_->completions.size(), 3u);
    for (const Completion& c : a_->completions) EXPECT_TRUE(c.ok());
    ASSERT_EQ(b_->completions.size(), 1u);
    EXPECT_EQ(b_->completions[0].bytes, data.size());
    EXPECT_EQ(b_->completions[0].data, 0x1122334455667788u);
    EXPECT_TRUE(b_->completions[0].has_data);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
    EXPECT_TRUE(std::equal(written.begin(), written.end(), memory.begin() + 5));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), memory.begin() + 5));
    EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  }
}

// Packets and answers are lost and sent again; nothing is delivered twice or left out.
TEST_F(PairTest, LossCostsTimeOnly) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    const Octets data = pattern(20'000);
    std::vector<Octets> rooms(8, Octets(20'000));
    Octets memory(20'000), back(20'000);
    const uint64_t key = expose(memory);
    for (size_t i = 0; i < rooms.size(); ++i) {
      ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(rooms[i], 10 + i), now_).ok());
      ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
    }
    std::copy(data.begin(), data.end(), memory.begin());
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
    for (int round = 0; round < 200; ++round) {
      for (transmit(); !network_.empty(); transmit()) {
        if (rng.chance(0.2)) {
          network_.take(rng.below(network_.size()));
        } else {
          deliver(rng.below(network_.size()));
        }
      }
      if (!a_->pds.has_outstanding() && !b_->pds.has_outstanding()) break;
      a_->pds.resend_all();
      b_->pds.resend_all();
    }
    EXPECT_EQ(a_->completions.size(), 9u);
    EXPECT_EQ(b_->completions.size(), 8u);
    for (const Completion& c : b_->completions) EXPECT_EQ(c.bytes, data.size());
    for (const Octets& room : rooms) EXPECT_EQ(room, data);
    EXPECT_EQ(back, data);
    EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  }
}

// [SES-015, SES-038, SES-016, SES-017, SES-040, SES-045, SES-047, SES-060, SES-071, WIRE-060] The
// octets of a two-packet tagged send, by hand.
TEST_F(PairTest, TheHeadersOnTheWireAreTheSpecifications) {
  const Octets data = pattern(1025);
  SendRequest s = send_request(data);
  s.tagged = true;
  s.tag = 0xA1A2A3A4A5A6A7A8;
  s.flags = kOpRemoteData | kOpDeliveryComplete;
  s.data = 0xD1D2D3D4D5D6D7D8;
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 2u);
  const auto hex = [](const Octets& o, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", unsigned(o[i]));
      out += two;
    }
    return out;
  };
  // opcode 09, flags dc rel hd som = 2d, message ID 1 | generation 0, job 000102 | PIDonFEP 7, RI 3
  // | buffer offset 0 | initiator 100 | tag | header data | request length 1025
  EXPECT_EQ(hex(network_[0].octets, 44),
            "092d0001"
            "00000102"
            "00070003"
            "0000000000000000"
            "00000064"
            "a1a2a3a4a5a6a7a8"
            "d1d2d3d4d5d6d7d8"
            "00000401");
  // flags dc rel eom = 2a; payload length 1, message offset 1024
  EXPECT_EQ(hex(network_[1].octets, 44),
            "092a0001"
            "00000102"
            "00070003"
            "0000000000000000"
            "00000064"
            "a1a2a3a4a5a6a7a8"
            "0000000100000400"
            "00000401");
  EXPECT_EQ(network_[0].octets.size(), 44u + 1024u);
  EXPECT_EQ(network_[1].octets.size(), 44u + 1u);
}

// [PDS-166, SES-053, SES-074, SES-144, PDS-167, WIRE-018] Up to 16 octets come back inside the ACK,
// more as return requests: no ACK is so long that it would need the class of trimmable packets.
TEST_F(PairTest, ReadDataTravelsInTheAckUpToSixteenOctets) {
  const Octets memory = pattern(64);
  const uint64_t key = expose(memory);
  for (const size_t length : {1u, 16u, 17u}) {
    Octets back(length);
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key, 3), now_).ok());
    transmit();
    deliver(0);
    transmit();
    ASSERT_EQ(network_.size(), length <= 16 ? 1u : 2u);
    EXPECT_EQ(network_[0].octets.size(), length <= 16 ? 20 + length : 0);
    deliver_all();
    EXPECT_EQ(take(*a_), "read ok " + std::to_string(length) + " #1");
    EXPECT_TRUE(std::equal(back.begin(), back.end(), memory.begin() + 3));
  }
  EXPECT_EQ(a_->pds.asked.keep_pdc, 3u);  // [SES-075]
  EXPECT_EQ(a_->pds.asked.messages_done, 3u);
}

// [SES-052, SES-072, SES-073] Write with immediate: a completion with the data, no receive
// consumed.
TEST_F(PairTest, WriteWithDataCompletesAtTheTarget) {
  const Octets data = pattern(3000);
  Octets memory(4000), room(10);
  const uint64_t key = expose(memory);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  RmaRequest w = rma_request(false, data, key, 1000);
  w.flags = kOpRemoteData;
  w.data = 99;
  ASSERT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "write ok 3000 #1");
  EXPECT_EQ(take(*b_), "remote_write ok 3000 data 99 #0");
  EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.begin() + 1000));
}

// [LF-097] A sink that counts gets each remote write and read, once per message.
TEST_F(PairTest, ASinkThatCountsSeesAllRemoteAccess) {
  CompletionSink sink = b_->sink();
  sink.all_remote = true;
  b_->ses->close_endpoint(b_->ep, now_);
  EndpointName name;
  name.job = kJob;
  name.pid = kPid;
  name.ri = kRi;
  b_->ep = *b_->ses->open_endpoint(name, options_, sink, sink);
  const Octets data = pattern(3000), small = pattern(10);
  Octets memory(3000), back(3000), few(10);
  const uint64_t key = expose(memory);
  for (const Octets* o : {&data, &small}) {
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, *o, key), now_).ok());
    deliver_all();
  }
  for (Octets* o : {&back, &few}) {
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, *o, key), now_).ok());
    deliver_all();
  }
  EXPECT_EQ(take(*b_),
            "remote_write ok 3000 #0 | remote_write ok 10 #0 | remote_read ok 3000 #0 | "
            "remote_read ok 10 #0");
}

// [decision 11] Without a completion slot the packet is refused and comes again.
TEST_F(PairTest, WriteWithDataWaitsForACompletionSlot) {
  const Octets data = pattern(2000);
  Octets memory(2000);
  const uint64_t key = expose(memory);
  RmaRequest w = rma_request(false, data, key);
  w.flags = kOpRemoteData;
  b_->spare_slots = 0;
  ASSERT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(b_->pds.nacks_sent, 1u);
  EXPECT_EQ(b_->ses->counters()[Counter::rx_no_completion_slot], 1u);
  b_->spare_slots = 1;
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "write ok 2000 #1");
  EXPECT_EQ(take(*b_), "remote_write ok 2000 data 0 #0");
  EXPECT_EQ(memory, data);
}

// [LF-075] The payload of an injected send is copied before the call returns, of one packet and of
// several; at most 4096 octets.
TEST_F(PairTest, InjectedPayloadMayBeReusedAtOnce) {
  config_.payload_mtu = 1024;
  start();
  for (const size_t bytes : {0, 256, 257, 1025, 4096}) {
    Octets data = pattern(bytes), room(bytes);
    const Octets original = data;
    SendRequest s = send_request(data);
    s.flags = kOpInject;
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
    data.assign(bytes, std::byte{0xEE});
    deliver_all();
    EXPECT_EQ(room, original) << bytes;
  }
  const Octets longer(kInjectBytes + 1);
  SendRequest s = send_request(longer);
  s.flags = kOpInject;
  EXPECT_EQ(a_->ses->send(a_->ep, s, now_).error(), Errc::too_long);
}

// There are few copies above 256 octets: without room for one the post fails with again, shorter
// ones still go, and acknowledgements make room.
TEST_F(PairTest, LongInjectsEndInTryAgainUntilOneIsAcknowledged) {
  config_.long_injects = 2;
  start();
  const Octets data = pattern(257);
  SendRequest s = send_request(data);
  s.flags = kOpInject;
  std::array<Octets, 4> rooms;
  for (Octets& room : rooms) {
    room.resize(data.size());
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  EXPECT_EQ(a_->ses->send(a_->ep, s, now_).error(), Errc::again);
  const Octets shorter = pattern(256);
  SendRequest brief = send_request(shorter);
  brief.flags = kOpInject;
  EXPECT_TRUE(a_->ses->send(a_->ep, brief, now_).ok());
  deliver_all();
  EXPECT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
}

// [LF-074] Up to 64 slices each way; zero-length ones among them do no harm.
TEST_F(PairTest, ScatteredMemoryIsGatheredAndScattered) {
  const Octets data = pattern(6400);
  Octets room(6400);
  std::vector<IoSlice> out, in;
  for (size_t i = 0; i < 32; ++i) {
    out.push_back({data.data() + i * 200, 200});
    out.push_back({nullptr, 0});
  }
  for (size_t i = 0; i < 64; ++i) in.push_back({room.data() + i * 100, 100});
  SendRequest s = send_request(data);
  s.iov = out;
  ReceiveRequest r = receive_request(room);
  r.iov = in;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  Rng rng(5);
  deliver_all(&rng);
  EXPECT_EQ(room, data);
  out.push_back({data.data(), 1});
  s.iov = out;
  EXPECT_EQ(a_->ses->send(a_->ep, s, now_).error(), Errc::invalid);
  in.push_back({room.data(), 1});
  r.iov = in;
  EXPECT_EQ(b_->ses->receive(b_->ep, r, now_).error(), Errc::invalid);
}

// [LF-131] Toward a peer with a smaller payload MTU all messages use it, and a long read becomes
// READ messages of one packet each.
TEST_F(PairTest, TheSmallerPayloadMtuRules) {
  config_.payload_mtu = 4096;
  start();
  a_->peers[PeerId(0)].payload_mtu = 1024;
  const Octets memory = pattern(5000);
  const uint64_t key = expose(memory);
  Octets back(5000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 5000 #1");
  EXPECT_EQ(back, memory);
  EXPECT_EQ(a_->pds.asked.messages_done, 5u);
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(memory), now_).ok());
  transmit();
  EXPECT_EQ(network_.size(), 5u);
}

// [LF-140, SES-016, SES-017] What both ends agreed on may be more than the default of either: a
// target takes every legal size, and long reads go in READ messages of one packet each.
TEST_F(PairTest, AnAgreedPayloadMayBeLargerThanTheDefaultOfEither) {
  config_.payload_mtu = 1024;
  start();
  a_->peers[PeerId(0)].payload_mtu = 1024;
  a_->peers[PeerId(0)].agree_payload(8192);
  Octets memory = pattern(20000);
  const uint64_t key = expose(memory);
  Octets back(20000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 20000 #1");
  EXPECT_EQ(back, memory);
  EXPECT_EQ(a_->pds.asked.messages_done, 3u);

  Octets room(20000);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(memory), now_).ok());
  transmit();
  EXPECT_EQ(network_.size(), 3u);
  deliver_all();
  EXPECT_EQ(room, memory);
}

// [LF-131] The two ends have different sizes, and the target does not know the initiator: it
// accepts packets of any legal size, and answers the requested lengths.
TEST_F(PairTest, ATargetNeedNotKnowTheSizeOfTheInitiator) {
  config_.payload_mtu = 4096;
  start();
  // This initiator is downsized to 1024 by its route, and the target takes 4096 for the rule.
  a_->peers[PeerId(0)].payload_mtu = 4096;
  a_->peers[PeerId(0)].agree_payload(1024);
  const Octets memory = pattern(5000);
  const uint64_t key = expose(memory);
  Octets back(5000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 5000 #1");
  EXPECT_EQ(back, memory);
  EXPECT_EQ(a_->pds.asked.messages_done, 5u);
}

// [LF-060] A fenced operation starts after all earlier ones to that peer are complete.
TEST_F(PairTest, AFenceWaitsForEverythingBefore) {
  const Octets data = pattern(100);
  Octets memory(100);
  const uint64_t key = expose(memory);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key), now_).ok());
  RmaRequest fenced = rma_request(false, data, key);
  fenced.flags = kOpFence;
  ASSERT_TRUE(a_->ses->rma(a_->ep, fenced, now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key), now_).ok());
  transmit();
  EXPECT_EQ(network_.size(), 1u);
  deliver(0);
  transmit();
  EXPECT_EQ(network_.size(), 1u);  // the answer
  deliver(0);
  transmit();
  EXPECT_EQ(network_.size(), 2u);  // the fenced one, and the one behind it
  deliver_all();
  EXPECT_EQ(take(*a_), "write ok 100 #1 | write ok 100 #1 | write ok 100 #1");
}

// tx_size and rx_size limit unfinished operations.
TEST_F(PairTest, PostingStopsAtTheSizeOfTheEndpoint) {
  options_.tx_size = options_.rx_size = 2;
  start();
  const Octets data = pattern(10);
  Octets room(10);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
    EXPECT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
  EXPECT_EQ(a_->ses->send(a_->ep, send_request(data), now_).error(), Errc::again);
  EXPECT_EQ(b_->ses->receive(b_->ep, receive_request(room), now_).error(), Errc::again);
  deliver_all();
  EXPECT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
  EXPECT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
}

// [T-39, decision 11] A peer is asked for no more packets at once than config.read_packets,
// unless one read is longer; the next read waits for the end of one, however it ends.
TEST_F(PairTest, ReadsWaitForEachOther) {
  config_.read_packets = 5;
  start();
  const Octets memory = pattern(6000);
  const uint64_t key = expose(memory);
  Octets back[5] = {Octets(2500), Octets(2000), Octets(2500), Octets(6000), Octets(100)};
  for (uintptr_t i = 0; i < 5; ++i) {
    RmaRequest r = rma_request(true, back[i], key);
    r.context.op = reinterpret_cast<void*>(i + 1);
    ASSERT_TRUE(a_->ses->rma(a_->ep, r, now_).ok());
  }
  transmit();
  EXPECT_EQ(network_.size(), 3u + 2u);
  deliver_all();
  EXPECT_EQ(take(*a_),
            "read ok 2500 #1 | read ok 2000 #2 | read ok 2500 #3 | read ok 6000 #4 | "
            "read ok 100 #5");
  EXPECT_EQ(back[3], memory);
}

TEST_F(PairTest, TheLongestReadWaitsToo) {
  config_.read_packets = 3;
  start();
  const Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  Octets back(3000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  RmaRequest r = rma_request(true, back, key);
  const IoSlice longest{back.data(), kMaxMessageBytes};  // never written to: it is not started
  r.iov = {&longest, 1};
  r.context.op = reinterpret_cast<void*>(uintptr_t{2});
  ASSERT_TRUE(a_->ses->rma(a_->ep, r, now_).ok());
  transmit();
  EXPECT_EQ(network_.size(), 3u);
  EXPECT_TRUE(a_->ses->cancel(a_->ep, r.context.op, now_));
  deliver_all();
  EXPECT_EQ(take(*a_), "read cancelled 0 #2 | read ok 3000 #1");
}

// [T-39] A silent peer would take a time-out for each read in turn.
TEST_F(PairTest, ReadsDoNotWaitForEachOthersTimeOuts) {
  config_.read_packets = 3;
  start();
  const Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  Octets back[3] = {Octets(3000), Octets(3000), Octets(3000)};
  for (const Octets& b : back) {
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, b, key), now_).ok());
  }
  transmit();
  ASSERT_EQ(network_.size(), 3u);
  network_.clear();
  a_->pds.fail_flow(0, {.reason = pds::FailureReason::timeout}, now_);
  EXPECT_EQ(take(*a_), "read undeliverable 0 #1");
  transmit();
  EXPECT_EQ(network_.size(), 6u);
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 3000 #1 | read ok 3000 #1");
}

TEST_F(PairTest, ACancelledReadLetsTheNextOneGo) {
  config_.read_packets = 3;
  start();
  const Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  Octets first(3000), second(3000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, first, key), now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, second, key), now_).ok());
  EXPECT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(uintptr_t{1}), now_));
  deliver_all();
  EXPECT_EQ(take(*a_), "read cancelled 0 #1 | read ok 3000 #1");
  EXPECT_EQ(second, memory);
  EXPECT_TRUE(a_->ses->idle());
}

}  // namespace
}  // namespace uet::ses::test
