// SPDX-License-Identifier: GPL-2.0-or-later
// PSNs from their first transmission to the ACK that covers them: resends and their reasons,
// missing PSNs, refused ones.
#include "dissector/pdc.h"

#include "wire/pds_prologue.h"

#include <algorithm>

namespace uet::dissector {

namespace {

using wire::CtlType;
using wire::PdsType;

constexpr uint32_t kRangeMax = 1 << 16;  // offsets are 16 bits: nothing farther off is compared

bool is_control(const PdsFields& f) { return f.type == PdsType::control; }

// Packets that take the next PSN of their direction. [PDS-032]
bool takes_psn(const PdsFields& f) {
  if (wire::is_request(f.type)) return true;
  if (!is_control(f)) return false;
  const auto type = static_cast<CtlType>(f.ctl_type);
  return type == CtlType::noop || type == CtlType::close_cmd || type == CtlType::close_req ||
         type == CtlType::negotiation;
}

constexpr uint32_t kWordBits = 64;

void open_psn(Direction& way, uint32_t psn) {
  void* const key = GUINT_TO_POINTER(psn / kWordBits);
  auto* word = static_cast<uint64_t*>(wmem_map_lookup(way.open, key));
  if (word == nullptr) {
    word = wmem_new0(wmem_file_scope(), uint64_t);
    wmem_map_insert(way.open, key, word);
  }
  *word |= uint64_t{1} << (psn % kWordBits);
}

// Calls visit with the Transmissions of each open PSN from `first` to `last`, at most kRangeMax of
// them; those for which it returns true are closed. Looks up a word at a time, so that captures
// with large leaps are no slower than others.
template <class Visit>
void each_open(const Direction& way, uint32_t first, uint32_t last, Visit visit) {
  if (last - first >= kRangeMax) return;
  for (uint32_t left = last - first + 1, psn = first; left > 0;) {
    const uint32_t bit = psn % kWordBits, step = std::min(left, kWordBits - bit);
    auto* word =
        static_cast<uint64_t*>(wmem_map_lookup(way.open, GUINT_TO_POINTER(psn / kWordBits)));
    uint64_t bits = word == nullptr ? 0 : *word >> bit;
    if (step < kWordBits) bits &= (uint64_t{1} << step) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const auto at = static_cast<uint32_t>(__builtin_ctzll(bits));
      if (visit(*find_psn(way, psn + at))) *word &= ~(uint64_t{1} << (bit + at));
    }
    left -= step;
    psn += step;
  }
}

void blame(const Transmissions& sent, Note& note) {
  if (sent.nack_frame > sent.last_frame) {
    note.cause = Cause::nack;
    note.cause_frame = sent.nack_frame;
  } else if (sent.missing_frame > sent.last_frame) {
    note.cause = Cause::sack;
    note.cause_frame = sent.missing_frame;
  } else {
    note.cause = Cause::timeout;
  }
}

// A PSN that was sent before. Without RETX the network made the copy. [PDS-065, PDS-075]
void sent_again(packet_info* pinfo, const PdsFields& f, Transmissions& sent, Note& note) {
  note.previous_frame = sent.last_frame;
  nstime_delta(&note.since_previous, &pinfo->abs_ts, &sent.last_time);
  if (!f.retx) {
    note.duplicate = true;
    return;
  }
  note.retransmission = true;
  blame(sent, note);
}

// Where a PSN that is new stands among those before it.
void sent_first(const PdsFields& f, Direction& way, const Pdc& pdc, Note& note) {
  note.retransmission = f.retx;  // its first transmission is not in the capture
  if (!way.has_psn) {
    const uint32_t expected = pdc.has_start ? pdc.start_psn : f.psn;
    if (after(f.psn, expected) && f.psn - expected < kRangeMax) note.gap = f.psn - expected;
    way.lowest_psn = way.highest_psn = f.psn;
    way.has_psn = true;
    return;
  }
  if (after(way.lowest_psn, f.psn)) way.lowest_psn = f.psn;
  if (!after(f.psn, way.highest_psn)) {
    note.out_of_order = !f.retx;
    return;
  }
  const uint32_t gap = f.psn - way.highest_psn - 1;
  if (gap < kRangeMax) note.gap = gap;
  way.highest_psn = f.psn;
}

void follow_request(packet_info* pinfo, const Packet& packet, Note& note) {
  const PdsFields& f = packet.pds;
  Direction& way = note.pdc->way[note.way];
  Transmissions* sent = find_psn(way, f.psn);
  if (sent == nullptr) {
    sent = wmem_new0(wmem_file_scope(), Transmissions);
    wmem_map_insert(way.by_psn, GUINT_TO_POINTER(f.psn), sent);
    open_psn(way, f.psn);
    sent->first_frame = pinfo->num;
    sent->first_time = pinfo->abs_ts;
    sent_first(f, way, *note.pdc, note);
  } else {
    sent_again(pinfo, f, *sent, note);
  }
  note.sent = sent;
  sent->last_frame = pinfo->num;
  sent->last_time = pinfo->abs_ts;
  ++sent->count;
  const uint32_t done = way.has_cack
                            ? way.cack_psn
                            : (note.pdc->has_start ? note.pdc->start_psn : way.lowest_psn) - 1;
  if (after(way.highest_psn, done)) note.outstanding = way.highest_psn - done;
  const bool has_range = way.has_cack && way.mp_range != 0;
  note.mp_range = has_range ? way.mp_range : 0;
  note.mpr_violation = has_range && after(f.psn, done + way.mp_range);
  note.range_full = has_range && f.psn == done + way.mp_range && note.previous_frame == 0;
  note.opens = f.syn && !note.pdc->opened;
  note.pdc->opened = true;
  if (is_control(f) && static_cast<CtlType>(f.ctl_type) == CtlType::close_cmd) {
    note.pdc->closing = true;
    note.pdc->close_psn = f.psn;
  }
}

// Every PSN up to cack is done. [PDS-034]
void follow_cumulative(packet_info* pinfo, const PdsFields& f, Direction& way, const Pdc& pdc,
                       Note& note) {
  if (way.has_cack && !after(f.cack_psn, way.cack_psn)) return;
  uint32_t from = way.cack_psn + 1;
  if (!way.has_cack) from = way.has_psn ? way.lowest_psn : f.cack_psn + 1;
  if (!way.has_cack && pdc.has_start) from = pdc.start_psn;
  each_open(way, from, f.cack_psn, [&](Transmissions& sent) {
    sent.done_frame = pinfo->num;
    ++note.newly_done;
    return true;
  });
  way.has_cack = true;
  way.cack_psn = f.cack_psn;
  if (f.has_sack) way.mp_range = f.mpr * 128U;
}

// PSNs that the bitmap shows as missing below one that it shows as there.
void follow_sack(packet_info* pinfo, const PdsFields& f, Direction& way, Note& note) {
  if (!f.has_sack || f.sack_bitmap == 0) return;
  const int highest = 63 - __builtin_clzll(f.sack_bitmap);
  for (int bit = 0; bit < highest; ++bit) {
    const uint32_t psn = f.sack_base + static_cast<uint32_t>(bit);
    if ((f.sack_bitmap >> bit & 1U) != 0 || !after(psn, f.cack_psn)) continue;
    note.missing |= uint64_t{1} << bit;
    if (Transmissions* sent = find_psn(way, psn)) sent->missing_frame = pinfo->num;
  }
}

void answer(packet_info* pinfo, bool retx, Transmissions& sent, Note& note) {
  note.answered = &sent;
  if (sent.answer_frame == 0) {
    sent.answer_frame = pinfo->num;
    sent.answer_time = pinfo->abs_ts;
  }
  // RETX of an ACK says which transmission it answers: the first, or the last.
  const nstime_t& from = retx ? sent.last_time : sent.first_time;
  note.answers_frame = retx ? sent.last_frame : sent.first_frame;
  nstime_delta(&note.response_time, &pinfo->abs_ts, &from);
  note.has_response_time = true;
}

void follow_ack(packet_info* pinfo, const Packet& packet, Note& note) {
  const PdsFields& f = packet.pds;
  Pdc& pdc = *note.pdc;
  Direction& way = pdc.way[note.way ^ 1U];  // of the packets that it acknowledges
  follow_cumulative(pinfo, f, way, pdc, note);
  follow_sack(pinfo, f, way, note);
  if (!f.probe) {
    if (Transmissions* sent = find_psn(way, f.ack_psn)) answer(pinfo, f.retx, *sent, note);
  }
  const bool closed = pdc.closing && pdc.closed_frame == 0 && note.way == 1 && !f.probe &&
                      f.ack_psn == pdc.close_psn;
  if (closed) {
    pdc.closed_frame = pinfo->num;
    note.closes = true;
  }
}

void refuse(packet_info* pinfo, const PdsFields& f, Transmissions& sent) {
  sent.nack_frame = pinfo->num;
  sent.nack_code = f.nack_code;
}

void follow_nack(packet_info* pinfo, const Packet& packet, Note& note) {
  const PdsFields& f = packet.pds;
  const Direction& way = note.pdc->way[note.way ^ 1U];
  if (Transmissions* sent = find_psn(way, f.psn)) {
    answer(pinfo, f.retx, *sent, note);
    refuse(pinfo, f, *sent);
  }
  // An ordered target that dropped a packet wants everything from the one it expects. [PDS-077]
  if (static_cast<wire::NackCode>(f.nack_code) != wire::NackCode::rod_ooo || !way.has_psn) return;
  each_open(way, f.payload, way.highest_psn, [&](Transmissions& sent) {
    refuse(pinfo, f, sent);
    return false;
  });
}

}  // namespace

void follow_pds(packet_info* pinfo, const Packet& packet, Note& note) {
  note.pdc = pdc_of(pinfo, packet, note.way);
  if (note.pdc == nullptr) return;
  if (takes_psn(packet.pds)) {
    follow_request(pinfo, packet, note);
  } else if (wire::is_ack(packet.pds.type)) {
    follow_ack(pinfo, packet, note);
  } else if (wire::is_nack(packet.pds.type)) {
    follow_nack(pinfo, packet, note);
  }
}

}  // namespace uet::dissector
