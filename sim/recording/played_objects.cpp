// Numbers and their objects; see played_objects.h.
#include "sim/recording/played_objects.h"

#include <algorithm>
#include <string>

namespace uet::recording {

bool PlayedObjects::is_there(bool found, const char* what) {
  if (!found) script_.fail(std::string("it names ") + what + " that does not exist");
  return found;
}

bool PlayedObjects::find(const Remote& to, ses::Destination& out) {
  out = to.name;
  return find_peer(to.peer, out.peer);
}

bool PlayedObjects::find(uint32_t endpoint, ses::EndpointId& out) {
  const bool found = endpoint < endpoints_.size() && endpoints_[endpoint].is_open;
  if (found) out = endpoints_[endpoint].id;
  return is_there(found, "an endpoint");
}

bool PlayedObjects::find(const Pieces& pieces, std::vector<IoSlice>& out) {
  return is_there(memory_.slices_of(pieces, out), "memory");
}

bool PlayedObjects::find(const Queue& queue, ses::EndpointId& endpoint,
                         ses::ReceiveQueueId& shared) {
  return queue.is_shared ? find_shared(queue.number, shared) : find(queue.number, endpoint);
}

bool PlayedObjects::find_peer(uint32_t number, PeerId& out) {
  if (!is_there(number < peers_.size(), "a peer")) return false;
  out = peers_[number];
  return true;
}

bool PlayedObjects::find_shared(uint32_t number, ses::ReceiveQueueId& out) {
  if (!is_there(number < shared_.size(), "shared receives")) return false;
  out = shared_[number];
  return true;
}

void PlayedObjects::add_peer(PeerId peer) {
  if (std::ranges::find(peers_, peer) == peers_.end()) peers_.push_back(peer);
}

ses::OpContext PlayedObjects::context_of(const Context& context, const Pieces& memory) {
  posts_[context] = memory;
  return {reinterpret_cast<void*>(uintptr_t{context.op}), context.user};
}

const Pieces* PlayedObjects::post_of(const Context& context) const {
  const auto post = posts_.find(context);
  return post != posts_.end() ? &post->second : nullptr;
}

}  // namespace uet::recording
