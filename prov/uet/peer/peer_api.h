// The peer interface of libfabric in its releases: calls to the owner of receives. [LF-159,
// fi_peer]
#pragma once

#include "prov/uet/api/compat.h"

#include <cstddef>
#include <cstdint>

namespace uet::prov {

// Asks for the receive of a message. 0: `entry` is it; -FI_ENOENT: there is none, and `entry` is
// for queue_of; other values: nothing happened.
inline int ask_owner(fid_peer_srx& srx, bool tagged, fi_addr_t from, uint64_t tag,
                     [[maybe_unused]] size_t bytes, fi_peer_rx_entry*& entry) {
#if UET_HAVE_PEER_MATCH
  fi_peer_match_attr attr{};
  attr.addr = from;
  attr.msg_size = bytes;
  attr.tag = tag;
  const auto get = tagged ? srx.owner_ops->get_tag : srx.owner_ops->get_msg;
  return get(&srx, &attr, &entry);
#else
  if (tagged) return srx.owner_ops->get_tag(&srx, from, tag, &entry);
  return srx.owner_ops->get_msg(&srx, from, bytes, &entry);
#endif
}

// Stores the receive context of an entry in the entry while uet uses it, because owners need not
// set `srx`. free_receive() gives the entry back to that context.
inline void note_owner(fi_peer_rx_entry& entry, fid_peer_srx& srx) { entry.peer_context = &srx; }
inline void free_receive(fi_peer_rx_entry& entry) {
  static_cast<fid_peer_srx*>(entry.peer_context)->owner_ops->free_entry(&entry);
}

// The facts about a message that the owner has to store.
inline void describe_kept(fi_peer_rx_entry& entry, size_t bytes,
                          [[maybe_unused]] const uint64_t* data) {
#if UET_HAVE_PEER_MATCH
  entry.msg_size = bytes;
#else
  entry.size = bytes;
#endif
  if (data == nullptr) return;
  entry.flags |= FI_REMOTE_CQ_DATA;
#if UET_HAVE_PEER_CNTR
  entry.cq_data = *data;  // since the same release
#endif
}

// Addresses of senders may be known now that were not.
inline void tell_of_addresses([[maybe_unused]] fid_peer_srx& srx,
                              [[maybe_unused]] fi_addr_t (*address_of)(fi_peer_rx_entry*)) {
#if UET_HAVE_PEER_CNTR
  if (srx.owner_ops->foreach_unspec_addr != nullptr) {
    srx.owner_ops->foreach_unspec_addr(&srx, address_of);
  }
#endif
}

}  // namespace uet::prov
