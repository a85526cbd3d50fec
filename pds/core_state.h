// What Core holds: the settings, the tables, the memory and the lists of who waits for what. The
// verbs are in core.h.
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/connectionless/connectionless.h"
#include "pds/counters.h"
#include "pds/door/challenge.h"
#include "pds/door/reply.h"
#include "pds/door/secure_start.h"
#include "pds/door/shares.h"
#include "pds/pdc/pdc_table.h"
#include "pds/pdc/peer_table.h"
#include "pds/pds.h"
#include "pds/rx/inbound.h"
#include "pds/schedule/flow_table.h"
#include "pds/schedule/turn.h"

#include "base/ring.h"

namespace uet::pds {

class CoreState {
 protected:
  CoreState(const Config& config, const cms::Config& cms, PeerTable& peers, Client& client,
            RandomSource& random)
      : config_(config),
        cms_(cms),
        peers_(peers),
        client_(client),
        random_(random),
        rng_(random.u64(), random.u64()),
        challenge_(random),
        connectionless_({config_, peers, client, counters_}, cms, random) {}

  Config config_;
  cms::Config cms_;
  PeerTable& peers_;
  Client& client_;
  RandomSource& random_;
  Rng rng_;  // for what may be guessed
  Counters counters_;
  AckRules ack_rules_;
  PdcTable table_;
  TimerWheel wheel_;
  FlowTable flows_;
  Slab<Path> paths_;
  HashMap<PathKey, Path*> path_by_key_;
  Slab<cms::CreditDemands> demands_;
  Slab<StoredResponse> responses_;
  Slab<ReorderedPacket> reordered_;
  Slab<ReturnMessage> return_messages_;
  TxPool tx_pool_;
  BlockPool rx_pool_;
  BlockPool reorder_pool_;
  SecureStarts starts_;
  Shares shares_;
  Ring<Reply> replies_;
  Ring<ProbeAnswer> probe_answers_;
  Ring<PendingAnswer> answers_;
  IntrusiveList<StoredResponse, DueResponseTag> due_responses_;
  IntrusiveList<Pdc, ControlTag> control_;  // owe an ACK or a control packet, or a step of closing
  IntrusiveList<Pdc, SendTag> resend_;      // have lost packets, and may have new ones
  IntrusiveList<Pdc, SendTag> send_;        // have new packets
  IntrusiveList<Path, OpenPathTag> open_paths_;  // may have room for the PDCs that wait for it
  IntrusiveList<Flow, ReadyFlowTag> ready_;      // have messages and want a PDC
  IntrusiveList<Flow, ReadyFlowTag> starved_;    // wait for a free PDC [PDS-021]
  IntrusiveList<Pdc, LruTag> lru_[2];            // by role: targets, initiators; longest idle first
  PeerId lost_peer_;                             // whose idle PDCs were last closed, and when
  Instant lost_at_ = Instant::never();
  uint32_t half_open_ = 0;     // targets whose peer never used our PDCID
  uint8_t mpr_ = config_.mpr;  // advertised from now on [PDS-035]
  TokenBucket nacks_;          // for packets without a PDC
  Challenge challenge_;        // of SYNs, when there are too many
  TokenBucket challenges_;     // NACKs that it sends
  Connectionless connectionless_;
};

}  // namespace uet::pds
