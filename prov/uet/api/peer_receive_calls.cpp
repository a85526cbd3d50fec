// The operation table that the owner of imported receives gets: it starts and discards messages
// that it keeps. [LF-159, fi_peer, PEER SRX]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/peer/peer_receives.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

int start(fi_peer_rx_entry* entry) noexcept {
  return guard([&] { return PeerReceives::start(*entry); });
}

int discard(fi_peer_rx_entry* entry) noexcept {
  return guard([&] { return PeerReceives::discard(*entry); });
}

}  // namespace

fi_addr_t peer_receive_sender(fi_peer_rx_entry* entry) noexcept {
  try {
    return PeerReceives::sender_of(*entry);
  } catch (...) {
    return FI_ADDR_UNSPEC;
  }
}

fi_ops_srx_peer peer_receive_ops = {
    .size = sizeof(fi_ops_srx_peer),
    .start_msg = start,
    .start_tag = start,
    .discard_msg = discard,
    .discard_tag = discard,
};

}  // namespace uet::prov
