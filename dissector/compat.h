// SPDX-License-Identifier: GPL-2.0-or-later
// The Wireshark headers that the plugin uses, and where its releases differ (4.0 to 4.6). Nothing
// of the plugin itself.
#pragma once

#include <ws_version.h>

#include <epan/address.h>
#include <epan/conversation.h>
#include <epan/crc32-tvb.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <epan/to_str.h>
#include <epan/tvbuff.h>
#include <wsutil/crc32.h>
#include <wsutil/str_util.h>

#include <cstdint>

extern "C" {  // the headers without this
#include <epan/reassemble.h>
#include <wsutil/wsgcrypt.h>
}

namespace uet::dissector {

#define UET_WIRESHARK (WIRESHARK_VERSION_MAJOR * 100 + WIRESHARK_VERSION_MINOR)

#if UET_WIRESHARK < 404
using Bool = gboolean;
inline uint8_t octet_at(tvbuff_t* tvb, int offset) { return tvb_get_guint8(tvb, offset); }
#else
using Bool = bool;
inline uint8_t octet_at(tvbuff_t* tvb, int offset) { return tvb_get_uint8(tvb, offset); }
#endif

// A table of names that is never given back.
inline value_string_ext* names_of(const value_string* names, unsigned count, const char* what) {
#if UET_WIRESHARK < 406
  return value_string_ext_new(names, count, what);
#else
  return value_string_ext_new(wmem_epan_scope(), names, count, what);
#endif
}

// Memory of the packet, given back when its dissection is over.
inline wmem_allocator_t* packet_scope(const packet_info* pinfo) { return pinfo->pool; }

}  // namespace uet::dissector
