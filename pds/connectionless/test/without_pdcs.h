// For the tests of the modes without PDCs: datagrams, and what is put into a batch.
#pragma once

#include "pds/connectionless/connectionless.h"

#include "pds/test/part.h"

#include "wire/pds.h"

#include <vector>

namespace uet::pds::part {

// A header and `payload` octets behind it. Valid until the next one is made.
class Datagrams {
 public:
  template <class Header>
  RxDatagram with(const Header& header, size_t payload = 8) {
    octets_.assign(Header::kSize + payload, std::byte{0});
    wire::Writer w(octets_);
    header.emit(w);
    RxDatagram d;
    d.bytes = octets_;
    d.from = address(9);
    d.ev = Entropy(0x1234);
    d.at = kNow;
    return d;
  }

 private:
  std::vector<std::byte> octets_;
};

inline wire::RudiRequest rudi_request(uint32_t id, bool retx = false) {
  wire::RudiRequest h;
  h.next_hdr = wire::NextHeader::standard;
  h.pkt_id = PktId(id);
  h.retx = retx;
  return h;
}
inline std::vector<wire::RudiResponse> responses_in(const TxBatch& batch) {
  std::vector<wire::RudiResponse> all;
  for (const TxPacket& packet : batch.packets()) {
    wire::Reader r({packet.header, packet.header_bytes});
    all.push_back(wire::RudiResponse::read(r));
  }
  return all;
}

}  // namespace uet::pds::part
