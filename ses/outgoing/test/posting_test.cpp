// Requests become operations: judged, with their memory, and in the form in which they will travel.
#include "ses/outgoing/posting.h"

#include "ses/outgoing/test/initiator.h"

namespace uet::ses::test {
namespace {

using uet::test::was_called;

class PostingTest : public InitiatorParts {
 protected:
  SendRequest send_of(uint32_t bytes, uint32_t flags = 0) {
    slices_ = memory(bytes);
    SendRequest request;
    request.to = to_peer();
    request.iov = slices_;
    request.flags = flags;
    return request;
  }
  RmaRequest rma_of(bool is_read, uint32_t bytes, uint32_t flags = 0) {
    slices_ = memory(bytes);
    RmaRequest request;
    request.to = to_peer();
    request.read = is_read;
    request.iov = slices_;
    request.key = 9 | kIdempotentSafe;
    request.flags = flags;
    return request;
  }
  // A fetching addition of 64 bits, to that result.
  AtomicRequest fetch_of(uint64_t operand_bytes, uint64_t result_bytes) {
    slices_ = memory(static_cast<uint32_t>(operand_bytes));
    result_ = {IoSlice{octets_.data() + 1024, result_bytes}};
    AtomicRequest request;
    request.to = to_peer();
    request.form = AtomicForm::fetch;
    request.code = {wire::AtomicOpcode::sum, wire::AtomicDatatype::uint64};
    request.operand = slices_;
    request.result = result_;
    return request;
  }
  // The operation that was posted last.
  TxMessage& last() { return *ep_->operations.back(); }
  TxMessage& sent(const SendRequest& request) {
    EXPECT_TRUE(posting_.send(*ep_, request).ok());
    return last();
  }
  TxMessage& moved(const RmaRequest& request) {
    EXPECT_TRUE(posting_.rma(*ep_, request).ok());
    return last();
  }

  std::array<IoSlice, 1> slices_;
  std::array<IoSlice, 1> result_;
};

// [SES-071] A tag is what a tagged send matches by; any other send has none.
TEST_F(PostingTest, OnlyATaggedSendHasATag) {
  SendRequest request = send_of(10);
  request.tag = 0x77;
  EXPECT_EQ(sent(request).match_bits, 0u);
  EXPECT_EQ(last().opcode, wire::SesOpcode::send);
  request.tagged = true;
  EXPECT_EQ(sent(request).match_bits, 0x77u);
  EXPECT_EQ(last().opcode, wire::SesOpcode::tagged_send);
  EXPECT_EQ(last().sequence, 2u);
  EXPECT_EQ(ep_->tx_open, 2u);
  EXPECT_EQ(pds_.take(), "ready 1, ready 1");
}

// [SES-104] A datagram is one packet and has no tag; what is refused leaves nothing behind.
TEST_F(PostingTest, ADatagramIsOnePacket) {
  use(pds::Mode::uud);
  SendRequest request = send_of(1025);
  EXPECT_EQ(posting_.send(*ep_, request).error(), Errc::too_long);
  EXPECT_TRUE(operations_.is_empty());
  EXPECT_EQ(sent(send_of(1024)).opcode, wire::SesOpcode::datagram_send);
  request.tagged = true;
  EXPECT_EQ(posting_.send(*ep_, request).error(), Errc::unsupported);
  EXPECT_EQ(posting_.rma(*ep_, rma_of(true, 1)).error(), Errc::unsupported);
  EXPECT_EQ(posting_.atomic(*ep_, fetch_of(8, 8)).error(), Errc::unsupported);
}

// One operation more than tx_size is refused with `again`, and nothing was changed.
TEST_F(PostingTest, AnEndpointHasALimitOfOperations) {
  ep_->options.tx_size = 2;
  sent(send_of(1));
  sent(send_of(1));
  EXPECT_EQ(posting_.send(*ep_, send_of(1)).error(), Errc::again);
  EXPECT_EQ(ep_->tx_open, 2u);
}

// [SES-088, SES-093] From the configured lengths on, sends use the rendezvous, or are deferrable.
TEST_F(PostingTest, LongSendsAreOfferedOtherForms) {
  res_.config.rendezvous_bytes = 3000;
  res_.config.defer_bytes = 2000;
  sent(send_of(1999));
  EXPECT_FALSE(was_called("make_deferrable"));
  sent(send_of(2000));
  EXPECT_TRUE(was_called("make_deferrable"));
  EXPECT_FALSE(was_called("expose"));
  sent(send_of(3000));
  EXPECT_TRUE(was_called("expose"));
}

// [LF-131, SES-017] A peer that implies another size than ours gets a read for each packet.
TEST_F(PostingTest, AReadMayBeCutIntoParts) {
  EXPECT_EQ(moved(rma_of(true, 5000)).segment_length, 5000u);
  peers_[peer_].payload_mtu = 2048;
  EXPECT_EQ(moved(rma_of(true, 5000)).segment_length, 1024u);
  EXPECT_EQ(last().push_length, 1024u);
  EXPECT_EQ(moved(rma_of(false, 5000)).segment_length, 5000u) << "a write says its length";
  EXPECT_EQ(posting_.rma(*ep_, rma_of(true, 1, kOpRemoteData)).error(), Errc::invalid);
  EXPECT_EQ(posting_.rma(*ep_, rma_of(true, 1, kOpInject)).error(), Errc::invalid);
}

// [SES-027, SES-077] RUDI: on both ends, for memory that tolerates replays, without data or order.
TEST_F(PostingTest, RudiIsForMemoryThatToleratesReplays) {
  const auto mode_of = [&](const RmaRequest& request) { return moved(request).flow->mode; };
  RmaRequest request = rma_of(false, 10, kOpRudi);
  EXPECT_EQ(mode_of(request), pds::Mode::rud) << "its address states no profile";
  request.to.capabilities = kEveryProfile;
  EXPECT_EQ(mode_of(request), pds::Mode::rudi);
  request.key = 9;
  EXPECT_EQ(mode_of(request), pds::Mode::rud);
  request.key |= kIdempotentSafe;
  request.flags = kOpRudi | kOpRemoteData;
  EXPECT_EQ(mode_of(request), pds::Mode::rud);
  request.flags = 0;
  EXPECT_EQ(mode_of(request), pds::Mode::rud);
  ep_->options.mode = pds::Mode::rod;
  request.flags = kOpRudi;
  request.to.ri = ResourceIndex(4);
  EXPECT_EQ(mode_of(request), pds::Mode::rod);
}

// [PDS-064] An answer is asked for when an operation waits for it: the user, a fence, or the next
// post that needs room.
TEST_F(PostingTest, ASendWhoseCompletionIsNotAwaitedIsQuiet) {
  ep_->options.tx_size = 8;
  EXPECT_FALSE(sent(send_of(10)).is_quiet);
  EXPECT_TRUE(sent(send_of(10, kOpQuiet)).is_quiet);
  EXPECT_FALSE(sent(send_of(10, kOpQuiet | kOpDeliveryComplete)).is_quiet);
  EXPECT_FALSE(sent(send_of(1025, kOpQuiet)).is_quiet) << "several packets";
  EXPECT_FALSE(sent(send_of(10, kOpQuiet)).is_quiet) << "half of the queue is used";
}

// [LF-060] A fence is not quiet, and is kept with the operation.
TEST_F(PostingTest, AFenceIsKept) {
  EXPECT_FALSE(sent(send_of(10, kOpFence | kOpQuiet)).is_quiet);
  EXPECT_TRUE(last().is_fenced);
}

// [LF-136] post() reports at once that the user's memory is free.
TEST_F(PostingTest, ARetainedSendSaysSo) {
  const Result<Taken> taken = posting_.send(*ep_, send_of(10, kOpRetain));
  EXPECT_EQ(*taken, Taken::retained);
  EXPECT_TRUE(last().is_quiet) << "its user waits for nothing";
  EXPECT_EQ(*posting_.send(*ep_, send_of(10)), Taken::posted);
}

// [SES-089, LF-131, LF-141] The rest of a message is read in packets of what its path has shown.
TEST_F(PostingTest, TheRestIsReadAsItsFirstPacketShows) {
  slices_ = memory(5000);
  const auto rest = [&](uint32_t shown) -> TxMessage& {
    const RestRequest request{to_peer(), slices_, 100, 0x66, 3, shown};
    EXPECT_TRUE(posting_.read_rest(*ep_, request).ok());
    return last();
  };
  EXPECT_EQ(rest(2048).mtu, 2048) << "nothing is known of the peer";
  EXPECT_EQ(last().segment_length, 2048u);
  EXPECT_FALSE(last().may_repeat) << "a part of the rest";
  EXPECT_EQ(last().remote_offset, 100u);
  EXPECT_EQ(last().match_bits, 0x66u);
  EXPECT_EQ(last().pull, 3u);
  EXPECT_EQ(rest(1000).mtu, 1024) << "the last packet of a message shows nothing";
  peers_[peer_].agree_payload(1024);
  EXPECT_EQ(rest(2048).mtu, 1024);
  EXPECT_TRUE(last().may_repeat);
  EXPECT_EQ(ep_->tx_open, 0u) << "no user posted it";
}

// [SES-098, SES-102] A ready-to-restart carries both tokens to the address of the sender, if known.
TEST_F(PostingTest, AReadyToRestartNamesTheMessage) {
  const Restart restart{peer_, kJob, 44, {0x11, 0x22}};
  ASSERT_TRUE(posting_.send_restart(*ep_, restart, 6).ok());
  EXPECT_EQ(last().opcode, wire::SesOpcode::deferrable_rtr);
  EXPECT_EQ(last().match_bits, uint64_t{0x11} << 32 | 0x22);
  EXPECT_EQ(last().restart, 6u);
  EXPECT_EQ(last().remote->key.pid, PidOnFep(0));
  sent(send_of(1));  // now its address is known
  ASSERT_TRUE(posting_.send_restart(*ep_, restart, 6).ok());
  EXPECT_EQ(last().remote->key.pid, kPid);
  EXPECT_EQ(last().remote->key.ri, kRi);
}

// [SES-080, SES-081] As many old values as operands, in one packet.
TEST_F(PostingTest, AnAtomicHasAsManyResultsAsOperands) {
  const auto refused = [&](uint64_t operand, uint64_t result) {
    return posting_.atomic(*ep_, fetch_of(operand, result)).error();
  };
  EXPECT_EQ(refused(8, 16), Errc::invalid);
  EXPECT_EQ(refused(16, 8), Errc::invalid);
  EXPECT_EQ(refused(0, 0), Errc::invalid);
  EXPECT_EQ(refused(12, 12), Errc::invalid) << "one and a half";
  EXPECT_EQ(refused(264, 264), Errc::too_long);
  AtomicRequest no_such = fetch_of(8, 8);
  no_such.code.op = wire::AtomicOpcode::inval;
  EXPECT_EQ(posting_.atomic(*ep_, no_such).error(), Errc::unsupported);
  EXPECT_TRUE(operations_.is_empty());
}

// [SES-082, SES-081] Operands travel with the most significant octet first, and are copied.
TEST_F(PostingTest, OperandsAreCopiedInWireOrder) {
  octets_[0] = std::byte{5};
  ASSERT_TRUE(posting_.atomic(*ep_, fetch_of(16, 16)).ok());
  octets_[0] = std::byte{6};
  EXPECT_EQ(last().opcode, wire::SesOpcode::fetching_atomic);
  EXPECT_EQ(last().segment_length, 16u);
  EXPECT_EQ(last().result_bytes, 16u);
  const IoSlice& sent = last().memory[0];
  EXPECT_EQ(sent.data[0], std::byte{0});
  EXPECT_EQ(sent.data[7], std::byte{5});
}

// [SES-085, SES-081] The value to compare, then the operand, each in sixteen octets.
TEST_F(PostingTest, ACompareHasTwoOperands) {
  AtomicRequest request = fetch_of(8, 8);
  request.form = AtomicForm::compare;
  request.code.op = wire::AtomicOpcode::cswap;
  EXPECT_EQ(posting_.atomic(*ep_, request).error(), Errc::invalid);
  octets_[512] = std::byte{1};
  const IoSlice compare{octets_.data() + 512, 8};
  request.compare = {&compare, 1};
  octets_[0] = std::byte{2};
  ASSERT_TRUE(posting_.atomic(*ep_, request).ok());
  EXPECT_EQ(last().memory.bytes(), 32u);
  EXPECT_EQ(last().memory[0].data[15], std::byte{1});
  EXPECT_EQ(last().memory[0].data[31], std::byte{2});
}

}  // namespace
}  // namespace uet::ses::test
