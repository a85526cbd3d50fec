// One endpoint of several jobs: which requests it accepts, which messages its receives and regions
// take, and the job of its sends. [LF-019..021]
#include "ses/test/target_fixture.h"

#include <algorithm>
#include <array>

namespace uet::ses::test {
namespace {

class JobsTest : public TargetTest {
 protected:
  static constexpr ResourceIndex kMany{5};  // of the endpoint of B that has several jobs

  void SetUp() override {
    start();
    options_.jobs = jobs_;
    const EndpointName name{kJob, kPid, kMany, 1, /*absolute=*/true};
    many_ = *b_->ses->open_endpoint(name, options_, b_->sink(), b_->sink());
  }
  void TearDown() override { b_->ses->close_endpoint(many_, now_); }

  static wire::StandardRequest of(uint32_t job, SesOpcode opcode, uint32_t length,
                                  uint32_t initiator = 5) {
    wire::StandardRequest h = request(opcode, length);
    h.common.rel = false;
    h.common.job_id = JobId(job);
    h.common.resource_index = kMany;
    h.initiator = initiator;
    return h;
  }
  std::string send(uint32_t job, uint32_t initiator = 5) {
    return said(standard(of(job, SesOpcode::send, 4, initiator), 4));
  }
  // Posts a receive with the context that identifies it.
  void receive(uintptr_t context, uint32_t job = kAnyJob, bool directed = false) {
    ReceiveRequest r = receive_request(room_, context);
    r.job = job;
    r.by_job = job != kAnyJob;
    r.directed = directed;
    r.from = PeerId(0);
    r.from_initiator = 5;
    ASSERT_TRUE(b_->ses->receive(many_, r, now_).ok());
  }
  std::string write(RegionRequest region, uint32_t job, uint32_t initiator = 5) {
    region.iov = keep(memory_);
    region.access = kRemoteWrite;
    const RegionId id = *b_->ses->memory().add(region);
    b_->ses->memory().enable(id);
    wire::StandardRequest h = of(job, SesOpcode::write, 4, initiator);
    h.match_bits = b_->ses->memory().key(id);
    std::string answer = said(standard(h, 4));
    b_->ses->memory().remove(id);
    return answer;
  }
  // The job of the packet that is under way: octets 5 to 7 of the header. [WIRE-059]
  uint32_t job_under_way() {
    transmit();
    const auto at = [&](size_t i) { return static_cast<uint32_t>(network_[0].octets.at(i)); };
    return at(5) << 16 | at(6) << 8 | at(7);
  }

  std::array<JobId, 2> jobs_{JobId(7), JobId(9)};
  EndpointId many_;
  Octets room_ = Octets(10);
  Octets memory_ = Octets(10);
};

// [SES-004, SES-112, LF-020] Any kind of request; other absolute endpoints accept every job.
TEST_F(JobsTest, AnEndpointHearsItsJobsOnly) {
  EXPECT_EQ(send(8), "BAD_JOB_ID");
  EXPECT_EQ(said(standard(of(8, SesOpcode::no_op, 0), 0)), "BAD_JOB_ID");
  EXPECT_EQ(write({}, 8), "BAD_JOB_ID");
  EXPECT_EQ(count(Counter::rx_bad_job), 3u);
  receive(1);
  receive(2);
  EXPECT_EQ(send(9), "accept");
  EXPECT_EQ(send(7), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #1 | recv ok 4 #2");
  EXPECT_EQ(write({}, 7), "accept");
}

// [SES-119, SES-122, LF-021] A receive for another job is skipped; the oldest of the matching ones
// is taken.
TEST_F(JobsTest, MessagesOfOtherJobsSkipAReceiveForAJob) {
  receive(1, 7);
  receive(2);
  receive(3, 9);
  receive(4, 9);
  EXPECT_EQ(send(9), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #2");
  EXPECT_EQ(send(9), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #3");
  EXPECT_EQ(send(7), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #1");
  EXPECT_EQ(send(7), "OK modified 4");  // kept: 4 is not for it
  receive(5);
  EXPECT_EQ(take(*b_), "recv ok 4 #5");
  EXPECT_EQ(send(9), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #4");
}

// [LF-021, SES-123] The same sender under another key is another address.
TEST_F(JobsTest, ADirectedReceiveIsForOneSenderOfOneJob) {
  receive(1, 7, /*directed=*/true);
  EXPECT_EQ(send(9), "OK modified 4");
  EXPECT_EQ(send(7, 6), "OK modified 4");
  EXPECT_EQ(send(7), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #1");
  receive(2, 7, /*directed=*/true);
  EXPECT_EQ(take(*b_), "");  // neither of the kept messages
  receive(3, 9, /*directed=*/true);
  EXPECT_EQ(take(*b_), "recv ok 4 #3");
}

// A tagged one, with and without a mask. [SES-120, SES-121]
TEST_F(JobsTest, TagsAndJobsGoTogether) {
  for (const uint64_t ignore : {0u, 1u}) {
    ReceiveRequest r = receive_request(room_, 1);
    r.tagged = r.by_job = true;
    r.tag = 20;
    r.ignore = ignore;
    r.job = 9;
    ASSERT_TRUE(b_->ses->receive(many_, r, now_).ok());
    wire::StandardRequest h = of(7, SesOpcode::tagged_send, 4);
    h.match_bits = 20;
    EXPECT_EQ(said(standard(h, 4)), "OK modified 4");
    h.common.job_id = JobId(9);
    EXPECT_EQ(said(standard(h, 4)), "accept");
    EXPECT_EQ(take(*b_), "tagged_recv ok 4 tag 20 #1");
  }
}

// [LF-019, LF-037] Several jobs, or one initiator of one.
TEST_F(JobsTest, RegionsAreForJobsAndInitiators) {
  const std::array<JobId, 1> nine{JobId(9)};
  EXPECT_EQ(write({.jobs = nine}, 7), "BAD_MKEY");
  EXPECT_EQ(write({.jobs = nine}, 9), "accept");
  EXPECT_EQ(write({.jobs = jobs_}, 7), "accept");
  RegionRequest one;
  one.directed = true;
  one.from = PeerId(0);
  one.from_initiator = 5;
  EXPECT_EQ(write(one, 7), "accept");
  EXPECT_EQ(write(one, 7, 6), "BAD_MKEY");
  one.from = PeerId(1);
  EXPECT_EQ(write(one, 7), "BAD_MKEY");
}

// [LF-019, LF-020] Each destination has a job and a separate flow: a PDC belongs to one job.
TEST_F(JobsTest, ADestinationHasItsJob) {
  const Octets data = pattern(4);
  SendRequest s = send_request(data);
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  EXPECT_EQ(job_under_way(), kJob.value());
  const uint32_t own_flow = network_[0].flow;
  network_.clear();
  s.to.job = JobId(9);
  s.to.ri = kMany;
  s.to.absolute = true;
  receive(1, 9);
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  EXPECT_EQ(job_under_way(), 9u);
  EXPECT_NE(network_[0].flow, own_flow);
  deliver(0);
  EXPECT_EQ(take(*b_), "recv ok 4 #1");
}

// [TSS-074] Each job sends in the domain that it is bound to, and one that is bound to none in the
// clear.
TEST_F(JobsTest, AJobSendsInItsDomain) {
  tss::JobTable domains;
  ASSERT_TRUE(domains.create(a_->arena, 4, 1).ok());
  ASSERT_TRUE(domains.bind(JobId(7), 0x51).ok());
  ASSERT_TRUE(domains.bind(JobId(9), 0x52).ok());
  a_->exchange->secure(&domains);
  const Octets data = pattern(4);
  for (const uint32_t job : {7u, 9u, 8u}) {
    SendRequest s = send_request(data);
    s.to.job = JobId(job);
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  }
  EXPECT_EQ(a_->pds.asked.domains, (std::vector<uint32_t>{0x51, 0x52, 0}));
  a_->ses->close_endpoint(a_->ep, now_);
  a_->exchange->secure(nullptr);
}

// [TSS-075, TSS-077] A request of a job in a domain that it is not bound to meets no receive.
// Without a domain there is not even an answer.
TEST_F(JobsTest, ARequestMustComeInADomainOfItsJob) {
  tss::JobTable domains;
  ASSERT_TRUE(domains.create(b_->arena, 4, 1).ok());
  ASSERT_TRUE(domains.bind(JobId(7), 0x51).ok());
  ASSERT_TRUE(domains.bind(JobId(9), 0x52).ok());
  b_->exchange->secure(&domains);
  receive(1);
  sdi_ = 0x52;
  EXPECT_EQ(send(7), "BAD_JOB_ID");
  EXPECT_EQ(count(Counter::rx_other_domain), 1u);
  sdi_ = 0;
  EXPECT_EQ(send(7), "drop");
  EXPECT_EQ(count(Counter::rx_not_secured), 1u);
  EXPECT_EQ(take(*b_), "");
  sdi_ = 0x51;
  EXPECT_EQ(send(7), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #1");
  b_->exchange->secure(nullptr);
}

// [TSS-075, TSS-093] A job loses its domain in the middle of a message, to another one or to none:
// the packet that was expected next is refused like any other, and nothing of it is placed.
TEST_F(JobsTest, AMessageStopsWhenItsJobLeavesTheDomain) {
  tss::JobTable bound, rebound, unbound;
  for (tss::JobTable* const t : {&bound, &rebound, &unbound}) {
    ASSERT_TRUE(t->create(b_->arena, 4, 1).ok());
  }
  ASSERT_TRUE(bound.bind(JobId(7), 0x51).ok());
  ASSERT_TRUE(rebound.bind(JobId(7), 0x52).ok());
  Octets memory(5000);
  const uint64_t key = expose(memory, kRemoteWrite);
  sdi_ = 0x51;
  wire::StandardRequest h = of(7, SesOpcode::write, 5000);
  h.match_bits = key;
  const auto give_at = [&](uint32_t offset) { return said(standard(part(h, offset, 1024), 1024)); };
  for (const tss::JobTable* const later : {&rebound, &unbound}) {
    h.message_id = MessageId(later == &rebound ? 1 : 2);
    std::fill(memory.begin(), memory.end(), std::byte{0});
    b_->exchange->secure(&bound);
    for (const uint32_t offset : {0u, 1024u, 2048u}) EXPECT_EQ(give_at(offset), "accept");
    b_->exchange->secure(later);
    const uint64_t before = count(Counter::rx_other_domain);
    EXPECT_EQ(give_at(3072), "BAD_JOB_ID");
    EXPECT_EQ(count(Counter::rx_other_domain), before + 1);
    EXPECT_NE(memory[3071], std::byte{0});
    EXPECT_EQ(std::count(memory.begin() + 3072, memory.end(), std::byte{0}), 5000 - 3072);
  }
  b_->exchange->secure(nullptr);
}

}  // namespace
}  // namespace uet::ses::test
