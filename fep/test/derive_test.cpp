// Members of a Config that follow from others.
#include "fep/derive.h"

#include <gtest/gtest.h>

namespace uet::fep {
namespace {

// [PDS-220] In the soft profile refusals end on the clock of silence; in spec on their own.
TEST(DeriveTest, DerivingMakesTheLayersAgree) {
  Config config;
  config.ses.payload_mtu = 8192;
  config.pds.peer_timeout = Duration::seconds(7);
  derive(config);
  EXPECT_EQ(config.pds.payload_mtu, 8192u);
  EXPECT_GE(config.pds.reorder_packet_bytes, 8192u + 44);
  EXPECT_GT(config.cms.mtu_bytes, 8192u);
  EXPECT_EQ(config.ses.retry_patience, Duration::seconds(7));
  EXPECT_EQ(config.ses.partial_message_time, Duration::seconds(7));

  // [PDS-064] A peer is asked before it counts as silent.
  Config hasty;
  hasty.pds.peer_timeout = Duration::milliseconds(1);
  hasty.pds.quiet_time = Duration::milliseconds(100);
  derive(hasty);
  EXPECT_EQ(hasty.pds.quiet_time, Duration::microseconds(500));

  Config spec;
  spec.pds = pds::Config::spec();
  const Duration own = spec.ses.retry_patience;
  spec.pds.peer_timeout = Duration::seconds(7);
  derive(spec);
  EXPECT_EQ(spec.ses.retry_patience, own);
}

// [SES-108, SES-135] The profile of the specification counts the tries of a message, too; the
// profile for software waits as long as the peer answers.
TEST(DeriveTest, TheProfileOfTheSpecificationCountsTheTriesOfMessages) {
  Config soft;
  derive(soft);
  EXPECT_EQ(soft.ses.retry_limit, 0u);

  Config spec;
  spec.pds = pds::Config::spec();
  derive(spec);
  EXPECT_EQ(spec.ses.retry_limit, 5u);
  EXPECT_EQ(spec.ses.retry_time_cap, Duration::milliseconds(3200));
  EXPECT_EQ(spec.ses.partial_message_time, Duration::seconds(5));

  Config own;
  own.pds = pds::Config::spec();
  own.ses.retry_limit = 9;
  derive(own);
  EXPECT_EQ(own.ses.retry_limit, 9u);
}

// [CMS-116] The marks of a destination's memory are shares of its maximum; by default it has none.
TEST(DeriveTest, PressureIsAShareOfTheMemoryForMessages) {
  Config config;
  config.ses.unexpected_bytes = 2'000'000;
  derive(config);
  EXPECT_EQ(config.cms.pressure_high_bytes, 0u);

  config.pressure_percent = 75;
  derive(config);
  EXPECT_EQ(config.cms.pressure_low_bytes, 1'500'000u);
  EXPECT_EQ(config.cms.pressure_high_bytes, 2'000'000u);
}

// [CMS-146] TFC needs the state in ACK_CC: a plain ACK carries none.
TEST(DeriveTest, TfcHasLongAcks) {
  Config config;
  derive(config);
  EXPECT_EQ(config.pds.ack_form, pds::AckForm::by_need);
  config.cms.algorithm = cms::Algorithm::tfc;
  derive(config);
  EXPECT_EQ(config.pds.ack_form, pds::AckForm::cc);
}

}  // namespace
}  // namespace uet::fep
