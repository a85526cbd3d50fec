// Fates that loopback never causes: a seccomp filter on a separate thread makes the system calls of
// one socket fail.
#include "io/test/udp_testing.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <thread>

namespace uet::io {
namespace {

// From now on, in this thread, sending on `fd` fails with `error`. False where filters are
// forbidden.
bool make_sends_fail(int fd, int error, bool single_ones_too) {
  const uint32_t errno_answer = SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
  const uint32_t second = single_ones_too ? SYS_sendmsg : SYS_sendmmsg;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmmsg, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(fd), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, errno_answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int socket_at(const FabricAddress& local, uint16_t port) {
  for (int fd = 3; fd < 256; ++fd) {
    SockAddr name{};
    socklen_t length = sizeof name;
    if (::getsockname(fd, &name.any, &length) != 0) continue;
    const FabricAddress found = from_sockaddr(name);
    if (found.ip == local.ip && found.port == port) return fd;
  }
  return -1;
}

class UdpFatesTest : public ::testing::Test {
 protected:
  // Three packets on EV 0 (as one super-packet), one on EV 1 between them; EV 0's socket fails.
  void send_with_failure(int error, bool single_ones_too) {
    Outbox open_sockets;
    open_sockets.add(receiver_->local_address(), "x", 0);
    open_sockets.add(receiver_->local_address(), "x", 1);
    sender_->send(open_sockets.packets());
    const std::vector<Got> got = receive(*receiver_, 2);
    ASSERT_EQ(got.size(), 2u);
    const int fd = socket_at(ipv4(1), got[0].from.port);
    ASSERT_GE(fd, 0);

    out_.add(receiver_->local_address(), "a", 0);
    out_.add(receiver_->local_address(), "b", 1);
    out_.add(receiver_->local_address(), "c", 0);
    out_.add(receiver_->local_address(), "d", 0);
    before_ = sender_->tx_counters();
    bool filtered = false;
    std::thread([&] {
      filtered = make_sends_fail(fd, error, single_ones_too);
      if (filtered) sender_->send(out_.packets());
    }).join();
    if (!filtered) GTEST_SKIP() << "seccomp filters are not allowed here";
  }
  std::string arrived() {
    std::string texts;
    for (const Got& g : receive(*receiver_, static_cast<size_t>(1))) texts += g.text;
    return texts;
  }

  std::unique_ptr<UdpIo> sender_ = open(at(ipv4(1)));
  std::unique_ptr<UdpIo> receiver_ = open(at(ipv4(2)));
  Outbox out_;
  UdpTxCounters before_;
};

TEST_F(UdpFatesTest, AFullSocketHoldsBackOnlyItsOwnPackets) {
  for (const int error : {EAGAIN, ENOBUFS, ENOMEM}) {
    out_ = Outbox();
    send_with_failure(error, true);
    if (IsSkipped()) return;
    EXPECT_EQ(out_.fates(), "lsll") << error;
    EXPECT_EQ(arrived(), "b");
    EXPECT_EQ(sender_->tx_counters().later - before_.later, 3u);
    // The socket is asked once, not once for each packet.
    EXPECT_EQ(sender_->tx_counters().system_calls - before_.system_calls, 2u);
    // Offered again where nothing fails, they leave in order.
    sender_->send(out_.packets());
    EXPECT_EQ(out_.fates(), "ssss");
    EXPECT_EQ(receive(*receiver_, 4).size(), 4u);
  }
}

TEST_F(UdpFatesTest, ARefusalIsFinalAndNamesItsError) {
  for (const int error : {EPERM, EHOSTUNREACH, ENETUNREACH, ECONNREFUSED}) {
    out_ = Outbox();
    send_with_failure(error, true);
    if (IsSkipped()) return;
    EXPECT_EQ(out_.fates(), "nsnn") << error;
    EXPECT_EQ(out_.packets()[0].error, error);
    EXPECT_EQ(out_.packets()[1].error, 0);
    EXPECT_EQ(out_.packets()[3].error, error);
    EXPECT_EQ(arrived(), "b");
    EXPECT_EQ(sender_->tx_counters().gso_disabled, 0u);
    // An error that an earlier packet may have caused is tried once more, for the run and for each
    // of its packets.
    EXPECT_EQ(sender_->tx_counters().retries - before_.retries, error == EPERM ? 0u : 4u);
  }
}

TEST_F(UdpFatesTest, ADeviceWithoutSegmentationGetsSinglePackets) {
  send_with_failure(EIO, false);
  if (IsSkipped()) return;
  EXPECT_EQ(out_.fates(), "ssss");
  EXPECT_EQ(sender_->tx_counters().split_runs, 1u);
  EXPECT_EQ(sender_->tx_counters().gso_disabled, 1u);
  EXPECT_EQ(sender_->caps().burst_bytes, 0u);
  EXPECT_EQ(receive(*receiver_, 4).size(), 4u);
}

}  // namespace
}  // namespace uet::io
