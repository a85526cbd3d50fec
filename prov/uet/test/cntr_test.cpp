// Counters without traffic, through libfabric. Expected answers are from fi_cntr(3).
#include "prov/uet/test/domain_fixture.h"

#include <poll.h>

#include <chrono>
#include <thread>

namespace uet::prov {
namespace {

using Clock = std::chrono::steady_clock;

class CntrTest : public test::DomainFixture {
 protected:
  void SetUp() override { open(); }
  void TearDown() override {
    if (cntr_ != nullptr) {
      EXPECT_EQ(fi_close(&cntr_->fid), 0);
    }
    DomainFixture::TearDown();
  }
  int open_counter(fi_wait_obj wait) {
    fi_cntr_attr attr{};
    attr.events = FI_CNTR_EVENTS_COMP;
    attr.wait_obj = wait;
    return fi_cntr_open(domain, &attr, &cntr_, nullptr);
  }
  fid_cntr* cntr_ = nullptr;
};

TEST_F(CntrTest, ValueAndErrorsAreSetAndAddedApart) {
  ASSERT_EQ(open_counter(FI_WAIT_NONE), 0);
  EXPECT_EQ(fi_cntr_read(cntr_), 0u);
  EXPECT_EQ(fi_cntr_readerr(cntr_), 0u);
  EXPECT_EQ(fi_cntr_set(cntr_, 40), 0);
  EXPECT_EQ(fi_cntr_add(cntr_, 2), 0);
  EXPECT_EQ(fi_cntr_seterr(cntr_, 5), 0);
  EXPECT_EQ(fi_cntr_adderr(cntr_, 3), 0);
  EXPECT_EQ(fi_cntr_read(cntr_), 42u);
  EXPECT_EQ(fi_cntr_readerr(cntr_), 8u);
}

TEST_F(CntrTest, WaitEndsAtTheThreshold) {
  ASSERT_EQ(open_counter(FI_WAIT_UNSPEC), 0);
  EXPECT_EQ(fi_cntr_wait(cntr_, 0, 0), 0);
  EXPECT_EQ(fi_cntr_add(cntr_, 3), 0);
  EXPECT_EQ(fi_cntr_wait(cntr_, 3, -1), 0);
}

TEST_F(CntrTest, WaitEndsWithTheTimeOut) {
  ASSERT_EQ(open_counter(FI_WAIT_UNSPEC), 0);
  const auto begin = Clock::now();
  EXPECT_EQ(fi_cntr_wait(cntr_, 1, 50), -FI_ETIMEDOUT);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(50));
}

TEST_F(CntrTest, WaitWakesUpForAnotherThread) {
  ASSERT_EQ(open_counter(FI_WAIT_FD), 0);
  std::thread adder([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fi_cntr_add(cntr_, 1), 0);
  });
  EXPECT_EQ(fi_cntr_wait(cntr_, 1, -1), 0);
  adder.join();
}

TEST_F(CntrTest, WaitEndsWhenAnErrorIsCounted) {
  ASSERT_EQ(open_counter(FI_WAIT_UNSPEC), 0);
  ASSERT_EQ(fi_cntr_seterr(cntr_, 1), 0);  // before the wait: not news
  std::thread adder([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fi_cntr_adderr(cntr_, 1), 0);
  });
  EXPECT_EQ(fi_cntr_wait(cntr_, 1, -1), -FI_EAVAIL);
  adder.join();
}

TEST_F(CntrTest, WithoutWaitObjectWaitingIsInvalid) {
  ASSERT_EQ(open_counter(FI_WAIT_NONE), 0);
  EXPECT_EQ(fi_cntr_wait(cntr_, 0, 0), -FI_EINVAL);
}

TEST_F(CntrTest, DescriptorWakesAPollingThread) {
  ASSERT_EQ(open_counter(FI_WAIT_FD), 0);
  pollfd p{-1, POLLIN, 0};
  ASSERT_EQ(fi_control(&cntr_->fid, FI_GETWAIT, &p.fd), 0);
  fid* fids[] = {&cntr_->fid};
  ASSERT_EQ(fi_trywait(fabric, fids, 1), 0);
  EXPECT_EQ(poll(&p, 1, 0), 0);
  ASSERT_EQ(fi_cntr_add(cntr_, 1), 0);
  EXPECT_EQ(poll(&p, 1, -1), 1);
  EXPECT_EQ(fi_trywait(fabric, fids, 1), -FI_EAGAIN);
  EXPECT_EQ(fi_cntr_read(cntr_), 1u);
  EXPECT_EQ(fi_trywait(fabric, fids, 1), 0);
}

TEST_F(CntrTest, AnotherThreadThatReadsLeavesASleeperToBeWoken) {
  ASSERT_EQ(open_counter(FI_WAIT_FD), 0);
  pollfd p{-1, POLLIN, 0};
  ASSERT_EQ(fi_control(&cntr_->fid, FI_GETWAIT, &p.fd), 0);
  fid* fids[] = {&cntr_->fid};
  ASSERT_EQ(fi_trywait(fabric, fids, 1), 0);
  std::thread([&] {
    EXPECT_EQ(fi_cntr_read(cntr_), 0u);
    EXPECT_EQ(fi_cntr_add(cntr_, 1), 0);
  }).join();
  EXPECT_EQ(poll(&p, 1, -1), 1);
  EXPECT_EQ(fi_cntr_read(cntr_), 1u);
}

TEST_F(CntrTest, ManyCountersAreIndependent) {
  std::vector<fid_cntr*> counters(1024);
  for (size_t i = 0; i < counters.size(); ++i) {
    fi_cntr_attr attr{};
    ASSERT_EQ(fi_cntr_open(domain, &attr, &counters[i], nullptr), 0);
    ASSERT_EQ(fi_cntr_set(counters[i], i), 0);
  }
  for (size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(fi_cntr_read(counters[i]), i);
    EXPECT_EQ(fi_close(&counters[i]->fid), 0);
  }
}

TEST_F(CntrTest, DomainStaysWhileACounterIsOpen) {
  ASSERT_EQ(open_counter(FI_WAIT_NONE), 0);
  EXPECT_EQ(fi_close(&domain->fid), -FI_EBUSY);
}

}  // namespace
}  // namespace uet::prov
