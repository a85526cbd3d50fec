// A target that is silent for ten seconds is normal: it computes, or runs in a debugger. No
// operation fails because of it. [decision 4]
#include "prov/uet/test/roles.h"

namespace uet::prov::test {
namespace {

constexpr seconds kSilence{10};

class PatienceTest : public RolesTest {
 protected:
  // A message for a posted receive, one that waits for its receive, a write and a read are all on
  // their way when the silence begins, and all succeed after it.
  static void ask_through_silence(const Line& line) {
    NodeOptions options;
    options.tx_op_flags = FI_TRANSMIT_COMPLETE;
    Node node(options);
    const Remote target(node, line);
    const std::vector<uint8_t> mine = pattern(kBytes, 6);
    std::vector<uint8_t> back(kBytes / 2);
    line.tell(1);       // ready
    line.hear_value();  // the silence begins
    const auto silent_until = Clock::now() + kSilence - seconds(1);
    EXPECT_EQ(fi_write(node.ep, mine.data(), kBytes / 2, nullptr, target.addr, target.base,
                       target.key, nullptr),
              0);
    EXPECT_EQ(fi_read(node.ep, back.data(), back.size(), nullptr, target.addr,
                      target.base + kBytes / 2, target.key, nullptr),
              0);
    EXPECT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, target.addr, nullptr), 0);
    EXPECT_EQ(fi_send(node.ep, mine.data(), 8, nullptr, target.addr, nullptr), 0);
    Done done;
    while (Clock::now() < silent_until) {
      ASSERT_FALSE(read_one(node.tx_cq, done)) << done.err << " " << done.text;
    }
    for (int i = 0; i < 4; ++i) {
      done = await(node.tx_cq);
      EXPECT_EQ(done.err, 0) << done.text;
    }
    EXPECT_EQ(back, pattern(kBytes / 2, 8));
    line.tell(1);
  }

  // `silence` returns when the target is to go on.
  template <class Silence>
  static void serve_after_silence(const Line& line, Silence silence) {
    Target target;
    const std::vector<uint8_t> theirs = pattern(kBytes, 6);
    const std::vector<uint8_t> readable = pattern(kBytes / 2, 8);
    std::copy(readable.begin(), readable.end(), target.memory.begin() + kBytes / 2);
    std::vector<uint8_t> got(kBytes);
    std::vector<uint8_t> late(8);
    ASSERT_EQ(fi_recv(target.node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    target.introduce(line);
    silence();
    Done done = await(target.node.rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(got, theirs);
    ASSERT_EQ(fi_recv(target.node.ep, late.data(), 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    done = await(target.node.rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_TRUE(std::equal(late.begin(), late.end(), theirs.begin()));
    // The initiator still wants its last acknowledgement.
    char octet;
    while (::recv(line.fd, &octet, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
      fi_cq_read(target.node.rx_cq, nullptr, 0);
    }
    EXPECT_TRUE(
        std::equal(target.memory.begin(), target.memory.begin() + kBytes / 2, theirs.begin()));
  }
};

TEST_F(PatienceTest, StoppedTargetOnlyDelaysOperations) {
  const pid_t target = start(0, {}, [](const Line& line) { serve_after_silence(line, [] {}); });
  const pid_t asker = start(1, {}, ask_through_silence);
  ends_[0].hear_value();  // the asker is ready
  stop(target);
  ends_[0].tell(1);
  std::this_thread::sleep_for(kSilence);
  kill(target, SIGCONT);
  finish(asker);
  finish(target);
}

TEST_F(PatienceTest, SilentTargetWithoutHelperOnlyDelaysOperations) {
  const pid_t target = start(0, {{"FI_UET_HELPER", "0"}}, [](const Line& line) {
    serve_after_silence(line, [&] {
      line.hear_value();  // the asker is ready
      line.tell(1);
      std::this_thread::sleep_for(kSilence);
    });
  });
  const pid_t asker = start(1, {}, ask_through_silence);
  finish(asker);
  finish(target);
}

}  // namespace
}  // namespace uet::prov::test
