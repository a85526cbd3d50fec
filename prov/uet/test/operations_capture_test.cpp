// Makes a capture of operations done one after the other, and a list of the application's calls,
// for the tests of the dissector: tshark must find the operations in the list. FI_UET_PCAP and
// UET_OPERATIONS are set by ctest.
#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace uet::prov::test {
namespace {

constexpr size_t kMemoryBytes = 50000;
constexpr size_t kShownBytes = 16;

std::string hex_of(std::span<const uint8_t> octets) {
  std::string text;
  for (const uint8_t octet : octets.first(std::min(octets.size(), kShownBytes))) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", unsigned{octet});
    text += two;
  }
  return text;
}

class OperationsCaptureTest : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("FI_UET_PCAP"), nullptr) << "run by ctest";
    ASSERT_NE(std::getenv("UET_OPERATIONS"), nullptr) << "run by ctest";
    NodeOptions options;
    options.caps |= FI_ATOMIC;
    open(options, options);
  }
  void TearDown() override {
    if (region_ != nullptr) {
      EXPECT_EQ(fi_close(&region_->fid), 0);
    }
    PairTest::TearDown();
    const std::string of_b = std::getenv("FI_UET_PCAP") + ("." + std::to_string(getpid()));
    std::remove(of_b.c_str());
    std::ofstream out(std::getenv("UET_OPERATIONS"));
    out << "[" << operations_ << "]\n";
    EXPECT_TRUE(out.good());
  }

  // One object of the list: numeric fields first, then texts.
  void record(const char* operation, const std::vector<std::pair<const char*, uint64_t>>& numbers,
              const std::vector<std::pair<const char*, std::string>>& texts) {
    if (!operations_.empty()) operations_ += ",\n ";
    operations_ += std::string("{\"operation\": \"") + operation + '"';
    for (const auto& [name, value] : numbers) {
      operations_ += std::string(", \"") + name + "\": " + std::to_string(value);
    }
    for (const auto& [name, value] : texts) {
      operations_ += std::string(", \"") + name + "\": \"" + value + '"';
    }
    operations_ += '}';
  }

  void done() {
    const Done entry = next(a->tx_cq);
    EXPECT_EQ(entry.err, 0) << entry.text;
  }

  void send(size_t bytes, bool tagged, bool late = false) {
    const std::vector<uint8_t>& data = kept(pattern(bytes, ++seed_));
    std::vector<uint8_t>& room = kept(std::vector<uint8_t>(bytes));
    const auto receive = [&] {
      return tagged ? fi_trecv(b->ep, room.data(), bytes, nullptr, FI_ADDR_UNSPEC, 0xAB, 0, this)
                    : fi_recv(b->ep, room.data(), bytes, nullptr, FI_ADDR_UNSPEC, this);
    };
    if (!late) {
      ASSERT_EQ(receive(), 0);
    }
    ASSERT_EQ(tagged ? fi_tsend(a->ep, data.data(), bytes, nullptr, to_b, 0xAB, this)
                     : fi_send(a->ep, data.data(), bytes, nullptr, to_b, this),
              0);
    if (late) {
      EXPECT_TRUE(stays_empty(b->rx_cq));
      ASSERT_EQ(receive(), 0);
    }
    EXPECT_EQ(next(b->rx_cq).err, 0);
    done();
    EXPECT_EQ(room, data);
    record(tagged ? "TAGGED_SEND" : "SEND", {{"length", bytes}, {"late", late}},
           {{"data", hex_of(data)}});
  }

  void write(size_t bytes, uint64_t offset) {
    const std::vector<uint8_t> data = pattern(bytes, ++seed_);
    ASSERT_EQ(fi_write(a->ep, data.data(), bytes, nullptr, to_b, offset, key_, this), 0);
    done();
    record("WRITE", {{"length", bytes}, {"offset", offset}, {"key", key_}},
           {{"data", hex_of(data)}});
  }

  void read(size_t bytes, uint64_t offset) {
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(fi_read(a->ep, data.data(), bytes, nullptr, to_b, offset, key_, this), 0);
    done();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), memory_.begin() + ssize_t(offset)));
    record("READ", {{"length", bytes}, {"offset", offset}, {"key", key_}},
           {{"result", hex_of(data)}});
  }

  // An operation on one uint32_t, with the value that the memory has before.
  void atomic(const char* name, fi_op operation, uint32_t before, uint32_t operand) {
    uint32_t* const cell = reinterpret_cast<uint32_t*>(memory_.data());
    *cell = before;
    ASSERT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, 0, key_, FI_UINT32, operation, this), 0);
    done();
    record("ATOMIC", {{"length", 4}, {"operand", operand}}, {{"atomic", name}});
  }

  void fetching_atomic(const char* name, fi_op operation, uint32_t before, uint32_t operand) {
    uint32_t* const cell = reinterpret_cast<uint32_t*>(memory_.data());
    *cell = before;
    uint32_t old = 0;
    ASSERT_EQ(fi_fetch_atomic(a->ep, &operand, 1, nullptr, &old, nullptr, to_b, 0, key_, FI_UINT32,
                              operation, this),
              0);
    done();
    EXPECT_EQ(old, before);
    record("FETCHING_ATOMIC", {{"length", 4}, {"operand", operand}, {"old", before}},
           {{"atomic", name}});
  }

  void compare_atomic(const char* name, fi_op operation, uint32_t before, uint32_t compare,
                      uint32_t swap) {
    uint32_t* const cell = reinterpret_cast<uint32_t*>(memory_.data());
    *cell = before;
    uint32_t old = 0;
    ASSERT_EQ(fi_compare_atomic(a->ep, &swap, 1, nullptr, &compare, nullptr, &old, nullptr, to_b, 0,
                                key_, FI_UINT32, operation, this),
              0);
    done();
    EXPECT_EQ(old, before);
    record("FETCHING_ATOMIC", {{"compare", compare}, {"swap", swap}, {"old", before}},
           {{"atomic", name}});
  }

  void register_memory() {
    memory_ = pattern(kMemoryBytes, 1000);
    region_ = b->registered(memory_.data(), memory_.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 77);
    key_ = fi_mr_key(region_);
  }

  std::vector<uint8_t> memory_;
  uint64_t key_ = 0;

 private:
  fid_mr* region_ = nullptr;
  uint32_t seed_ = 0;
  std::string operations_;
};

TEST_F(OperationsCaptureTest, MessagesAndRma) {
  register_memory();
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{40000}}) {
    send(bytes, true);
    send(bytes, false);
    write(bytes, 8);
    read(bytes, 8);
  }
}

TEST_F(OperationsCaptureTest, Atomics) {
  register_memory();
  atomic("SUM", FI_SUM, 40, 2);
  atomic("BXOR", FI_BXOR, 0xF0F0F0F0, 0xFFFF0000);
  fetching_atomic("MAX", FI_MAX, 7, 9);
  fetching_atomic("READ", FI_ATOMIC_READ, 0x01020304, 0);
  compare_atomic("CSWAP", FI_CSWAP, 5, 5, 6);
  compare_atomic("MSWAP", FI_MSWAP, 0x11111111, 0xFF, 0x22222222);
}

// FI_UET_RNDV_SIZE or FI_UET_DEFER: sends whose receive comes late use another protocol.
TEST_F(OperationsCaptureTest, Chains) {
  send(60000, true);
  send(60000, false, true);
  send(60000, true, true);
}

}  // namespace
}  // namespace uet::prov::test
