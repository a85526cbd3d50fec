// Records calls of the peer table.
#include "sim/recording/peers.h"

namespace uet::recording {

Result<PeerId> Peers::find_or_add(const FabricAddress& address, Instant now) {
  if (!tape_.is_on()) return table_->find_or_add(address, now);
  auto peer = tape_.recorded(Kind::find_peer, FindPeer{now, address},
                             [&] { return table_->find_or_add(address, now); });
  if (peer.ok()) names_.add(*peer);
  return peer;
}

void Peers::add_ref(PeerId peer) {
  if (tape_.is_on()) tape_.write(Kind::keep_peer, KeepPeer{names_.number(peer), false});
  table_->add_ref(peer);
}

void Peers::list(PeerId peer) {
  if (tape_.is_on()) tape_.write(Kind::keep_peer, KeepPeer{names_.number(peer), true});
  table_->list(peer);
}

}  // namespace uet::recording
