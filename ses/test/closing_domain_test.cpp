// A secure domain that is being taken out of use: nothing begins in it, started operations may end.
#include "ses/test/target_fixture.h"

#include "tss/policy.h"

namespace uet::ses::test {
namespace {

constexpr uint32_t kDomain = 7;
constexpr JobId kOtherJob{0x000103};

class ClosingDomainTest : public TargetTest {
 protected:
  void SetUp() override {
    start();
    ASSERT_TRUE(secured_.create(arena_, 4, 1).ok());
    ASSERT_TRUE(secured_.bind(kJob, kDomain).ok());
    ASSERT_TRUE(secured_.bind(kOtherJob, kDomain + 1).ok());
    for (Node* node : {a_.get(), b_.get()}) node->exchange->secure(&secured_);
    sdi_ = kDomain;
  }
  void receive(uintptr_t context = 1) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room_, context), now_).ok());
  }
  Arena arena_;
  tss::JobTable secured_;
  Octets room_ = Octets(4000);
};

// [TSS-146] Posts of every kind fail, whatever was posted before; jobs of other domains are not
// affected.
TEST_F(ClosingDomainTest, UsersBeginNothing) {
  const Octets data = pattern(4);
  const auto send = [&](JobId job) {
    SendRequest s = send_request(data);
    s.to.job = job;
    return a_->ses->send(a_->ep, s, now_);
  };
  ASSERT_TRUE(send(JobId(0)).ok());
  secured_.close(kDomain);
  for (const JobId job : {JobId(0), kJob}) {
    const auto refused = send(job);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error(), Errc::no_key);
  }
  for (const bool read : {false, true}) {
    const auto refused = a_->ses->rma(a_->ep, rma_request(read, data, 1), now_);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error(), Errc::no_key);
  }
  EXPECT_TRUE(send(kOtherJob).ok());
  secured_.reopen(kDomain);
  EXPECT_TRUE(send(JobId(0)).ok());
}

// [TSS-146] Requests of peers in the domain are answered with an error and counted; requests in
// other domains are served.
TEST_F(ClosingDomainTest, PeersBeginNothing) {
  receive();
  secured_.close(kDomain + 1);
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #1");
  receive();
  secured_.close(kDomain);
  const Octets memory(16);
  const uint64_t key = expose(memory);
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "BAD_JOB_ID");
  EXPECT_EQ(said(standard(write_to(key, 4), 4)), "BAD_JOB_ID");
  wire::StandardRequest read = request(SesOpcode::read, 4);
  read.match_bits = key;
  EXPECT_EQ(said(standard(read, 0)), "BAD_JOB_ID");
  EXPECT_EQ(count(Counter::rx_domain_closing), 3u);
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(said(standard(request(SesOpcode::no_op, 0), 0)), "accept");
}

// [TSS-146] A message with a received packet is completed.
TEST_F(ClosingDomainTest, StartedMessagesComplete) {
  receive();
  const wire::StandardRequest h = request(SesOpcode::send, 2048);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  secured_.close(kDomain);
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 2048 #1");
  EXPECT_EQ(count(Counter::rx_domain_closing), 0u);
}

// [TSS-146] The keys are gone: waiting operations end, sent or not; other domains are not affected.
TEST_F(ClosingDomainTest, TheRestEndsWithTheReason) {
  const Octets data = pattern(4);
  const auto send = [&](JobId job, uintptr_t context) {
    SendRequest s = send_request(data, context);
    s.to.job = job;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  };
  send(kOtherJob, 1);
  send(kJob, 2);
  secured_.close(kDomain);
  a_->exchange->end_domain(kDomain, now_);
  EXPECT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(a_->completions.at(0).failure.reason, pds::FailureReason::no_key);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #2");
}

}  // namespace
}  // namespace uet::ses::test
