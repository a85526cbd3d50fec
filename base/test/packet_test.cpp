// TxBatch: what is kept, in which order, and that detached packets refer to no user memory.
#include "base/packet.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace uet {
namespace {

class TxBatchTest : public ::testing::Test {
 protected:
  void add(const std::string& header, std::vector<std::string*> payload, uint16_t port) {
    std::span<std::byte> room = batch_->begin();
    std::memcpy(room.data(), header.data(), header.size());
    for (std::string* p : payload) batch_->add_payload(p->data(), static_cast<uint32_t>(p->size()));
    FabricAddress to;
    to.family = FabricAddress::Family::ipv4;
    to.port = port;
    batch_->commit(static_cast<uint32_t>(header.size()), to, Entropy(port), 0, Ecn::ect0);
  }
  // "header|payload@port" for every packet, in order.
  std::string picture() const {
    std::string out;
    for (const TxPacket& p : batch_->packets()) {
      out.append(reinterpret_cast<const char*>(p.header), p.header_bytes).append("|");
      for (uint32_t i = 0; i < p.slice_count; ++i)
        out.append(reinterpret_cast<const char*>(p.slices[i].data), p.slices[i].length);
      out.append("@").append(std::to_string(p.to.port)).append(" ");
    }
    return out;
  }
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
};

TEST_F(TxBatchTest, CompactKeepsUnsentPacketsInOrder) {
  std::string x = "xx", y = "yyy";
  add("a", {&x}, 1);
  add("b", {&x, &y}, 2);
  add("c", {}, 3);
  add("d", {&y}, 4);
  batch_->packets()[0].fate = TxFate::sent;
  batch_->packets()[2].fate = TxFate::never;
  batch_->compact();
  EXPECT_EQ(picture(), "b|xxyyy@2 d|yyy@4 ");
  // New packets take the header buffers of removed packets; kept packets keep theirs.
  add("e", {&x}, 5);
  add("f", {}, 6);
  EXPECT_EQ(picture(), "b|xxyyy@2 d|yyy@4 e|xx@5 f|@6 ");
}

TEST_F(TxBatchTest, DetachedPacketsSurviveTheirUserMemory) {
  std::string x = "first", y = "second";
  add("a", {&x, &y}, 1);
  add("b", {&y}, 2);
  std::vector<std::byte> bounce(batch_->payload_bytes());
  ASSERT_EQ(bounce.size(), 17u);
  batch_->detach(bounce);
  x.assign(5, '?');
  y.assign(6, '?');
  EXPECT_EQ(picture(), "a|firstsecond@1 b|second@2 ");
}

TEST_F(TxBatchTest, DetachTwiceKeepsTheOctets) {
  std::string x = "first", y = "second";
  add("a", {&x}, 1);
  add("b", {&y}, 2);
  std::vector<std::byte> bounce(64);
  batch_->detach(bounce);
  batch_->packets()[0].fate = TxFate::sent;
  batch_->compact();
  add("c", {&x}, 3);
  batch_->detach(bounce);
  x.assign(5, '?');
  EXPECT_EQ(picture(), "b|second@2 c|first@3 ");
}

TEST_F(TxBatchTest, IsFullBeforeASliceCanBeLost) {
  std::string x = "x";
  while (!batch_->full()) add("h", std::vector<std::string*>(TxBatch::kSlicesPerPacket, &x), 1);
  EXPECT_GE(batch_->size(), 6u);
  EXPECT_LE(batch_->size() * TxBatch::kSlicesPerPacket, TxBatch::kSlices);
}

}  // namespace
}  // namespace uet
