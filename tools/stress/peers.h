// The other processes as one process knows them: those it may send to, and ended ones, each until
// its last operation ends.
#pragma once

#include "tools/stress/peer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace uet::stress {

class Peers {
 public:
  void add(PeerRef peer) { current_.push_back(std::move(peer)); }
  // The process in that slot is gone. Returns it, or null.
  PeerRef retire(uint32_t slot) {
    const auto found = std::find_if(current_.begin(), current_.end(),
                                    [&](const PeerRef& peer) { return peer->slot == slot; });
    if (found == current_.end()) return nullptr;
    PeerRef gone = *found;
    gone->is_suspect = true;
    retired_.push_back(gone);
    current_.erase(found);
    return gone;
  }
  // Removes the addresses of ended processes without operations.
  void sweep(Node& node) {
    std::erase_if(retired_, [&](const PeerRef& peer) {
      if (peer.use_count() > 1) return false;
      node.remove(peer->addr);
      return true;
    });
  }
  void clear() {
    current_.clear();
    retired_.clear();
  }

  const std::vector<PeerRef>& current() const { return current_; }
  // Any of them; null when there is none.
  PeerRef any(Rng& rng) const {
    return current_.empty() ? nullptr : current_[rng.below(current_.size())];
  }

 private:
  std::vector<PeerRef> current_;
  std::vector<PeerRef> retired_;
};

}  // namespace uet::stress
