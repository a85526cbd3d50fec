// The source of the JobID of an endpoint and of a region. Peers of different jobs do not reach each
// other, so reachability shows the job. FI_UET_JOB_ID=5 is set for this test.
#include "prov/uet/test/node.h"

#include <string>

namespace uet::prov::test {
namespace {

constexpr uint32_t kOfEnvironment = 5;

class JobTest : public PairTest {
 protected:
  void open_jobs(uint32_t sender, uint32_t domain, uint32_t endpoint) {
    NodeOptions from, to;
    from.endpoint_job = sender;
    to.domain_job = domain;
    to.endpoint_job = endpoint;
    open(from, to);
  }
  // Whether a message of job `sender` reaches an endpoint with those keys.
  bool reaches(uint32_t sender, uint32_t domain, uint32_t endpoint) {
    open_jobs(sender, domain, endpoint);
    EXPECT_EQ(fi_recv(b->ep, kept(0), 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    // A level that waits for the peer: by default a send is over when it is copied. [LF-136]
    iovec iov{kept(1), 1};
    fi_msg message{};
    message.msg_iov = &iov;
    message.iov_count = 1;
    message.addr = to_b;
    EXPECT_EQ(fi_sendmsg(a->ep, &message, FI_TRANSMIT_COMPLETE | FI_COMPLETION), 0);
    const Done done = next(a->tx_cq);
    TearDown();
    return done.err == 0;
  }
};

// [LF-018] The first of: the endpoint's key, the domain's, FI_UET_JOB_ID. The job service, which
// would come last, is not there yet.
TEST_F(JobTest, TheNearestKeyDecides) {
  struct Case {
    uint32_t domain, endpoint;  // 0: no key
    uint32_t job;
  };
  const Case cases[] = {
      {0, 0, kOfEnvironment}, {7, 0, 7}, {0, 9, 9}, {7, 9, 9}, {7, kOfEnvironment, kOfEnvironment}};
  for (const Case& c : cases) {
    for (const uint32_t sender : {kOfEnvironment, 7u, 9u, 1u}) {
      EXPECT_EQ(reaches(sender, c.domain, c.endpoint), sender == c.job)
          << "job " << sender << " to domain " << c.domain << ", endpoint " << c.endpoint;
    }
  }
}

// [LF-018, LF-037] A region's key takes precedence over that of its endpoint.
TEST_F(JobTest, ARegionMayBeOfAnotherJob) {
  for (const uint32_t region_job : {0u, 7u, 9u}) {
    open_jobs(7, 0, 7);
    std::vector<uint8_t>& memory = kept(std::vector<uint8_t>(8));
    iovec iov{memory.data(), memory.size()};
    uint32_t key = region_job;
    fi_mr_attr attr{};
    attr.mr_iov = &iov;
    attr.iov_count = 1;
    attr.access = FI_REMOTE_WRITE;
    attr.requested_key = 5;
    if (region_job != 0) {
      attr.auth_key = reinterpret_cast<uint8_t*>(&key);
      attr.auth_key_size = sizeof key;
    }
    fid_mr* region = nullptr;
    ASSERT_EQ(fi_mr_regattr(b->domain, &attr, 0, &region), 0);
    ASSERT_EQ(fi_write(a->ep, kept(1), 1, nullptr, to_b, 0, fi_mr_key(region), nullptr), 0);
    const Done done = next(a->tx_cq);
    if (region_job == 9) {
      EXPECT_NE(done.err, 0) << "it is not of job 7";
      EXPECT_EQ(memory[0], 0u);
    } else {
      EXPECT_EQ(done.err, 0) << done.text;
      EXPECT_EQ(memory[0], 1u);
    }
    EXPECT_EQ(fi_close(&region->fid), 0);
    TearDown();
  }
}

// [LF-037] A region without a key has that of the domain, regardless of the jobs of its endpoints.
TEST_F(JobTest, ARegionWithoutAKeyIsOfTheDomainsJob) {
  for (const uint32_t sender : {7u, 9u}) {
    open_jobs(sender, 7, 9);
    std::vector<uint8_t>& memory = kept(std::vector<uint8_t>(8));
    fid_mr* const region = b->registered(memory.data(), memory.size(), FI_REMOTE_WRITE, 5);
    ASSERT_EQ(fi_write(a->ep, kept(1), 1, nullptr, to_b, 0, fi_mr_key(region), nullptr), 0);
    EXPECT_NE(next(a->tx_cq).err, 0) << "job " << sender;
    EXPECT_EQ(memory[0], 0u);
    EXPECT_EQ(fi_close(&region->fid), 0);
    TearDown();
  }
}

}  // namespace
}  // namespace uet::prov::test
