// SPDX-License-Identifier: GPL-2.0-or-later
// The table of aliases.
#include "dissector/aliases.h"

#include "dissector/fields_pds.h"
#include "dissector/names.h"

#include <algorithm>
#include <iterator>

namespace uet::dissector {

namespace {

struct Alias {
  const int* field;  // ours
  const char* name;
};

// Of the dissector of Wireshark 5.0, as of its commit 2e69f352.
const Alias kAliases[] = {
    {&field::pds::next_hdr, "uet.pds.nh"},
    {&field::pds::m, "uet.pds.flags.m"},
    {&field::pds::retx, "uet.pds.flags.retx"},
    {&field::pds::ar, "uet.pds.flags.ar"},
    {&field::pds::p, "uet.pds.flags.p"},
    {&field::pds::nt, "uet.pds.flags.nt"},
    {&field::pds::syn, "uet.pds.flags.syn"},
    {&field::pds::req, "uet.pds.flags.req"},
    {&field::pds::use_rsv_pdc, "uet.pds.pdc_mode_use_rsv"},
    {&field::pds::nack_psn, "uet.pds.nack.psn"},
    {&field::pds::nack_code, "uet.pds.nack.code"},
    {&field::pds::vendor_code, "uet.pds.nack.vendor_code"},
    {&field::pds::ccc_id, "uet.pds.cc_state.ccc_id"},
    {&field::pds::credit_target, "uet.pds.cc_state.credit_target"},
    {&field::pds::cc_type, "uet.pds.ack.cc_type"},
    {&field::pds::mpr, "uet.pds.ack.mpr"},
    {&field::pds::sack_bitmap, "uet.pds.ack.sack_bitmap"},
    {&field::pds::service_time, "uet.pds.ack.cc_state.service_time"},
    {&field::pds::rc, "uet.pds.ack.cc_state.rc"},
    {&field::pds::rcv_cwnd_pend, "uet.pds.ack.cc_state.rcv_cwnd_pend"},
    {&field::pds::rcvd_bytes, "uet.pds.ack.cc_state.rcvd_bytes"},
    {&field::pds::credit, "uet.pds.ack.cc_state.credit"},
    {&field::pds::ooo_count, "uet.pds.ack.cc_state.ooo_count"},
    {&field::pds::ack_ccx_state, "uet.pds.ack.ccx_state"},
    {&field::pds::pkt_id, "uet.pds.rudi.pkt_id"},
};

}  // namespace

void register_aliases() {
  static int numbers[std::size(kAliases)];
  static hf_register_info rows[std::size(kAliases)];
  first_with_alias = *std::ranges::min_element(kAliases, {}, [](const Alias& alias) {
                        return *alias.field;
                      })->field;
  for (size_t i = 0; i < std::size(kAliases); ++i) {
    const header_field_info& field =
        *proto_registrar_get_nth(static_cast<unsigned>(*kAliases[i].field));
    numbers[i] = -1;
    rows[i] = row(numbers[i], field.name, kAliases[i].name, field.type, field.display,
                  field.bitmask, field.blurb, field.strings);
  }
  register_rows(proto::pds, rows);
  for (size_t i = 0; i < std::size(kAliases); ++i) {
    alias_numbers.at(static_cast<size_t>(*kAliases[i].field - first_with_alias)) = numbers[i];
  }
}

}  // namespace uet::dissector
