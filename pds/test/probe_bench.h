// Shared parts of the tests of Probes. [PDS 12 L5, PDS 13]
#pragma once

#include "pds/test/bench.h"

#include <string>

namespace uet::pds::test {

class ProbeTest : public ::testing::Test {
 protected:
  ProbeTest() {
    config_.rto_init = 100_ms;  // far behind Tail_Loss_Time, 5 ms
    config_.rto_max = 200_ms;
  }
  // The answer to the Probe that is shown as `sent`.
  static wire::AckCc answer(const Bench& b, const Bench::Out& sent, int cack, uint64_t bitmap) {
    const auto probe = sent.as<wire::Control>();
    wire::AckCc h;
    h.ack = b.ack(b.start + cack);
    h.ack.type = wire::PdsType::ack_cc;
    h.ack.p = true;
    h.ack.probe_opaque = probe.probe_opaque;
    h.mpr = 8;
    h.sack_psn_offset = static_cast<int16_t>(Psn(probe.payload) - h.ack.cack_psn);
    h.sack_bitmap = bitmap;
    return h;
  }
  std::string probe_of(const Bench& b, int psn, int base) const {
    return "CP PROBE psn " + std::to_string((b.start + psn).value()) + " ar payload " +
           std::to_string((b.start + base).value());
  }
  Config config_;
};

}  // namespace uet::pds::test
