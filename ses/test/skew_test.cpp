// Builds of different versions, over the whole stack: changes to its packets under way make one
// side look like a later build. docs/versions.md has the rules.
#include "ses/test/stack.h"

#include <functional>

namespace uet::ses::test {
namespace {

constexpr size_t kSes = 12;  // where SES begins behind RUD_REQ and ROD_REQ

uint8_t type_of(const Octets& packet) { return static_cast<uint8_t>(packet[0]) >> 3; }
bool is_request(const Octets& packet) { return type_of(packet) == 2 || type_of(packet) == 3; }

void set_bits(Octets& packet, size_t at, uint8_t bits) {
  packet[at] |= static_cast<std::byte>(bits);
}

// Sets fields that the reference calls reserved, by the offsets in wire.md 4.1, 5, 7 and 8. The bit
// 0x2000 of the SYN form does not change: among builds of this project it is the private mark.
void set_reserved_of_request(Octets& p) {
  const bool is_syn = (static_cast<uint8_t>(p[1]) & 0x04) != 0;
  const uint8_t next = static_cast<uint8_t>((static_cast<uint8_t>(p[0]) & 0x07) << 1 |
                                            static_cast<uint8_t>(p[1]) >> 7);
  set_bits(p, 1, 0x63);               // flags that no request has
  if (is_syn) set_bits(p, 10, 0x50);  // pdc_info
  if (next != 3) return;              // no standard header behind it
  set_bits(p, kSes, 0xC0);            // above the opcode
  set_bits(p, kSes + 8, 0xF0);        // above PIDonFEP
  set_bits(p, kSes + 10, 0xF0);       // above the resource index
  const uint8_t flags = static_cast<uint8_t>(p[kSes + 1]);
  const bool is_first = (flags & 0x01) != 0;
  const bool has_data = (flags & 0x04) != 0;
  if (is_first && !has_data) {  // header data that is not announced is not read
    for (size_t i = 0; i < 8; ++i) set_bits(p, kSes + 32 + i, 0xFF);
  } else if (!is_first) {  // above the payload length
    set_bits(p, kSes + 32, 0xFF);
    set_bits(p, kSes + 33, 0xFF);
    set_bits(p, kSes + 34, 0xC0);
  }
}

void set_reserved(Octets& p) {
  switch (type_of(p)) {
    case 2:
    case 3:
      return set_reserved_of_request(p);
    case 8:                   // ACK_CC
      set_bits(p, 12, 0x0F);  // cc_flags
      [[fallthrough]];
    case 7:  // ACK
      return set_bits(p, 1, 0x01);
    case 11:  // control packets
      return set_bits(p, 1, 0x43);
    default:
      return;
  }
}

class SkewTest : public StackFixture, public ::testing::TestWithParam<pds::Mode> {
 protected:
  using Change = std::function<void(sim::Transit<sim::Datagram>&)>;
  static constexpr int kMessages = 10;

  void SetUp() override {
    meet(5, 6);
    a_->open(GetParam());
    b_->open(GetParam());
    to_ = a_->at(b_->self, now());
    const IoSlice whole{memory_.data(), memory_.size()};
    RegionRequest region;
    region.iov = {&whole, 1};
    region.access = kRemoteRead | kRemoteWrite;
    const RegionId id = *b_->ses->memory().add(region);
    b_->ses->memory().enable(id);
    key_ = b_->ses->memory().key(id);
  }

  // A tagged message and a write, of one packet and of several.
  void post(int number) {
    Octets& data = payloads_.emplace_back(number % 2 == 0 ? 100 : 5000);
    for (std::byte& b : data) b = std::byte(rng_.u32());
    const IoSlice from{data.data(), data.size()};
    Octets& room = rooms_.emplace_back(data.size());
    const IoSlice into{room.data(), room.size()};
    ReceiveRequest r;
    r.iov = {&into, 1};
    r.tagged = true;
    r.tag = static_cast<uint64_t>(number);
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now()).ok());
    SendRequest s;
    s.to = to_;
    s.iov = {&from, 1};
    s.tagged = true;
    s.tag = static_cast<uint64_t>(number);
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now()).ok());
    RmaRequest w;
    w.to = to_;
    w.iov = {&from, 1};
    w.key = key_;
    w.remote_offset = static_cast<uint64_t>(number) * 5000;
    ASSERT_TRUE(a_->ses->rma(a_->ep, w, now()).ok());
  }

  // 100 us at a time, until `completions` are there; `change` edits the packets under way in both
  // directions.
  void run_until(size_t completions, const Change& change) {
    for (int i = 0; i < 20'000 && a_->done.size() < completions; ++i) {
      stations_->advance(now() + Duration::microseconds(100));
      for (const uint32_t side : {kA, kB}) {
        pump(side);
        change(flights());
        deliver(rng_, 0);
      }
    }
  }

  // Everything was delivered, octet for octet.
  void expect_all() {
    ASSERT_EQ(a_->done.size(), size_t{2 * kMessages});
    for (const Completion& c : a_->done) EXPECT_TRUE(c.ok()) << wire::name(c.code);
    ASSERT_EQ(b_->done.size(), size_t{kMessages});
    for (const Completion& c : b_->done) EXPECT_TRUE(c.ok());
    for (size_t i = 0; i < kMessages; ++i) {
      EXPECT_EQ(rooms_[i], payloads_[i]) << i;
      EXPECT_TRUE(std::equal(payloads_[i].begin(), payloads_[i].end(),
                             memory_.begin() + static_cast<ptrdiff_t>(i * 5000)))
          << i;
    }
  }

  Rng rng_{3};
  Destination to_;
  Octets memory_ = Octets(kMessages * 5000);
  uint64_t key_ = 0;
};

// [WIRE-003, WIRE-117] A later build may give reserved bits a meaning; to us they have none.
TEST_P(SkewTest, ReservedBitsOfALaterBuildMeanNothing) {
  uint32_t changed = 0;
  for (int i = 0; i < kMessages; ++i) post(i);
  run_until(2 * kMessages, [&](sim::Transit<sim::Datagram>& packets) {
    for (sim::Datagram& p : packets) {
      const Octets before = p.octets;
      set_reserved(p.octets);
      changed += before != p.octets ? 1 : 0;
    }
  });
  expect_all();
  EXPECT_GT(changed, 60u) << "each message of 5000 octets is five packets, each write, too";
}

// [WIRE-116] Types of packets that we do not know are counted and change nothing.
TEST_P(SkewTest, PacketsOfALaterBuildAreDropped) {
  uint32_t sent = 0;
  for (int i = 0; i < kMessages; ++i) post(i);
  run_until(2 * kMessages, [&](sim::Transit<sim::Datagram>& packets) {
    if (packets.empty()) return;
    for (unsigned type = 15; type < 32; ++type) {
      sim::Datagram later = packets[0];
      later.octets[0] = static_cast<std::byte>(type << 3 | (uint8_t(later.octets[0]) & 7));
      packets.add(std::move(later), now());
      ++sent;
    }
  });
  expect_all();
  const uint64_t dropped = a_->pds->counters()[pds::Count::drop_type_reserved] +
                           b_->pds->counters()[pds::Count::drop_type_reserved];
  EXPECT_EQ(dropped, sent);
  EXPECT_GT(sent, 0u);
}

// [SES-109, SES-110] A message in a version, or of an operation, that we do not know fails, with
// the reason, and nothing else does.
TEST_P(SkewTest, MessagesOfALaterBuildAreRefusedOneByOne) {
  struct Row {
    size_t octet;  // of the SES header
    uint8_t keep;  // bits that stay
    uint8_t set;
    wire::ReturnCode code;
  };
  const Row rows[] = {
      {1, 0x3F, 0x40, wire::ReturnCode::uncor},           // version 1
      {0, 0xC0, 0x2F, wire::ReturnCode::unsupported_op},  // a reserved operation
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(wire::name(row.code));
    SetUp();
    const IoSlice one{memory_.data(), 100};
    SendRequest s;
    s.to = to_;
    s.iov = {&one, 1};
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now()).ok());
    bool is_first = true;
    run_until(1, [&](sim::Transit<sim::Datagram>& packets) {
      for (sim::Datagram& p : packets) {
        if (!is_request(p.octets) || !is_first) continue;
        is_first = false;
        std::byte& octet = p.octets[kSes + row.octet];
        octet = (octet & std::byte{row.keep}) | std::byte{row.set};
      }
    });
    ASSERT_EQ(a_->done.size(), 1u);
    EXPECT_EQ(a_->done[0].status, Completion::Status::refused);
    EXPECT_EQ(a_->done[0].code, row.code);
    a_->done.clear();
    payloads_.clear();
    rooms_.clear();
    for (int i = 0; i < kMessages; ++i) post(i);
    run_until(2 * kMessages, [](sim::Transit<sim::Datagram>&) {});
    expect_all();
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, SkewTest, ::testing::Values(pds::Mode::rud, pds::Mode::rod),
                         [](const auto& mode) {
                           return mode.param == pds::Mode::rud ? "Rud" : "Rod";
                         });

}  // namespace
}  // namespace uet::ses::test
