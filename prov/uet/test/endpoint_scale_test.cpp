// The largest number of endpoints in one domain (ep_cnt): their memory, the cost of opening and
// closing, that each is reached, and the error for one more. [LF-077, LF-158]
#include "prov/uet/test/cost.h"
#include "prov/uet/test/domain_fixture.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <set>
#include <vector>

namespace uet::prov {
namespace {

using test::cost_ns;

class EndpointScaleTest : public test::DomainFixture {
 protected:
  void SetUp() override {
    open();
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    ASSERT_EQ(fi_av_open(domain, &av_attr, &av, nullptr), 0);
    ASSERT_EQ(fi_cq_open(domain, &cq_attr, &cq, nullptr), 0);
  }

  void TearDown() override {
    close_all();
    EXPECT_EQ(fi_close(&cq->fid), 0);
    EXPECT_EQ(fi_close(&av->fid), 0);
    DomainFixture::TearDown();
  }

  // One more endpoint, enabled, with the attributes of fi_getinfo. Its queue is the common one or a
  // separate one.
  void open_one(bool has_own_cq = false) {
    fid_cq* its = cq;
    if (has_own_cq) {
      ASSERT_EQ(fi_cq_open(domain, &cq_attr, &its, nullptr), 0);
      own_cqs.push_back(its);
    }
    fid_ep* ep = nullptr;
    ASSERT_EQ(fi_endpoint(domain, info, &ep, nullptr), 0) << endpoints.size() << " are open";
    endpoints.push_back(ep);
    ASSERT_EQ(fi_ep_bind(ep, &its->fid, FI_TRANSMIT | FI_RECV), 0);
    ASSERT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
    ASSERT_EQ(fi_enable(ep), 0) << endpoints.size() - 1 << " are enabled";
  }
  void open_until(size_t count, bool have_own_cqs = false) {
    while (endpoints.size() < count && !HasFatalFailure()) open_one(have_own_cqs);
  }
  void close_until(size_t count) {
    for (; endpoints.size() > count; endpoints.pop_back()) {
      EXPECT_EQ(fi_close(&endpoints.back()->fid), 0);
    }
  }
  void close_all() {
    close_until(0);
    for (; !own_cqs.empty(); own_cqs.pop_back()) EXPECT_EQ(fi_close(&own_cqs.back()->fid), 0);
  }

  static size_t resident_bytes() {
    size_t total = 0;
    size_t resident = 0;
    FILE* const file = std::fopen("/proc/self/statm", "r");
    EXPECT_EQ(std::fscanf(file, "%zu %zu", &total, &resident), 2);
    std::fclose(file);
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  // Memory that `act` adds.
  static int64_t growth_bytes(const std::function<void()>& act) {
    const size_t before = resident_bytes();
    act();
    return static_cast<int64_t>(resident_bytes()) - static_cast<int64_t>(before);
  }

  std::vector<uint8_t> name_of(fid_ep* ep) {
    std::vector<uint8_t> name(256);
    size_t length = name.size();
    EXPECT_EQ(fi_getname(&ep->fid, name.data(), &length), 0);
    name.resize(length);
    return name;
  }
  fi_addr_t insert(fid_ep* ep) {
    fi_addr_t addr = FI_ADDR_UNSPEC;
    EXPECT_EQ(fi_av_insert(av, name_of(ep).data(), 1, &addr, 0, nullptr), 1);
    return addr;
  }
  void read_completions(uint32_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(150);
    while (count > 0 && std::chrono::steady_clock::now() < end) {
      fi_cq_tagged_entry entry{};
      const ssize_t got = fi_cq_read(cq, &entry, 1);
      if (got == 1) --count;
      if (got == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        ASSERT_EQ(fi_cq_readerr(cq, &error, 0), 1);
        FAIL() << fi_strerror(error.err);
      }
    }
    EXPECT_EQ(count, 0u) << "completions did not come";
  }
  // A message from one to another, both ways of matching.
  void pass(fid_ep* from, fid_ep* to) {
    insert(from);  // FI_SOURCE_ERR: one that is not known would make an error entry
    const fi_addr_t addr = insert(to);
    out = {++sent, ++sent};
    in = {};
    ASSERT_EQ(fi_recv(to, &in[0], sizeof in[0], nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_trecv(to, &in[1], sizeof in[1], nullptr, FI_ADDR_UNSPEC, 5, 0, nullptr), 0);
    ASSERT_EQ(fi_send(from, &out[0], sizeof out[0], nullptr, addr, nullptr), 0);
    ASSERT_EQ(fi_tsend(from, &out[1], sizeof out[1], nullptr, addr, 5, nullptr), 0);
    read_completions(4);
    EXPECT_EQ(in[0], out[0]);
    EXPECT_EQ(in[1], out[1]);
  }

  fi_cq_attr cq_attr{};
  fid_av* av = nullptr;
  fid_cq* cq = nullptr;
  std::vector<fid_cq*> own_cqs;
  std::vector<fid_ep*> endpoints;
  uint64_t sent = 0;
  std::array<uint64_t, 2> out{};  // outlive a test that fails
  std::array<uint64_t, 2> in{};

  static constexpr size_t kMany = 4000;
  static constexpr int64_t kIdleBytes = 8 * 1024;
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(EndpointScaleTest, AnIdleOneTakesLittle) {
  ASSERT_GE(info->domain_attr->ep_cnt, kMany);
  const int64_t growth = growth_bytes([&] { open_until(kMany); });
  ASSERT_EQ(endpoints.size(), kMany);
  RecordProperty("bytes_each", std::to_string(growth / int64_t{kMany}));
  EXPECT_LE(growth / int64_t{kMany}, kIdleBytes);
}

TEST_F(EndpointScaleTest, AnIdleOneWithItsOwnQueueTakesLittle) {
  const int64_t growth = growth_bytes([&] { open_until(kMany, true); });
  ASSERT_EQ(endpoints.size(), kMany);
  RecordProperty("bytes_each", std::to_string(growth / int64_t{kMany}));
  EXPECT_LE(growth / int64_t{kMany}, kIdleBytes);
}

TEST_F(EndpointScaleTest, ClosingGivesItsMemoryToTheNextOne) {
  open_until(kMany);
  close_all();
  const int64_t growth = growth_bytes([&] {
    for (int i = 0; i < 2; ++i) {
      open_until(kMany);
      close_all();
    }
  });
  RecordProperty("bytes_each", std::to_string(growth / int64_t{kMany}));
  EXPECT_LE(growth / int64_t{kMany}, 256);
}

// Posts take memory when more is posted than ever before; without memory they are refused, and
// come through when there is some. [LF-158]
TEST_F(EndpointScaleTest, WithoutMemoryPostsAreRefused) {
  constexpr int kEach = 64;
  open_until(kMany);
  const auto post_all = [&](std::set<ssize_t>& results) {
    for (fid_ep* const ep : endpoints) {
      for (int i = 0; i < kEach; ++i) {
        results.insert(fi_trecv(ep, in.data(), 8, nullptr, FI_ADDR_UNSPEC, 9, 1, nullptr));
      }
    }
  };
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{0, before.rlim_max};
  std::set<ssize_t> results;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  post_all(results);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  results.erase(0);
  EXPECT_FALSE(results.empty()) << "memory was not needed";
  results.erase(-FI_EAGAIN);
  results.erase(-FI_ENOMEM);
  EXPECT_TRUE(results.empty()) << *results.begin();
  post_all(results);
  EXPECT_EQ(results, std::set<ssize_t>{0});
  pass(endpoints.front(), endpoints.back());
}
#endif

// Linear: the last ones cost as much as the first. Quadratic: seven times as much and more.
TEST_F(EndpointScaleTest, OpeningAndClosingAreLinear) {
  constexpr size_t kChunk = 500;
  struct Least {
    int64_t first = INT64_MAX / 8;
    int64_t last = INT64_MAX;
    bool is_linear() const { return last < 4 * first; }
  };
  Least opening;
  Least closing;
  open_until(kMany);  // the tables of the domain have grown
  close_all();
  // The best of several excludes the delays of a loaded machine.
  for (int i = 0; i < 10 && !(opening.is_linear() && closing.is_linear()); ++i) {
    opening.first = std::min(opening.first, cost_ns([&] { open_until(kChunk); }));
    open_until(kMany - kChunk);
    opening.last = std::min(opening.last, cost_ns([&] { open_until(kMany); }));
    // The oldest first, which represent the others of their process.
    std::reverse(endpoints.begin(), endpoints.end());
    closing.last = std::min(closing.last, cost_ns([&] { close_until(kMany - kChunk); }));
    close_until(kChunk);
    closing.first = std::min(closing.first, cost_ns([&] { close_until(0); }));
  }
  RecordProperty("opening_ns", std::to_string(opening.last / int64_t{kChunk}));
  RecordProperty("closing_ns", std::to_string(closing.last / int64_t{kChunk}));
  EXPECT_TRUE(opening.is_linear()) << opening.first << " and " << opening.last << " ns";
  EXPECT_TRUE(closing.is_linear()) << closing.first << " and " << closing.last << " ns";
}

// Polls of a counter run the engine like polls of a queue, but never yield the processor.
TEST_F(EndpointScaleTest, IdleEndpointsDoNotMakePollingSlower) {
  fi_cntr_attr attr{};
  attr.events = FI_CNTR_EVENTS_COMP;
  fid_cntr* counter = nullptr;
  ASSERT_EQ(fi_cntr_open(domain, &attr, &counter, nullptr), 0);
  constexpr int kPolls = 100;  // so few that the best of many is not disturbed
  const auto poll = [&] {
    for (int i = 0; i < kPolls; ++i) fi_cntr_read(counter);
  };
  open_until(2);
  pass(endpoints[0], endpoints[1]);
  const auto least = [&] {
    int64_t ns = INT64_MAX;
    for (int i = 0; i < 200; ++i) ns = std::min(ns, cost_ns(poll));
    return ns;
  };
  // The processor may change its speed between the two, so both are measured again.
  int64_t few = 0;
  int64_t many = 0;
  for (int i = 0; i < 10 && 2 * many >= 3 * few; ++i) {
    close_until(2);
    few = least();
    open_until(kMany);
    many = least();
  }
  RecordProperty("ns_few", std::to_string(few / kPolls));
  RecordProperty("ns_many", std::to_string(many / kPolls));
  EXPECT_LT(2 * many, 3 * few);
  EXPECT_EQ(fi_close(&counter->fid), 0);
}

TEST_F(EndpointScaleTest, EachHasANameAndMessagesPass) {
  open_until(kMany);
  ASSERT_EQ(endpoints.size(), kMany);
  std::set<std::vector<uint8_t>> names;
  for (fid_ep* const ep : endpoints) names.insert(name_of(ep));
  EXPECT_EQ(names.size(), kMany);
  pass(endpoints.front(), endpoints.back());
  pass(endpoints.back(), endpoints.front());
  pass(endpoints.front(), endpoints[kMany / 2]);
  pass(endpoints[kMany / 2], endpoints.back());
}

// ep_cnt is the largest number of endpoints. One more fails at once, until another one is closed.
TEST_F(EndpointScaleTest, OneMoreThanThereCanBeIsRefused) {
  open_until(info->domain_attr->ep_cnt);
  ASSERT_EQ(endpoints.size(), info->domain_attr->ep_cnt);
  for (int i = 0; i < 2; ++i) {
    fid_ep* ep = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(fi_endpoint(domain, info, &ep, nullptr), -FI_ENOSPC);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("4095 endpoints"), std::string::npos) << log;
    EXPECT_NE(log.find("open another domain"), std::string::npos) << log;
    close_until(endpoints.size() - 1);
    open_one();
  }
  pass(endpoints.front(), endpoints.back());
}

}  // namespace
}  // namespace uet::prov
