// Owns the sources of rendezvous sends: exposes them, counts what the target has read, and says
// when a source is not needed any more. No packet says how long a source must stay, or that all is
// read: only this class decides it. [ses.md 4.4]
//
// state \ event | packets answered | last octet read | nothing heard   | cancel, close
// started       | exposed          | noted           | -               | ended
// exposed       | -                | gone            | queued as probe | gone
// probe         | exposed          | noted           | -               | ended
// A probe whose answer is that the target does not know the message: gone.
// A probe that names no message and is accepted like the others: gone.
// An answer to a read that became too long for the route while it was under way has arrived, or the
// error in its place [LF-141]: the target reads again, says that it has given up, or needs no more:
// then it does not know the message any more.
#pragma once

#include "ses/outgoing/tx_message.h"
#include "ses/rendezvous/exposure.h"
#include "ses/resources.h"

#include "base/slab.h"

#include <cstdint>
#include <span>

namespace uet::ses {

class Exposures {
 public:
  Exposures(Resources& res, MemoryRegions& memory) : res_(res), memory_(memory) {}
  Result<void> create();

  // Makes a send a rendezvous send if target and length are for it, and there is room.
  void expose(const Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov, uint8_t theirs);
  // The source is the user's again. [SES-092]
  void conceal(TxMessage& m);
  void free(TxMessage& m);
  // The packets of an attempt got shorter before any of them left. False: too late.
  static bool shorten(TxMessage& m, uint16_t payload);

  // The exposed source of that region, for the peer that the send is for; else null.
  Exposure* of_region(RegionId region, PeerId peer);
  // Events of reads. They return the message to check again, or null.
  TxMessage* on_read_begun(Exposure& x, uint64_t offset, uint32_t length);
  TxMessage* on_answer_end(const AnswerEnd& answer);
  TxMessage* on_served(Exposure& x, uint32_t bytes);
  void on_answer_cut(const AnswerEnd& answer);
  // The target's report about the message. [SES-090, SES-091]
  static void note_delivered(TxMessage& m, wire::ListCode list, uint32_t modified_length);

  // When the target is asked whether it still lives, if nothing is heard before.
  Instant next_look(const TxMessage& m) const;
  // Nothing was heard. False: the target has given up; else it is asked with a probe. [SES-192]
  static bool on_silence(Exposure& x);
  // The answer to the probe; null: it was accepted. True: the send is over.
  static bool on_probe_answered(Exposure& x, wire::ReturnCode code);
  // The result of a send whose source is no longer needed.
  static Completion::Status end_of(TxMessage& m);

 private:
  Exposure* find(uint32_t handle, uint16_t attempt);

  Resources& res_;
  MemoryRegions& memory_;
  Slab<Exposure> exposures_;
};

}  // namespace uet::ses
