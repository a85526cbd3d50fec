// A Bench whose congestion management works by credit: 100 Gb/s and 12 us, so 150,000 octets before
// the first grant and a window of 225,000 (879 units of 256). A packet of the stub has 1024 octets
// of payload: 1,096 nominal, announced with 1,132; an MTU is 1,172.
#pragma once

#include "pds/test/bench.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uet::pds::test {

using wire::CtlType;
using Lines = std::vector<std::string>;

inline constexpr uint32_t kPacketBytes = 8 + 48 + 16 + 1024;

inline cms::Config credit_cms(cms::Algorithm algorithm = cms::Algorithm::rccc) {
  cms::Config c;
  c.algorithm = algorithm;
  c.mtu_bytes = 1024 + 148;
  c.base_rtt_probe = false;
  return c;
}

inline Config credit_pds() {
  Config c;
  c.payload_mtu = 1024;
  c.ack_form = AckForm::cc;
  return c;
}

class CreditBench : public Bench {
 public:
  explicit CreditBench(cms::Algorithm algorithm = cms::Algorithm::rccc,
                       const Config& config = credit_pds())
      : Bench(config, credit_cms(algorithm)) {}
  explicit CreditBench(const cms::Config& cms) : Bench(credit_pds(), cms) {}

  // --- we are the source ---

  // A PDC that the peer has answered, and that has used its initial credit.
  void open_source() {
    open_initiator(1);
    rx_header(ack(start));
  }
  void post(uint32_t packets) { client.post(flow, ++messages_, packets * client.mtu); }
  void grant(uint32_t units) {
    wire::Control h = control(CtlType::credit, 0, wire::pack_credit(units));
    h.ar = false;
    rx_header(h);
  }
  // The packets that leave now: requests, and the targets of Credit Request CPs with their PSNs.
  struct Sent {
    std::vector<wire::Request> requests;
    std::vector<wire::CreditRequest> asked;
    std::vector<Psn> asked_with;
  };
  Sent sent() {
    Sent all;
    for (const Out& o : tx()) {
      if (wire::is_request(o.type())) all.requests.push_back(o.as<wire::Request>());
      if (o.type() != wire::PdsType::control) continue;
      const auto h = o.as<wire::Control>();
      if (h.ctl_type != CtlType::credit_req) continue;
      EXPECT_FALSE(h.ar || h.syn);
      all.asked.push_back(wire::CreditRequest::unpack(h.payload));
      all.asked_with.push_back(h.psn);
    }
    return all;
  }

  // --- we are the destination ---

  wire::Request cc_request(uint32_t psn, uint8_t ccc_id, uint32_t target) const {
    wire::Request h = request(psn, false);
    h.type = wire::PdsType::rud_cc_request;
    h.ccc_id = ccc_id;
    h.credit_target = target;
    return h;
  }
  void ask(uint8_t ccc_id, uint32_t target) {
    wire::Control h = control(CtlType::credit_req, 0, wire::CreditRequest{ccc_id, target}.pack());
    h.ar = false;
    rx_header(h);
  }
  // Units of each Credit CP that goes out now.
  std::vector<uint32_t> grants() {
    std::vector<uint32_t> all;
    for (const Out& o : tx()) {
      if (o.type() != wire::PdsType::control) continue;
      const auto h = o.as<wire::Control>();
      if (h.ctl_type == CtlType::credit) all.push_back(wire::unpack_credit(h.payload));
    }
    return all;
  }
  // All within that time: a grant of 16 units takes 331 ns of the link.
  std::vector<uint32_t> grants_within(Duration time) {
    std::vector<uint32_t> all = grants();
    for (const Instant end = now + time; now < end;) {
      elapse(Duration::nanoseconds(100));
      for (const uint32_t units : grants()) all.push_back(units);
    }
    return all;
  }

 private:
  uint32_t messages_ = 1;
};

}  // namespace uet::pds::test
