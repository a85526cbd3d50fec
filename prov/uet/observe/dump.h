// The state of a domain's stack as the text that `uet_ctl dump` gets, for finding out why nothing
// moves: PDCs, operations, receives, messages kept and half received. Bounded in size, so that it
// fits one answer. docs/howto/uet_ctl.md lists the members.
#pragma once

#include "prov/uet/observe/status.h"
#include "prov/uet/progress/progress.h"

#include "pds/snapshot.h"
#include "ses/snapshot.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace uet::prov {

// Entries of each kind that are listed at most; the totals count all.
inline constexpr uint32_t kDumpEntries = 96;
// How long the lock of the engine is waited for: a round of the engine is bounded, so a thread that
// holds it for longer is stopped or stuck.
inline constexpr Duration kDumpPatience = Duration::milliseconds(500);
// Largest length of a dump: a Unix socket takes this many octets at once on any system.
inline constexpr uint32_t kDumpBytesMax = 200'000;

// Big; not for the stack of a thread.
struct Dump {
  bool is_held = false;  // another thread held the lock: the rest is unknown
  std::array<pds::PdcSnapshot, kDumpEntries> pdcs;
  std::array<ses::OperationSnapshot, kDumpEntries> operations;
  std::array<ses::ReceiveSnapshot, kDumpEntries> receives;
  std::array<ses::KeptSnapshot, kDumpEntries> kept;
  std::array<ses::ArrivingSnapshot, kDumpEntries> arriving;
  uint32_t pdcs_listed = 0;
  pds::Usage usage;
  ses::Snapshot ses;
  uint32_t peers = 0;
  bool is_blocked = false;                    // the backend takes no packets at the moment
  bool has_backlog = false;                   // something could be sent
  Duration deadline = Duration::seconds(-1);  // of the stack's next timer; negative: none
};

// Waits for the lock as long as a thread that is stopped inside is worth it.
std::unique_ptr<Dump> take_dump(ProgressEngine& engine);

std::string dump_text(const DomainStatus& status, const Dump& dump);

}  // namespace uet::prov
