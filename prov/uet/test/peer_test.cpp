// Objects of another provider in uet, as lnx imports them: completions, receives, counters.
// [fi_peer]
#include "prov/uet/test/peer_fixture.h"

#include <algorithm>
#include <memory>

namespace uet::prov::test {
namespace {

using PeerLostTest = PeerTest;

// [LF-159] Completions go to the owner's queue; calls that read uet's queue are not offered.
TEST_F(PeerTest, CompletionsGoToTheOwner) {
  uint8_t room[100];
  ASSERT_EQ(fi_recv(a.ep, room, sizeof room, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  int context = 0;
  ASSERT_EQ(fi_send(b.ep, "hello", 5, nullptr, to_a, &context), 0);
  const Done done = next();
  EXPECT_EQ(done.context, &context);
  EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_MSG});
  EXPECT_EQ(done.err, 0);

  fi_cq_tagged_entry entry{};
  fi_cq_err_entry error{};
  fi_addr_t from = 0;
  EXPECT_EQ(fi_cq_readfrom(b.cq, &entry, 1, &from), -FI_ENOSYS);
  EXPECT_EQ(fi_cq_readerr(b.cq, &error, 0), -FI_ENOSYS);
  EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 0), -FI_ENOSYS);
  EXPECT_EQ(fi_cq_sreadfrom(b.cq, &entry, 1, &from, nullptr, 0), -FI_ENOSYS);
  EXPECT_EQ(fi_cq_signal(b.cq), -FI_ENOSYS);
  int fd = 0;
  EXPECT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &fd), -FI_ENOSYS);
  // The owner asks for the words of an error.
  EXPECT_STRNE(fi_cq_strerror(b.cq, 1, nullptr, nullptr, 0), "");
}

// [LF-159] An operation that fails is an error of the owner's queue.
TEST_F(PeerTest, FailuresGoToTheOwner) {
  a.close_endpoint();
  int context = 0;
  send_to_nobody(&context);
  const Done done = next();
  EXPECT_EQ(done.context, &context);
  EXPECT_NE(done.err, 0);
  EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_TAGGED});
}

// [LF-159]
TEST_F(PeerTest, ExpectedMessagesGoToTheOwnersReceives) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4000}, size_t{300'000}}) {
    auto& room = owner.post(bytes + 10);
    expect_received(room, send(bytes), FI_MSG);
    auto& tagged = owner.tpost(bytes + 10, 7);
    expect_received(tagged, tsend(bytes, 7, 2), FI_TAGGED);
  }
  auto& pieces = owner.post_pieces(100'000, 7);
  expect_received(pieces, send(100'000, 3), FI_MSG);
  EXPECT_EQ(owner.seen.asked, 9u);  // once for each
}

// [LF-159] More than the room for unexpected messages: only a receive can take it.
TEST_F(PeerTest, TheLargestMessagesNeedNoRoomButTheirs) {
  constexpr size_t kBytes = 64 << 20;
  auto& room = owner.tpost(kBytes, 1);
  expect_received(room, tsend(kBytes, 1), FI_TAGGED);
}

// [LF-159] The owner matches tags, masks and names of senders, which uet reports to it.
TEST_F(PeerTest, TheOwnerMatches) {
  auto& other = owner.post(100, 0x17);
  auto& by_name = owner.post(100, kNameOfA);
  auto& exact = owner.tpost(100, 5);
  auto& any = owner.tpost(100, 0, ~uint64_t{0});
  expect_received(by_name, send(10, 1), FI_MSG);
  expect_received(any, tsend(10, 6, 2), FI_TAGGED);
  expect_received(exact, tsend(10, 5, 3), FI_TAGGED);
  // Receives without a message stay with the owner.
  EXPECT_EQ(owner.open_entries(), 1u);
  b.insert(a.name(), 0x17);  // the older name is the sender's
  EXPECT_TRUE(std::all_of(other.begin(), other.end(), [](uint8_t octet) { return octet == 0; }));
  wait_for_queued(0);
  EXPECT_EQ(owner.open_entries(), 1u);
  ASSERT_EQ(fi_av_remove(b.av, &to_a, 1, 0), 0);
  const Done done = [&] {
    send(10, 4);
    return next();
  }();
  EXPECT_EQ(done.context, other.data());
  EXPECT_EQ(done.from, 0x17u);
}

// [LF-159] Kept, queued at the owner in the order of arrival, and received when it says so.
TEST_F(PeerTest, UnexpectedMessagesWaitAtTheOwner) {
  const auto& first = send(10, 1);
  wait_for_queued(1);
  const auto& second = send(4000, 2);
  wait_for_queued(2);
  const auto& third = tsend(200'000, 9, 3);
  wait_for_queued(3);
  EXPECT_EQ(owner.oldest_sender(), kNameOfA);
  EXPECT_TRUE(owner.done.empty());
  expect_received(owner.tpost(200'000, 9), third, FI_TAGGED);
  expect_received(owner.post(10), first, FI_MSG);
  expect_received(owner.post(4000), second, FI_MSG);
}

// [LF-159] A message that is still arriving when its receive is posted.
TEST_F(PeerTest, ReceivesComeInTheMidstOfMessages) {
  const auto& data = tsend(1'000'000, 9);
  ASSERT_TRUE(run_until([&] { return owner.queued() == 1; }));
  expect_received(owner.tpost(1'000'000, 9), data, FI_TAGGED);
}

// [LF-159] Header data comes with the queued message if the release has a member for it, and always
// with the completion.
TEST_F(PeerTest, HeaderDataIsPassedOn) {
  for (const bool first : {true, false}) {
    auto* room = first ? nullptr : &owner.tpost(100, 3);
    ASSERT_EQ(fi_tsenddata(a.ep, "data", 4, nullptr, 77, to_b, 3, nullptr), 0);
    if (first) {
      wait_for_queued(1);
      EXPECT_NE(owner.oldest_flags() & FI_REMOTE_CQ_DATA, 0u);
      EXPECT_EQ(owner.oldest_data(), UET_HAVE_PEER_CNTR ? 77u : 0u);
      room = &owner.tpost(100, 3);
    }
    const Done done = next();
    EXPECT_EQ(done.context, room->data());
    EXPECT_EQ(done.flags, uint64_t{FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA});
    EXPECT_EQ(done.data, 77u);
  }
}

// [LF-159]
TEST_F(PeerTest, DiscardedMessagesAreGone) {
  for (uint32_t i = 0; i < 20; ++i) {
    i % 2 == 0 ? send(100'000, i) : tsend(100, i, i);
    wait_for_queued(1);
    EXPECT_EQ(owner.discard_oldest(), 0);
  }
  const auto& last = tsend(10, 1);
  expect_received(owner.tpost(10, 1), last, FI_TAGGED);
}

// [LF-159]
TEST_F(PeerTest, TruncatedMessagesAreErrorsOfTheOwner) {
  for (const bool first : {true, false}) {
    for (const size_t bytes : {size_t{100}, size_t{100'000}}) {
      auto* room = first ? nullptr : &owner.post(60);
      send(bytes);
      if (first) {
        wait_for_queued(1);
        room = &owner.post(60);
      }
      const Done done = next();
      EXPECT_EQ(done.err, FI_ETRUNC);
      EXPECT_EQ(done.context, room->data());
      EXPECT_EQ(done.len, 60u);
      EXPECT_EQ(done.olen, bytes - 60);
    }
  }
}

// [LF-159] More buffers than an operation may have: the receive fails, and the message is for the
// next one. If the owner names it for a message that was reported to it, that message is lost, too.
TEST_F(PeerTest, UselessEntriesEndInErrors) {
  auto& useless = owner.post_pieces(1000, 65);
  const auto& data = send(10);
  Done done = next();
  EXPECT_EQ(done.err, FI_EINVAL);
  EXPECT_EQ(done.context, useless.data());
  expect_received(owner.post(1000), data, FI_MSG);

  send(10);
  wait_for_queued(1);
  auto& named = owner.post_pieces(1000, 65);
  done = next();
  EXPECT_EQ(done.err, FI_EINVAL);
  EXPECT_EQ(done.context, named.data());
  expect_received(owner.post(1000), send(20, 2), FI_MSG);
}

// [LF-159] What cannot be remembered is asked about again, and nothing overtakes it.
TEST_F(PeerTest, AnOwnerWithoutMemoryIsAskedAgain) {
  for (int* const refusal : {&owner.ways.refuses_to_get, &owner.ways.refuses_to_queue}) {
    *refusal = -FI_ENOMEM;
    const auto& first = tsend(10, 5, 1);
    const uint32_t asked = owner.seen.asked;
    ASSERT_TRUE(run_until([&] { return owner.seen.asked > asked + 3; }));
    const auto& second = tsend(10, 5, 2);
    ASSERT_TRUE(run_until([&] { return owner.seen.asked > asked + 10; }));
    EXPECT_EQ(owner.queued(), 0u);
    EXPECT_EQ(owner.open_entries(), 0u);
    *refusal = 0;
    wait_for_queued(2);
    expect_received(owner.tpost(10, 5), first, FI_TAGGED);
    expect_received(owner.tpost(10, 5), second, FI_TAGGED);
  }
}

// [LF-159] The owner is asked only in its turn, while it holds its locks.
TEST_F(PeerTest, OwnersAreAskedInTheirTurn) {
  const uint32_t asked = owner.seen.asked;
  const auto& data = tsend(10, 5);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) {
    fi_cq_read(a.rx_cq, nullptr, 0);
    const ssize_t posted = fi_inject(b.ep, "", 0, to_a);
    ASSERT_TRUE(posted == 0 || posted == -FI_EAGAIN) << posted;
    fi_addr_t again = 1;
    ASSERT_EQ(fi_av_insert(b.av, a.name().data(), 1, &again, FI_AV_USER_ID, nullptr), 1);
    ASSERT_EQ(fi_av_remove(b.av, &again, 1, 0), 0);
  }
  EXPECT_EQ(owner.seen.asked, asked);
  expect_received(owner.tpost(10, 5), data, FI_TAGGED);
}

// [LF-159] A post does not finish a half-received message: packets that come outside of the turn
// would have to be kept.
TEST_F(PeerTest, PostsDoNotReceivePackets) {
  constexpr size_t kBytes = 8 << 20;
  auto& room = owner.tpost(kBytes, 5);
  const auto& data = tsend(kBytes, 5);
  ASSERT_TRUE(run_until([&] { return owner.seen.asked != 0; }));
  ASSERT_TRUE(owner.done.empty());
  ssize_t posted = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) {
    fi_cq_read(a.rx_cq, nullptr, 0);
    posted = fi_inject(b.ep, "", 0, to_a);
    ASSERT_TRUE(posted == 0 || posted == -FI_EAGAIN) << posted;
    ASSERT_TRUE(owner.done.empty());
  }
  EXPECT_EQ(posted, -FI_EAGAIN);
  EXPECT_NE(room, data);
  expect_received(room, data, FI_TAGGED);
}

// [LF-159] Native objects in such a domain work as elsewhere.
TEST_F(PeerTest, OwnCountersRunTheEngine) {
  fi_cntr_attr attr{};
  fid_cntr* counter = nullptr;
  fid_ep* ep = nullptr;
  ASSERT_EQ(fi_cntr_open(b.domain, &attr, &counter, nullptr), 0);
  ASSERT_EQ(fi_endpoint(b.domain, b.info, &ep, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(ep, &counter->fid, FI_SEND | FI_RECV), 0);
  ASSERT_EQ(fi_ep_bind(ep, &b.av->fid, 0), 0);
  ASSERT_EQ(fi_enable(ep), 0);
  std::vector<uint8_t> name(256);
  size_t length = name.size();
  ASSERT_EQ(fi_getname(&ep->fid, name.data(), &length), 0);
  const fi_addr_t to = a.insert(name);
  uint8_t room[10];
  ASSERT_EQ(fi_recv(ep, room, sizeof room, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_inject(a.ep, "x", 1, to), 0);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (fi_cntr_read(counter) != 1 && std::chrono::steady_clock::now() < end) {
    fi_cq_read(a.rx_cq, nullptr, 0);
  }
  EXPECT_EQ(fi_cntr_read(counter), 1u);
  EXPECT_EQ(fi_close(&ep->fid), 0);
  EXPECT_EQ(fi_close(&counter->fid), 0);
}

// [LF-159] A message whose sender is gone cannot be received any more; its receive ends in an
// error. Run with a short FI_UET_PEER_TIMEOUT.
TEST_F(PeerLostTest, LostMessagesEndTheirReceivesInErrors) {
  const std::vector<uint8_t> data(4 << 20);
  {
    auto c = std::make_unique<Node>();
    const fi_addr_t from_c = c->insert(b.name());
    b.insert(c->name(), 0x33);
    ASSERT_EQ(fi_tsend(c->ep, data.data(), data.size(), nullptr, from_c, 9, nullptr), 0);
    ASSERT_TRUE(run_until([&] {
      fi_cq_read(c->rx_cq, nullptr, 0);
      return owner.queued() == 1;
    }));
  }
  auto& room = owner.tpost(4 << 20, 9);
  const Done done = next();
  EXPECT_NE(done.err, 0);
  EXPECT_EQ(done.context, room.data());
}

// [LF-159] The last endpoint gives the entries of lost messages back, too.
TEST_F(PeerLostTest, LostMessagesGoBackWithTheLastEndpoint) {
  const std::vector<uint8_t> data(4 << 20);
  {
    auto c = std::make_unique<Node>();
    const fi_addr_t from_c = c->insert(b.name());
    ASSERT_EQ(fi_tsend(c->ep, data.data(), data.size(), nullptr, from_c, 9, nullptr), 0);
    ASSERT_TRUE(run_until([&] {
      fi_cq_read(c->rx_cq, nullptr, 0);
      return owner.queued() == 1;
    }));
  }
  EXPECT_FALSE(run_until([] { return false; }, std::chrono::seconds(2)));  // the peer's time-out
  EXPECT_EQ(owner.queued(), 1u);
  b.close_endpoint();
  EXPECT_EQ(owner.queued(), 0u);
  EXPECT_EQ(owner.open_entries(), 0u);
}

#if UET_HAVE_PEER_CNTR
// [LF-160] Senders that are inserted after their message came are named then.
TEST_F(PeerTest, SendersGetTheirNamesLater) {
  Node c;
  const fi_addr_t from_c = c.insert(b.name());
  ASSERT_EQ(fi_tinject(c.ep, "who?", 4, from_c, 9), 0);
  ASSERT_TRUE(run_until([&] {
    fi_cq_read(c.rx_cq, nullptr, 0);
    return owner.queued() == 1;
  }));
  EXPECT_EQ(owner.oldest_sender(), FI_ADDR_UNSPEC);
  b.insert(c.name(), 0x33);
  EXPECT_EQ(owner.seen.named, 1u);
  EXPECT_EQ(owner.oldest_sender(), 0x33u);
  owner.tpost(10, 9);
  EXPECT_EQ(next().from, 0x33u);
}

class PeerCounterTest : public PeerTest {
 protected:
  PeerCounterTest() : PeerTest(0, true) {}
};

// [LF-159]
TEST_F(PeerCounterTest, TheOwnerCountsInItsTurn) {
  const auto read = [&] {
    owner.in_turn = true;
    EXPECT_EQ(fi_cntr_read(b.cntr), 0u);  // the value is the owner's
    owner.in_turn = false;
  };
  owner.tpost(10, 1);
  tsend(10, 1);
  next();
  EXPECT_EQ(owner.seen.counted, 0u);
  read();
  EXPECT_EQ(owner.seen.counted, 1u);
  owner.tpost(10, 2);
  tsend(10, 2);
  ASSERT_TRUE(run_until([&] {
    read();
    return owner.seen.counted == 2;
  }));
  next();
  a.close_endpoint();
  send_to_nobody(nullptr);
  next();
  EXPECT_EQ(owner.seen.counted_errors, 0u);
  read();
  EXPECT_EQ(owner.seen.counted_errors, 1u);
  EXPECT_EQ(fi_cntr_readerr(b.cntr), 0u);
  EXPECT_EQ(fi_cntr_add(b.cntr, 1), -FI_ENOSYS);
  EXPECT_EQ(fi_cntr_set(b.cntr, 1), -FI_ENOSYS);
  EXPECT_EQ(fi_cntr_adderr(b.cntr, 1), -FI_ENOSYS);
  EXPECT_EQ(fi_cntr_seterr(b.cntr, 1), -FI_ENOSYS);
  EXPECT_EQ(fi_cntr_wait(b.cntr, 1, 0), -FI_ENOSYS);
}

// [LF-159] Whatever was not read.
TEST_F(PeerCounterTest, TheOwnerHasCountedAllWhenTheCounterCloses) {
  owner.tpost(10, 1);
  tsend(10, 1);
  next();
  b.close_endpoint();
  b.close_srx();
  EXPECT_EQ(owner.seen.counted, 0u);
  b.close_queues();
  EXPECT_EQ(owner.seen.counted, 1u);
}

class PeerQuietCounterTest : public PeerTest {
 protected:
  PeerQuietCounterTest() : PeerTest(FI_SELECTIVE_COMPLETION, true) {}
};

// [LF-159] Receives without a report go back in the turn of a counter, too: they take no place in
// the completion queue, which the test does not read.
TEST_F(PeerQuietCounterTest, QuietReceivesGoBackWithoutTheQueue) {
  owner.tpost(10, 1);
  tsend(10, 1);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (owner.open_entries() != 0 && std::chrono::steady_clock::now() < end) {
    owner.in_turn = true;
    EXPECT_EQ(fi_cntr_read(b.cntr), 0u);
    owner.in_turn = false;
  }
  EXPECT_EQ(owner.open_entries(), 0u);
}
#endif

class PeerSelectiveTest : public PeerTest {
 protected:
  PeerSelectiveTest() : PeerTest(FI_SELECTIVE_COMPLETION) {}
};

// [LF-159]
TEST_F(PeerSelectiveTest, EntryFlagsDecideWhichReceivesAreReported) {
  owner.tpost(10, 1);  // without FI_COMPLETION
  owner.ways.entry_flags = FI_COMPLETION;
  auto& told = owner.tpost(10, 2);
  tsend(10, 1, 1);
  expect_received(told, tsend(10, 2, 2), FI_TAGGED);
  wait_for_queued(0);
}

}  // namespace
}  // namespace uet::prov::test
