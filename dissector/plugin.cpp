// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark asks of a plugin: its version, its protocols, preferences and where they hook in.
#include "dissector/aliases.h"
#include "dissector/decrypt.h"
#include "dissector/dissect.h"
#include "dissector/experts.h"
#include "dissector/fields.h"
#include "dissector/fields_pds.h"
#include "dissector/follow_tss.h"
#include "dissector/link.h"
#include "dissector/names.h"
#include "dissector/pdc.h"
#include "dissector/statistics.h"

namespace uet::dissector {

namespace {

dissector_handle_t native_handle;

Bool heuristic(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  if (pinfo->destport != wire::kUdpPort && !looks_like_uet(tvb)) return false;
  dissect_udp(tvb, pinfo, tree, data);
  return true;
}

void register_preferences() {
  static const enum_val_t trailers[] = {
      {"none", "None", 0}, {"crc", "CRC-32C (4 octets)", 1}, {nullptr, nullptr, 0}};
  module_t* module = prefs_register_protocol(proto::uet, nullptr);
  prefs_register_enum_preference(module, "trailer", "Trailer of packets without TSS",
                                 "What the endpoints add to each packet; the wire does not say",
                                 &preferences.trailer, trailers, FALSE);
  prefs_register_filename_preference(module, "tss.key_file", "TSS key file",
                                     "Keys of secure domains, or the provider's key log",
                                     &preferences.key_file, false);
  prefs_register_uint_preference(module, "tss.rx_max_epoch_lifetime",
                                 "Epochs that receivers go back",
                                 "Packets of older epochs of their source are remarked on", 10,
                                 &preferences.rx_max_epoch_lifetime);
  prefs_register_bool_preference(module, "reassemble", "Put messages of several packets together",
                                 "Keeps the payloads of all such messages in memory",
                                 &preferences.reassemble);
  prefs_register_uint_preference(module, "dscp_trimmed", "DSCP of trimmed packets",
                                 "Set by the switch that trimmed the packet", 10,
                                 &preferences.dscp_trimmed);
  prefs_register_uint_preference(
      module, "dscp_trimmed_lasthop", "DSCP of packets trimmed at the last hop",
      "Set by the last switch of the path", 10, &preferences.dscp_trimmed_lasthop);
}

void register_names() {
  proto::uet = register_protocol({"Ultra Ethernet Transport", "UET", "uet"},
                                 {"Ultra Ethernet Transport (uet plugin)", "UETX", "uetx"});
  proto::tss = register_protocol({"UET Transport Security Sublayer", "UET TSS", "uet.tss"},
                                 {"UETX Transport Security Sublayer", "UETX TSS", "uetx.tss"});
  proto::pds = register_protocol({"UET Packet Delivery Sublayer", "UET PDS", "uet.pds"},
                                 {"UETX Packet Delivery Sublayer", "UETX PDS", "uetx.pds"});
  proto::ses = register_protocol({"UET Semantic Sublayer", "UET SES", "uet.ses"},
                                 {"UETX Semantic Sublayer", "UETX SES", "uetx.ses"});
}

dissector_handle_t register_by_name(const char* name, dissector_t dissector) {
  return register_dissector(spare_if(find_dissector(name) != nullptr, name), dissector, proto::uet);
}

void register_protocols() {
  register_names();
  field::register_uet();
  field::tss::register_fields();
  field::pds::register_fields();
  register_aliases();
  field::ses::register_fields();
  static int* subtrees[] = {&subtree::uet,      &subtree::tss,      &subtree::pds,
                            &subtree::ses,      &subtree::flags,    &subtree::sem_ctl,
                            &subtree::sack,     &subtree::analysis, &subtree::fragment,
                            &subtree::fragments};
  proto_register_subtree_array(subtrees, static_cast<int>(array_length(subtrees)));
  register_analysis();
  register_decryption();
  register_sealed_history();
  register_statistics();
  register_link();
  expert::register_all(proto::uet);
  register_preferences();
  udp_handle = register_by_name("uet", dissect_udp);
  joined_handle = create_dissector_handle(dissect_joined, proto::uet);
  native_handle = register_by_name("uet.native", dissect_native);
}

// Names that other plugins may claim while they hand off, some of them after this one: the port,
// which the last claimer gets, and the name of the heuristic.
void hand_off_at_last() {
  dissector_table_t ports = find_dissector_table("udp.port");
  if (dissector_get_uint_handle(ports, wire::kUdpPort) != udp_handle) {
    dissector_add_uint("udp.port", wire::kUdpPort, udp_handle);
  }
  const char* name = "uet_udp";
  name = spare_if(find_heur_dissector_by_unique_short_name(name) != nullptr, name);
  heur_dissector_add("udp", heuristic, "UET over a UDP port of its own", name, proto::uet,
                     HEURISTIC_ENABLE);
}

void hand_off() {
  dissector_add_uint_with_preference("udp.port", wire::kUdpPort, udp_handle);
  dissector_add_uint_with_preference("ip.proto", wire::kNativeIpProtocol, native_handle);
  hand_off_link();
  register_final_registration_routine(hand_off_at_last);
}

// Everything is registered when protocols are handed off: by then Wireshark's own dissectors and
// all other plugins, in whatever order they were loaded, have taken their names.
void register_and_hand_off() {
  register_protocols();
  hand_off();
}

}  // namespace

}  // namespace uet::dissector

extern "C" {

WS_DLL_PUBLIC_DEF extern const char plugin_version[] = UET_VERSION;
WS_DLL_PUBLIC_DEF extern const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF extern const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC_DEF void plugin_register(void) {
  static proto_plugin plugin;
  plugin.register_handoff = uet::dissector::register_and_hand_off;
  proto_register_plugin(&plugin);
}

// Since 4.4: the purpose of the plugin.
WS_DLL_PUBLIC_DEF uint32_t plugin_describe(void) { return 1; }  // a dissector
}
