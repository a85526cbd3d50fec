// Resources that all parts of the sublayer share: settings, tables of peers, the client, counters,
// randomness and memory. It holds no state of any PDC.
#pragma once

#include "pds/block_pool.h"
#include "pds/cells.h"
#include "pds/client.h"
#include "pds/config.h"
#include "pds/counters.h"
#include "pds/pdc/pdc.h"
#include "pds/pdc/peer_table.h"
#include "pds/tx/tx_window.h"

#include "cms/config.h"

#include "base/random_source.h"
#include "base/rng.h"
#include "base/slab.h"

namespace uet::pds {

struct Resources {
  Resources(const Config& c, const cms::Config& cc, PeerTable& p, Client& user, RandomSource& r)
      : config(c), cms(cc), peers(p), client(user), randomness(r), rng(r.u64(), r.u64()) {}
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  Config config;
  cms::Config cms;
  PeerTable& peers;
  Client& client;
  RandomSource& randomness;
  Rng rng;                              // for what may be guessed
  uint32_t free_planes = ~uint32_t{0};  // of the batch that is being filled [CMS-156]
  Counters counters;
  TxPool tx_pool;
  BlockPool rx_pool;
  Slab<ReturnMessage> return_messages;
  Cells cells;
};

}  // namespace uet::pds
