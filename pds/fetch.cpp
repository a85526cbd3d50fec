// The parts that nearly every packet reads, as found by counting the cache lines of a run.
#include "pds/fetch.h"

#include "pds/parts.h"

#include "base/prefetch.h"

namespace uet::pds {

void Fetch::sublayer() const {
  const Parts& p = parts_;
  prefetch_between(&p.res, &p.res.counters);
  prefetch_between(&p.res.rx_pool, &p.flow_table);
  prefetch(&p.shares, sizeof(Shares));
  prefetch(&p.schedule, 2 * kLineBytes);
  prefetch(&p.schedule.is_credit_wanted_, 2 * kLineBytes);
  prefetch(&p.idle, sizeof(IdleList));
  prefetch(&p.replies, kLineBytes);
  prefetch_between(&p.store, &p.closing);
  prefetch_between(&p.loss, &p.deadlines);
  p.connectionless.fetch();
  prefetch_between(&p.flows, &p.demux);
  prefetch(&p.demux, 2 * kLineBytes);
}

void Fetch::id(std::span<const std::byte> datagram) const { parts_.demux.fetch_id(datagram); }

void Fetch::pdc(std::span<const std::byte> datagram) const { parts_.demux.fetch_pdc(datagram); }

MessageHandle Fetch::sending(std::span<const std::byte> datagram) const {
  const Pdc* const pdc = parts_.demux.pdc_ahead(datagram);
  return pdc == nullptr ? MessageHandle{} : pdc->messages.current();
}

void Fetch::rest(std::span<const std::byte> datagram) const {
  const Pdc* const pdc = parts_.demux.pdc_ahead(datagram);
  if (pdc == nullptr) return;
  parts_.demux.fetch_rest(*pdc);
  pdc->rx.prefetch();
  prefetch(pdc->flow, sizeof(Flow));
  if (!pdc->tx.empty()) {
    prefetch(pdc->path, sizeof(Path));
    pdc->tx.prefetch_slot(pdc->tx.next());
  }
  parts_.schedule.wheel_.fetch_next();
}

}  // namespace uet::pds
