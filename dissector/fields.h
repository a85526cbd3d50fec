// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers that Wireshark gives the fields of UET, TSS and SES. A field has the name in the
// specification; PDS has a separate header, fields_pds.h.
#pragma once

#include "dissector/compat.h"

namespace uet::dissector {

namespace proto {
inline int uet = -1, tss = -1, pds = -1, ses = -1;
}

namespace subtree {
inline int uet = -1, tss = -1, pds = -1, ses = -1, flags = -1, sem_ctl = -1, analysis = -1,
           sack = -1, fragment = -1, fragments = -1;
}

// Around the headers: entropy header, payload, trailer.
namespace field {
inline int entropy = -1, entropy_rsvd = -1, trimmed = -1, payload = -1, crc = -1, crc_status = -1,
           surplus = -1, joined_count = -1, joined_number = -1;
void register_uet();
}  // namespace field

// [WIRE-026]
namespace field::tss {
inline int type = -1, sp = -1, rsvd = -1, an = -1, sdi = -1, ssi = -1, epoch = -1, counter = -1,
           ciphertext = -1, icv = -1, icv_status = -1, key_line = -1, rekey = -1, nonce = -1,
           plaintext = -1, epochs_behind = -1, same_nonce_frame = -1;
void register_fields();
}  // namespace field::tss

// [WIRE-059..078]
namespace field::ses {
// Requests.
inline int rsvd2 = -1, opcode = -1, ver = -1, dc = -1, ie = -1, rel = -1, hd = -1, eom = -1,
           som = -1, message_id = -1, length_rsvd = -1, request_length14 = -1, ri_generation = -1,
           job_id = -1, pid_rsvd = -1, pid_on_fep = -1, ri_rsvd = -1, resource_index = -1,
           buffer_offset = -1, initiator = -1, match_bits = -1, memory_key = -1, header_data = -1,
           rsvd18 = -1, payload_length = -1, message_offset = -1, request_length = -1,
           initiator_restart_token = -1, target_restart_token = -1;
// Extensions.
inline int eager_length = -1, read_ri_generation = -1, read_pid_on_fep = -1,
           read_resource_index = -1, read_offset = -1, read_memory_key = -1, atomic_opcode = -1,
           atomic_datatype = -1, sem_ctl = -1, sem_cacheable = -1, sem_coherent = -1, sem_rsvd = -1,
           sem_vendor = -1, atomic_rsvd = -1, compare_value = -1, swap_value = -1;
// Responses.
inline int list = -1, response_opcode = -1, return_code = -1, modified_length = -1,
           response_message_id = -1, response_rsvd8 = -1, read_request_message_id = -1,
           original_request_psn = -1;
void register_fields();
}  // namespace field::ses

// A row of a field table. `strings` only with BASE_EXT_STRING in `display`.
inline hf_register_info row(int& id, const char* name, const char* filter, ftenum type, int display,
                            uint64_t mask = 0, const char* text = nullptr,
                            const void* strings = nullptr) {
  return {&id, {name, filter, type, display, strings, mask, text, HFILL}};
}

}  // namespace uet::dissector
