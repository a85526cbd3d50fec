// Blocking, descriptors and threads through the libfabric API, and the helper that runs the engine
// when the application does not. Real time:
// what sleeps must wake up, however late; what never wakes up ends by ctest's TIMEOUT.
#include "prov/uet/test/node.h"

#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

namespace uet::prov::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class WaitTest : public PairTest {
 protected:
  // The texts of the error entries of a CQ, to distinguish a late wake-up from a failed operation.
  static std::string errors_of(fid_cq* cq) {
    std::string texts;
    Done done;
    while (read_one(cq, done)) texts += done.err != 0 ? done.text + "; " : "good entry; ";
    return texts.empty() ? "no entries" : texts;
  }
  static NodeOptions waiting(fi_wait_obj wait = FI_WAIT_UNSPEC) {
    NodeOptions options;
    options.wait = wait;
    return options;
  }
};

TEST_F(WaitTest, BlockingReadReturnsWhenTheMessageComes) {
  open({}, waiting());
  uint8_t got = 0;
  ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, &got), 0);
  fi_cq_tagged_entry entry{};
  ssize_t rc = 0;
  std::thread reader([&] { rc = fi_cq_sread(b->rx_cq, &entry, 1, nullptr, -1); });
  std::this_thread::sleep_for(milliseconds(20));
  const uint8_t octet = 3;
  ASSERT_EQ(fi_send(a->ep, &octet, 1, nullptr, to_b, nullptr), 0);
  Done done;
  while (!read_one(a->tx_cq, done)) {
  }
  reader.join();
  EXPECT_EQ(rc, 1);
  EXPECT_EQ(entry.op_context, &got);
  EXPECT_EQ(got, 3);
}

TEST_F(WaitTest, BlockingReadEndsAtItsTimeout) {
  open({}, waiting());
  fi_cq_tagged_entry entry{};
  for (const int timeout : {0, 50}) {
    const auto begin = Clock::now();
    EXPECT_EQ(fi_cq_sread(b->rx_cq, &entry, 1, nullptr, timeout), -FI_EAGAIN);
    EXPECT_GE(Clock::now() - begin, milliseconds(timeout));
  }
}

TEST_F(WaitTest, SignalEndsAWaitThatIsOrComes) {
  open({}, waiting());
  fi_cq_tagged_entry entry{};
  ASSERT_EQ(fi_cq_signal(b->rx_cq), 0);
  EXPECT_EQ(fi_cq_sread(b->rx_cq, &entry, 1, nullptr, -1), -FI_EAGAIN) << "a wait that comes";
  ssize_t rc = 0;
  std::thread reader([&] { rc = fi_cq_sread(b->rx_cq, &entry, 1, nullptr, -1); });
  std::this_thread::sleep_for(milliseconds(20));
  ASSERT_EQ(fi_cq_signal(b->rx_cq), 0);
  reader.join();
  EXPECT_EQ(rc, -FI_EAGAIN);
}

// Completions that another thread's progress brings wake the sleeper, too.
TEST_F(WaitTest, SleeperIsWokenByAnotherThreadsProgress) {
  open({}, waiting());
  uint8_t got = 0;
  ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  fi_cq_tagged_entry entry{};
  ssize_t rc = 0;
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load()) fi_cq_read(b->tx_cq, nullptr, 0);
  });
  std::thread reader([&] { rc = fi_cq_sread(b->rx_cq, &entry, 1, nullptr, -1); });
  std::this_thread::sleep_for(milliseconds(20));
  const uint8_t octet = 3;
  ASSERT_EQ(fi_inject(a->ep, &octet, 1, to_b), 0);
  reader.join();
  stop.store(true);
  busy.join();
  EXPECT_EQ(rc, 1);
}

// [architecture 5] Two threads sleep on two queues of one domain while messages fly both ways;
// neither times out, whichever thread drains the socket.
TEST_F(WaitTest, TwoSleepersOnTwoQueuesOfOneDomainNeverTimeOut) {
  open(waiting(), waiting());
  // A million by hand: UET_TEST_MESSAGES=1000000.
  const char* const wanted = std::getenv("UET_TEST_MESSAGES");
  const int messages = wanted != nullptr ? std::atoi(wanted) : 5000;
  ASSERT_GT(messages, 0);
  constexpr int kTimeout = std::chrono::milliseconds(kPatience).count();
  std::atomic<int> late{0};
  const auto next_blocking = [&](fid_cq* cq) {
    fi_cq_tagged_entry entry{};
    const ssize_t rc = fi_cq_sread(cq, &entry, 1, nullptr, kTimeout);
    if (rc != 1) late.fetch_add(1);
    EXPECT_EQ(rc, 1) << fi_strerror(static_cast<int>(-rc)) << ": " << errors_of(cq);
    return rc == 1;
  };
  uint64_t b_got = 0;
  uint64_t a_got = 0;
  ASSERT_EQ(fi_recv(b->ep, &b_got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_recv(a->ep, &a_got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  // b answers requests of a; a third thread reads b's send completions.
  std::thread answers([&] {
    for (int i = 0; i < messages; ++i) {
      if (!next_blocking(b->rx_cq)) return;
      uint64_t value = b_got + 1;
      if (fi_recv(b->ep, &b_got, 8, nullptr, FI_ADDR_UNSPEC, nullptr) != 0) late.fetch_add(1);
      iovec iov{&value, 8};
      fi_msg msg{};
      msg.msg_iov = &iov;
      msg.iov_count = 1;
      msg.addr = to_a;
      while (fi_sendmsg(b->ep, &msg, FI_INJECT | FI_COMPLETION) == -FI_EAGAIN) {
      }
    }
  });
  std::thread sends([&] {
    for (int i = 0; i < messages; ++i) {
      if (!next_blocking(b->tx_cq)) return;
    }
  });
  int round = 0;
  for (; round < messages; ++round) {
    const uint64_t value = static_cast<uint64_t>(round) * 3;
    EXPECT_EQ(fi_inject(a->ep, &value, 8, to_b), 0);
    if (!next_blocking(a->rx_cq)) break;
    EXPECT_EQ(a_got, value + 1);
    EXPECT_EQ(fi_recv(a->ep, &a_got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  answers.join();
  sends.join();
  EXPECT_EQ(round, messages) << "the asker's sends: " << errors_of(a->tx_cq);
  EXPECT_EQ(late.load(), 0);
}

// Several threads post and read on one endpoint. [LF-080]
TEST_F(WaitTest, ThreadsShareOneEndpoint) {
  constexpr int kThreads = 3;
  constexpr int kMessages = 500;
  NodeOptions options = waiting();
  options.rx_size = kThreads * kMessages;
  open(options, options);
  std::vector<uint8_t> got(kThreads * kMessages);
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  std::vector<std::thread> senders;
  for (int t = 0; t < kThreads; ++t) {
    senders.emplace_back([&, t] {
      const auto value = static_cast<uint8_t>(t + 1);
      for (int i = 0; i < kMessages; ++i) {
        while (fi_inject(a->ep, &value, 1, to_b) == -FI_EAGAIN) {
        }
      }
    });
  }
  int received = 0;
  fi_cq_tagged_entry entries[16];
  while (received < kThreads * kMessages) {
    const ssize_t rc = fi_cq_sread(b->rx_cq, entries, 16, nullptr, -1);
    ASSERT_GT(rc, 0);
    received += static_cast<int>(rc);
    fi_cq_read(a->tx_cq, nullptr, 0);
  }
  for (std::thread& sender : senders) sender.join();
  int counts[kThreads + 1] = {};
  for (const uint8_t g : got) {
    ASSERT_LE(g, kThreads);
    ++counts[g];
  }
  for (int t = 1; t <= kThreads; ++t) EXPECT_EQ(counts[t], kMessages) << t;
}

// [ABI-045] A descriptor that fi_trywait allowed to sleep on becomes readable with the message.
TEST_F(WaitTest, DescriptorWakesAfterTrywait) {
  open({}, waiting(FI_WAIT_FD));
  int fd = -1;
  ASSERT_EQ(fi_control(&b->rx_cq->fid, FI_GETWAIT, &fd), 0);
  ASSERT_GE(fd, 0);
  fid* fids[] = {&b->rx_cq->fid};
  for (int round = 0; round < 20; ++round) {
    uint8_t got = 0;
    ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, &got), 0);
    std::thread sender([&] {
      std::this_thread::sleep_for(milliseconds(5));
      const uint8_t octet = 3;
      EXPECT_EQ(fi_inject(a->ep, &octet, 1, to_b), 0);
    });
    fi_cq_tagged_entry entry{};
    ssize_t rc = -FI_EAGAIN;
    while (rc == -FI_EAGAIN) {
      if (fi_trywait(b->fabric, fids, 1) == 0) {
        pollfd waiter{fd, POLLIN, 0};
        ASSERT_EQ(poll(&waiter, 1, -1), 1) << "round " << round;
      }
      rc = fi_cq_read(b->rx_cq, &entry, 1);
    }
    sender.join();
    ASSERT_EQ(rc, 1);
    EXPECT_EQ(entry.op_context, &got);
  }
}

// [ABI-045] A sleeping thread wakes up although another thread has read the queue meanwhile.
TEST_F(WaitTest, ASleeperWakesUpAlthoughAnotherThreadReadsTheQueue) {
  open({}, waiting(FI_WAIT_FD));
  pollfd sleeper{-1, POLLIN, 0};
  ASSERT_EQ(fi_control(&b->rx_cq->fid, FI_GETWAIT, &sleeper.fd), 0);
  fid* fids[] = {&b->rx_cq->fid};
  uint8_t* const got = kept(uint8_t{0});
  ASSERT_EQ(fi_recv(b->ep, got, 1, nullptr, FI_ADDR_UNSPEC, got), 0);
  ASSERT_EQ(fi_trywait(b->fabric, fids, 1), 0);
  std::thread([&] {
    fi_cq_tagged_entry entry{};
    EXPECT_EQ(fi_cq_read(b->rx_cq, &entry, 1), -FI_EAGAIN);
    EXPECT_EQ(fi_cancel(&b->ep->fid, got), 0);
  }).join();
  EXPECT_EQ(poll(&sleeper, 1, static_cast<int>(milliseconds(kPatience).count())), 1);
  EXPECT_EQ(fi_trywait(b->fabric, fids, 1), -FI_EAGAIN);
  EXPECT_EQ(next(b->rx_cq).err, FI_ECANCELED);
}

// [fi_cq] Programs pass the threshold itself, or its address.
TEST_F(WaitTest, ThresholdIsAValueOrWhereItIs) {
  NodeOptions options = waiting(FI_WAIT_UNSPEC);
  options.threshold = true;
  open({}, options);
  for (const bool by_address : {false, true}) {
    uint8_t* const got = kept(uint8_t{0});
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(fi_recv(b->ep, got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    std::thread sender([&] {
      for (int i = 0; i < 2; ++i) {
        std::this_thread::sleep_for(milliseconds(5));
        EXPECT_EQ(fi_inject(a->ep, kept(uint8_t{1}), 1, to_b), 0);
      }
    });
    const size_t two = 2;
    const void* const cond = by_address ? &two : reinterpret_cast<const void*>(two);
    fi_cq_tagged_entry entries[2];
    EXPECT_EQ(fi_cq_sread(b->rx_cq, entries, 2, cond, -1), 2);
    sender.join();
  }
}

TEST_F(WaitTest, TrywaitRefusesWhileACompletionIsUnread) {
  open({}, waiting(FI_WAIT_FD));
  uint8_t got = 0;
  const uint8_t octet = 3;
  // A secured connection takes a round trip longer to open: the second message is there at once.
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a->ep, &octet, 1, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    if (i == 0) {
      EXPECT_EQ(next(b->rx_cq).err, 0);
    }
  }
  fid* fids[] = {&b->tx_cq->fid, &b->rx_cq->fid};
  EXPECT_EQ(fi_trywait(b->fabric, fids, 2), -FI_EAGAIN);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(fi_trywait(b->fabric, fids, 2), 0);
}

// [architecture 5] A target that makes no call at all still takes messages, writes and reads.
TEST_F(WaitTest, SilentTargetIsServedByItsHelper) {
  open();
  std::vector<uint8_t> memory(10000);
  fid_mr* region = b->registered(memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
  uint8_t got = 0;
  ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  const uint64_t base = (b->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                            ? reinterpret_cast<uint64_t>(memory.data())
                            : 0;
  const std::vector<uint8_t> local = pattern(10000, 1);
  std::vector<uint8_t> back(10000);
  const uint8_t octet = 9;
  std::this_thread::sleep_for(milliseconds(20));
  ASSERT_EQ(fi_write(a->ep, local.data(), 10000, nullptr, to_b, base, fi_mr_key(region), nullptr),
            0);
  Done done;
  const auto await_one = [&] {  // comes only if the target's helper runs
    while (!read_one(a->tx_cq, done)) {
    }
    EXPECT_EQ(done.err, 0) << done.text;
  };
  await_one();
  ASSERT_EQ(fi_read(a->ep, back.data(), 10000, nullptr, to_b, base, fi_mr_key(region), nullptr), 0);
  await_one();
  ASSERT_EQ(fi_send(a->ep, &octet, 1, nullptr, to_b, nullptr), 0);
  await_one();
  EXPECT_EQ(memory, local);
  EXPECT_EQ(back, local);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(got, 9);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
