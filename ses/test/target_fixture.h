// Requests made by hand, as a foreign or hostile initiator would send them to node B.
#pragma once

#include "ses/test/pair.h"
#include "wire/ses.h"

#include <string>

namespace uet::ses::test {

using wire::ReturnCode;
using wire::SesOpcode;

class TargetTest : public PairTest {
 protected:
  // A request for the endpoint of B in one packet.
  static wire::StandardRequest request(SesOpcode opcode, uint32_t length) {
    wire::StandardRequest h;
    h.common.opcode = opcode;
    h.common.rel = h.common.som = h.common.eom = true;
    h.common.job_id = kJob;
    h.common.pid_on_fep = kPid;
    h.common.resource_index = kRi;
    h.message_id = MessageId(77);
    h.initiator = 5;
    h.request_length = length;
    return h;
  }
  // Packet [offset, offset + length) of a message that began as `h`.
  static wire::StandardRequest part(wire::StandardRequest h, uint32_t offset, uint32_t length) {
    h.common.som = offset == 0;
    h.common.eom = offset + length == h.request_length;
    h.message_offset = offset;
    h.payload_length = static_cast<uint16_t>(length);
    return h;
  }
  template <class Header>
  pds::Verdict give(const Header& h, size_t payload, wire::NextHeader next_hdr,
                    pds::Mode mode = pds::Mode::rud) {
    Octets octets(Header::kSize);
    wire::Writer w(octets);
    h.emit(w);
    const Octets data = pattern(payload);
    octets.insert(octets.end(), data.begin(), data.end());
    return give_octets(octets, next_hdr, mode);
  }
  pds::Verdict give_octets(const Octets& octets, wire::NextHeader next_hdr,
                           pds::Mode mode = pds::Mode::rud) {
    pds::RxRequest rx;
    rx.peer = from_;
    rx.mode = mode;
    rx.sdi = sdi_;
    rx.next_hdr = next_hdr;
    const bool has_pdc = mode == pds::Mode::rud || mode == pds::Mode::rod;
    rx.token = {pds::PdcHandle(has_pdc ? StubPds::kTargetPdc : 0), Psn(next_psn_++)};
    rx.in_order = in_order_;
    rx.is_confirmed = is_confirmed_;
    rx.ses = octets;
    return b_->exchange->on_request(rx, now_);
  }
  pds::Verdict standard(const wire::StandardRequest& h, size_t payload,
                        pds::Mode mode = pds::Mode::rud) {
    return give(h, payload, wire::NextHeader::standard, mode);
  }
  // "accept", "later", "drop", "nack <code>" or "<return code> gen <n> modified <n>".
  static std::string said(const pds::Verdict& v) {
    switch (v.kind) {
      case pds::Verdict::Kind::accept:
        return "accept";
      case pds::Verdict::Kind::later:
        return "later";
      case pds::Verdict::Kind::drop:
        return "drop";
      case pds::Verdict::Kind::nack:
        return std::string("nack ") + wire::name(v.nack);
      case pds::Verdict::Kind::respond:
        break;
    }
    const auto at = [&](size_t i) { return static_cast<uint32_t>(v.response.bytes[i]); };
    std::string out = wire::name(ReturnCode(at(1) & 0x3F));
    if (v.response.next_hdr != wire::NextHeader::response) {
      return out + " data " + std::to_string(v.response.length);
    }
    EXPECT_TRUE(v.guaranteed);
    EXPECT_EQ(v.response.length, 12);
    if (at(4) != 0) out += " gen " + std::to_string(at(4));
    const uint32_t modified = at(8) << 24 | at(9) << 16 | at(10) << 8 | at(11);
    if (modified != 0) out += " modified " + std::to_string(modified);
    return out;
  }
  // A peer of B beside A; the same for the same number.
  PeerId another_peer(uint8_t number = 0, uint16_t port = kUetPort) {
    FabricAddress address;
    address.family = FabricAddress::Family::ipv4;
    address.ip = {10, 0, 1, number};
    address.port = port;
    const PeerId peer = *b_->peers.find_or_add(address, now_);
    b_->peers.add_ref(peer);
    return peer;
  }
  wire::StandardRequest write_to(uint64_t key, uint32_t length, uint64_t offset = 0) {
    wire::StandardRequest h = request(SesOpcode::write, length);
    h.match_bits = key;
    h.buffer_offset = offset;
    return h;
  }
  uint64_t count(Counter c) const { return b_->ses->counters()[c]; }

  uint32_t next_psn_ = 1;
  PeerId from_{0};        // the sender is given
  uint32_t sdi_ = 0;      // the secure domain that it was opened in, 0: it was clear
  bool in_order_ = true;  // what PDS says of the next packet
  bool is_confirmed_ = true;
};

}  // namespace uet::ses::test
