// Two processes on one host: ping-pong, a peer that is stopped, and a fork in the wrong place.
#include "prov/uet/test/node.h"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <memory>
#include <thread>

namespace uet::prov::test {
namespace {

using Clock = std::chrono::steady_clock;

// A child process that runs `role` with a pipe pair to its parent.
class ProcessTest : public ::testing::Test {
 protected:
  struct Pipes {
    int in = -1;
    int out = -1;
  };

  // `role` returns the number of things that went wrong.
  void start_child(int (*role)(const Pipes&)) {
    int down[2];
    int up[2];
    ASSERT_EQ(pipe(down), 0);
    ASSERT_EQ(pipe(up), 0);
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      close(down[1]);
      close(up[0]);
      _exit(role({down[0], up[1]}));
    }
    close(down[0]);
    close(up[1]);
    pipes_ = {up[0], down[1]};
  }

  void TearDown() override {
    if (child_ <= 0) return;
    close(pipes_.in);
    close(pipes_.out);
    kill(child_, SIGCONT);  // a test that failed half-way may have left it stopped
    int status = -1;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the child found something wrong";
  }

  static void tell(const Pipes& pipes, const std::vector<uint8_t>& bytes) {
    const auto length = static_cast<uint32_t>(bytes.size());
    EXPECT_EQ(write(pipes.out, &length, 4), 4);
    EXPECT_EQ(write(pipes.out, bytes.data(), length), ssize_t(length));
  }
  static std::vector<uint8_t> hear(const Pipes& pipes) {
    uint32_t length = 0;
    EXPECT_EQ(read(pipes.in, &length, 4), 4);
    std::vector<uint8_t> bytes(length);
    EXPECT_EQ(read(pipes.in, bytes.data(), length), ssize_t(length));
    return bytes;
  }
  static fi_addr_t meet(Node& node, const Pipes& pipes) {
    tell(pipes, node.name());
    return node.insert(hear(pipes));
  }
  // The next entry, or one with err -1 when none comes.
  static Done await(fid_cq* cq) {
    const auto end = Clock::now() + kPatience;
    Done done;
    while (!read_one(cq, done)) {
      if (Clock::now() > end) {
        done.err = -1;
        return done;
      }
    }
    return done;
  }

  static constexpr size_t kSizes[] = {0, 1, 64, 256, 4096, 10000, 300000};
  static constexpr int kRounds = 20;

  static int echo(const Pipes& pipes) {
    Node node;
    const fi_addr_t peer = meet(node, pipes);
    int wrong = 0;
    std::vector<uint8_t> buffer(300000);
    for (const size_t size : kSizes) {
      for (int i = 0; i < kRounds; ++i) {
        wrong += fi_recv(node.ep, buffer.data(), buffer.size(), nullptr, peer, nullptr) != 0;
        const Done got = await(node.rx_cq);
        wrong += got.err != 0 || got.len != size;
        wrong += fi_send(node.ep, buffer.data(), size, nullptr, peer, nullptr) != 0;
        wrong += await(node.tx_cq).err != 0;
      }
    }
    return wrong;
  }

  // Offers memory, makes no call while it is written, and ends when the test says so.
  static int silent_target(const Pipes& pipes) {
    Node node;
    std::vector<uint8_t> memory(100000);
    fid_mr* region =
        node.registered(memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
    uint8_t got = 0;
    int wrong = fi_recv(node.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr) != 0;
    meet(node, pipes);
    std::vector<uint8_t> where(16);
    const uint64_t key = fi_mr_key(region);
    const uint64_t base = (node.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                              ? reinterpret_cast<uint64_t>(memory.data())
                              : 0;
    std::memcpy(where.data(), &key, 8);
    std::memcpy(where.data() + 8, &base, 8);
    tell(pipes, where);
    hear(pipes);  // blocks outside the library until the parent is done
    wrong += await(node.rx_cq).err != 0 || got != 42;
    wrong += memory != pattern(100000, 6);
    wrong += fi_close(&region->fid) != 0;
    return wrong;
  }

  pid_t child_ = -1;
  Pipes pipes_;
};

TEST_F(ProcessTest, PingPongBetweenTwoProcesses) {
  start_child(echo);
  Node node;
  const fi_addr_t peer = meet(node, pipes_);
  uint32_t seed = 1;
  for (const size_t size : kSizes) {
    for (int i = 0; i < kRounds; ++i) {
      const std::vector<uint8_t> sent = pattern(size, ++seed);
      std::vector<uint8_t> got(size);
      ASSERT_EQ(fi_recv(node.ep, got.data(), size, nullptr, peer, nullptr), 0);
      ASSERT_EQ(fi_send(node.ep, sent.data(), size, nullptr, peer, nullptr), 0);
      ASSERT_EQ(await(node.tx_cq).err, 0) << size;
      const Done done = await(node.rx_cq);
      ASSERT_EQ(done.err, 0) << done.text;
      ASSERT_EQ(done.from, peer);
      ASSERT_EQ(got, sent);
    }
  }
}

// [decision 4] A target that is silent, then stopped, then silent again: everything
// succeeds in the end.
TEST_F(ProcessTest, StoppedTargetOnlyDelaysOperations) {
  start_child(silent_target);
  Node node;
  const fi_addr_t peer = meet(node, pipes_);
  const std::vector<uint8_t> where = hear(pipes_);
  uint64_t key = 0;
  uint64_t base = 0;
  std::memcpy(&key, where.data(), 8);
  std::memcpy(&base, where.data() + 8, 8);
  const std::vector<uint8_t> local = pattern(100000, 6);
  std::vector<uint8_t> back(100000);
  const uint8_t octet = 42;

  // The signal takes effect later than kill() returns: until then the helper thread answers.
  kill(child_, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child_, &status, WUNTRACED), child_);
  ASSERT_TRUE(WIFSTOPPED(status));
  ASSERT_EQ(fi_write(node.ep, local.data(), 100000, nullptr, peer, base, key, nullptr), 0);
  const auto resume = Clock::now() + std::chrono::seconds(3);
  Done done;
  while (Clock::now() < resume) ASSERT_FALSE(read_one(node.tx_cq, done)) << done.text;
  kill(child_, SIGCONT);
  done = await(node.tx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
  ASSERT_EQ(fi_read(node.ep, back.data(), 100000, nullptr, peer, base, key, nullptr), 0);
  done = await(node.tx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
  EXPECT_EQ(back, local);
  ASSERT_EQ(fi_send(node.ep, &octet, 1, nullptr, peer, nullptr), 0);
  EXPECT_EQ(await(node.tx_cq).err, 0);
  tell(pipes_, {1});
}

// [decision 14] After fork the child gets an error, instead of sharing sequence numbers with its
// parent; the parent continues.
TEST_F(ProcessTest, CallsInAForkedChildAreRefused) {
  Node node;
  Node other;
  const fi_addr_t peer = node.insert(other.name());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  uint8_t octet = 1;
  if (child == 0) {
    const bool refused =
        fi_send(node.ep, &octet, 1, nullptr, peer, nullptr) == -FI_EOPBADSTATE &&
        fi_recv(node.ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == -FI_EOPBADSTATE &&
        fi_cq_read(node.rx_cq, nullptr, 0) == -FI_EOPBADSTATE;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  uint8_t got = 0;
  ASSERT_EQ(fi_recv(other.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_inject(node.ep, &octet, 1, peer), 0);
  Done done;
  while (!read_one(other.rx_cq, done)) fi_cq_read(node.tx_cq, nullptr, 0);
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace uet::prov::test
