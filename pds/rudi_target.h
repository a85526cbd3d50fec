// RUDI at the target: executes each request as it comes, duplicates as well, and answers it once.
// Nothing is kept but the answers that are about to leave. [PDS-202, PDS-203]
#pragma once

#include "pds/surroundings.h"

#include "wire/pds.h"

#include "base/arena.h"
#include "base/packet.h"
#include "base/ring.h"

namespace uet::pds {

class RudiTarget {
 public:
  explicit RudiTarget(const Surroundings& with) : with_(with) {}
  Result<void> create(Arena& arena) { return answers_.create(arena, with_.config.rudi_answers); }

  // Gives the request to the client. The code of the NACK that it deserves, or none. `ses` is what
  // follows the PDS header, `from` where answers go.
  wire::NackCode on_request(const wire::RudiRequest& h, const RxDatagram& d,
                            std::span<const std::byte> ses, const FabricAddress& from, Instant now);
  uint32_t transmit(TxBatch& batch, Instant now);
  bool has_work() const { return !answers_.empty(); }
  // Forgets what has not left.
  void abort(Instant now);
  uint32_t waiting() const { return answers_.size(); }

 private:
  struct Answer {
    FabricAddress to;
    PktId pkt_id;
    MessageHandle data;  // the answer is this message; none: `response`
    Entropy ev;
    bool m = false;
    bool retx = false;
    EncodedResponse response;
  };
  void emit(const Answer& answer, TxBatch& batch, Instant now);

  Surroundings with_;
  Ring<Answer> answers_;
};

}  // namespace uet::pds
