// Goes once through the packets of a PDC in the order in which they were sent: PSNs from their
// first transmission to the ACK that covers them, messages from their first packet to the response.
#include "tools/pcap/ladder/follow.h"

#include "wire/pds_prologue.h"

#include <set>
#include <unordered_map>

namespace uet::tools::ladder {

namespace {

using namespace wire;

constexpr int32_t kRangeMax = 1 << 16;    // offsets are 16 bits: nothing farther off is compared
constexpr int32_t kDroppedMax = 1 << 12;  // PSNs that one NACK of an ordered target covers

// One PSN of one direction: the rungs about it.
struct Sent {
  uint32_t last = kNone;  // transmission
  uint32_t first = kNone;
  uint32_t message = kNone;
  uint32_t acked_by = kNone, nacked_by = kNone, missed_by = kNone;
};

// One direction of a PDC, with the rungs of each PSN.
struct Way {
  // The PSN, if it was sent; else null.
  Sent* find(uint32_t psn) {
    const auto found = by_psn.find(psn);
    return found != by_psn.end() ? &found->second : nullptr;
  }
  // The newest message with that ID; kNone when there is none.
  uint32_t message_with(uint16_t id) const {
    const auto found = by_message.find(id);
    return found != by_message.end() ? found->second : kNone;
  }
  // Calls fn(sent) once for each PSN of the range that nothing has covered before. Each is taken
  // out once, so that no capture makes this slow.
  template <class Fn>
  void cover(uint32_t from, uint32_t to, Fn&& fn) {
    auto at = open.lower_bound(from);
    while (at != open.end() && *at <= to) {
      fn(by_psn[*at]);
      at = open.erase(at);
    }
  }
  // Only the kRangeMax PSNs from there on stay open. Cost: the removed ones.
  void begin_anew(uint32_t first) {
    const uint32_t beyond = first + kRangeMax;
    const bool wraps = beyond < first;
    open.erase(wraps ? open.lower_bound(beyond) : open.begin(), open.lower_bound(first));
    if (!wraps) open.erase(open.lower_bound(beyond), open.end());
  }

  std::unordered_map<uint32_t, Sent> by_psn;
  std::set<uint32_t> open;                            // PSNs that no ACK has covered yet
  std::unordered_map<uint16_t, uint32_t> by_message;  // ID to the newest
  std::optional<Psn> highest, cack;
};

std::string text(uint64_t value) { return std::to_string(value); }

// Why the packet was sent again: the packets since its last transmission.
void blame(Rung& rung, const Sent& before) {
  const auto since = [&](uint32_t other) { return other != kNone && other > before.last; };
  rung.cause = Cause::timeout;
  if (since(before.missed_by)) {
    rung.cause = Cause::sack;
    rung.caused_by = before.missed_by;
  }
  if (since(before.nacked_by)) {
    rung.cause = Cause::nack;
    rung.caused_by = before.nacked_by;
  }
}

void count(Counts& c, const Rung& rung) {
  ++c.of_kind[static_cast<unsigned>(rung.kind)];
  c.retransmissions += rung.retransmission ? 1 : 0;
  c.duplicates += rung.duplicate ? 1 : 0;
  c.lost += rung.fate == Fate::lost ? 1 : 0;
}

class Follower {
 public:
  explicit Follower(Ladder& ladder) : ladder_(ladder) {
    for (uint8_t way = 0; way < 2; ++way) way_[way].by_psn.reserve(ladder.rungs.size());
  }

  void follow(uint32_t index, const DecodedPacket& packet) {
    rung_ = &ladder_.rungs[index];
    index_ = index;
    packet_ = &packet;
    rung_->trimmed = packet.trimmed;
    rung_->rejected = packet.outcome == Outcome::reject && !packet.trimmed;
    if (packet.payload) rung_->octets = static_cast<uint32_t>(packet.payload->size());
    std::visit([&](const auto& h) { header(h); }, packet.pds);
    std::visit([&](const auto& h) { message(h); }, packet.ses);
    if (packet.trimmed) rung_->label += " trimmed";
    if (rung_->rejected) rung_->label += std::string(" rejected: ") + wire::name(packet.error);
    count(ladder_.counts, *rung_);
  }

 private:
  Way& forth() { return way_[rung_->way]; }
  Way& back() { return way_[rung_->way ^ 1U]; }

  template <class... Part>
  void say(const Part&... parts) {
    std::string& label = rung_->label;
    (label.append(parts), ...);
  }

  // A packet that takes a PSN. Sent again without RETX, the network made the copy. [PDS-065]
  void sent(Psn psn, bool retx) {
    rung_->has_psn = true;
    rung_->psn = psn.value();
    Sent& before = forth().by_psn[psn.value()];
    std::optional<Psn>& highest = forth().highest;
    if (before.first == kNone) {
      before.first = index_;
      forth().open.insert(psn.value());
      rung_->retransmission = retx;
      if (highest && !psn.after(*highest)) rung_->out_of_order = !retx;
    } else {
      rung_->previous = before.last;
      rung_->retransmission = retx;
      rung_->duplicate = !retx;
      if (retx) blame(*rung_, before);
    }
    if (!highest || psn.after(*highest)) highest = psn;
    before.last = index_;
    rung_->acked_by = before.acked_by;
  }

  // Headers that say nothing of a PDC.
  template <class Header>
  void header(const Header&) {}
  void header(const Request& h) {
    say("psn ", text(h.psn.value()));
    if (h.syn) say(" syn");
    sent(h.psn, h.retx);
  }
  void header(const Control& h) {
    rung_->kind = Kind::control;
    say(wire::name(h.ctl_type));
    if (h.syn) say(" syn");
    const bool takes_psn = h.ctl_type == CtlType::noop || h.ctl_type == CtlType::close_cmd ||
                           h.ctl_type == CtlType::close_req || h.ctl_type == CtlType::negotiation;
    if (takes_psn) {  // [PDS-032]
      say(" psn ", text(h.psn.value()));
      sent(h.psn, h.retx);
    } else {
      rung_->retransmission = h.retx;
    }
  }

  // The transmission that an answer names: RETX says whether the first or the last.
  const Sent* answer(Psn psn, bool retx) {
    const Sent* const sent = back().find(psn.value());
    if (sent == nullptr) return nullptr;
    rung_->answers = retx ? sent->last : sent->first;
    return sent;
  }

  void header(const Ack& h) {
    rung_->kind = Kind::ack;
    say(wire::name(h.type), " cack ", text(h.cack_psn.value()));
    cover(h.cack_psn);
    if (h.p) return say(" probe");
    if (h.ack_psn() != h.cack_psn) say(" ack ", text(h.ack_psn().value()));
    if (const Sent* asked = answer(h.ack_psn(), h.retx)) acked_message_ = asked->message;
  }
  void header(const AckCc& h) {
    header(h.ack);
    sack(h.ack.cack_psn, h.sack_base(), h.sack_bitmap);
  }
  void header(const AckCcx& h) {
    header(h.ack);
    sack(h.ack.cack_psn, h.sack_base(), h.sack_bitmap);
  }

  // Every PSN up to cack is done. [PDS-034]
  void cover(Psn cack) {
    acked_message_ = kNone;
    std::optional<Psn>& known = back().cack;
    if (known && !cack.after(*known)) return;
    const Psn from = known ? *known + 1 : cack - kRangeMax;
    known = cack;
    const auto acknowledge_it = [&](Sent& which) { acknowledge(which); };
    if (from.value() > cack.value()) {
      back().cover(from.value(), UINT32_MAX, acknowledge_it);
      back().cover(0, cack.value(), acknowledge_it);
    } else {
      back().cover(from.value(), cack.value(), acknowledge_it);
    }
  }

  // All transmissions of the PSN so far, newest first.
  void acknowledge(Sent& which) {
    which.acked_by = index_;
    for (uint32_t i = which.last; i != kNone; i = ladder_.rungs[i].previous) {
      ladder_.rungs[i].acked_by = index_;
    }
  }

  // PSNs that the bitmap shows as missing below one that it shows as there.
  void sack(Psn cack, Psn base, uint64_t bitmap) {
    if (bitmap == 0) return;
    const int highest = 63 - __builtin_clzll(bitmap);
    std::string holes;
    int count = 0;
    for (int bit = 0; bit < highest; ++bit) {
      const Psn psn = base + bit;
      if ((bitmap >> bit & 1U) != 0 || !psn.after(cack)) continue;
      if (++count <= 3) holes += " " + text(psn.value());
      if (Sent* const sent = back().find(psn.value())) sent->missed_by = index_;
    }
    if (count == 0) return;
    say(" misses", holes);
    if (count > 3) say(" and ", text(static_cast<uint64_t>(count - 3)), " more");
  }

  void header(const Nack& h) {
    rung_->kind = Kind::nack;
    rung_->has_psn = true;
    rung_->psn = h.nack_psn.value();
    say("NACK ", wire::name(h.nack_code), " psn ", text(h.nack_psn.value()));
    acked_message_ = kNone;
    if (h.nack_code == NackCode::new_start_psn) {  // no ACK will cover earlier packets [PDS-051]
      back().begin_anew(h.payload);
    }
    if (answer(h.nack_psn, h.retx) == nullptr) return;
    back().by_psn[h.nack_psn.value()].nacked_by = index_;
    ladder_.rungs[rung_->answers].nacked_by = index_;
    refuse_from(h);
  }
  void header(const NackCcx& h) { header(h.nack); }

  // An ordered target that dropped a packet wants everything from the one it expects. [PDS-077]
  void refuse_from(const Nack& h) {
    const std::optional<Psn>& highest = back().highest;
    const Psn expected(h.payload);
    if (h.nack_code != NackCode::rod_ooo || *highest - expected >= kDroppedMax) return;
    for (Psn psn = expected; !psn.after(*highest); ++psn) {
      if (Sent* const sent = back().find(psn.value())) sent->nacked_by = index_;
    }
  }

  void message(const std::monostate&) {}
  void message(const SmallRequest& h) { request(h.common, 0, h.request_length); }
  void message(const MediumRequest& h) { request(h.common, 0, h.request_length); }
  void message(const StandardRequest& h) {
    request(h.common, h.message_id.value(), h.request_length);
  }

  void request(const RequestCommon& common, uint16_t id, uint32_t length) {
    if (rung_->kind != Kind::data) return;  // rejected: under a header that carries no request
    say(" ", wire::name(common.opcode));
    if (id != 0) say(" msg ", text(id));
    if (rung_->octets > 0) say(" ", text(rung_->octets), " B");
    Sent& sent = forth().by_psn[rung_->psn];
    if (sent.message == kNone) {
      sent.message = message_of_new(common.opcode, id, length);
      Message& m = ladder_.messages[sent.message];
      m.seen += rung_->octets;
      if (common.opcode == SesOpcode::read || length == 0) m.seen = m.length;
    }
    rung_->message = sent.message;
    Message& m = ladder_.messages[sent.message];
    if (index_ > m.last) m.last = index_;
  }

  // The newest message with this ID, unless that has all its octets or is another one.
  uint32_t message_of_new(SesOpcode opcode, uint16_t id, uint32_t length) {
    const uint32_t known = forth().message_with(id);
    if (id != 0 && known != kNone) {
      const Message& m = ladder_.messages[known];
      if (m.opcode == opcode && m.length == length && m.seen < m.length) return known;
    }
    const auto made = static_cast<uint32_t>(ladder_.messages.size());
    ladder_.messages.push_back({id, rung_->way, opcode, length, 0, index_, index_});
    if (id != 0) forth().by_message[id] = made;
    return made;
  }

  void message(const Response& h) {
    if (h.common.opcode == ResponseOpcode::no_response) return;
    say(" ", wire::name(h.common.opcode), " ", wire::name(h.common.return_code));
    if (h.message_id != MessageId{}) say(" msg ", text(h.message_id.value()));
    const uint32_t named = back().message_with(h.message_id.value());
    respond(h.message_id != MessageId{} && named != kNone ? named : acked_message_);
  }
  void message(const ResponseData& h) {
    say(" data of msg ", text(h.read_request_message_id.value()), " ", text(rung_->octets), " B");
    respond(back().message_with(h.read_request_message_id.value()));
  }
  void message(const ResponseDataSmall& h) {
    say(" data for psn ", text(h.original_request_psn.value()), " ", text(rung_->octets), " B");
    const Sent* const sent = back().find(h.original_request_psn.value());
    respond(sent != nullptr ? sent->message : kNone);
  }

  void respond(uint32_t message) {
    if (message == kNone) return;
    rung_->message = message;
    Message& m = ladder_.messages[message];
    m.response = index_;
    if (index_ > m.last) m.last = index_;
  }

  Ladder& ladder_;
  Way way_[2];
  Rung* rung_ = nullptr;
  const DecodedPacket* packet_ = nullptr;
  uint32_t index_ = 0;
  uint32_t acked_message_ = kNone;  // of the PSN that this ACK names
};

}  // namespace

void follow(Ladder& ladder, Trailer trailer) {
  Follower follower(ladder);
  Decoder decode(trailer);
  for (uint32_t i = 0; i < ladder.rungs.size(); ++i) {
    follower.follow(i, decode(*ladder.rungs[i].captured));
  }
}

}  // namespace uet::tools::ladder
