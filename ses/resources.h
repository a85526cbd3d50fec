// Resources of every part of SES: configuration, the time of the call in progress, the services
// below, and shared pools. No rules here.
#pragma once

#include "ses/config.h"
#include "ses/counters.h"
#include "ses/fetch_buffers.h"
#include "ses/iov.h"
#include "ses/outgoing/message_ids.h"

#include "pds/pdc/peer_table.h"
#include "pds/service.h"
#include "tss/policy.h"

#include "base/arena.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "base/timer_wheel.h"

#include <cstdint>

namespace uet::ses {

struct Resources {
  Resources(Arena& a, const Config& c, pds::PeerTable& p, uint64_t seed)
      : arena(&a), config(c), peers(&p), rng(seed, 1), fetch_buffers(p) {}
  Result<void> create() {
    UET_CHECK(long_iovs.create(*arena, config.long_iovs));
    UET_CHECK(receive_iovs.create(*arena, config.long_iovs));
    UET_CHECK(fetch_buffers.create(*arena, config.fetch_buffers));
    return ids.create(*arena);
  }

  // Octets of payload in a packet to that peer. [LF-131]
  uint16_t payload_toward(PeerId peer) const {
    return static_cast<uint16_t>((*peers)[peer].payload_toward(config.payload_mtu));
  }

  Arena* arena;
  Instant now;  // of the call in progress
  Config config;
  pds::PeerTable* peers;
  pds::Service* pds = nullptr;
  bool announces = true;                // pds->heeds_backlog()
  const tss::JobTable* jobs = nullptr;  // which jobs are secured; null: none is
  Rng rng;
  Counters counters;
  LongIovs long_iovs;  // of operations
  LongIovs receive_iovs;
  FetchBuffers fetch_buffers;
  MessageIds ids;  // of requests and of answers to READs
  TimerWheel timers;
};

}  // namespace uet::ses
