// The two modes without PDCs as the rest of the sublayer sees them: one door for packets, flows,
// turns and deadlines. The rules are in Rudi, RudiTarget and Uud. [PDS-060, PDS-V5, PDS 16, 17]
#pragma once

#include "pds/connectionless/rudi.h"
#include "pds/connectionless/rudi_target.h"
#include "pds/connectionless/surroundings.h"
#include "pds/connectionless/uud.h"
#include "pds/path_limit.h"

#include "base/prefetch.h"

#include <optional>

namespace uet::pds {

inline constexpr bool has_pdcs(Mode mode) { return mode == Mode::rud || mode == Mode::rod; }

class Connectionless {
 public:
  Connectionless(const Surroundings& with, const cms::Config& cms, RandomSource& random)
      : with_(with), rudi_(with, cms, random), rudi_target_(with), uud_(with, cms, random.u64()) {}
  Result<void> create(Arena& arena);

  // Prepares a flow of these modes; Errc::again: too many RUDI destinations.
  Result<void> adopt(Flow& flow);
  // Call before the flow is freed; none of its packets may be outstanding.
  void leave(Flow& flow) { rudi_.leave(flow); }
  // The flow may have a message for start().
  void wake(Flow& flow);

  // A NACK that ought to go out, if the caller's limits admit it.
  struct Refusal {
    wire::Nack nack;
    FabricAddress to;
    Entropy ev;
    uint32_t sdi = 0;  // of the request: its answer is sealed likewise
  };
  // A RUDI request, RUDI response or UUD request.
  std::optional<Refusal> receive(const RxDatagram& d, wire::PdsType type, Instant now);
  // A datagram that a switch has cut, if it was a RUDI request.
  std::optional<Refusal> receive_trimmed(const RxDatagram& d, wire::NackCode code) const;
  // A NACK of RUDI.
  void on_nack(const wire::Nack& h, const RxDatagram& d, Instant now) { rudi_.on_nack(h, d, now); }

  void transmit(TxBatch& batch, Instant now);
  void advance(Instant now);
  Instant next_deadline() const;
  bool has_work() const { return rudi_target_.has_work() || rudi_.has_work() || uud_.has_work(); }
  // Prefetches what says that there is nothing to do; Rudi has its lists at its end.
  void prefetch() const {
    constexpr size_t kListsBytes = 5 * kLineBytes;
    uet::prefetch(reinterpret_cast<const std::byte*>(&rudi_target_) - kListsBytes,
                  kListsBytes + kLineBytes);
    uet::prefetch(&uud_, sizeof(Uud));
  }
  bool idle() const { return rudi_.outstanding() == 0 && uud_.idle(); }
  uint32_t outstanding() const { return rudi_.outstanding(); }
  uint32_t waiting_answers() const { return rudi_target_.waiting(); }
  // Whether RUDI packets in flight to the peer are too long for the route; end_too_long() ends the
  // requests among them. The peer asks again for answers. [PDS-250]
  bool has_too_long(PeerId peer, const PathLimit& limit, Instant now) {
    return rudi_.has_too_long(peer, limit) || rudi_target_.has_too_long(peer, limit, now);
  }
  void end_too_long(PeerId peer, const PathLimit& limit, Instant now) {
    rudi_.end_too_long(peer, limit, now);
  }
  // Ends everything that was sent or is about to answer. A message that is half sent is the
  // caller's.
  void abort(Instant now);

 private:
  std::optional<Refusal> on_rudi_request(const RxDatagram& d, Instant now);
  void on_uud(const RxDatagram& d, Instant now);
  FabricAddress answer_to(const wire::RudiRequest& h, const RxDatagram& d) const;
  static Refusal refusal(const wire::RudiRequest& h, wire::NackCode code, const RxDatagram& d,
                         const FabricAddress& to);

  Surroundings with_;
  Rudi rudi_;
  RudiTarget rudi_target_;
  Uud uud_;
};

}  // namespace uet::pds
