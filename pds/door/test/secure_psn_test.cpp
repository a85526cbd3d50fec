// Where secured PDCs begin: no recorded packet opens one again. [PDS 4.2]
#include "pds/door/secure_psn.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

constexpr uint32_t kDomain = 77;

class SecurePsnPartTest : public AllParts {
 protected:
  SecurePsnPartTest() {
    res_.config.secure_starts = 2;
    EXPECT_TRUE(secure_psn_.create(arena_).ok());
  }
  struct Start {
    Psn psn;
    bool is_pending = false;
  };
  // A SYN of the peer that begins there.
  Start begin(Psn start, uint32_t sdi = kDomain) {
    RxDatagram d;
    d.sdi = sdi;
    Inbound in;
    in.datagram = &d;
    in.start_psn = start;
    Start got;
    got.psn = secure_psn_.secure_start(in, peer_, got.is_pending);
    return got;
  }
  // A target that has received that PSN last.
  Pdc& received(Psn last, uint32_t sdi = kDomain) {
    Pdc& pdc = target();
    pdc.sdi = sdi;
    pdc.tx.start(last);
    pdc.begin_at(last, res_.config);
    pdc.rx.accept(res_.rx_pool, last, false);
    return pdc;
  }
};

// [PDS-050] In the clear the initiator decides, whatever the method is.
TEST_F(SecurePsnPartTest, APdcInTheClearBeginsWhereItsSynSays) {
  res_.config.start_method = StartMethod::random_1rtt;
  EXPECT_EQ(begin(Psn(5), 0).psn, Psn(5));
  EXPECT_FALSE(begin(Psn(5), 0).is_pending);
}

// [PDS-053] Nothing that a PDC used opens the next one.
TEST_F(SecurePsnPartTest, ASynBelowTheFloorIsTold) {
  EXPECT_FALSE(begin(Psn(5)).is_pending) << "nothing is known of the peer";
  EXPECT_EQ(secure_psn_.raise_floor(received(Psn(800))), Psn(801));
  const Start recorded = begin(Psn(800));
  EXPECT_TRUE(recorded.is_pending);
  EXPECT_EQ(recorded.psn, Psn(801));
  EXPECT_FALSE(begin(Psn(801)).is_pending);
  EXPECT_FALSE(begin(Psn(800), kDomain + 1).is_pending) << "another domain has other keys";
}

// [PDS-053] Return data counts as well.
TEST_F(SecurePsnPartTest, TheFloorLiesAboveWhatWasSent) {
  Pdc& pdc = received(kFirst);
  send(pdc, 10);
  EXPECT_EQ(secure_psn_.raise_floor(pdc), kFirst + 10);
}

// [PDS-053] A floor was forgotten. Its source is unknown, so the target draws the start of every
// PDC.
TEST_F(SecurePsnPartTest, AfterAForgottenFloorEveryStartIsDrawn) {
  for (uint32_t sdi = 1; sdi <= 3; ++sdi) secure_psn_.raise_floor(received(Psn(800), sdi));
  EXPECT_TRUE(begin(Psn(4'000'000'000u)).is_pending);
}

// [PDS-050] By the other method the target draws each start.
TEST_F(SecurePsnPartTest, ByTheOtherMethodTheTargetDrawsEachStart) {
  res_.config.start_method = StartMethod::random_1rtt;
  const Start one = begin(Psn(5));
  const Start two = begin(Psn(5));
  EXPECT_TRUE(one.is_pending);
  EXPECT_NE(one.psn, two.psn);
}

// [PDS-053] The initiator begins where the closing ACK of the last PDC said.
TEST_F(SecurePsnPartTest, AnInitiatorBeginsWhereItWasTold) {
  Pdc& pdc = initiator();
  pdc.sdi = kDomain;
  const auto start = [&](uint32_t sdi) {
    return secure_psn_.initial_start(pdc, peer_, sdi, table_);
  };
  const Psn drawn = start(kDomain);
  EXPECT_LT(drawn.value(), uint32_t{1} << 31) << "a low one [PDS-050]";
  wire::Ack closing;
  closing.epsn = true;
  closing.expected_start_psn = Psn(123'456);
  secure_psn_.learn_start(pdc, closing);
  EXPECT_EQ(start(kDomain), Psn(123'456));
  EXPECT_EQ(start(0), kFirst);
}

}  // namespace
}  // namespace uet::pds::part
