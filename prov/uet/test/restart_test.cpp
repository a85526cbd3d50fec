// A peer that is killed in the middle of a transfer and started again under the same name.
#include "prov/uet/test/roles.h"

namespace uet::prov::test {
namespace {

// The target of restart tests: always at the same address and name.
const Settings kSameName = {
    {"FI_UET_IFACE", "127.0.47.2"}, {"FI_UET_PID_ON_FEP", "77"}, {"FI_UET_INITIATOR_ID", "7777"}};

class RestartTest : public RolesTest {
 protected:
  static NodeOptions same_address() {
    NodeOptions options;
    options.address = "127.0.47.2";
    return options;
  }
  static void be_written_to(const Line& line) {
    const Target target(same_address());
    target.introduce(line);
    pause();  // until killed
  }
  static void take_one_message(const Line& line) {
    Node node(same_address());
    std::vector<uint8_t> got(kBytes);
    EXPECT_EQ(fi_recv(node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    line.tell(node.name());
    const Done done = await(node.rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(got, pattern(kBytes, 3));
  }
  static void write_on_and_on(const Line& line) {
    NodeOptions options;
    options.address = "127.0.47.3";
    Node node(options);
    const std::vector<uint8_t> name = line.hear();
    const Remote peer = [&] {
      line.tell(1);  // the parent passes the rest
      return Remote(node, line);
    }();
    const std::vector<uint8_t> mine = pattern(kBytes, 3);
    // Always two writes on their way, so that the kill comes in the middle of one.
    int outstanding = 0;
    bool told = false;
    Done done;
    const auto end = Clock::now() + kPatience;
    while (done.err == 0 && Clock::now() < end) {
      while (outstanding < 2) {
        EXPECT_EQ(fi_write(node.ep, mine.data(), kBytes, nullptr, peer.addr, peer.base, peer.key,
                           nullptr),
                  0);
        ++outstanding;
      }
      done = await(node.tx_cq);
      --outstanding;
      if (!told) line.tell(2);
      told = true;
    }
    EXPECT_NE(done.err, 0) << "the kill was not noticed";
    EXPECT_NE(done.err, -1) << "the operation hangs";
    EXPECT_NE(done.text.find("127.0.47.2"), std::string::npos) << done.text;
    if (outstanding == 1) {
      EXPECT_NE(await(node.tx_cq).err, -1);
    }
    line.tell(3);
    // The same name, the same AV entry.
    EXPECT_EQ(line.hear(), name);
    EXPECT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, peer.addr, nullptr), 0);
    done = await(node.tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
  }

  // Lets a target and a writer meet and kills the target under way.
  void kill_under_way() {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, writer_), 0);
    const pid_t target = start(0, kSameName, be_written_to);
    asker_ = start(1, {}, [this](const Line&) { write_on_and_on(Line{writer_[1]}); });
    const Line to_writer{writer_[0]};
    const std::vector<uint8_t> name = ends_[1].hear();
    to_writer.tell(name);
    to_writer.hear_value();
    to_writer.tell(name);
    to_writer.tell(ends_[1].hear_value());
    to_writer.tell(ends_[1].hear_value());
    EXPECT_EQ(to_writer.hear_value(), 2u);  // one write is through
    std::this_thread::sleep_for(milliseconds(50));
    kill_and_reap(target);
  }
  void restart_and_finish(bool error_first) {
    const Line to_writer{writer_[0]};
    if (error_first) {
      EXPECT_EQ(to_writer.hear_value(), 3u);
    }
    const pid_t again = start(0, kSameName, take_one_message);
    const std::vector<uint8_t> name = ends_[1].hear();
    if (!error_first) {
      EXPECT_EQ(to_writer.hear_value(), 3u);
    }
    to_writer.tell(name);
    finish(asker_);
    finish(again);
    close(writer_[0]);
    close(writer_[1]);
  }

  int writer_[2] = {-1, -1};
  pid_t asker_ = -1;
};

// [LF-095, PDS-182] The restarted process knows nothing of the old connection and says so.
TEST_F(RestartTest, PeerKilledAndRestartedAtOnceIsReachedAgain) {
  kill_under_way();
  restart_and_finish(false);
}

TEST_F(RestartTest, PeerRestartedAfterItsFailureWasReportedIsReachedAgain) {
  kill_under_way();
  restart_and_finish(true);
}

}  // namespace
}  // namespace uet::prov::test
