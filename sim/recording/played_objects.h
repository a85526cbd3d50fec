// The objects for the numbers of a recording in its replay: endpoints, shared receives, peers,
// memory and unfinished posts. An unknown number ends the script.
#pragma once

#include "sim/recording/memory_image.h"
#include "sim/recording/posts.h"
#include "sim/recording/replay.h"

#include "ses/types.h"

#include <cstdint>
#include <map>
#include <vector>

namespace uet::recording {

class PlayedObjects {
 public:
  explicit PlayedObjects(Script& script) : script_(script) {}

  MemoryImage& memory() { return memory_; }
  const MemoryImage& memory() const { return memory_; }

  // Each returns false, and ends the script, if the recording names an unknown object.
  bool is_there(bool found, const char* what);
  bool find(const Remote& to, ses::Destination& out);
  bool find(uint32_t endpoint, ses::EndpointId& out);
  bool find(const Pieces& pieces, std::vector<IoSlice>& out);
  bool find(const Queue& queue, ses::EndpointId& endpoint, ses::ReceiveQueueId& shared);
  bool find_peer(uint32_t number, PeerId& out);
  bool find_shared(uint32_t number, ses::ReceiveQueueId& out);

  void add_endpoint(ses::EndpointId id) { endpoints_.push_back({id, true}); }
  // The recording does not name it any more.
  void close_endpoint(uint32_t number) { endpoints_[number].is_open = false; }
  void add_shared(ses::ReceiveQueueId id) { shared_.push_back(id); }
  // A known peer keeps its number.
  void add_peer(PeerId peer);

  // The context of a post of that memory.
  ses::OpContext context_of(const Context& context, const Pieces& memory);
  // The memory of the last post of that context, or null.
  const Pieces* post_of(const Context& context) const;

 private:
  struct Opened {
    ses::EndpointId id;
    bool is_open = false;
  };

  Script& script_;
  MemoryImage memory_;
  std::vector<Opened> endpoints_;
  std::vector<ses::ReceiveQueueId> shared_;
  std::vector<PeerId> peers_;
  std::map<Context, Pieces> posts_;
};

}  // namespace uet::recording
