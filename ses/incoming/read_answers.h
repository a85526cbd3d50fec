// Owns the answers to READs on their way back, which PDS pulls and sends like outgoing messages. No
// peer gets more of them, or of their octets, than its share. [SES-074, T-39]
#pragma once

#include "ses/incoming/request.h"
#include "ses/incoming/return_message.h"
#include "ses/memory/memory_region.h"
#include "ses/rendezvous/exposure.h"
#include "ses/resources.h"

#include "pds/client.h"

#include "base/packet.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

// An answer that carries `bytes` octets for that request.
ReturnMessage answer_to(const Request& q, uint32_t bytes);

class ReadAnswers {
 public:
  ReadAnswers(Resources& res, const MemoryRegions& memory) : res_(res), memory_(memory) {}
  Result<void> create();

  // Whether that handle is of an answer: then it is asked here and not of Outgoing.
  static bool is_one(pds::MessageHandle handle) { return (handle.value() & kMark) != 0; }

  // Starts the way back of one answer.
  enum class Sent : uint8_t {
    sent,
    no_slot,
    pdc_gone
  };
  Sent send(pds::PdcHandle pdc, const ReturnMessage& answer);
  // Holds one answer to a RUDI READ, which PDS pulls when it leaves. 0: no slot. [SES-077]
  pds::MessageHandle hold(const ReturnMessage& answer);

  bool pull(pds::MessageHandle handle, pds::PacketRef& out);
  void encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) const;
  // Its way back is over, well or not.
  AnswerEnd end(pds::MessageHandle handle);

  // The answer is too long for the route: it becomes an error, even if its data was sent under the
  // same PSN and may have arrived. Returns the bytes read. [SES-164, LF-141]
  AnswerEnd cut(pds::MessageHandle handle);
  // The system could not read the region's memory: the resend reports it to the initiator.
  // [SES-164]
  void on_unreadable(pds::MessageHandle handle);
  // Shortens answers that are too long for the route to the peer and not yet with PDS; PDS reports
  // the rest itself. Calls fn(AnswerEnd) for each.
  template <class Fn>
  void cut_longer(PeerId peer, uint16_t payload, Fn&& fn) {
    answers_.for_each([&](ReturnMessage& r) {
      if (r.peer == peer && r.length > payload && !r.is_pulled) fn(cut(r));
    });
  }

  bool idle() const { return answers_.size() == 0; }

 private:
  // Handles of answers carry this bit, which the index of no slab in use reaches.
  static constexpr uint32_t kMark = uint32_t{1} << 21;

  ReturnMessage* find(pds::MessageHandle handle) {
    return answers_.get(Handle<ReturnMessage>::from_word(handle.value() & ~kMark));
  }
  bool is_within_quota(const ReturnMessage& answer) const;
  static AnswerEnd cut(ReturnMessage& r);
  static AnswerEnd end_of(const ReturnMessage& r);
  void free(ReturnMessage& r);

  Resources& res_;
  const MemoryRegions& memory_;
  Slab<ReturnMessage> answers_;
};

}  // namespace uet::ses
