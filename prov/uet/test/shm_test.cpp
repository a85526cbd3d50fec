// [LF-142] Processes of one host that share memory: a killed one leaves nothing, sleepers wake up,
// and FI_UET_SHM=off means sockets. [decision 21]
#include "prov/uet/test/roles.h"

#include "io/test/mapped_rings.h"

namespace uet::prov::test {
namespace {

using io::test::mapped_rings;

class ShmTest : public RolesTest {
 protected:
  static void be_written_to(const Line& line) {
    const Target target;
    target.introduce(line);
    pause();  // until killed; its helper thread works
  }
  static void write_until_it_fails(const Line& line) {
    Node node;
    const Remote peer(node, line);
    const std::vector<uint8_t> mine = pattern(kBytes, 3);
    Done done;
    const auto end = Clock::now() + kPatience;
    uint32_t writes = 0;
    while (done.err == 0 && Clock::now() < end) {
      ASSERT_EQ(
          fi_write(node.ep, mine.data(), kBytes, nullptr, peer.addr, peer.base, peer.key, nullptr),
          0);
      done = await(node.tx_cq);
      if (++writes == 20) line.tell(1);
    }
    EXPECT_GT(counter(node, "shm_tx_packets"), 0u);
    EXPECT_NE(done.err, 0) << "the kill was not noticed";
    EXPECT_NE(done.err, -1) << "the operation hangs";
    // The socket may fail the write before the kernel has closed the connection of the rings.
    while (mapped_rings() != 0 && Clock::now() < end) read_one(node.tx_cq, done);
    EXPECT_EQ(mapped_rings(), 0u);
  }
  // Sleeps for each message.
  static void play(const Line& line, bool begins) {
    NodeOptions options;
    options.wait = FI_WAIT_UNSPEC;
    Node node(options);
    line.tell(node.name());
    const fi_addr_t peer = node.insert(line.hear());
    constexpr int kRounds = 300;
    const auto begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) {
      uint8_t got = 0;
      const auto sent = static_cast<uint8_t>(i);
      ASSERT_EQ(fi_recv(node.ep, &got, 1, nullptr, peer, nullptr), 0);
      if (begins) {
        // Longer than a thread looks before it sleeps.
        std::this_thread::sleep_for(milliseconds(1));
        ASSERT_EQ(fi_inject(node.ep, &sent, 1, peer), 0);
      }
      fi_cq_tagged_entry entry{};
      ASSERT_EQ(fi_cq_sread(node.rx_cq, &entry, 1, nullptr, 100'000), 1);
      EXPECT_EQ(got, sent);
      if (!begins) {
        ASSERT_EQ(fi_inject(node.ep, &sent, 1, peer), 0);
      }
    }
    EXPECT_GT(counter(node, "shm_tx_packets"), 100u);
    // A wake-up that fails costs a time-out of milliseconds at least.
    if (begins) {
      EXPECT_GT(counter(node, "shm_tx_bells"), 50u);
      EXPECT_LT(Clock::now() - begin, seconds(60));
    }
    line.tell(1);
    line.hear_value();
  }
  static void count_packets(const Line& line, bool begins) {
    Node node;
    line.tell(node.name());
    const fi_addr_t peer = node.insert(line.hear());
    for (int i = 0; i < 50; ++i) {
      uint8_t octet = 0;
      ASSERT_EQ(fi_recv(node.ep, &octet, 1, nullptr, peer, nullptr), 0);
      if (begins) {
        ASSERT_EQ(fi_inject(node.ep, &octet, 1, peer), 0);
      }
      EXPECT_EQ(await(node.rx_cq).err, 0);
      if (!begins) {
        ASSERT_EQ(fi_inject(node.ep, &octet, 1, peer), 0);
      }
    }
    EXPECT_EQ(find_counter(node, "shm_tx_packets").value_or(0), 0u);
    EXPECT_GT(counter(node, "udp_tx_packets"), 40u);
    line.tell(1);
    line.hear_value();
  }
};

TEST_F(ShmTest, AKilledPeerFailsOperationsAndLeavesNoMemory) {
  const pid_t target = start(0, {}, be_written_to);
  const pid_t writer = start(1, {}, write_until_it_fails);
  // The writer sends a message to the target, which never reads: this process looks instead.
  uint64_t value = 0;
  ASSERT_EQ(::recv(ends_[0].fd, &value, 8, 0), 8);
  kill_and_reap(target);
  finish(writer);
}

TEST_F(ShmTest, SleepersAreWoken) {
  const pid_t one = start(0, {}, [](const Line& line) { play(line, true); });
  const pid_t other = start(1, {}, [](const Line& line) { play(line, false); });
  finish(one);
  finish(other);
}

TEST_F(ShmTest, OffMeansSockets) {
  const Settings off = {{"FI_UET_SHM", "off"}, {"FI_UET_IO", "udp"}};
  const pid_t one = start(0, off, [](const Line& line) { count_packets(line, true); });
  const pid_t other = start(1, off, [](const Line& line) { count_packets(line, false); });
  finish(one);
  finish(other);
}

TEST_F(ShmTest, APeerWithoutItIsReachedBySockets) {
  const Settings udp = {{"FI_UET_IO", "udp"}};
  const Settings off = {{"FI_UET_SHM", "off"}, {"FI_UET_IO", "udp"}};
  const pid_t one = start(0, off, [](const Line& line) { count_packets(line, true); });
  const pid_t other = start(1, udp, [](const Line& line) { count_packets(line, false); });
  finish(one);
  finish(other);
}

}  // namespace
}  // namespace uet::prov::test
