// The packet that most likely arrives next: the one behind the last, of the same message. All
// octets of its header are known, so a packet that has them need not be read, and what Checks found
// of the one before holds for it. Its values are those that were checked, whatever the packet's
// memory holds by now. [SES-113, decision 21]
#pragma once

#include "ses/incoming/request.h"
#include "ses/incoming/rx_message.h"

#include "wire/ses_request.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet::ses {

class NextPacket {
 public:
  // Checks found nothing wrong with this packet of the message. `ses`: its octets.
  void follow(RxMessage& m, const Request& q, std::span<const std::byte> ses) {
    const bool is_plain = q.header == wire::NextHeader::standard && !q.is_rendezvous &&
                          !q.common.som && !q.common.eom;
    if (!is_plain) return;
    UET_ASSERT(ses.size() == kHeader + q.payload.size());  // the opcode has no extension
    message_ = &m;
    request_ = q;
    bytes_ = ses.size();
    std::memcpy(header_.data(), ses.data(), kHeader);
    name_next();
  }
  // The request of a packet that is the expected one, good until the next call; null: it is another
  // packet. Neither the first nor the last of its message is ever expected.
  const Request* take(const pds::RxRequest& rx) {
    if (message_ == nullptr || !is_same(rx)) return nullptr;
    const uint32_t offset = request_.offset + request_.length;
    // The packets before it have arrived, no other ones, and it is not the last. [SES-190]
    const RxMessage& m = *message_;
    const bool is_due = m.arrived == offset && m.packets.are_all_before(offset) &&
                        request_.length < m.pushed - offset;
    if (!is_due) return nullptr;
    request_.offset = offset;
    request_.token = rx.token;
    request_.in_order = rx.in_order;
    request_.is_confirmed = rx.is_confirmed;
    request_.payload = rx.ses.subspan(kHeader);
    name_next();
    return &request_;
  }
  // Of the packet that was taken.
  RxMessage& message() const { return *message_; }
  // The message has ended, or its packets are judged in another way from now on.
  void forget(const RxMessage& m) {
    if (message_ == &m) message_ = nullptr;
  }

 private:
  static constexpr uint32_t kHeader = wire::StandardRequest::kSize;

  bool is_same(const pds::RxRequest& rx) const {
    return rx.token.pdc == request_.token.pdc && rx.next_hdr == request_.header &&
           rx.ses.size() == bytes_ && std::memcmp(rx.ses.data(), header_.data(), kHeader) == 0;
  }
  void name_next() {
    wire::store_u32(header_.data() + wire::StandardRequest::kMessageOffsetAt,
                    request_.offset + request_.length);
  }

  RxMessage* message_ = nullptr;
  size_t bytes_ = 0;
  std::array<std::byte, kHeader> header_{};  // that the next packet has
  Request request_;                          // of the packet before it
};

}  // namespace uet::ses
