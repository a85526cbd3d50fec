// A thousand domains on one address, like those of as many processes, and the cost of one. They
// take 5 GB; UET_DOMAINS sets another number, a multiple of 20. [decision 3]
#include "prov/uet/test/node.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

namespace uet::prov::test {
namespace {

using Clock = std::chrono::steady_clock;

size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

// A tool of another test may be connected for a moment.
size_t fewest_descriptors() {
  size_t fewest = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    fewest = std::min(fewest, open_descriptors());
  }
  return fewest;
}

// A domain alone, without the objects for messages.
struct Bare {
  Bare(fid_fabric* fabric, fi_info* info) {
    const int rc = fi_domain(fabric, info, &domain, nullptr);
    if (rc != 0) fprintf(stderr, "fi_domain: %s\n", fi_strerror(-rc));
  }
  ~Bare() {
    if (domain != nullptr) fi_close(&domain->fid);
  }
  fid_domain* domain = nullptr;
};

// One process of twenty. Opens its domains, sends the name of an endpoint, gets the name of another
// process's, writes to it, and receives from a third. Returns the number of errors.
constexpr int kProcesses = 20;
int domains_each() {
  const char* const wanted = std::getenv("UET_DOMAINS");
  return (wanted != nullptr ? std::atoi(wanted) : 1000) / kProcesses;
}
int take_part(int from_parent, int to_parent) {
  alarm(170);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  NodeOptions options;
  options.address = "127.31.7.9";
  auto* const node = new Node(options);
  std::vector<Bare*> others;
  int wrong = 0;
  for (int i = 1; i < domains_each(); ++i) {
    others.push_back(new Bare(node->fabric, node->info));
    wrong += others.back()->domain == nullptr;
  }
  std::vector<uint8_t> name = node->name();
  const auto length = static_cast<ssize_t>(name.size());
  uint32_t got = 0;
  const uint32_t sent = 41;
  wrong += fi_recv(node->ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr) != 0;
  wrong += write(to_parent, name.data(), name.size()) != length;
  wrong += read(from_parent, name.data(), name.size()) != length;
  const fi_addr_t peer = node->insert(name);
  wrong += fi_send(node->ep, &sent, sizeof sent, nullptr, peer, nullptr) != 0;
  Done done;
  while (!read_one(node->rx_cq, done)) usleep(1000);
  wrong += done.err != 0 || got != sent;
  while (!read_one(node->tx_cq, done)) usleep(1000);
  wrong += done.err != 0;
  // All stay open until all are through.
  wrong += write(to_parent, &wrong, 1) != 1;
  wrong += read(from_parent, name.data(), 1) != 1;
  return wrong;
}

TEST(ManyDomainsTest, AThousandFitOnOneAddressAndReachEachOther) {
  struct Member {
    pid_t pid = -1;
    int in = -1;
    int out = -1;
    std::vector<uint8_t> name;
  };
  std::vector<Member> members(kProcesses);
  for (Member& m : members) {
    int down[2];
    int up[2];
    ASSERT_EQ(pipe(down), 0);
    ASSERT_EQ(pipe(up), 0);
    m.pid = fork();
    ASSERT_GE(m.pid, 0);
    if (m.pid == 0) _exit(std::min(take_part(down[0], up[1]), 99));
    close(down[0]);
    close(up[1]);
    m.in = up[0];
    m.out = down[1];
  }
  uint8_t octets[256];
  for (Member& m : members) {
    const ssize_t length = read(m.in, octets, sizeof octets);
    ASSERT_GT(length, 0) << "a process opened no endpoint";
    m.name.assign(octets, octets + length);
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const std::vector<uint8_t>& next = members[(i + 1) % members.size()].name;
    EXPECT_EQ(write(members[i].out, next.data(), next.size()), ssize_t(next.size()));
  }
  for (Member& m : members) EXPECT_EQ(read(m.in, octets, 1), 1);
  for (Member& m : members) EXPECT_EQ(write(m.out, octets, 1), 1);
  for (Member& m : members) {
    int status = -1;
    EXPECT_EQ(waitpid(m.pid, &status, 0), m.pid);
    EXPECT_EQ(status, 0);
    close(m.in);
    close(m.out);
  }
}

// Both the owner of port 4793 and a later process, with every socket in use that there is.
TEST(ManyDomainsTest, ADomainHasFifteenDescriptorsAtMostAndTwoForEachPeerOnThisHost) {
  NodeOptions options;
  options.address = "127.31.7.11";
  Node first(options);  // whatever libfabric opens once is open
  const size_t before = fewest_descriptors();
  Node second(options);
  EXPECT_LE(fewest_descriptors() - before, 8u) << "idle";
  const fi_addr_t there = first.insert(second.name());
  const fi_addr_t back = second.insert(first.name());
  std::vector<uint8_t> from(4 << 20);
  std::vector<uint8_t> to(4 << 20);
  for (const bool forth : {true, false}) {
    Node& a = forth ? first : second;
    Node& b = forth ? second : first;
    ASSERT_EQ(fi_recv(b.ep, to.data(), to.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep, from.data(), from.size(), nullptr, forth ? there : back, nullptr), 0);
    Done done;
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (!read_one(b.rx_cq, done) && Clock::now() < end) fi_cq_read(a.tx_cq, nullptr, 0);
    EXPECT_EQ(done.len, to.size());
    while (!read_one(a.tx_cq, done) && Clock::now() < end) fi_cq_read(b.rx_cq, nullptr, 0);
  }
  // For two domains of one process that are each other's peers.
  EXPECT_LE(fewest_descriptors() - before, 15u + 11u) << "two domains after a stream each way";
}

}  // namespace
}  // namespace uet::prov::test
