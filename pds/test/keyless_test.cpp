// An attacker who sees all packets of a secured PDC but has no key: it knows addresses, PDCIDs and
// PSNs. Packets that it sends in the clear, or that a member of another domain seals, change only
// one counter each: invariants I6 to I8 of the reference. [TSS-141, T-08, T-11]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using Names = std::vector<std::string>;

constexpr uint32_t kOurs = 77;

class KeylessTest : public ::testing::Test {
 protected:
  // Every packet that an attacker may send about `psn`, in the clear and in another domain. A SYN
  // to an initiator would be about another PDC.
  template <class Check>
  static void each_packet(Bench& b, Psn psn, bool to_target, Check&& check) {
    for (const uint32_t sdi : {0u, kOurs + 1}) {
      b.sdi = sdi;
      for (int code = 0; code < 32; ++code) {
        b.rx_header(b.nack(static_cast<wire::NackCode>(code), psn, psn.value() + 100));
        check("NACK", code);
      }
      for (int type = 0; type < 16; ++type) {
        b.rx_header(b.control(static_cast<wire::CtlType>(type), psn.value(), psn.value()));
        check("control packet", type);
      }
      for (int ahead = -1; ahead <= 2; ++ahead) {
        b.rx_header(b.ack(psn + ahead));
        check("ACK", ahead);
        b.rx(b.request((psn + ahead).value(), false));
        check("request", ahead);
        if (!to_target) continue;
        wire::Request syn = b.request((psn + ahead).value(), false);
        syn.syn = true;
        syn.psn_offset = 0;
        b.rx(syn);
        check("SYN", ahead);
      }
    }
    b.sdi = kOurs;
  }
  // The counters that changed and by how much, without the counters of all received packets.
  static Names moved(const Bench& b, const Counters& before) {
    Names all;
    for (size_t i = 0; i < static_cast<size_t>(Count::count_); ++i) {
      const auto count = static_cast<Count>(i);
      const uint64_t more = b.count(count) - before[count];
      const bool is_of_all = std::string_view(name(count)).starts_with("rx_");
      if (more != 0 && !is_of_all)
        all.push_back(name(count) + std::string(" ") + std::to_string(more));
    }
    return all;
  }
  static void expect_nothing_happens(Bench& b, Psn psn, bool to_target) {
    const Usage usage = b.pds->usage();
    const size_t responded = b.client.responded.size();
    const size_t received = b.client.received.times.size();
    Counters before = b.pds->counters();
    each_packet(b, psn, to_target, [&](const char* what, int which) {
      SCOPED_TRACE(testing::Message() << what << " " << which << ", domain " << b.sdi);
      const Names counted = moved(b, before);
      ASSERT_EQ(counted.size(), 1u) << testing::PrintToString(counted);
      EXPECT_TRUE(counted[0].starts_with("drop_") && counted[0].ends_with(" 1")) << counted[0];
      EXPECT_EQ(b.tx().size(), 0u);
      EXPECT_EQ(b.pds->usage(), usage);
      before = b.pds->counters();
    });
    EXPECT_EQ(b.client.responded.size(), responded);
    EXPECT_EQ(b.client.received.times.size(), received);
    EXPECT_TRUE(b.client.failed.empty());
    EXPECT_TRUE(b.client.closed.empty());
  }
};

// The peer continues, and each message completes once.
TEST_F(KeylessTest, ForgeriesDoNotEndOrCompleteAnInitiatorsPackets) {
  for (const bool is_established : {false, true}) {
    Bench b;
    b.sdi = kOurs;
    b.open_initiator(3);
    if (is_established) b.rx_header(b.ack(b.start));
    expect_nothing_happens(b, b.start + 1, false);
    b.rx_header(b.ack(b.start + 2));
    EXPECT_EQ(b.client.responded.size(), 3u);
    expect_nothing_happens(b, b.start + 2, false);
    b.rx_header(b.ack(b.start + 2));
    EXPECT_EQ(b.client.responded.size(), 3u);
  }
}

TEST_F(KeylessTest, ForgeriesAreNotDeliveredToATargetAndDoNotEndIt) {
  Bench b;
  b.sdi = kOurs;
  b.open_target();
  expect_nothing_happens(b, Psn(1001), true);
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (std::vector<std::string>{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.client.received.times.size(), 2u);
}

}  // namespace
}  // namespace uet::pds::test
