// The ring beside UDP sockets: its savings, that no packet is missed or overtaken, which thread has
// it, and the error if the system forbids it. udp_test.cpp has the tests in common with plain
// system calls. [decision 24]
#include "io/test/udp_testing.h"
#include "io/uring/owner.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>

namespace uet::io {
namespace {

class UringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_ring();
    if (!why.empty()) GTEST_SKIP() << why;
    sender_ = open(at(ipv4(1), Mover::ring));
    receiver_ = open(at(ipv4(2), Mover::ring));
    // Both have their rings from here on.
    (void)sender_->receive();
    (void)receiver_->receive();
  }
  static uint64_t counter(const UdpIo& io, const std::string& name) {
    uint64_t found = UINT64_MAX;
    io.report_counters([&](const char* n, uint64_t value) {
      if (name == n) found = value;
    });
    EXPECT_NE(found, UINT64_MAX) << name;
    return found;
  }
  // Packets that `count` calls of receive() return, without sleeping on the descriptor.
  static std::string looks(UdpIo& io, int count) {
    std::string texts;
    for (int i = 0; i < count; ++i) {
      for (const RxDatagram& d : io.receive()) {
        texts.append(reinterpret_cast<char*>(d.bytes.data()), d.bytes.size());
      }
    }
    return texts;
  }
  void send(const std::string& text, uint16_t ev = 0) {
    Outbox out;
    out.add(receiver_->local_address(), text, ev);
    sender_->send(out.packets());
    EXPECT_EQ(out.fates(), "s");
  }

  std::unique_ptr<UdpIo> sender_;
  std::unique_ptr<UdpIo> receiver_;
};

TEST_F(UringTest, ALookThatFindsNothingCostsNoSystemCall) {
  EXPECT_EQ(looks(*receiver_, 3), "");
  const auto calls = [&] {
    return counter(*receiver_, "udp_rx_system_calls") +
           counter(*receiver_, "uring_rx_system_calls");
  };
  const uint64_t before = calls();
  EXPECT_EQ(looks(*receiver_, 1000), "");
  EXPECT_EQ(calls(), before);
  send("a");
  EXPECT_EQ(looks(*receiver_, 1000), "a");
  // One that reads, one that watches on, and one that may find that no second message waits.
  EXPECT_LE(calls(), before + 3);
}

TEST_F(UringTest, MessagesOfSeveralSocketsLeaveByOneCall) {
  Outbox out;
  for (uint16_t ev = 0; ev < 7; ++ev) out.add(receiver_->local_address(), "x", ev);
  sender_->send(out.packets());
  EXPECT_EQ(out.fates(), "sssssss");
  EXPECT_EQ(counter(*sender_, "uring_tx_system_calls"), 1u);
  EXPECT_EQ(counter(*sender_, "uring_tx_messages"), 7u);
  EXPECT_EQ(sender_->tx_counters().system_calls, 1u);
  EXPECT_EQ(sender_->tx_counters().messages, 7u);
  EXPECT_EQ(receive(*receiver_, 7).size(), 7u);
  // Of one socket they leave by a system call without the ring, which costs less.
  send("y");
  EXPECT_EQ(counter(*sender_, "uring_tx_system_calls"), 1u);
}

// Three sockets with several messages each, because marks change: messages of one socket keep their
// order.
TEST_F(UringTest, EachSocketKeepsItsOrder) {
  Outbox out;
  for (int i = 0; i < 27; ++i) {
    out.add(receiver_->local_address(), std::string(1, static_cast<char>('a' + i)),
            static_cast<uint16_t>(i % 3), i % 2 == 0 ? 46 : 8);
  }
  sender_->send(out.packets());
  EXPECT_EQ(out.fates(), std::string(27, 's'));
  EXPECT_EQ(counter(*sender_, "uring_tx_system_calls"), 9u);
  std::map<uint16_t, std::string> order;
  for (const Got& g : receive(*receiver_, 27)) order[g.from.port] += g.text;
  std::multiset<std::string> orders;
  for (const auto& [port, text] : order) orders.insert(text);
  EXPECT_EQ(orders, (std::multiset<std::string>{"adgjmpsvy", "behknqtwz", "cfilorux{"}));
}

// A message that comes while others are read, or after they were read in part, is found by the next
// look: no thread sleeps here, so there is no other signal.
TEST_F(UringTest, NoArrivalIsOverlooked) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::string want;
  std::string got;
  for (int i = 0; i < 3000; ++i) {
    const int messages = static_cast<int>(random() % 4);
    for (int m = 0; m < messages; ++m) {
      const std::string text(1 + random() % 3, static_cast<char>('a' + i % 26));
      send(text, 0);
      want += text;
      if (random() % 3 == 0) got += looks(*receiver_, 1);
    }
    if (random() % 4 == 0) got += looks(*receiver_, 1 + static_cast<int>(random() % 3));
    if (i % 50 == 49) {
      got += looks(*receiver_, 250);
      ASSERT_EQ(got, want) << i;
    }
  }
  EXPECT_EQ(counter(*receiver_, "uring_owners"), 1u);
}

TEST_F(UringTest, MoreThanOneReadIsTakenWithoutAWord) {
  UdpOptions options = at(ipv4(3), Mover::ring);
  options.gro = false;
  const auto io = open(options);
  (void)io->receive();
  Outbox out;
  for (int i = 0; i < 500; ++i) out.add(io->local_address(), "m");
  sender_->send(out.packets());
  EXPECT_EQ(looks(*io, 100), std::string(500, 'm'));
}

// Any thread may run an engine; one at a time has the ring.
TEST_F(UringTest, TheRingGoesToTheThreadThatStays) {
  UdpOptions options = at(ipv4(3), Mover::ring);
  options.ring_settled_calls = 4;
  const auto io = open(options);
  const auto exchange = [&](const std::string& text) {
    Outbox out;
    for (uint16_t ev = 0; ev < 3; ++ev) out.add(io->local_address(), text, ev);
    io->send(out.packets());
    return out.fates() + looks(*io, 1) + looks(*io, 1) + looks(*io, 1);
  };
  EXPECT_EQ(exchange("a"), "sssaaa");
  EXPECT_EQ(counter(*io, "uring_owners"), 0u);
  EXPECT_EQ(exchange("b"), "sssbbb");
  EXPECT_EQ(counter(*io, "uring_owners"), 1u);
  // A guest works without it, and the owner continues.
  std::thread([&] {
    EXPECT_EQ(exchange("c"), "sssccc");
    EXPECT_EQ(exchange("d"), "sssddd");
  }).join();
  EXPECT_EQ(counter(*io, "uring_owners"), 1u);
  EXPECT_EQ(exchange("e"), "ssseee");
  // A thread that stays gets it; so does the next one, when the owner has ended.
  std::thread([&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(exchange("f"), "sssfff");
  }).join();
  EXPECT_EQ(counter(*io, "uring_owners"), 2u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(exchange("g"), "sssggg");
  EXPECT_EQ(counter(*io, "uring_owners"), 3u);
}

TEST(RingOwnerTest, EachOwnerHasToStayTwiceAsLong) {
  RingOwner owner(4);
  const pthread_t self = pthread_self();
  const auto calls = [&] {
    int n = 1;
    while (!owner.is_due(self)) ++n;
    owner.change_to(self, true);
    return n;
  };
  EXPECT_FALSE(owner.is(self));
  EXPECT_EQ(calls(), 4);
  EXPECT_TRUE(owner.is(self));
  EXPECT_EQ(calls(), 8);
  EXPECT_EQ(calls(), 16);
  EXPECT_FALSE(owner.is_due(self));
  owner.on_own_call();  // and restarts
  EXPECT_EQ(calls(), 32);
  owner.change_to(self, false);
  EXPECT_FALSE(owner.is(self));
}

// A request in progress would hold the socket some milliseconds beyond its end.
TEST_F(UringTest, ItsPortIsFreeWhenItsOwnerClosesIt) {
  UdpOptions options = at(ipv4(4), Mover::ring);
  options.strict_port = true;
  for (int i = 0; i < 10; ++i) {
    std::string error;
    const auto io = UdpIo::open(options, &error);
    ASSERT_NE(io, nullptr) << i << ": " << error;
    (void)io->receive();
    EXPECT_EQ(counter(*io, "uring_owners"), 1u);
  }
}

// From now on io_uring_setup() fails in this thread. False where filters are forbidden.
bool forbid_rings(int error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// [LF-143] An application that asks for a ring by name gets no other backend, but an error with the
// remedy.
TEST_F(UringTest, ARefusalNamesItsRemedy) {
  const std::pair<int, const char*> cases[] = {{EPERM, "kernel.io_uring_disabled"},
                                               {ENOSYS, "FI_UET_IO=udp"},
                                               {EINVAL, "Linux 6.1"},
                                               {ENOMEM, "ulimit -l"},
                                               {EMFILE, "ulimit -n"}};
  for (const auto& [error, remedy] : cases) {
    std::string text;
    bool is_filtered = false;
    std::thread([&] {
      is_filtered = forbid_rings(error);
      if (!is_filtered) return;
      EXPECT_EQ(UdpIo::open(at(ipv4(3), Mover::ring), &text), nullptr);
    }).join();
    if (!is_filtered) GTEST_SKIP() << "seccomp filters are not allowed here";
    EXPECT_TRUE(text.starts_with("cannot open an io_uring: ")) << text;
    EXPECT_NE(text.find(remedy), text.npos) << text;
  }
  // It was the ring alone: without it the same address opens.
  EXPECT_NE(open(at(ipv4(3))), nullptr);
}

}  // namespace
}  // namespace uet::io
