// Numbers for the objects of a recording; see recorded_names.h.
#include "sim/recording/recorded_names.h"

namespace uet::recording {

uint32_t RecordedNames::number(void* op) {
  if (op == nullptr) return 0;
  return ops_.try_emplace(op, static_cast<uint32_t>(ops_.size() + 1)).first->second;
}

uint32_t RecordedNames::number(PeerId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? UINT32_MAX : found->second;
}

Remote RecordedNames::remote(const ses::Destination& to) const {
  Remote out{number(to.peer), to};
  out.name.peer = PeerId{};
  return out;
}

Context RecordedNames::context(const ses::OpContext& context, const Pieces& memory) {
  const Context out{number(context.op), context.user};
  posts_[out] = memory;
  return out;
}

const Pieces* RecordedNames::post_of(const Context& context) const {
  const auto post = posts_.find(context);
  return post != posts_.end() ? &post->second : nullptr;
}

}  // namespace uet::recording
