// Reads of several packets, and reads that are cut into several messages, because the ends have
// different payload sizes, on an endpoint that keeps an order.
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

// [SES-053, SES-074] Each packet of a read brings its part of the region.
TEST_F(PairTest, ALongReadBringsEachOctetToItsPlace) {
  const Octets memory = pattern(5000);
  const uint64_t key = expose(memory);
  Octets back(3000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key, 1001), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 3000 #1");
  EXPECT_TRUE(std::equal(back.begin(), back.end(), memory.begin() + 1001));
}

// [LF-089, LF-131] In order, nothing is transmitted between the segments of a read.
TEST_F(PairTest, InOrderLaterOperationsWaitForTheLastSegmentOfARead) {
  config_.payload_mtu = 4096;
  options_.mode = pds::Mode::rod;
  start();
  a_->peers[PeerId(0)].payload_mtu = 1024;
  Octets memory = pattern(3000);
  const Octets before = memory;
  const uint64_t key = expose(memory);
  Octets back(3000);
  const Octets octet(1, std::byte{0xEE});
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, octet, key), now_).ok());
  transmit();
  EXPECT_EQ(network_.size(), 1u);  // the first segment, and no write
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 3000 #1 | write ok 1 #1");
  EXPECT_EQ(Octets(back.begin() + 1, back.end()), Octets(before.begin() + 1, before.end()));
  EXPECT_EQ(memory[0], std::byte{0xEE});
}

// [LF-089, LF-131] One that fails in its first segment holds nothing up.
TEST_F(PairTest, AFailedReadInSegmentsReleasesLaterOperations) {
  config_.payload_mtu = 4096;
  options_.mode = pds::Mode::rod;
  start();
  a_->peers[PeerId(0)].payload_mtu = 1024;
  Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  Octets back(3000);
  const Octets octet(1, std::byte{0xEE});
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key + 1), now_).ok());
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, octet, key), now_).ok());
  deliver_all();
  const std::string ends = take(*a_);
  EXPECT_NE(ends.find("write ok 1 #1"), std::string::npos) << ends;
  EXPECT_EQ(memory[0], std::byte{0xEE});
}

// [SES-024, SES-149] The requests of a read carry no payload, one for each payload that it asks
// for. That they are answered is not its end: all of its octets have to be there.
TEST_F(PairTest, AReadIsOverWhenAllItsDataIsThere) {
  Octets memory = pattern(2500), back(2500);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, expose(memory)), now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(network_[i].octets.size(), 44u) << i;
  for (int i = 0; i < 6; ++i) deliver(0);  // the requests and their answers
  EXPECT_EQ(take(*a_), "");
  transmit();
  ASSERT_EQ(network_.size(), 3u);
  deliver(2);
  deliver(0);
  EXPECT_EQ(take(*a_), "");
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 2500 #1");
  EXPECT_EQ(back, memory);
}

}  // namespace
}  // namespace uet::ses::test
