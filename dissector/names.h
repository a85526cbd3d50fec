// SPDX-License-Identifier: GPL-2.0-or-later
// Names that the plugin has in Wireshark beside other dissectors of UET. Wireshark 5.0 has one that
// is called "uet" too, and Wireshark does not start when a name is registered twice: a taken name
// is replaced, "uet" by "uetx".
#pragma once

#include "dissector/compat.h"

#include <span>

namespace uet::dissector {

struct ProtocolNames {
  const char* description;
  const char* short_name;  // of the Protocol column and of "Decode As"
  const char* filter;
};

// Registers a protocol as `wanted`, as `spare` when any of those three names is taken. All other
// plugins must have registered theirs: call it when protocols are handed off, not before.
// Returns the number of the protocol.
int register_protocol(const ProtocolNames& wanted, const ProtocolNames& spare);

// Registers the rows of a field table, which must live as long as Wireshark does. A field keeps
// its name beside fields of others with that name, as long as values of all of them compare;
// otherwise display filters would compare values of different types, so ours is renamed.
void register_rows(int protocol, std::span<hf_register_info> rows);

// The same for remarks.
void register_remarks(expert_module_t* module, std::span<ei_register_info> remarks);

// name, which must begin with "uet", or if taken the same with "uetx" instead. The result lives as
// long as Wireshark does.
const char* spare_if(bool taken, const char* name);

}  // namespace uet::dissector
