// The bench for the modes without PDCs: their packets in and out, and flows toward two peers.
#pragma once

#include "pds/test/bench.h"

#include "base/time.h"

namespace uet::pds::test {

class RudiBench : public Bench {
 public:
  explicit RudiBench(const Config& config = {}, const cms::Config& cms = {}) : Bench(config, cms) {
    client.script.names_are_unique = false;
  }

  PeerId peer(uint8_t last = 9) { return *peers.find_or_add(address(last), now); }
  FlowId flow(Mode mode = Mode::rudi, uint32_t job = 1, uint8_t to = 9) {
    return *pds->flow(peer(to), TrafficClass(0), mode, JobId(job), sdi);
  }
  // Sends a message of `packets` packets; returns the packets that leave now.
  std::vector<Out> send(uint32_t handle, uint32_t packets, uint32_t job = 1, uint8_t to = 9) {
    client.post(flow(Mode::rudi, job, to), handle, packets * client.mtu);
    return tx();
  }

  static PktId id_of(const Out& o) { return o.as<wire::RudiRequest>().pkt_id; }
  // The peer answers with a SES response of 12 octets.
  void answer(PktId id, bool m = false) {
    std::vector<std::byte> octets(8 + 12);
    wire::Writer w(octets);
    wire::RudiResponse h;
    h.next_hdr = wire::NextHeader::response;
    h.m = m;
    h.pkt_id = id;
    h.emit(w);
    rx_octets(std::move(octets));
  }
  void refuse(PktId id, wire::NackCode code) {
    wire::Nack h;
    h.nt = true;
    h.nack_code = code;
    h.nack_pkt_id = id;
    rx_header(h);
  }
  // The peer asks. SES octets name {message, offset 0}.
  static std::vector<std::byte> request(uint32_t id, uint32_t message = 1, bool retx = false) {
    std::vector<std::byte> octets(8 + 8);
    wire::Writer w(octets);
    wire::RudiRequest h;
    h.next_hdr = wire::NextHeader::standard;
    h.retx = retx;
    h.pkt_id = PktId(id);
    h.emit(w);
    w.u32(message);
    w.u32(0);
    return octets;
  }
  static std::vector<std::byte> datagram(uint32_t message = 1) {
    std::vector<std::byte> octets(4 + 8);
    wire::Writer w(octets);
    wire::Uud h;
    h.next_hdr = wire::NextHeader::standard;
    h.emit(w);
    w.u32(message);
    w.u32(0);
    return octets;
  }
};

inline std::string hex(std::span<const std::byte> octets) {
  std::string text;
  for (const std::byte b : octets) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(b));
    text += digits;
  }
  return text;
}

}  // namespace uet::pds::test
