// Which calls ask the peer for an ACK; the peer is a plain socket. Octets are written out from
// wire.md 3, 4, 5 and 7: a prologue of type (5 bits), next header or control type (4) and flags
// (7), then clear offset or ACK offset, PSN and the two PDCIDs.
#include "prov/uet/test/node.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

namespace uet::prov::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class QuietTest : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(4793);
    at.sin_addr.s_addr = htonl(0x7F00'2F15);  // 127.0.47.21
    ASSERT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  void TearDown() override {
    node_.reset();
    close(socket_);
  }

  // Opens our side, and completes its first message, whose ACK carries the peer's PDCID.
  void open(NodeOptions options = {}) {
    options.address = "127.0.47.22";
    node_ = std::make_unique<Node>(options);
    ASSERT_EQ(fi_av_insertsvc(node_->av, "127.0.47.21", "7", &to_, 0, nullptr), 1);
    ASSERT_EQ(fi_inject(node_->ep, &octet_, 1, to_), 0);
    ASSERT_EQ(heard(), "asks");
    acknowledge();
  }
  // The next datagram, within the time; our side gets its turns meanwhile.
  std::string heard(milliseconds limit = kPatience) {
    const auto end = Clock::now() + limit;
    while (Clock::now() < end) {
      sockaddr_in from{};
      socklen_t length = sizeof from;
      std::array<uint8_t, 9000> d{};
      const ssize_t got =
          recvfrom(socket_, d.data(), d.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 12) {
        fi_cq_read(node_->tx_cq, nullptr, 0);
        continue;
      }
      const int type = d[0] >> 3;
      const bool ar = (d[1] & 0x08) != 0;
      std::copy(d.begin(), d.begin() + 12, last_.begin());
      if (type == 11) return "control " + std::to_string((d[0] & 7) << 1 | d[1] >> 7);
      return ar ? "asks" : "quiet";
    }
    return "nothing";
  }
  // Sends an ACK of all packets up to the last one that arrived.
  void acknowledge() {
    std::array<uint8_t, 12> ack = {7 << 3, 0, 0, 0};
    std::copy(last_.begin() + 4, last_.begin() + 8, ack.begin() + 4);    // cumulative: its PSN
    ack[9] = 5;                                                          // our PDCID
    std::copy(last_.begin() + 8, last_.begin() + 10, ack.begin() + 10);  // its PDCID
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(4793);
    to.sin_addr.s_addr = htonl(0x7F00'2F16);  // 127.0.47.22
    EXPECT_EQ(sendto(socket_, ack.data(), ack.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                     sizeof to),
              12);
    const auto end = Clock::now() + milliseconds(20);
    do fi_cq_read(node_->tx_cq, nullptr, 0);
    while (Clock::now() < end);
  }
  Done next() {
    Done done;
    for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
      if (read_one(node_->tx_cq, done)) return done;
    }
    ADD_FAILURE() << "no completion came";
    return done;
  }
  ssize_t send(uint64_t flags) {
    const iovec iov{&octet_, 1};
    fi_msg msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = to_;
    return fi_sendmsg(node_->ep, &msg, flags);
  }

  int socket_ = -1;
  std::unique_ptr<Node> node_;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
  uint8_t octet_ = 1;
  std::array<uint8_t, 12> last_{};
};

// [PDS-064] fi_inject and similar calls have no completion: they ask for no ACK each, but for one
// together when nothing follows.
TEST_F(QuietTest, InjectedMessagesAskTogether) {
  open();
  EXPECT_EQ(fi_inject(node_->ep, &octet_, 1, to_), 0);
  EXPECT_EQ(fi_tinject(node_->ep, &octet_, 1, to_, 7), 0);
  EXPECT_EQ(fi_inject_write(node_->ep, &octet_, 1, to_, 0, 7), 0);
  EXPECT_EQ(heard(), "quiet");
  EXPECT_EQ(heard(), "quiet");
  EXPECT_EQ(heard(), "quiet");
  EXPECT_EQ(heard(), "control 1") << "an ACK Request";
  acknowledge();
  EXPECT_EQ(heard(milliseconds(50)), "nothing");
}

// [PDS-064] A completion that waits for the peer is asked for, one that does not is not.
TEST_F(QuietTest, ACompletionOfThePeerAsks) {
  NodeOptions options;
  options.selective = true;
  open(options);
  EXPECT_EQ(send(FI_INJECT), 0);
  EXPECT_EQ(heard(), "quiet");
  for (const uint64_t flags : {FI_TRANSMIT_COMPLETE | FI_INJECT, FI_TRANSMIT_COMPLETE}) {
    EXPECT_EQ(send(FI_COMPLETION | flags), 0);
    EXPECT_EQ(heard(), "asks");
    acknowledge();
    EXPECT_EQ(next().err, 0);
  }
}

// [PDS-064, LF-136] The payload was copied and the completion is there: the ACK can wait.
TEST_F(QuietTest, CopiedSendsAskForTheirAckLater) {
  NodeOptions options;
  options.selective = true;
  open(options);
  for (const uint64_t flags : {uint64_t{FI_INJECT}, uint64_t{0}}) {
    EXPECT_EQ(send(FI_COMPLETION | flags), 0);
    EXPECT_EQ(next().err, 0);
    EXPECT_EQ(heard(), "quiet");
  }
  EXPECT_EQ(heard(), "control 1") << "an ACK Request";
}

// [PDS-064, LF-097] A counter that counts the messages is waited for as well.
TEST_F(QuietTest, ABoundCounterAsks) {
  NodeOptions options;
  options.counters = true;
  open(options);
  EXPECT_EQ(fi_inject(node_->ep, &octet_, 1, to_), 0);
  EXPECT_EQ(heard(), "asks");
  acknowledge();
  EXPECT_EQ(fi_cntr_read(node_->tx_counter), 2u);
}

// The setting.
TEST_F(QuietTest, WithoutQuietPacketsEachAsks) {
  ASSERT_STREQ(std::getenv("FI_UET_QUIET_PACKETS"), "0");
  open();
  EXPECT_EQ(fi_inject(node_->ep, &octet_, 1, to_), 0);
  EXPECT_EQ(heard(), "asks");
  acknowledge();
}

}  // namespace
}  // namespace uet::prov::test
