// The request that follows the last one is taken from it, and no other packet is.
#include "pds/rx/last_request.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::pds {
namespace {

class LastRequestPartTest : public testing::Test {
 protected:
  static wire::Request request(uint32_t psn, int16_t clear_psn_offset) {
    wire::Request h;
    h.type = wire::PdsType::rud_request;
    h.next_hdr = wire::NextHeader::standard;
    h.ar = true;
    h.spdcid = Pdcid(0x1234);
    h.dpdcid = Pdcid(0x5678);
    h.psn = Psn(psn);
    h.clear_psn_offset = clear_psn_offset;
    return h;
  }
  // A datagram with that header and eight octets behind it, good until the next call.
  RxDatagram datagram(const wire::Request& h) {
    octets_.assign(h.size() + 8, std::byte{0x77});
    wire::Writer w(octets_);
    h.emit(w);
    RxDatagram d;
    d.bytes = octets_;
    d.ev = Entropy(9);
    d.at = Instant::from_ns(1'000'000 + 128 * int64_t{h.psn.value()});
    return d;
  }
  const Inbound& read(const wire::Request& h) {
    const RxDatagram d = datagram(h);
    return last_.set(h, d, d.bytes.subspan(h.size()), 0);
  }
  bool is_expected(const wire::Request& h) { return last_.next(datagram(h)) != nullptr; }

  LastRequest last_;
  std::vector<std::byte> octets_;
};

// [PDS-060, WIRE-002] It has the next PSN, clears as far, and says of itself what its own datagram
// says.
TEST_F(LastRequestPartTest, TheNextRequestIsReadFromTheLastOne) {
  read(request(500, -7));
  for (int16_t i = 1; i <= 3; ++i) {
    const wire::Request h = request(500u + static_cast<uint32_t>(i), static_cast<int16_t>(-7 - i));
    RxDatagram d = datagram(h);
    d.ecn = i == 2 ? Ecn::ce : Ecn::ect0;
    const Inbound* const in = last_.next(d);
    ASSERT_NE(in, nullptr);
    const Inbound own = Inbound::of(h, d, d.bytes.subspan(h.size()), 0);
    EXPECT_EQ(in->datagram, &d);
    EXPECT_EQ(in->psn(), own.psn());
    EXPECT_EQ(in->clear_psn, own.clear_psn);
    EXPECT_EQ(in->trigger.ce, own.trigger.ce);
    EXPECT_EQ(in->trigger.ev, own.trigger.ev);
    EXPECT_EQ(in->trigger.arrival_tick, own.trigger.arrival_tick);
    EXPECT_EQ(in->arrival, own.arrival);
    EXPECT_EQ(in->nominal_bytes, own.nominal_bytes);
    EXPECT_EQ(in->ses.data(), own.ses.data());
    EXPECT_EQ(in->ses.size(), 8u);
    EXPECT_EQ(in->spdcid, own.spdcid);
    EXPECT_EQ(in->dpdcid, own.dpdcid);
    EXPECT_EQ(in->ar, own.ar);
    EXPECT_EQ(in->next_hdr, own.next_hdr);
  }
}

// [PDS-060] A repeated header is recognised only if each of its bits, its source and its marks are
// the same.
TEST_F(LastRequestPartTest, APacketThatDiffersIsAnotherOne) {
  const wire::Request next = request(501, -8);
  for (uint32_t at = 0; at < wire::Request::kSize; ++at) {
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
      read(request(500, -7));
      const RxDatagram d = datagram(next);
      d.bytes[at] ^= std::byte(bit);
      EXPECT_EQ(last_.next(d), nullptr) << at;
    }
  }
  read(request(500, -7));
  RxDatagram d = datagram(next);
  d.sdi = 5;
  EXPECT_EQ(last_.next(d), nullptr);
  d = datagram(next);
  d.dscp = 3;
  EXPECT_EQ(last_.next(d), nullptr);
  d = datagram(next);
  d.bytes = d.bytes.first(wire::Request::kSize - 1);
  EXPECT_EQ(last_.next(d), nullptr);
  EXPECT_TRUE(is_expected(next));
}

// [PDS-042, WIRE-002] Nothing is expected behind a SYN, a resend, a request for credit, or where
// the offset of the PSN to clear has no room.
TEST_F(LastRequestPartTest, NothingIsExpectedBehindAnUnusualRequest) {
  EXPECT_FALSE(is_expected(request(501, -8)));
  wire::Request h = request(500, -7);
  h.syn = true;
  read(h);
  h = request(501, -8);
  h.syn = true;
  EXPECT_FALSE(is_expected(h));
  h = request(500, -7);
  h.retx = true;
  read(h);
  h = request(501, -8);
  h.retx = true;
  EXPECT_FALSE(is_expected(h));
  h = request(500, -7);
  h.type = wire::PdsType::rud_cc_request;
  read(h);
  h = request(501, -8);
  h.type = wire::PdsType::rud_cc_request;
  EXPECT_FALSE(is_expected(h));
  read(request(500, INT16_MIN));
  EXPECT_FALSE(is_expected(request(501, INT16_MAX)));
  read(request(500, 1));
  EXPECT_FALSE(is_expected(request(501, 0)));
}

}  // namespace
}  // namespace uet::pds
