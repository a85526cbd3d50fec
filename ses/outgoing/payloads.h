// Owns the copies of payloads that were posted to be copied: the caller has its memory back at
// once, and the copy lives until the operation ends.
#pragma once

#include "ses/endpoints.h"
#include "ses/outgoing/copy_tally.h"
#include "ses/outgoing/inject_store.h"
#include "ses/outgoing/tx_message.h"
#include "ses/resources.h"

#include <cstdint>
#include <span>

namespace uet::ses {

class Payloads {
 public:
  Payloads(Resources& res, const Endpoints& endpoints) : res_(res), endpoints_(endpoints) {}
  // The numbers of short and long copies at once.
  Result<void> create(Room short_copies, uint32_t long_copies) {
    return inject_.create(*res_.arena, short_copies, long_copies);
  }

  // Fills the message's memory: the slices, or a copy where `flags` ask for one. Errc::too_long,
  // Errc::invalid, Errc::again: no room; nothing is held then.
  Result<void> take(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov, uint32_t flags);
  // The user's memory is not touched any more.
  void give_back(TxMessage& m);

  const CopyTally& tally() const { return tally_; }

 private:
  Result<void> copy(TxMessage& m, std::span<const IoSlice> iov);
  bool retain(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov);
  void give_back_copy(TxMessage& m);

  Resources& res_;
  const Endpoints& endpoints_;
  InjectStore inject_;
  CopyTally tally_;
};

}  // namespace uet::ses
