// The parts of Pds. Each part uses only parts that stand above it here. [architecture 2]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/demux.h"
#include "pds/door/door.h"
#include "pds/pdc/deadlines.h"
#include "pds/pdc/path_reports.h"
#include "pds/rx/destination.h"
#include "pds/rx/inbox.h"
#include "pds/schedule/answer_turns.h"
#include "pds/schedule/flows.h"
#include "pds/schedule/initiators.h"
#include "pds/schedule/turns.h"
#include "pds/tx/ack_reader.h"
#include "pds/tx/nack_reader.h"

namespace uet::pds {

struct Parts {
  Parts(const Config& config, const cms::Config& cms, PeerTable& peers, Client& client,
        RandomSource& random);
  Result<void> create(Arena& arena);
  // Prefetches what nearly every packet reads, as found by counting the cache lines of a run; and
  // what a packet of that PDC reads beside it.
  void prefetch() const;
  void prefetch(const Pdc& pdc) const;

  Resources res;
  PdcTable table;
  FlowTable flow_table;
  Shares shares;
  // Lists and records that other parts write to.
  Schedule schedule;
  Contexts contexts;
  IdleList idle;
  Proofs proofs;
  Replies replies;
  TargetCounts target_counts;
  SecurePsn secure_psn;
  ResponseStore store;
  ReorderBuffer reorder;
  // The end of PDCs.
  Closing closing;
  Release release;
  Ending ending;
  // Parts that send.
  LossRecovery loss;
  Outbox outbox;
  TailProbes probes;
  Destination destination;
  AckWriter acks;
  CloseSteps steps;
  // Parts that receive.
  Inbox inbox;
  AckReader ack_reader;
  NackReader nack_reader;
  Deadlines deadlines;
  Reclaim reclaim;
  Challenger challenger;
  Opening opening;
  Door door;
  Connectionless connectionless;
  Initiators initiators;
  Flows flows;
  AnswerTurns answer_turns;
  Turns turns;
  PathReports reports;
  Trimmed trimmed;
  Lookup lookup;
  RequestDemux requests;
  AnswerDemux answers;
  Demux demux;
};

}  // namespace uet::pds
