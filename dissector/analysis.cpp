// SPDX-License-Identifier: GPL-2.0-or-later
// Shows facts about a packet from the rest of the capture, and reassembles messages. Later packets
// are known from the second pass on (Wireshark always, tshark with -2).
#include "dissector/dissect.h"
#include "dissector/experts.h"
#include "dissector/fields_analysis.h"
#include "dissector/pdc.h"

#include "wire/pds_prologue.h"

namespace uet::dissector {

namespace {

using namespace field::analysis;

reassembly_table messages;

const fragment_items kFragmentItems = {&subtree::fragment,
                                       &subtree::fragments,
                                       &fragments,
                                       &fragment,
                                       &overlap,
                                       &conflict,
                                       &tails,
                                       &too_long,
                                       &error,
                                       &count,
                                       &reassembled_in,
                                       &reassembled_length,
                                       &reassembled_data,
                                       "Packets of the message"};

// Adds generated items to one tree.
struct Shown {
  packet_info* pinfo;
  tvbuff_t* tvb;
  proto_tree* tree;

  proto_item* u32(int id, uint32_t value) const {
    return generated(proto_tree_add_uint(tree, id, tvb, 0, 0, value));
  }
  void frame(int id, uint32_t value) const {
    if (value != 0) u32(id, value);
  }
  proto_item* flag(int id) const {
    return generated(proto_tree_add_boolean(tree, id, tvb, 0, 0, 1));
  }
  void time(int id, const nstime_t& value) const {
    generated(proto_tree_add_time(tree, id, tvb, 0, 0, &value));
  }
  static proto_item* generated(proto_item* item) {
    proto_item_set_generated(item);
    return item;
  }
};

void show_pdc(const Shown& s, const PdsFields& f, const Note& note) {
  const Pdc& pdc = *note.pdc;
  proto_item* number = s.u32(field::analysis::pdc, pdc.number);
  s.u32(way, note.way);
  if (pdc.pdcid[0] != 0) s.u32(initiator_pdcid, pdc.pdcid[0]);
  if (pdc.pdcid[1] != 0) s.u32(target_pdcid, pdc.pdcid[1]);
  s.frame(opened_in, pdc.first_frame);
  s.frame(closed_in, pdc.closed_frame);
  if (note.sent != nullptr && pdc.has_start) s.u32(psn_rel, f.psn - pdc.start_psn);
  if (note.opens) expert_add_info(s.pinfo, number, &expert::pdc_opens);
  if (note.closes) expert_add_info(s.pinfo, number, &expert::pdc_closes);
}

void show_retransmission(const Shown& s, const Note& note) {
  proto_item* shown = s.flag(retransmission);
  s.frame(previous_frame, note.previous_frame);
  if (note.previous_frame == 0) {
    expert_add_info(s.pinfo, shown, &expert::first_unseen);
    return;
  }
  s.time(since_previous, note.since_previous);
  s.u32(cause, static_cast<uint32_t>(note.cause));
  s.frame(cause_frame, note.cause_frame);
  switch (note.cause) {
    case Cause::none:
      break;
    case Cause::nack:
      expert_add_info(s.pinfo, shown, &expert::resent_for_nack);
      break;
    case Cause::sack:
      expert_add_info(s.pinfo, shown, &expert::resent_for_sack);
      break;
    case Cause::timeout:
      expert_add_info(s.pinfo, shown, &expert::timeout);
      break;
  }
}

void show_sent(const Shown& s, const Note& note) {
  if (note.retransmission) show_retransmission(s, note);
  if (note.duplicate) {
    proto_item* shown = s.flag(duplicate);
    s.frame(previous_frame, note.previous_frame);
    s.time(since_previous, note.since_previous);
    expert_add_info(s.pinfo, shown, &expert::duplicate);
  }
  if (note.out_of_order) expert_add_info(s.pinfo, s.flag(out_of_order), &expert::out_of_order);
  if (note.gap != 0) expert_add_info(s.pinfo, s.u32(gap, note.gap), &expert::gap);
  if (note.pdc != nullptr) s.u32(outstanding, note.outstanding);
  if (note.mp_range != 0) s.u32(offered, note.mp_range);
  if (note.range_full) expert_add_info(s.pinfo, s.flag(range_full), &expert::range_full);
  if (note.mpr_violation) expert_add_info(s.pinfo, s.flag(mpr_violation), &expert::mpr_violation);
  const Transmissions& sent = *note.sent;
  s.frame(ack_frame, sent.done_frame);
  s.frame(answer_frame, sent.answer_frame);
  s.frame(nack_frame, sent.nack_frame);
}

void show_answer(const Shown& s, const Packet& packet, const Note& note) {
  s.frame(request_frame, note.answers_frame);
  if (note.has_response_time) s.time(response_time, note.response_time);
  if (wire::is_ack(packet.pds.type)) s.u32(newly_done, note.newly_done);
  if (note.missing != 0) {
    for (uint32_t bit = 0; bit < 64; ++bit) {
      if ((note.missing >> bit & 1U) != 0) s.u32(missing_psn, packet.pds.sack_base + bit);
    }
    const auto holes = static_cast<uint32_t>(__builtin_popcountll(note.missing));
    expert_add_info(s.pinfo, s.u32(missing_count, holes), &expert::sack_missing);
  }
  if (wire::is_nack(packet.pds.type)) {
    expert_add_info_format(s.pinfo, packet.pds_item, &expert::nack, "NACK %s",
                           wire::name(static_cast<wire::NackCode>(packet.pds.nack_code)));
  }
}

void show_message(const Shown& s, const Note& note) {
  if (const Message* m = note.message) {
    s.u32(message, m->number);
    if (m->first_frame != s.pinfo->num) s.frame(message_frame, m->first_frame);
    s.frame(ses_response_frame, m->response_frame);
    s.frame(data_frame, m->data_frame);
    s.frame(linked_frame, m->before_frame);
    s.frame(linked_frame, m->after_frame);
    if (m->after_count > 1) s.u32(linked_count, m->after_count);
  }
  if (const Message* m = note.answered_message) {
    s.u32(message, m->number);
    proto_item* request = s.u32(ses_request_frame, m->first_frame);
    if (note.deferred) expert_add_info(s.pinfo, request, &expert::deferred);
    if (m->response_frame == s.pinfo->num) {
      nstime_t taken;
      nstime_delta(&taken, &m->response_time, &m->first_time);
      s.time(service_time, taken);
    }
  }
}

// Puts a message of several packets together, whatever their order; each PSN once.
void reassemble(const Shown& s, const Packet& packet, const Note& note) {
  constexpr uint32_t kLengthMax = 1U << 28U;  // of a message that is kept whole
  const Message* m = note.message != nullptr ? note.message : note.answered_message;
  const auto present = static_cast<uint32_t>(packet.payload_length);
  const uint32_t length = packet.ses.request_length;
  const uint32_t from = packet.ses.message_offset;
  if (m == nullptr || !note.first_of_message_data || packet.payload_start < 0 || present == 0 ||
      length > kLengthMax || present >= length || from > length - present ||
      !tvb_bytes_exist(packet.tvb, packet.payload_start, packet.payload_length)) {
    return;
  }
  fragment_head* whole =
      fragment_add_check(&messages, packet.tvb, packet.payload_start, s.pinfo, m->number, nullptr,
                         from, present, from + present < length);
  if (whole == nullptr) return;
  // The frame may have other packets of the message.
  if (s.pinfo->num != whole->reassembled_in ||
      s.pinfo->curr_layer_num != whole->reas_in_layer_num) {
    s.frame(reassembled_in, whole->reassembled_in);
    return;
  }
  proto_item* shown = nullptr;
  tvbuff_t* data = tvb_new_chain(packet.tvb, whole->tvb_data);
  add_new_data_source(s.pinfo, data, "Message");
  show_fragment_tree(whole, &kFragmentItems, s.tree, s.pinfo, data, &shown);
}

void start() {
  forget_pdcs();
  forget_messages();
}

}  // namespace

Note* note_of(packet_info* pinfo, const Packet& packet) {
  const guint32 layer = pinfo->curr_layer_num;
  auto* note = static_cast<Note*>(p_get_proto_data(wmem_file_scope(), pinfo, proto::pds, layer));
  if (note != nullptr || PINFO_FD_VISITED(pinfo)) return note;
  note = wmem_new0(wmem_file_scope(), Note);
  p_add_proto_data(wmem_file_scope(), pinfo, proto::pds, layer, note);
  follow_pds(pinfo, packet, *note);
  follow_ses(pinfo, packet, *note);
  return note;
}

void show_note(packet_info* pinfo, const Packet& packet, const Note& note) {
  Shown in_pds{pinfo, packet.tvb, packet.pds_tree};
  if (note.pdc != nullptr) show_pdc(in_pds, packet.pds, note);
  if (note.sent != nullptr) show_sent(in_pds, note);
  show_answer(in_pds, packet, note);
  if (!packet.has_ses) return;
  Shown in_ses{pinfo, packet.tvb, packet.ses_tree};
  show_message(in_ses, note);
  if (preferences.reassemble) reassemble(in_ses, packet, note);
}

void register_analysis() {
  field::analysis::register_fields();
  register_init_routine(start);
  reassembly_table_register(&messages, &addresses_reassembly_table_functions);
}

}  // namespace uet::dissector
