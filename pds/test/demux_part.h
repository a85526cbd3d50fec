// For the tests of Demux alone: packets of the only peer go in, what comes of each is a list of the
// calls that Demux, its two halves, Lookup and Trimmed make of other parts, which are stubs, and of
// what it counts.
#pragma once

#include "pds/demux.h"
#include "pds/test/all_parts.h"

namespace uet::pds::part {

using Octets = std::vector<std::byte>;

inline constexpr uint32_t kSdi = 5;
inline constexpr Pdcid kUnknown(9999);

template <class Header>
Octets octets_of(const Header& h, uint32_t more = 0) {
  Octets octets(h.size() + more);
  wire::Writer w(octets);
  h.emit(w);
  return octets;
}

class DemuxPartTest : public AllParts {
 protected:
  // What is known of a datagram beside its octets.
  struct Marks {
    uint8_t from = 9;  // address of the only peer
    uint8_t dscp = 0;
    uint32_t sdi = 0;
    Instant at = kNow;
  };
  // What came of a datagram: the calls of other parts in their order, then what was counted.
  Calls outcome(Octets octets, const Marks& marks) {
    RxDatagram d;
    d.bytes = octets;
    d.from = address(marks.from);
    d.dscp = marks.dscp;
    d.sdi = marks.sdi;
    d.at = marks.at;
    const Counters before = res_.counters;
    calls().clear();
    demux_.receive(d, kNow);
    Calls all = calls();
    for (size_t i = 0; i < Counters::kCount; ++i) {
      const Count c = static_cast<Count>(i);
      const bool is_usual = c == Count::rx_packets || c == Count::rx_requests;
      if (!is_usual && res_.counters[c] != before[c]) all.push_back(name(c));
    }
    return all;
  }
  Calls outcome(Octets octets) { return outcome(std::move(octets), Marks()); }
  Calls outcome_cut(Octets octets, uint32_t sdi = 0) {
    return outcome(std::move(octets), {.dscp = res_.config.trimmed_dscp, .sdi = sdi});
  }

  // Of the peer of that PDC, the first PSN.
  static wire::Request request(const Pdc& pdc) {
    wire::Request h;
    h.next_hdr = wire::NextHeader::standard;
    h.psn = kFirst;
    h.spdcid = kPeerId;
    h.dpdcid = pdc.id;
    return h;
  }
  static wire::Request syn() {
    wire::Request h;
    h.next_hdr = wire::NextHeader::standard;
    h.syn = true;
    h.psn = kFirst;
    h.spdcid = kPeerId;
    return h;
  }
  static wire::Control control(const Pdc& pdc) {
    wire::Control h;
    h.ar = true;
    h.psn = kFirst;
    h.spdcid = kPeerId;
    h.dpdcid = pdc.id;
    return h;
  }
  static wire::Ack ack(const Pdc& pdc) {
    wire::Ack h;
    h.cack_psn = kFirst;
    h.spdcid = kPeerId;
    h.dpdcid = pdc.id;
    return h;
  }
  static wire::Nack nack(const Pdc& pdc, wire::NackCode code = wire::NackCode::no_resource) {
    wire::Nack h;
    h.nack_code = code;
    h.nack_psn = kFirst;
    h.spdcid = kPeerId;
    h.dpdcid = pdc.id;
    return h;
  }
  // Of a secured domain.
  Pdc& secured() {
    Pdc& pdc = target();
    pdc.sdi = kSdi;
    return pdc;
  }
  // The calls for the first packet of a PDC, of `octets` octets, when no check fails, and then
  // `then`.
  static Calls admitted(const Pdc& pdc, uint32_t octets, const Calls& then = {}) {
    Calls all{"touch", "earn by " + std::to_string(octets),
              "admit 1000 on " + std::to_string(pdc.id.value())};
    all.insert(all.end(), then.begin(), then.end());
    return all;
  }

  Connectionless connectionless_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
  Inbox inbox_{res_, schedule_, proofs_, closing_, store_, reorder_, destination_, acks_, steps_};
  AckReader ack_reader_{res_, schedule_, idle_, proofs_, closing_, loss_, probes_};
  NackReader nack_reader_{res_, schedule_, idle_, proofs_, closing_, ending_, loss_, probes_};
  Challenger challenger_{res_, table_, proofs_, replies_};
  Opening opening_{res_, table_, schedule_, contexts_, idle_, secure_psn_, counts_};
  Door door_{res_, table_, replies_, closing_, ending_, reclaim_, challenger_, opening_};
  Trimmed trimmed_{res_, table_, connectionless_, replies_, loss_, destination_, inbox_};
  Lookup lookup_{res_, table_, replies_, door_};
  RequestDemux requests_{res_, lookup_, door_, schedule_, idle_, replies_, steps_, inbox_};
  AnswerDemux answers_{res_, lookup_, requests_, steps_, ack_reader_, nack_reader_};
  Demux demux_{res_, connectionless_, replies_, trimmed_, lookup_, requests_, answers_};
};

}  // namespace uet::pds::part
