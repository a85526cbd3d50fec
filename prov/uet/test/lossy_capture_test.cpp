// Makes a capture of lossy traffic and writes the counters of the node that was captured beside it,
// for the tests of the dissector: the packets that tshark finds must match the counters.
// FI_UET_PCAP, FI_UET_FAULT and UET_COUNTERS are set by ctest.
#include "prov/uet/api/fi_ext_uet.h"
#include "prov/uet/test/node.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace uet::prov::test {
namespace {

constexpr size_t kMessageBytes = 60000;

std::map<std::string, uint64_t> counters_of(fid* object) {
  void* opened = nullptr;
  EXPECT_EQ(fi_open_ops(object, FI_UET_COUNTERS, 0, &opened, nullptr), 0);
  auto* const ops = static_cast<fi_uet_ops_counters*>(opened);
  size_t count = 0;
  EXPECT_EQ(ops->read(object, nullptr, &count), -FI_ETOOSMALL);
  std::vector<fi_uet_counter> counters(count);
  EXPECT_EQ(ops->read(object, counters.data(), &count), 0);
  std::map<std::string, uint64_t> out;
  for (const fi_uet_counter& counter : counters) out[counter.name] = counter.value;
  return out;
}

class LossyCaptureTest : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("FI_UET_PCAP"), nullptr) << "run by ctest";
    ASSERT_NE(std::getenv("UET_COUNTERS"), nullptr) << "run by ctest";
    open();
  }
  void TearDown() override {
    PairTest::TearDown();
    const std::string of_b = std::getenv("FI_UET_PCAP") + ("." + std::to_string(getpid()));
    std::remove(of_b.c_str());
  }
  void message(Node& from, Node& to, fi_addr_t address, uint32_t seed) {
    const std::vector<uint8_t> data = pattern(kMessageBytes, seed);
    std::vector<uint8_t> got(kMessageBytes);
    ASSERT_EQ(fi_trecv(to.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, seed, 0, this), 0);
    ASSERT_EQ(fi_tsend(from.ep, data.data(), data.size(), nullptr, address, seed, this), 0);
    EXPECT_EQ(next(to.rx_cq).err, 0);
    EXPECT_EQ(next(from.tx_cq).err, 0);
    EXPECT_EQ(got, data);
  }
  void rma(uint32_t seed) {
    std::vector<uint8_t> memory(kMessageBytes);
    fid_mr* const region =
        b->registered(memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, seed);
    const std::vector<uint8_t> data = pattern(kMessageBytes, seed);
    std::vector<uint8_t> back(kMessageBytes);
    const uint64_t key = fi_mr_key(region);
    ASSERT_EQ(fi_write(a->ep, data.data(), data.size(), nullptr, to_b, 0, key, this), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    ASSERT_EQ(fi_read(a->ep, back.data(), back.size(), nullptr, to_b, 0, key, this), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    EXPECT_EQ(back, data);
    EXPECT_EQ(fi_close(&region->fid), 0);
  }
  // Runs both until neither has sent or received for a quarter of a second: all retransmissions are
  // over, and only the control packets that close the contexts follow.
  void wait_until_quiet() {
    uint64_t before = 0;
    for (uint64_t now = packets(); now != before; now = packets()) {
      before = now;
      EXPECT_TRUE(stays_empty(a->tx_cq, std::chrono::milliseconds(250)));
    }
  }
  uint64_t packets() const {
    return counters_of(&a->domain->fid).at("rx_packets") +
           counters_of(&b->domain->fid).at("rx_packets");
  }
};

TEST_F(LossyCaptureTest, TrafficArrivesAndIsCounted) {
  for (uint32_t i = 0; i < 12; ++i) {
    message(*a, *b, to_b, 2 * i + 1);
    message(*b, *a, to_a, 2 * i + 2);
  }
  for (uint32_t i = 0; i < 4; ++i) rma(100 + i);
  wait_until_quiet();
  const auto counters = counters_of(&a->domain->fid);
  EXPECT_GT(counters.at("rx_packets"), 0u);
  std::ofstream out(std::getenv("UET_COUNTERS"));
  char separator = '{';
  for (const auto& [name, value] : counters) {
    out << separator << '"' << name << "\": " << value;
    separator = ',';
  }
  out << "}\n";
  EXPECT_TRUE(out.good());
}

}  // namespace
}  // namespace uet::prov::test
