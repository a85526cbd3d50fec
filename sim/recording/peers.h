// The peer table of a recorded FabricEndpoint.
#pragma once

#include "sim/recording/recorded_names.h"
#include "sim/recording/tape.h"

#include "fep/fabric_endpoint.h"

namespace uet::recording {

// Records which peers the application looks up and keeps, and their numbers. As of PeerTable.
class Peers {
 public:
  Peers(Tape& tape, RecordedNames& names) : tape_(tape), names_(names) {}
  // The wrapped table; outlives the calls here.
  void stand_for(pds::PeerTable& table) { table_ = &table; }

  Result<PeerId> find_or_add(const FabricAddress& address, Instant now);
  void add_ref(PeerId peer);
  void list(PeerId peer);

 private:
  Tape& tape_;
  RecordedNames& names_;
  pds::PeerTable* table_ = nullptr;
};

}  // namespace uet::recording
