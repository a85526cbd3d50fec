// Two Ses; A sends by rendezvous from 2,000 octets on, one packet of 1,024 pushed. [ses.md 4.4]
#pragma once

#include "ses/test/target_fixture.h"

namespace uet::ses::test {

class RendezvousTest : public TargetTest {
 protected:
  void SetUp() override {
    config_.rendezvous_bytes = 2000;
    TargetTest::SetUp();
  }
  SendRequest by_rendezvous(const Octets& data, uintptr_t context = 1) const {
    SendRequest s = send_request(data, context);
    s.to.capabilities = kAiBase | kHpc;
    return s;
  }
  void send(const SendRequest& s) { ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok()); }
  void receive(Octets& room, uintptr_t context = 2) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room, context), now_).ok());
  }
  // The key of the source in the packet that A sends now, which stays under way.
  uint64_t exposed_key() {
    transmit();
    wire::Reader r(network_[0].octets);
    wire::StandardRequest::read(r);
    return wire::Rendezvous::read(r).read_memory_key;
  }
  // READ of A's memory as B sends it, or another peer of A.
  pds::Verdict read_of_a(uint64_t key, uint64_t offset, uint32_t length, PeerId from = PeerId(0)) {
    wire::StandardRequest h = request(SesOpcode::read, length);
    h.match_bits = key;
    h.buffer_offset = offset;
    Octets octets(wire::StandardRequest::kSize);
    wire::Writer w(octets);
    h.emit(w);
    pds::RxRequest rx;
    rx.peer = from;
    rx.next_hdr = wire::NextHeader::standard;
    rx.token = {pds::PdcHandle(StubPds::kTargetPdc), Psn(5000 + next_psn_++)};
    rx.ses = octets;
    return a_->exchange->on_request(rx, now_);
  }
  uint64_t sent_so(const Node& node) const { return node.ses->counters()[Counter::tx_rendezvous]; }
};

}  // namespace uet::ses::test
