// Messages in other forms than the default ones, each set by FI_UET_* as ctest does it: all data
// arrives, and the capture of the first domain shows the form. [LF-041, LF-045, LF-129]
#include "prov/uet/test/capture.h"
#include "prov/uet/test/node.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace uet::prov::test {
namespace {

constexpr size_t kIpUdp = 28;  // octets of IPv4 and UDP in front of the PDS header

// Requests on PDCs in a capture of IPv4 packets: octet 0 and 1 of PDS hold five bits of type and
// four of the next header, RUD requests have 12 octets, and the SES opcode is the low six bits of
// the first octet behind them. A standard header ends in the length of the message.
struct Seen {
  std::map<unsigned, unsigned> headers;  // next header -> packets
  std::map<unsigned, unsigned> opcodes;
  std::set<unsigned> read_lengths;  // octets that each READ is of, all of its packets together
};

Seen read_capture(const char* path) {
  Seen seen;
  for_each_packet(path, [&](std::span<const uint8_t> octets) {
    if (octets.size() <= kIpUdp + 13) return;
    const std::span<const uint8_t> pds = octets.subspan(kIpUdp);
    const unsigned prologue = unsigned{pds[0]} << 8 | pds[1];
    if (prologue >> 11 != 2) return;  // no RUD request
    const unsigned header = prologue >> 7 & 15;
    const unsigned opcode = pds[12] & 0x3F;
    ++seen.headers[header];
    if (header >= 1 && header <= 3) ++seen.opcodes[opcode];
    if (header == 3 && opcode == 2 && pds.size() > 55) {
      seen.read_lengths.insert(unsigned{pds[54]} << 8 | pds[55]);
    }
  });
  return seen;
}

class FormsTest : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("FI_UET_PCAP"), nullptr) << "run by ctest";
    open();
  }
  // Closes both nodes, so that the capture is complete.
  Seen seen() {
    a.reset();
    b.reset();
    return read_capture(std::getenv("FI_UET_PCAP"));
  }
};

// [SES-042, SES-045] FI_UET_HDR_MEDIUM=1.
TEST_F(FormsTest, MediumHeadersCarryShortMessages) {
  const std::vector<uint8_t> data = pattern(100, 1);
  std::vector<uint8_t> room(100);
  ASSERT_EQ(fi_trecv(b->ep, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
  ASSERT_EQ(fi_tsend(a->ep, data.data(), data.size(), nullptr, to_b, 7, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(room, data);
  const Seen s = seen();
  EXPECT_GE(s.headers.count(2), 1u);
  EXPECT_EQ(s.headers.count(3), 0u);
}

// [LF-041, LF-045, SES-088, SES-089] FI_UET_RNDV_SIZE=20000: tagged or not, expected or not.
TEST_F(FormsTest, RendezvousCarriesLongMessages) {
  const std::vector<uint8_t> data = pattern(300'000, 1);
  std::vector<uint8_t> room(300'000), late(300'000);
  ASSERT_EQ(fi_trecv(b->ep, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
  ASSERT_EQ(fi_tsend(a->ep, data.data(), data.size(), nullptr, to_b, 7, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, data.data(), data.size(), nullptr, to_b, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).len, data.size());
  EXPECT_EQ(next(a->tx_cq).flags & FI_TAGGED, uint64_t{FI_TAGGED});
  EXPECT_TRUE(stays_empty(a->tx_cq));
  ASSERT_EQ(fi_recv(b->ep, late.data(), late.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).len, data.size());
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(room, data);
  EXPECT_EQ(late, data);
  Seen s = seen();
  EXPECT_GE(s.opcodes[0x06], 1u);
  EXPECT_GE(s.opcodes[0x0a], 1u);
  EXPECT_EQ(s.opcodes[0x05] + s.opcodes[0x09], 0u);
  EXPECT_GE(s.opcodes[0x02], 2u);
}

// [SES-041, LF-005, LF-028] FI_UET_HDR_SMALL=1: provider keys have 12 bits, and say so in bit 62;
// the address of the peer says that it takes the header.
TEST_F(FormsTest, SmallHeadersCarryShortWrites) {
  std::vector<uint8_t> memory(200);
  const std::vector<uint8_t> data = pattern(100, 1);
  fid_mr* region = b->registered(memory.data(), memory.size(), FI_REMOTE_WRITE, 0);
  const uint64_t key = fi_mr_key(region);
  EXPECT_EQ(key >> 12, uint64_t{1} << 50);
  ASSERT_EQ(fi_write(a->ep, data.data(), data.size(), nullptr, to_b, 50, key, nullptr), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.begin() + 50));
  EXPECT_EQ(fi_close(&region->fid), 0);
  const Seen s = seen();
  EXPECT_GE(s.headers.count(1), 1u);
  EXPECT_EQ(s.headers.count(3), 0u);
}

// [LF-131] FI_UET_PAYLOAD_MTU=1024. A peer with a larger MTU in its address would expect longer
// packets of a read, so each packet is a separate read.
TEST_F(FormsTest, PayloadOfAPeerThatStatesMoreCutsReads) {
  std::vector<uint8_t> memory = pattern(2500, 1);
  fid_mr* region = b->registered(memory.data(), memory.size(), FI_REMOTE_READ, 0);
  std::vector<uint8_t> name = b->name();
  ASSERT_EQ(name.size(), 40u);
  ASSERT_EQ(name[38], 1024 / 256);
  name[38] = name[39] = 4096 / 256;
  const fi_addr_t to = a->insert(name);
  std::vector<uint8_t>& back = kept(std::vector<uint8_t>(2500));
  ASSERT_EQ(fi_read(a->ep, back.data(), 2500, nullptr, to, 0, fi_mr_key(region), nullptr), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(back, memory);
  EXPECT_EQ(fi_close(&region->fid), 0);
  EXPECT_EQ(seen().read_lengths, (std::set<unsigned>{1024, 452}));
}

}  // namespace
}  // namespace uet::prov::test
