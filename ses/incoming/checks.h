// Judges requests in the order of the specification. The checks change nothing, except that a
// disabled index may be enabled again. [ses.md 5]
#pragma once

#include "ses/endpoints.h"
#include "ses/incoming/request.h"
#include "ses/incoming/rx_message.h"
#include "ses/memory/memory_region.h"
#include "ses/receives/generations.h"
#include "ses/resources.h"

#include <cstdint>

namespace uet::ses {

// The decision about a request that begins a message.
struct Decision {
  enum class Kind : uint8_t {
    refuse,        // with `code`; `why` counts it
    no_slot,       // it is too far ahead of what can be tracked
    restart,       // a peer asks for a deferred send again
    deferral_end,  // the end of a message that was not deferred, or is forgotten
    msg_error,     // the initiator gives a message up
    no_op,
    write,
    read,
    atomic,
    send_atomic,
    send,
  };
  Kind kind = Kind::refuse;
  wire::ReturnCode code = wire::ReturnCode::ok;
  Counter why{};
  uint8_t generation = 0;        // with BAD_GENERATION: the one of the index
  Endpoint* endpoint = nullptr;  // from no_op on
};

// The same of a later packet of a known message.
struct Continuation {
  wire::ReturnCode code = wire::ReturnCode::ok;  // else the message fails with it
  Counter why{};
  Endpoint* endpoint = nullptr;  // with OK
};

class Checks {
 public:
  Checks(const Resources& res, const Endpoints& endpoints, const MemoryRegions& memory,
         Generations& generations)
      : res_(res), endpoints_(endpoints), memory_(memory), generations_(generations) {}
  void create();

  // A message that is not known yet. [SES-110..117]
  Decision judge(const Request& q);
  // A later packet of a known message that has no error yet. [SES-113, SES-021]
  Continuation judge_later(const RxMessage& m, const Request& q) const;
  // That a known message without an error is for.
  Endpoint& endpoint_of(const RxMessage& m) const {
    Endpoint* const ep = endpoints_.get(m.endpoint);
    UET_ASSERT(ep != nullptr);  // close() turns its messages into errored ones
    return *ep;
  }
  // The packet of no octets after which no more comes of a message that waits. [SES-097]
  static bool is_deferral_end(const Request& q);

 private:
  // [SES-186]
  bool serves(wire::SesOpcode opcode) const {
    return (served_ >> static_cast<unsigned>(opcode) & 1) != 0;
  }
  Endpoint* endpoint_for(const Request& q) const;
  bool begins_too_late(const Request& q) const;
  Decision missing_endpoint(const Request& q) const;
  Decision check_generation(Endpoint& ep, const Request& q);
  static Decision::Kind kind_of(wire::SesOpcode opcode);

  const Resources& res_;
  const Endpoints& endpoints_;
  const MemoryRegions& memory_;
  Generations& generations_;
  uint64_t served_ = 0;  // bit n: opcode n
};

}  // namespace uet::ses
