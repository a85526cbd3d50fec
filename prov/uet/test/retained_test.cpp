// Sends complete when their payload is retained: at once, whatever a peer does that has answered
// before, or that is not waited for. A requested stronger level is never weakened, and later
// failures are reported without the op_context.
#include "prov/uet/test/roles.h"

#include <arpa/inet.h>

#include <map>

namespace uet::prov::test {
namespace {

constexpr size_t kRetained = 65536;

// A silent peer: a socket that is never read.
class RetainedTest : public RolesTest {
 protected:
  void SetUp() override {
    RolesTest::SetUp();
    deaf_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(4793);
    at.sin_addr.s_addr = htonl(0x7F00'3001);  // 127.0.48.1
    ASSERT_EQ(bind(deaf_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  void TearDown() override {
    close(deaf_);
    RolesTest::TearDown();
  }
  static fi_addr_t insert_deaf(const Node& node) {
    fi_addr_t peer = FI_ADDR_UNSPEC;
    EXPECT_EQ(fi_av_insertsvc(node.av, "127.0.48.1", "7", &peer, 0, nullptr), 1);
    return peer;
  }
  // Sends of such a node do not wait for the first answer of a peer either.
  static NodeOptions early() {
    NodeOptions options;
    options.tx_op_flags = FI_INJECT_COMPLETE;
    return options;
  }
  static ssize_t send_msg(Node& node, const std::vector<uint8_t>& octets, fi_addr_t to,
                          uint64_t flags, void* context) {
    iovec iov{const_cast<uint8_t*>(octets.data()), octets.size()};
    fi_msg msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = to;
    msg.context = context;
    return fi_sendmsg(node.ep, &msg, flags);
  }
  // Nothing is reported although the engine runs.
  static void expect_silence(const Node& node, milliseconds span = milliseconds(30)) {
    const auto end = Clock::now() + span;
    Done done;
    while (Clock::now() < end) ASSERT_FALSE(read_one(node.tx_cq, done)) << done.err << done.text;
  }

 private:
  int deaf_ = -1;
};

// [LF-055, LF-136] Messages up to 64 KiB without a completion level complete when they are copied.
TEST_F(RetainedTest, SendsCompleteBeforeThePeerAnswers) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    const std::vector<uint8_t> longer(kRetained + 1);  // read until the endpoint is closed
    Node node(early());
    const fi_addr_t peer = insert_deaf(node);
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{256}, size_t{257}, size_t{4096}, size_t{20000}, kRetained}) {
      std::vector<uint8_t> octets(size);
      ASSERT_EQ(fi_send(node.ep, octets.data(), size, nullptr, peer, &octets), 0);
      Done done = await(node.tx_cq, seconds(5));
      EXPECT_EQ(done.err, 0) << size << " " << done.text;
      EXPECT_EQ(done.context, &octets);
      EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_MSG});
      ASSERT_EQ(fi_tsend(node.ep, octets.data(), size, nullptr, peer, 5, octets.data()), 0);
      done = await(node.tx_cq, seconds(5));
      EXPECT_EQ(done.err, 0) << size << " " << done.text;
      EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_TAGGED});
    }
    EXPECT_EQ(counter(node, "tx_retained"), 14u);
    EXPECT_EQ(counter(node, "retained_now"), 14u);
    EXPECT_EQ(counter(node, "retained_bytes"), 2 * (1 + 256 + 257 + 4096 + 20000 + kRetained));
    // One octet more waits for its acknowledgement.
    ASSERT_EQ(fi_send(node.ep, longer.data(), longer.size(), nullptr, peer, nullptr), 0);
    expect_silence(node);
  }));
}

// [LF-136] An application that posts long messages without polling waits for none of them.
TEST_F(RetainedTest, LongMessagesInARowAreCopiedUpToTheEighth) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    const std::vector<uint8_t> octets(8193);  // read until the endpoint is closed
    Node node(early());
    const fi_addr_t peer = insert_deaf(node);
    const auto post = [&](int count, size_t size) {
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(fi_send(node.ep, octets.data(), size, nullptr, peer, nullptr), 0);
      }
    };
    Done done;
    post(20, 8193);
    EXPECT_EQ(counter(node, "tx_retained"), 8u);
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(read_one(node.tx_cq, done)) << i;
    post(9, 8193);
    EXPECT_EQ(counter(node, "tx_retained"), 16u) << "after a look they are copied again";
    ASSERT_TRUE(read_one(node.tx_cq, done));
    post(20, 8192);
    EXPECT_EQ(counter(node, "tx_retained"), 36u) << "shorter ones are all copied";
  }));
}

// [LF-054, LF-053, LF-060, LF-136] What says more than that the buffer is free waits for it.
TEST_F(RetainedTest, StrongerLevelsWaitForThePeer) {
  const Settings settings = {{"FI_UET_LINGER", "0"}, {"FI_UET_PEER_TIMEOUT", "1500000"}};
  finish(start(1, settings, [](const Line&) {
    Node node;
    const fi_addr_t peer = insert_deaf(node);
    const std::vector<uint8_t> octets(64);
    std::map<void*, int> open;
    int contexts[5] = {};
    const uint64_t kLevels[] = {FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE,
                                FI_FENCE};
    for (size_t i = 0; i < std::size(kLevels); ++i) {
      ASSERT_EQ(send_msg(node, octets, peer, FI_COMPLETION | kLevels[i], &contexts[i]), 0);
      open[&contexts[i]] = 0;
    }
    // A write makes no event over there: its completion is taken for the arrival.
    ASSERT_EQ(fi_write(node.ep, octets.data(), 8, nullptr, peer, 0, 5, &contexts[4]), 0);
    open[&contexts[4]] = 0;
    expect_silence(node);
    for (int i = 0; i < 5; ++i) {
      const Done done = await(node.tx_cq, seconds(20));
      EXPECT_NE(done.err, 0);
      EXPECT_NE(done.err, -1) << done.text;
      ++open[done.context];
    }
    ASSERT_EQ(open.size(), 5u);
    for (const auto& [context, times] : open) EXPECT_EQ(times, 1);
  }));
}

// [LF-054, LF-136] The level may be the endpoint's. Without one, messages wait until the peer has
// answered once: the address may be wrong.
TEST_F(RetainedTest, WithAndWithoutALevelTheFirstMessageWaitsForThePeer) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    for (const uint64_t level : {uint64_t{0}, uint64_t{FI_TRANSMIT_COMPLETE}}) {
      NodeOptions options;
      options.tx_op_flags = level;
      const uint8_t octet = 1;  // read until the endpoint is closed
      Node node(options);
      const fi_addr_t peer = insert_deaf(node);
      ASSERT_EQ(fi_send(node.ep, &octet, 1, nullptr, peer, nullptr), 0);
      ASSERT_EQ(fi_tsend(node.ep, &octet, 1, nullptr, peer, 1, nullptr), 0);
      expect_silence(node);
      EXPECT_EQ(counter(node, "tx_retained"), 0u);
    }
  }));
}

// [LF-055, LF-136] On request a write completes when it is copied, too; and an injected one with a
// completion has been copied anyway.
TEST_F(RetainedTest, InjectCompleteIsServedForWritesAndInjectsToo) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    Node node;
    const fi_addr_t peer = insert_deaf(node);
    std::vector<uint8_t> octets(9000);
    iovec iov{octets.data(), octets.size()};
    fi_rma_iov target{0, octets.size(), 5};
    fi_msg_rma msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = peer;
    msg.rma_iov = &target;
    msg.rma_iov_count = 1;
    msg.context = &msg;
    ASSERT_EQ(fi_writemsg(node.ep, &msg, FI_INJECT_COMPLETE), 0);
    Done done = await(node.tx_cq, seconds(5));
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, &msg);
    EXPECT_EQ(done.flags, uint64_t{FI_RMA | FI_WRITE});
    octets.resize(node.info->tx_attr->inject_size);
    ASSERT_EQ(send_msg(node, octets, peer, FI_INJECT | FI_COMPLETION, &octets), 0);
    done = await(node.tx_cq, seconds(5));
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, &octets);
  }));
}

// [LF-047] A write to two segments with a buffer for the first only is not posted at all.
TEST_F(RetainedTest, WriteInPartsIsPostedWholeOrNotAtAll) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    constexpr size_t kSegment = 1024;  // takes one of the 128 buffers for long injected payloads
    Node node;
    const fi_addr_t peer = insert_deaf(node);
    std::vector<uint8_t> octets(2 * kSegment);
    const auto inject = [&] {
      return fi_inject_write(node.ep, octets.data(), kSegment, peer, 0, 5);
    };
    for (int i = 0; i < 127; ++i) ASSERT_EQ(inject(), 0) << i;
    iovec iov{octets.data(), octets.size()};
    fi_rma_iov segments[2] = {{0, kSegment, 5}, {kSegment, kSegment, 5}};
    fi_msg_rma msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = peer;
    msg.rma_iov = segments;
    msg.rma_iov_count = 2;
    msg.context = &msg;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fi_writemsg(node.ep, &msg, FI_INJECT), -FI_EAGAIN);
    expect_silence(node);
    EXPECT_EQ(inject(), 0) << "the last buffer is free again";
    EXPECT_EQ(inject(), -FI_EAGAIN);
  }));
}

// [LF-136] Counters count a retained operation at once, reported or not.
TEST_F(RetainedTest, CountersCountRetainedOperations) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    NodeOptions options = early();
    options.counters = true;
    options.selective = true;
    Node node(options);
    const fi_addr_t peer = insert_deaf(node);
    const std::vector<uint8_t> octets(1000);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(fi_send(node.ep, octets.data(), octets.size(), nullptr, peer, nullptr), 0);
    }
    EXPECT_EQ(fi_cntr_read(node.tx_counter), 3u);
    expect_silence(node);
  }));
}

// [LF-136] The room has an end; what finds none waits for its acknowledgement, and says so.
TEST_F(RetainedTest, WithoutRoomASendWaitsForThePeer) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    Node node(early());
    const fi_addr_t peer = insert_deaf(node);
    const std::vector<uint8_t> octets(kRetained);
    constexpr uint64_t kPosts = 100;
    uint64_t over = 0;
    Done done;
    for (uint64_t i = 0; i < kPosts; ++i) {
      ASSERT_EQ(fi_send(node.ep, octets.data(), kRetained, nullptr, peer, nullptr), 0) << i;
      if (read_one(node.tx_cq, done)) ++over;
    }
    EXPECT_GE(over, 16u);
    EXPECT_LT(over, kPosts);
    EXPECT_EQ(counter(node, "tx_retained"), over);
    EXPECT_EQ(counter(node, "tx_retain_no_room"), kPosts - over);
    EXPECT_EQ(counter(node, "retained_bytes"), over * kRetained);
    EXPECT_EQ(counter(node, "retained_bytes_high"), over * kRetained);
    EXPECT_LE(counter(node, "retained_bytes"), uint64_t{4} << 20);
    // Shorter ones have separate buffers.
    ASSERT_EQ(fi_send(node.ep, octets.data(), 4096, nullptr, peer, nullptr), 0);
    EXPECT_EQ(await(node.tx_cq, seconds(5)).err, 0);
    expect_silence(node);
  }));
}

// [LF-137] A failure after the completion is reported by the event queue, a counter and the log,
// without the op_context; then nothing is sent there until the address is inserted again.
TEST_F(RetainedTest, LateFailureIsAnEventAndEndsTheAddress) {
  const Settings settings = {{"FI_UET_LINGER", "0"}, {"FI_UET_PEER_TIMEOUT", "1500000"}};
  finish(start(1, settings, [](const Line&) {
    NodeOptions options = early();
    options.is_enabled = false;
    Node node(options);
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    fid_eq* eq = nullptr;
    ASSERT_EQ(fi_eq_open(node.fabric, &attr, &eq, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(node.ep, &eq->fid, 0), 0);
    ASSERT_EQ(fi_enable(node.ep), 0);
    const fi_addr_t peer = insert_deaf(node);
    std::vector<uint8_t> octets(1000);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(fi_send(node.ep, octets.data(), octets.size(), nullptr, peer, &octets), 0);
      ASSERT_EQ(await(node.tx_cq, seconds(5)).err, 0);
    }
    EXPECT_EQ(fi_cancel(&node.ep->fid, &octets), -FI_ENOENT) << "its completion was read";
    fi_eq_err_entry error{};
    uint32_t event = 0;
    fi_eq_entry entry{};
    const auto end = Clock::now() + seconds(20);
    ssize_t got = -FI_EAGAIN;
    while (got == -FI_EAGAIN && Clock::now() < end) {
      Done done;
      ASSERT_FALSE(read_one(node.tx_cq, done)) << "an operation was reported twice";
      got = fi_eq_read(eq, &event, &entry, sizeof entry, 0);
    }
    ASSERT_EQ(got, -FI_EAVAIL);
    ASSERT_EQ(fi_eq_readerr(eq, &error, 0), ssize_t(sizeof error));
    EXPECT_EQ(error.fid, &node.ep->fid);
    EXPECT_EQ(error.context, node.ep->fid.context);
    EXPECT_EQ(error.data, peer);
    EXPECT_EQ(error.err, FI_ETIMEDOUT);
    Done done;
    while (counter(node, "tx_retained_lost") < 3) {
      ASSERT_FALSE(read_one(node.tx_cq, done)) << "an operation was reported twice";
    }
    EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof entry, 0), -FI_EAGAIN) << "once an address";
    EXPECT_EQ(counter(node, "retained_now"), 0u);

    EXPECT_EQ(fi_send(node.ep, octets.data(), 1, nullptr, peer, nullptr), -FI_ECONNABORTED);
    EXPECT_EQ(fi_write(node.ep, octets.data(), 1, nullptr, peer, 0, 5, nullptr), -FI_ECONNABORTED);
    EXPECT_EQ(fi_inject(node.ep, octets.data(), 1, peer), -FI_ECONNABORTED);
    fi_addr_t removed = peer;
    ASSERT_EQ(fi_av_remove(node.av, &removed, 1, 0), 0);
    const fi_addr_t again = insert_deaf(node);
    EXPECT_EQ(fi_send(node.ep, octets.data(), 1, nullptr, again, nullptr), 0);
    EXPECT_EQ(await(node.tx_cq, seconds(5)).err, 0);
    node.close_endpoint();
    EXPECT_EQ(fi_close(&eq->fid), 0);
  }));
}

// [LF-099, LF-137] With the endpoint closed, the event comes in the name of the alias that is left.
TEST_F(RetainedTest, LateFailureOfAnAliasIsReportedInItsName) {
  const Settings settings = {{"FI_UET_LINGER", "0"}, {"FI_UET_PEER_TIMEOUT", "1500000"}};
  finish(start(1, settings, [](const Line&) {
    NodeOptions options = early();
    options.is_enabled = false;
    Node node(options);
    fi_eq_attr attr{};
    fid_eq* eq = nullptr;
    ASSERT_EQ(fi_eq_open(node.fabric, &attr, &eq, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(node.ep, &eq->fid, 0), 0);
    ASSERT_EQ(fi_enable(node.ep), 0);
    const fi_addr_t peer = insert_deaf(node);
    fid_ep* alias = nullptr;
    ASSERT_EQ(fi_ep_alias(node.ep, &alias, FI_TRANSMIT | FI_COMPLETION | FI_INJECT_COMPLETE), 0);
    node.close_endpoint();
    const uint8_t octet = 1;
    ASSERT_EQ(fi_send(alias, &octet, 1, nullptr, peer, nullptr), 0);
    ASSERT_EQ(await(node.tx_cq).err, 0);
    uint32_t event = 0;
    fi_eq_entry entry{};
    ssize_t got = -FI_EAGAIN;
    const auto end = Clock::now() + kPatience;
    while (got == -FI_EAGAIN && Clock::now() < end) {
      Done done;
      ASSERT_FALSE(read_one(node.tx_cq, done)) << "an operation was reported twice";
      got = fi_eq_read(eq, &event, &entry, sizeof entry, 0);
    }
    ASSERT_EQ(got, -FI_EAVAIL);
    fi_eq_err_entry error{};
    ASSERT_EQ(fi_eq_readerr(eq, &error, 0), ssize_t(sizeof error));
    EXPECT_EQ(error.fid, &alias->fid);
    EXPECT_EQ(error.err, FI_ETIMEDOUT);
    // The text that the completion would have had.
    const std::string text = fi_eq_strerror(eq, error.prov_errno, nullptr, nullptr, 0);
    EXPECT_EQ(text.find("Unknown error"), std::string::npos) << text;
    EXPECT_EQ(text.find("Unspecified"), std::string::npos) << text;
    EXPECT_EQ(fi_close(&alias->fid), 0);
    EXPECT_EQ(fi_close(&eq->fid), 0);
  }));
}

// [LF-015] An application may remove the address at once after the completion of a send. The send
// continues, and no other address gets the index before its end.
TEST_F(RetainedTest, AddressCanBeRemovedAtOnce) {
  const Settings settings = {{"FI_UET_LINGER", "0"}, {"FI_UET_PEER_TIMEOUT", "1500000"}};
  finish(start(1, settings, [](const Line&) {
    Node node(early());
    std::vector<uint8_t> octets(1000);
    fi_addr_t peer = insert_deaf(node);
    ASSERT_EQ(fi_send(node.ep, octets.data(), octets.size(), nullptr, peer, nullptr), 0);
    ASSERT_EQ(await(node.tx_cq, seconds(5)).err, 0);
    ASSERT_EQ(fi_inject(node.ep, octets.data(), 8, peer), 0);
    const auto began = Clock::now();
    ASSERT_EQ(fi_av_remove(node.av, &peer, 1, 0), 0);
    EXPECT_LT(Clock::now() - began, seconds(1)) << "it waited for their end";
    EXPECT_EQ(fi_send(node.ep, octets.data(), 1, nullptr, peer, nullptr), -FI_EADDRNOTAVAIL);
    EXPECT_EQ(fi_av_remove(node.av, &peer, 1, 0), -FI_EINVAL) << "twice";
    EXPECT_NE(insert_deaf(node), peer) << "the index is still in use";
    const Done injected = await(node.tx_cq, seconds(20));
    EXPECT_NE(injected.err, 0) << "no peer answered";
    const auto end = Clock::now() + seconds(20);
    while (counter(node, "tx_retained_lost") < 1 && Clock::now() < end) {
      Done done;
      ASSERT_FALSE(read_one(node.tx_cq, done));
    }
    EXPECT_EQ(counter(node, "tx_retained_lost"), 1u);
    EXPECT_EQ(insert_deaf(node), peer) << "the lowest index is free again";
    // An operation that the application waits for keeps its address.
    ASSERT_EQ(fi_read(node.ep, octets.data(), 1, nullptr, peer, 0, 5, nullptr), 0);
    EXPECT_EQ(fi_av_remove(node.av, &peer, 1, 0), -FI_EBUSY);
  }));
}

// --- The end of the sender -----------------------------------------------------------------------

class RetainedEndTest : public RetainedTest {
 protected:
  static constexpr int kMessages = 20;

  // Receives the messages of the other end, after a while without a running thread.
  static void receive_late(const Line& line) {
    Node node;
    std::vector<std::vector<uint8_t>> got(kMessages, std::vector<uint8_t>(kRetained));
    for (auto& buffer : got) {
      ASSERT_EQ(
          fi_recv(node.ep, buffer.data(), buffer.size(), nullptr, FI_ADDR_UNSPEC, buffer.data()),
          0);
    }
    line.tell(node.name());
    std::vector<bool> seen(kMessages);
    for (int i = 0; i < kMessages; ++i) {
      const Done done = await(node.rx_cq);
      ASSERT_EQ(done.err, 0) << done.text;
      const auto* at = static_cast<const uint8_t*>(done.context);
      const uint8_t seed = at[0];
      ASSERT_LT(seed, kMessages);
      EXPECT_FALSE(seen[seed]);
      seen[seed] = true;
      std::vector<uint8_t> expected = pattern(kRetained, seed);
      expected[0] = seed;
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), at)) << int{seed};
    }
  }
  // Sends while the peer, which has answered the first message, is stopped; each buffer is
  // overwritten when its send is over.
  static void send_all(Node& node, const Line& line) {
    const fi_addr_t peer = node.insert(line.hear());
    for (int i = 0; i < kMessages; ++i) {
      if (i == 1) {
        EXPECT_EQ(counter(node, "tx_retained"), 0u);
        line.tell(1);
        line.hear_value();  // the peer is stopped
      }
      std::vector<uint8_t> octets = pattern(kRetained, static_cast<uint32_t>(i));
      octets[0] = static_cast<uint8_t>(i);
      ASSERT_EQ(fi_send(node.ep, octets.data(), kRetained, nullptr, peer, nullptr), 0);
      ASSERT_EQ(await(node.tx_cq, seconds(i == 0 ? 100 : 5)).err, 0);
      std::fill(octets.begin(), octets.end(), uint8_t{0xEE});
    }
    EXPECT_EQ(counter(node, "tx_retained"), uint64_t{kMessages - 1});
    line.tell(2);
  }
  void run(void (*sender)(const Line&)) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const Line names[2] = {{ends[0]}, {ends[1]}};
    const pid_t target = start(0, {}, [&](const Line&) { receive_late(names[0]); });
    const Settings settings = {{"FI_UET_LINGER", "20000"}};
    const std::vector<uint8_t> name = names[1].hear();
    const pid_t from = start(1, settings, sender);
    ends_[0].tell(name);
    EXPECT_EQ(ends_[0].hear_value(), 1u);
    stop(target);
    ends_[0].tell(1);
    EXPECT_EQ(ends_[0].hear_value(), 2u);
    std::this_thread::sleep_for(milliseconds(700));
    kill(target, SIGCONT);
    finish(from);
    finish(target);
    for (const Line& line : names) close(line.fd);
  }
};

// [LF-136, LF-138] Closing waits until the peers have all messages that were reported as complete.
TEST_F(RetainedEndTest, CloseDeliversRetainedMessages) {
  run([](const Line& line) {
    Node node;
    send_all(node, line);
  });
}

// [LF-138] So does the end of a process that closes nothing.
TEST_F(RetainedEndTest, ExitDeliversRetainedMessages) {
  run([](const Line& line) {
    auto* node = new Node;
    send_all(*node, line);
    std::exit(HasFailure() ? 1 : 0);
  });
}

// [LF-138] fi_close gives up after its time, and lost operations are counted.
TEST_F(RetainedEndTest, CloseGivesUpAfterItsTime) {
  finish(start(1, {{"FI_UET_LINGER", "300"}}, [](const Line&) {
    Node node(early());
    const fi_addr_t peer = insert_deaf(node);
    const std::vector<uint8_t> octets(1000);
    ASSERT_EQ(fi_send(node.ep, octets.data(), octets.size(), nullptr, peer, nullptr), 0);
    ASSERT_EQ(await(node.tx_cq, seconds(5)).err, 0);
    const auto begin = Clock::now();
    node.close_endpoint();
    EXPECT_GE(Clock::now() - begin, milliseconds(290));
    EXPECT_EQ(counter(node, "tx_retained_lost"), 1u);
    EXPECT_EQ(counter(node, "retained_now"), 0u);
  }));
}

}  // namespace
}  // namespace uet::prov::test
