// Which remote accesses to memory are reported to the user. [SES-073, LF-097]
#include "ses/incoming/remote_report.h"

#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

class RemoteReportTest : public TargetTest {
 protected:
  void report(OpKind kind, const RxMessage* m = nullptr) {
    report_remote(*ep_, regions_, q_, kind, region_, m);
  }

  Request q_ = whole(100, wire::SesOpcode::write);
};

// [SES-073] A write with data is a completion of its own; its message has the data.
TEST_F(RemoteReportTest, AWriteWithDataIsReported) {
  report(OpKind::remote_write);
  EXPECT_EQ(done_.size(), 0u);
  q_.has_data = true;
  q_.header_data = 7;
  report(OpKind::remote_write);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].data, 7u);
  EXPECT_EQ(done_[0].bytes, 100u);
  EXPECT_EQ(done_[0].context.user, 99u) << "that of the region";
  EXPECT_EQ(done_[0].initiator_id, 44u);
  RxMessage m;
  report(OpKind::remote_write, &m);
  EXPECT_EQ(done_.size(), 1u) << "no packet of the message had data";
  m.has_data = true;
  m.header_data = 8;
  report(OpKind::remote_write, &m);
  EXPECT_EQ(done_.at(1).data, 8u);
}

// [LF-097] All accesses, where they are counted; a read has no data.
TEST_F(RemoteReportTest, AllAccessesAreReportedWhereTheyAreCounted) {
  ep_->rx.all_remote = true;
  q_.has_data = true;
  report(OpKind::remote_read);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_FALSE(done_[0].has_data);
  q_.mode = pds::Mode::rudi;
  report(OpKind::remote_read);
  EXPECT_EQ(done_.size(), 1u) << "packets, not messages";
  q_.mode = pds::Mode::rud;
  answers().exposed = 5;
  report(OpKind::remote_read);
  EXPECT_EQ(done_.size(), 1u) << "the source of a rendezvous is not a region of the user";
}

}  // namespace
}  // namespace uet::ses::test
