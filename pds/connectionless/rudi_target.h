// RUDI at the target: executes each request as it comes, duplicates as well, and answers it once.
// Nothing is kept but the answers that are about to leave. [PDS-202, PDS-203]
#pragma once

#include "pds/connectionless/surroundings.h"
#include "pds/path_limit.h"

#include "wire/pds.h"

#include "base/arena.h"
#include "base/packet.h"
#include "base/ring.h"

#include <array>

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
  // Drops the answers that have not left.
  void abort(Instant now);
  uint32_t waiting() const { return answers_.size(); }
  // Whether an answer to the peer that left just now is too long for the route. [PDS-250]
  bool has_too_long(PeerId peer, const PathLimit& limit, Instant now) const;

 private:
  struct Answer {
    FabricAddress to;
    PeerId peer;
    PktId pkt_id;
    MessageHandle data;  // the answer is this message; none: `response`
    Entropy ev;
    bool m = false;
    bool retx = false;
    uint32_t sdi = 0;  // of the request
    EncodedResponse response;
  };
  // The datagram of an answer with data.
  struct Sent {
    PeerId peer;
    uint32_t bytes = 0;
    Instant at;
  };
  void emit(const Answer& answer, TxBatch& batch, Instant now);

  // How long, and for how many answers, a report that an answer was too long is accepted.
  static constexpr Duration kUnderWay = Duration::seconds(1);
  static constexpr uint32_t kSentMax = 64;

  Surroundings with_;
  Ring<Answer> answers_;
  std::array<Sent, kSentMax> sent_{};
  uint32_t sent_next_ = 0;
};

}  // namespace uet::pds
