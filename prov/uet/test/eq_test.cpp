// Event queues through libfabric. Expected answers are from fi_eq(3).
#include "prov/uet/api/compat.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace uet::prov {
namespace {

using Clock = std::chrono::steady_clock;

class EqTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fi_info* hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("uet");
    ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info_), 0);
    fi_freeinfo(hints);
    ASSERT_EQ(fi_fabric(info_->fabric_attr, &fabric_, nullptr), 0);
  }
  void TearDown() override {
    if (eq_ != nullptr) {
      EXPECT_EQ(fi_close(&eq_->fid), 0);
    }
    if (fabric_ != nullptr) {
      EXPECT_EQ(fi_close(&fabric_->fid), 0);
    }
    fi_freeinfo(info_);
  }

  int open(size_t size, uint64_t flags, fi_wait_obj wait) {
    fi_eq_attr attr{};
    attr.size = size;
    attr.flags = flags;
    attr.wait_obj = wait;
    return fi_eq_open(fabric_, &attr, &eq_, nullptr);
  }
  ssize_t write(uintptr_t context) {
    fi_eq_entry entry{};
    entry.fid = &fabric_->fid;
    entry.context = reinterpret_cast<void*>(context);
    return fi_eq_write(eq_, FI_NOTIFY, &entry, sizeof entry, 0);
  }
  // The context of the next event, or a negative error.
  long read(uint64_t flags = 0) {
    fi_eq_entry entry{};
    uint32_t event = 99;
    const ssize_t got = fi_eq_read(eq_, &event, &entry, sizeof entry, flags);
    if (got < 0) return got;
    EXPECT_EQ(got, static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(event, static_cast<uint32_t>(FI_NOTIFY));
    EXPECT_EQ(entry.fid, &fabric_->fid);
    return static_cast<long>(reinterpret_cast<uintptr_t>(entry.context));
  }
  static bool is_readable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  }

  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_eq* eq_ = nullptr;
};

TEST_F(EqTest, EventsComeInOrderAndPeekLeavesThem) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_NONE), 0);
  EXPECT_EQ(read(), -FI_EAGAIN);
  ASSERT_EQ(write(1), static_cast<ssize_t>(sizeof(fi_eq_entry)));
  ASSERT_EQ(write(2), static_cast<ssize_t>(sizeof(fi_eq_entry)));
  EXPECT_EQ(read(FI_PEEK), 1);
  EXPECT_EQ(read(FI_PEEK), 1);
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(read(), 2);
  EXPECT_EQ(read(), -FI_EAGAIN);
}

TEST_F(EqTest, WritingNeedsTheWriteFlag) {
  ASSERT_EQ(open(4, 0, FI_WAIT_NONE), 0);
  EXPECT_EQ(write(1), -FI_EINVAL);
}

TEST_F(EqTest, SmallBufferKeepsTheEvent) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_NONE), 0);
  ASSERT_GT(write(7), 0);
  uint32_t event = 0;
  char small[4];
  EXPECT_EQ(fi_eq_read(eq_, &event, small, sizeof small, 0), -FI_ETOOSMALL);
  EXPECT_EQ(read(), 7);
}

// Events before the overrun can be read; then the queue reports the overrun.
TEST_F(EqTest, OverrunIsReportedAfterTheValidEvents) {
  ASSERT_EQ(open(2, FI_WRITE, FI_WAIT_NONE), 0);
  ASSERT_GT(write(1), 0);
  ASSERT_GT(write(2), 0);
  EXPECT_EQ(write(3), -FI_EOVERRUN);
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(write(4), -FI_EOVERRUN);
  EXPECT_EQ(read(), 2);
  EXPECT_EQ(read(), -FI_EAVAIL);
  fi_eq_err_entry error{};
  ASSERT_EQ(fi_eq_readerr(eq_, &error, 0), static_cast<ssize_t>(sizeof error));
  EXPECT_EQ(error.err, FI_EOVERRUN);
  EXPECT_EQ(error.fid, &eq_->fid);
}

TEST_F(EqTest, NoErrorMeansTryAgain) {
  ASSERT_EQ(open(2, FI_WRITE, FI_WAIT_NONE), 0);
  fi_eq_err_entry error{};
  EXPECT_EQ(fi_eq_readerr(eq_, &error, 0), -FI_EAGAIN);
}

TEST_F(EqTest, DescriptorIsReadableWhileEventsWait) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_FD), 0);
  int fd = -1;
  ASSERT_EQ(fi_control(&eq_->fid, FI_GETWAIT, &fd), 0);
  fid* fids[] = {&eq_->fid};
  EXPECT_EQ(fi_trywait(fabric_, fids, 1), 0);
  EXPECT_FALSE(is_readable(fd));
  ASSERT_GT(write(1), 0);
  ASSERT_GT(write(2), 0);
  EXPECT_TRUE(is_readable(fd));
  EXPECT_EQ(fi_trywait(fabric_, fids, 1), -FI_EAGAIN);
  EXPECT_EQ(read(FI_PEEK), 1);
  EXPECT_EQ(read(), 1);
  EXPECT_TRUE(is_readable(fd));
  EXPECT_EQ(read(), 2);
  EXPECT_FALSE(is_readable(fd));
}

TEST_F(EqTest, BlockingReadEndsWithTheTimeOut) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_UNSPEC), 0);
  fi_eq_entry entry{};
  uint32_t event = 0;
  const auto begin = Clock::now();
  EXPECT_EQ(fi_eq_sread(eq_, &event, &entry, sizeof entry, 50, 0), -FI_EAGAIN);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(50));
}

TEST_F(EqTest, BlockingReadWakesUpForAnEvent) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_UNSPEC), 0);
  std::thread writer([this] { EXPECT_GT(write(5), 0); });
  fi_eq_entry entry{};
  uint32_t event = 0;
  EXPECT_EQ(fi_eq_sread(eq_, &event, &entry, sizeof entry, -1, 0),
            static_cast<ssize_t>(sizeof entry));
  EXPECT_EQ(entry.context, reinterpret_cast<void*>(5));
  writer.join();
}

TEST_F(EqTest, WithoutWaitObjectBlockingIsInvalid) {
  ASSERT_EQ(open(4, FI_WRITE, FI_WAIT_NONE), 0);
  uint32_t event = 0;
  fi_eq_entry entry{};
  EXPECT_EQ(fi_eq_sread(eq_, &event, &entry, sizeof entry, 0, 0), -FI_EINVAL);
}

TEST_F(EqTest, UnknownFlagsAndWaitObjectsAreRefused) {
  EXPECT_EQ(open(4, FI_PEEK, FI_WAIT_NONE), -FI_EBADFLAGS);
  EXPECT_EQ(open(4, 0, FI_WAIT_MUTEX_COND), -FI_ENOSYS);
  EXPECT_EQ(open(4, 0, FI_WAIT_SET), -FI_ENOSYS);
}

TEST_F(EqTest, FabricStaysWhileAQueueIsOpen) {
  ASSERT_EQ(open(4, 0, FI_WAIT_NONE), 0);
  EXPECT_EQ(fi_close(&fabric_->fid), -FI_EBUSY);
}

}  // namespace
}  // namespace uet::prov
