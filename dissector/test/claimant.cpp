// SPDX-License-Identifier: GPL-2.0-or-later
// A plugin for claimed_names_test.py that claims the names of the dissector of Wireshark 5.0, and
// our other names: protocol, dissector, heuristic, tap, table, port, fields of our types and of
// others. It shows a packet as one field, and says when it hands off, so that the test knows which
// of the two plugins came first.
#include "dissector/compat.h"

#include <cstdio>
#include <iterator>

namespace {

int claimed = -1, tss_octets = -1, pds_octets = -1, psn = -1, pds_type = -1, flag_retx = -1,
    rcvd_bytes = -1, service_time = -1, nack_remark = -1, cack_psn = -1;
int subtree = -1;
expert_field opens;
dissector_handle_t handle;

int dissect(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  col_set_str(pinfo->cinfo, COL_PROTOCOL, "UET");
  proto_item* item = proto_tree_add_item(tree, claimed, tvb, 0, -1, ENC_NA);
  proto_tree* inside = proto_item_add_subtree(item, subtree);
  proto_tree_add_item(inside, pds_octets, tvb, 0, -1, ENC_NA);
  proto_tree_add_item(inside, psn, tvb, 4, 4, ENC_BIG_ENDIAN);
  return static_cast<int>(tvb_reported_length(tvb));
}

uet::dissector::Bool guess(tvbuff_t*, packet_info*, proto_tree*, void*) { return false; }

void init_table(stat_tap_table_ui*) {}

tap_packet_status count(void*, packet_info*, epan_dissect_t*, const void*, tap_flags_t) {
  return TAP_PACKET_DONT_REDRAW;
}

void register_table() {
  static stat_tap_table_ui ui;
  ui.group = REGISTER_STAT_GROUP_GENERIC;
  ui.title = "UET PDCs";
  ui.tap_name = "uet";
  ui.cli_string = "uet,pdc";
  ui.stat_tap_init_cb = init_table;
  ui.packet_func = count;
  register_stat_tap_table_ui(&ui);
}

hf_register_info row(int& id, const char* name, ftenum type, int display, uint64_t mask = 0,
                     const void* strings = nullptr) {
  return {&id, {name, name, type, display, strings, mask, nullptr, HFILL}};
}

void register_claims() {
  static const value_string types[] = {{2, "RUD Request"}, {8, "ACK CC"}, {0, nullptr}};
  static hf_register_info rows[] = {
      // As in Wireshark 5.0.
      row(tss_octets, "uet.tss", FT_BYTES, BASE_NONE),
      row(pds_octets, "uet.pds", FT_BYTES, BASE_NONE),
      row(psn, "uet.pds.psn", FT_UINT32, BASE_DEC),
      row(pds_type, "uet.pds.type", FT_UINT16, BASE_DEC, 0xF800, VALS(types)),
      row(flag_retx, "uet.pds.flags.retx", FT_BOOLEAN, 8, 0x10),
      // Our names with other types.
      row(rcvd_bytes, "uet.pds.rcvd_bytes", FT_STRING, BASE_NONE),
      row(service_time, "uet.pds.service_time", FT_UINT64, BASE_DEC),
      row(cack_psn, "uet.pds.cack_psn", FT_INT32, BASE_DEC),
      row(nack_remark, "uet.pds.nack", FT_UINT8, BASE_DEC),
  };
  static ei_register_info remarks[] = {
      {&opens, {"uet.pds.opens", PI_SEQUENCE, PI_CHAT, "Claimed", EXPFILL}}};
  claimed = proto_register_protocol("Ultra Ethernet Transport", "UET", "uet");
  handle = register_dissector("uet", dissect, claimed);
  proto_register_field_array(claimed, rows, static_cast<int>(std::size(rows)));
  expert_register_field_array(expert_register_protocol(claimed), remarks,
                              static_cast<int>(std::size(remarks)));
  static int* subtrees[] = {&subtree};
  proto_register_subtree_array(subtrees, 1);
  register_tap("uet");
  register_table();
}

void hand_off() {
  std::fprintf(stderr, "claimant: %s uetx\n",
               proto_get_id_by_filter_name("uetx") == -1 ? "before" : "after");
  dissector_add_uint_with_preference("udp.port", 4793, handle);
  heur_dissector_add("udp", guess, "Claimed", "uet_udp", claimed, HEURISTIC_DISABLE);
}

}  // namespace

extern "C" {

WS_DLL_PUBLIC_DEF extern const char plugin_version[] = "0";
WS_DLL_PUBLIC_DEF extern const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF extern const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC_DEF void plugin_register(void) {
  static proto_plugin plugin;
  plugin.register_protoinfo = register_claims;
  plugin.register_handoff = hand_off;
  proto_register_plugin(&plugin);
}

// Since 4.4: what the plugin is for.
WS_DLL_PUBLIC_DEF uint32_t plugin_describe(void) { return 1; }  // a dissector
}
