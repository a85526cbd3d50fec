// The request header that was written last, for the next packet of its message: in the middle of a
// message packets differ in place and length alone, and packets of a message are sent in a row.
#pragma once

#include "ses/outgoing/tx_message.h"

#include "pds/client.h"
#include "wire/ses_request.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet::ses {

class LastHeader {
 public:
  // Writes the header of that packet. False: the last one does not fit, and nothing was written.
  bool repeat(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header) const {
    if (m.handle != message_ || !is_plain(m, ref)) return false;
    std::byte* const to = header.take(kHeader);
    std::memcpy(to, octets_.data(), kHeader);
    wire::StandardRequest::store_place(to, ref.length, ref.offset);
    return true;
  }
  // The header of that packet was written: it ends `octets`.
  void keep(const TxMessage& m, const pds::PacketRef& ref, std::span<const std::byte> octets) {
    if (!is_plain(m, ref)) return;
    message_ = m.handle;
    std::memcpy(octets_.data(), octets.last(kHeader).data(), kHeader);
  }
  // An attempt to send a message begins, perhaps of the same one.
  void forget() { message_ = 0; }

 private:
  static constexpr uint32_t kHeader = wire::StandardRequest::kSize;

  // A packet in the middle, without an extension; what its header says of the message stays as it
  // is while the attempt goes on.
  static bool is_plain(const TxMessage& m, const pds::PacketRef& ref) {
    return !ref.som && !ref.eom && ref.length != 0 && m.state == TxMessage::State::started &&
           m.header == wire::NextHeader::standard && m.exposure == nullptr &&
           m.deferral == nullptr && !m.is_atomic();
  }

  uint32_t message_ = 0;  // its handle; 0: none
  std::array<std::byte, kHeader> octets_{};
};

}  // namespace uet::ses
