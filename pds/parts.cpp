// How the parts are put together, their memory, and which of it is prefetched.
#include "pds/parts.h"

#include "base/prefetch.h"

#include <algorithm>

namespace uet::pds {

Parts::Parts(const Config& config, const cms::Config& cms, PeerTable& peers, Client& client,
             RandomSource& random)
    : res(config, cms, peers, client, random),
      schedule(res),
      contexts(res, schedule),
      proofs(res, schedule),
      replies(res, proofs),
      target_counts(peers, shares, proofs),
      secure_psn(res),
      store(res, table, schedule),
      reorder(res),
      closing(res, schedule),
      release(res, table, flow_table, target_counts, schedule, contexts, secure_psn, store,
              reorder),
      ending(res, schedule, closing, release),
      loss(res, schedule),
      outbox(res, schedule, idle, proofs, closing, loss),
      probes(res, schedule, proofs, loss, outbox),
      destination(res, table),
      acks(res, table, schedule, proofs, replies, store, destination),
      steps(res, table, schedule, replies, secure_psn, ending, loss, outbox),
      inbox(res, schedule, proofs, closing, store, reorder, destination, acks, steps),
      ack_reader(res, schedule, idle, proofs, closing, loss, probes),
      nack_reader(res, schedule, idle, proofs, closing, ending, loss, probes),
      deadlines(res, schedule, proofs, closing, ending, loss, probes, steps, inbox),
      reclaim(res, table, shares, idle, proofs, closing, ending),
      challenger(res, table, proofs, replies),
      opening(res, table, schedule, contexts, idle, secure_psn, target_counts),
      door(res, table, replies, closing, ending, reclaim, challenger, opening),
      connectionless({res.config, res.peers, res.client, res.counters}, res.cms, random),
      initiators(res, table, schedule, idle, secure_psn, ending, reclaim),
      flows(res, flow_table, connectionless, contexts, closing, ending),
      answer_turns(schedule, replies, outbox, probes, destination, acks, steps),
      turns(res, connectionless, schedule, outbox, flows, initiators, answer_turns),
      reports(res, table, connectionless, schedule, closing, ending, loss),
      trimmed(res, table, connectionless, replies, loss, destination, inbox),
      lookup(res, table, replies, door),
      requests(res, lookup, door, schedule, idle, replies, steps, inbox),
      answers(res, lookup, requests, steps, ack_reader, nack_reader),
      demux(res, connectionless, replies, trimmed, lookup, requests, answers) {}

Result<void> Parts::create(Arena& arena) {
  const Config& config = res.config;
  if (!config.valid()) return Errc::invalid;
  const uint32_t pdcs = config.max_pdcs;
  const uint32_t floor = static_cast<uint32_t>(uint64_t{pdcs} * config.target_floor_percent / 100);
  constexpr uint32_t kIds = 65535;
  const uint32_t tombstones = std::min(config.tombstones, kIds - pdcs);
  UET_CHECK(table.create(arena, {pdcs, pdcs - floor, tombstones, config.reserved_pdcs},
                         res.randomness, &res.peers));
  UET_CHECK(flow_table.create(arena, config.max_flows, res.randomness.u64()));
  // By default every flow and every target PDC can have its own context.
  const uint32_t most = config.max_contexts != 0 ? config.max_contexts : config.max_flows + pdcs;
  UET_CHECK(contexts.create(arena, Room{std::min(most, 64U), most}));
  UET_CHECK(store.create(arena));
  UET_CHECK(reorder.create(arena));
  UET_CHECK(res.return_messages.create(arena, config.return_messages));
  UET_CHECK(res.cells.create(arena, res.cms));
  res.tx_pool.create(arena, pdcs);
  const uint32_t rx_windows = config.rx_windows != 0 ? config.rx_windows : pdcs;
  res.rx_pool.create(arena, rx_windows, RxWindow::block_bytes(config.tracked_packets()));
  UET_CHECK(replies.create(arena));
  UET_CHECK(secure_psn.create(arena));
  UET_CHECK(shares.create(arena, pdcs, res.randomness.u64()));
  UET_CHECK(acks.create(arena));
  UET_CHECK(inbox.create(arena));
  UET_CHECK(destination.create(arena));
  return connectionless.create(arena);
}

void Parts::prefetch() const {
  prefetch_between(&res, &res.counters);
  prefetch_between(&res.rx_pool, &flow_table);
  uet::prefetch(&shares, sizeof(Shares));
  schedule.prefetch();
  uet::prefetch(&idle, sizeof(IdleList));
  uet::prefetch(&replies, kLineBytes);
  prefetch_between(&store, &closing);
  prefetch_between(&loss, &deadlines);
  connectionless.prefetch();
  prefetch_between(&flows, &trimmed);
  uet::prefetch(&lookup, 4 * kLineBytes);
}

void Parts::prefetch(const Pdc& pdc) const {
  lookup.prefetch_rest(pdc);
  pdc.rx.prefetch();
  uet::prefetch(pdc.flow, sizeof(Flow));
  if (!pdc.tx.empty()) {
    uet::prefetch(pdc.context, sizeof(Context));
    pdc.tx.prefetch_slot(pdc.tx.next());
  }
  schedule.prefetch_timer();
}

}  // namespace uet::pds
