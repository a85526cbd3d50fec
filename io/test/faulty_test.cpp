// The fault decorator: each misfortune happens to the packets it should and is counted; the rest
// passes untouched and together.
#include "io/fault/faulty.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace uet::io {
namespace {

// Remembers sent packets, call by call: "ab|c|" are two calls.
class Recorder final : public PacketIo {
 public:
  IoCaps caps() const override {
    IoCaps caps;
    caps.max_datagram_bytes = 100;
    return caps;
  }
  FabricAddress local_address() const override { return {}; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& p : packets) {
      std::string octets(reinterpret_cast<char*>(p.header), p.header_bytes);
      for (uint32_t i = 0; i < p.slice_count; ++i) {
        octets.append(reinterpret_cast<const char*>(p.slices[i].data), p.slices[i].length);
      }
      p.fate = fate_;
      if (fate_ == TxFate::sent) {
        calls_ += octets;
        sent_.push_back(octets);
      }
    }
    calls_ += "|";
  }
  std::span<RxDatagram> receive() override { return {}; }
  int wait_fd() const override { return -1; }

  TxFate fate_ = TxFate::sent;
  std::string calls_;
  std::vector<std::string> sent_;
};

class FaultyIoTest : public ::testing::Test {
 protected:
  void make(const char* plan, uint64_t seed = 1) {
    auto recorder = std::make_unique<Recorder>();
    recorder_ = recorder.get();
    std::string error;
    const auto parsed = parse_fault_plan(plan, &error);
    ASSERT_TRUE(parsed.has_value()) << error;
    io_ = std::make_unique<FaultyIo>(std::move(recorder), *parsed, seed);
  }
  // Sends one packet for each letter, header and payload both made of it; returns the fates.
  std::string send(std::string letters) {
    std::vector<std::string> texts;
    std::vector<IoSlice> slices;
    std::vector<TxPacket> packets;
    for (const char c : letters) texts.push_back(std::string(2, c));
    for (std::string& t : texts) {
      slices.push_back({reinterpret_cast<const std::byte*>(t.data()) + 1, 1});
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      TxPacket packet;
      packet.header = reinterpret_cast<std::byte*>(texts[i].data());
      packet.header_bytes = 1;
      packet.slices = &slices[i];
      packet.slice_count = 1;
      packet.payload_bytes = 1;
      packets.push_back(packet);
    }
    io_->send(packets);
    std::string fates;
    for (const TxPacket& p : packets) fates += "sln"[static_cast<int>(p.fate)];
    return fates;
  }

  Recorder* recorder_ = nullptr;
  std::unique_ptr<FaultyIo> io_;
};

TEST_F(FaultyIoTest, WithoutFaultsABatchStaysOneBatch) {
  make("");
  EXPECT_EQ(send("abc"), "sss");
  EXPECT_EQ(recorder_->calls_, "aabbcc|");
  EXPECT_EQ(io_->counters(), FaultCounters{});
}

TEST_F(FaultyIoTest, LostPacketsCountAsSent) {
  make("loss=1");
  EXPECT_EQ(send("abc"), "sss");
  EXPECT_EQ(recorder_->calls_, "");
  EXPECT_EQ(io_->counters().loss_dropped, 3u);
}

TEST_F(FaultyIoTest, LossTakesItsShareAndLeavesTheRestInOrder) {
  make("loss=0.3");
  for (int i = 0; i < 100; ++i) send("abcdefghij");
  EXPECT_NEAR(static_cast<double>(io_->counters().loss_dropped), 300, 60);
  EXPECT_EQ(recorder_->sent_.size(), 1000 - io_->counters().loss_dropped);
}

TEST_F(FaultyIoTest, BurstsTakeNeighbours) {
  make("burst=1:3");
  send("abcde");
  EXPECT_EQ(io_->counters().burst_dropped, 5u);  // 3, and 2 of the next
  EXPECT_EQ(recorder_->calls_, "");
}

TEST_F(FaultyIoTest, BlackholesCountFromCreation) {
  make("blackhole=0s-3600s");
  EXPECT_EQ(send("a"), "s");
  EXPECT_EQ(io_->counters().blackhole_dropped, 1u);
  make("blackhole=3600s-7200s");
  send("a");
  EXPECT_EQ(recorder_->calls_, "aa|");
}

TEST_F(FaultyIoTest, DuplicatesFollowTheirOriginal) {
  make("dup=1");
  EXPECT_EQ(send("ab"), "ss");
  EXPECT_EQ(recorder_->calls_, "aa|aa|bb|bb|");
  EXPECT_EQ(io_->counters().duplicated, 2u);
}

TEST_F(FaultyIoTest, CorruptionFlipsOneBitOfACopy) {
  make("corrupt=1");
  EXPECT_EQ(send("a"), "s");
  ASSERT_EQ(recorder_->sent_.size(), 1u);
  const std::string& got = recorder_->sent_[0];
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(__builtin_popcount(static_cast<unsigned>((got[0] ^ 'a') & 0xff)) +
                __builtin_popcount(static_cast<unsigned>((got[1] ^ 'a') & 0xff)),
            1);
  EXPECT_EQ(io_->counters().corrupted, 1u);
}

TEST_F(FaultyIoTest, CorruptionCanMeanLoss) {
  make("corrupt=1,corrupt_delivered=0");
  EXPECT_EQ(send("a"), "s");
  EXPECT_EQ(recorder_->calls_, "");
  EXPECT_EQ(io_->counters().corrupt_dropped, 1u);
}

TEST_F(FaultyIoTest, HeldPacketsLeaveAfterTheirBatchOrWithTheNextReceive) {
  make("reorder=0.5:0s");
  EXPECT_EQ(send("abcdefgh"), "ssssssss");
  EXPECT_EQ(recorder_->sent_.size(), 8u);
  std::string order, sorted = "abcdefgh";
  for (const std::string& s : recorder_->sent_) order += s[0];
  EXPECT_NE(order, sorted);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
  EXPECT_GT(io_->counters().reordered, 0u);

  make("reorder=1:0s");
  recorder_->fate_ = TxFate::later;
  EXPECT_EQ(send("a"), "s");  // held: the caller does not see that the backend refused it
  recorder_->fate_ = TxFate::sent;
  EXPECT_TRUE(recorder_->sent_.empty());
  io_->receive();
  EXPECT_EQ(recorder_->sent_, std::vector<std::string>{"aa"});
  io_->receive();
  EXPECT_EQ(recorder_->sent_.size(), 1u);
}

TEST_F(FaultyIoTest, WithoutRoomForCopiesPacketsPassUnharmed) {
  make("reorder=1:3600s");
  send(std::string(40, 'a'));
  EXPECT_EQ(io_->counters().reordered, 32u);
  EXPECT_EQ(io_->counters().spared, 8u);
  EXPECT_EQ(recorder_->sent_.size(), 8u);
}

TEST_F(FaultyIoTest, TheBackendsRefusalReachesTheCaller) {
  for (const char* plan : {"", "corrupt=1", "dup=1"}) {
    make(plan);
    recorder_->fate_ = TxFate::later;
    EXPECT_EQ(send("ab"), "ll") << plan;
    EXPECT_EQ(io_->counters(), FaultCounters{}) << plan;
  }
}

TEST_F(FaultyIoTest, TheSeedOfThePlanWins) {
  std::vector<std::string> stories;
  for (const auto& [plan, seed] : {std::pair("loss=0.5,seed=9", 1), std::pair("loss=0.5,seed=9", 2),
                                   std::pair("loss=0.5", 1), std::pair("loss=0.5", 2)}) {
    make(plan, static_cast<uint64_t>(seed));
    send("abcdefghijklmnopqrstuvwxyz");
    std::string story;
    for (const std::string& s : recorder_->sent_) story += s[0];
    stories.push_back(story);
  }
  EXPECT_EQ(stories[0], stories[1]);
  EXPECT_NE(stories[2], stories[3]);
}

}  // namespace
}  // namespace uet::io
