// The numbers by which a recording names endpoints, shared receives, peers, contexts of posts and
// memory; PlayedObjects is the way back.
#pragma once

#include "sim/recording/memory_book.h"
#include "sim/recording/posts.h"

#include "ses/types.h"

#include <cstdint>
#include <map>

namespace uet::recording {

class RecordedNames {
 public:
  MemoryBook& memory() { return memory_; }

  void add(ses::EndpointId id) { endpoints_[id] = endpoints_opened_++; }
  void add(ses::ReceiveQueueId id) { shared_.emplace(id, static_cast<uint32_t>(shared_.size())); }
  void add(PeerId peer) { peers_.emplace(peer, static_cast<uint32_t>(peers_.size())); }
  // The number of an added one.
  uint32_t number(ses::EndpointId id) const { return endpoints_.at(id); }
  uint32_t number(ses::ReceiveQueueId id) const { return shared_.at(id); }
  // A peer that the user never asked for has no number, and no post can name it.
  uint32_t number(PeerId peer) const;
  // The number of a post's context, from 1 on.
  uint32_t number(void* op);

  Remote remote(const ses::Destination& to) const;
  // The context of a post of that memory.
  Context context(const ses::OpContext& context, const Pieces& memory);
  // The memory of the last post of that context, or null.
  const Pieces* post_of(const Context& context) const;

 private:
  MemoryBook memory_;
  std::map<ses::EndpointId, uint32_t> endpoints_;
  uint32_t endpoints_opened_ = 0;
  std::map<ses::ReceiveQueueId, uint32_t> shared_;
  std::map<PeerId, uint32_t> peers_;
  std::map<void*, uint32_t> ops_;
  std::map<Context, Pieces> posts_;
};

}  // namespace uet::recording
