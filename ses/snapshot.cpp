// Copying what endpoints wait for, for Ses::snapshot. Counts everything, copies what fits.
#include "ses/snapshot.h"

#include "ses/endpoints.h"
#include "ses/incoming/rx_message.h"
#include "ses/outgoing/tx_message.h"

#include "pds/pdc/peer_table.h"

namespace uet::ses {
namespace {

const char* name(TxMessage::State state) {
  switch (state) {
    case TxMessage::State::held:
      return "held";
    case TxMessage::State::queued:
      return "queued";
    case TxMessage::State::started:
      return "started";
    case TxMessage::State::waiting:
      return "waiting";
    case TxMessage::State::exposed:
      return "exposed";
    case TxMessage::State::deferred:
      return "deferred";
    case TxMessage::State::ended:
      return "ended";
  }
  return "";
}

OperationSnapshot copy_of(const TxMessage& m, const Endpoint& ep, const pds::PeerTable& peers,
                          Instant now) {
  OperationSnapshot s;
  s.endpoint = ep.name.ri;
  if (m.remote != nullptr) {
    s.peer = peers[m.remote->key.peer].address;
    s.peer_pid = m.remote->key.pid;
    s.peer_ri = m.remote->key.ri;
  }
  s.kind = m.kind;
  s.state = name(m.state);
  s.context = m.context.op;
  s.tag = m.match_bits;
  s.bytes = m.memory.bytes();
  s.message_start = m.segment_start;
  s.message_bytes = m.segment_length;
  s.message_id = m.id.value();
  s.pulled_packets = m.pulled_packets;
  s.done_packets = m.done_packets();
  s.retries = m.retries;
  if (m.first_refused != Instant::zero()) s.refused = now - m.first_refused;
  if (m.timer.is_armed()) s.timer = m.timer.deadline() - now;
  return s;
}

ReceiveSnapshot copy_of(const PostedReceive& r, const ReceiveQueue& queue,
                        const pds::PeerTable& peers) {
  ReceiveSnapshot s;
  if (!queue.is_shared) s.endpoint = queue.endpoints.front()->name.ri;
  s.directed = r.directed;
  if (r.directed) s.from = peers[r.from].address;
  s.tagged = r.tagged;
  s.multi = r.multi;
  s.is_matched = r.multi ? r.open_messages != 0 : !r.is_matchable;
  s.context = r.context.op;
  s.tag = r.tag;
  s.ignore = r.ignore;
  s.bytes = r.room();
  return s;
}

KeptSnapshot copy_of(const UnexpectedMessage& m, const Endpoint& ep, const pds::PeerTable& peers) {
  KeptSnapshot s;
  s.endpoint = ep.name.ri;
  s.peer = peers[m.envelope.peer].address;
  s.initiator = m.envelope.initiator;
  s.tagged = m.tagged;
  s.is_complete = m.is_complete;
  s.tag = m.envelope.tag;
  s.bytes = m.request_length;
  return s;
}

}  // namespace

void add_waiting(Snapshot& out, const Endpoints& endpoints, const pds::PeerTable& peers,
                 Instant now) {
  endpoints.for_each_endpoint([&](Endpoint& ep) {
    ++out.endpoint_count;
    for (TxMessage& m : ep.operations) {
      const uint32_t at = out.operation_count++;
      if (at < out.operations.size()) out.operations[at] = copy_of(m, ep, peers, now);
    }
  });
  endpoints.for_each_queue([&](ReceiveQueue& queue) {
    out.disabled_indices += queue.disabled;
    for (PostedReceive& r : queue.receives) {
      const uint32_t at = out.receive_count++;
      if (at < out.receives.size()) out.receives[at] = copy_of(r, queue, peers);
    }
    for (const bool tagged : {false, true}) {
      Matcher& matcher = queue.matcher(tagged);
      for (UnexpectedMessage* m = matcher.oldest_unexpected(); m != nullptr;
           m = matcher.next_unexpected(*m)) {
        const uint32_t at = out.kept_count++;
        if (at >= out.kept.size()) continue;
        out.kept[at] = copy_of(*m, *endpoints.get(EndpointId(m->endpoint)), peers);
      }
    }
  });
}

void add_arriving(Snapshot& out, const RxMessage& m, const pds::PeerTable& peers, Instant now) {
  const uint32_t at = out.arriving_count++;
  if (at >= out.arriving.size()) return;
  ArrivingSnapshot& s = out.arriving[at];
  s.peer = peers[m.peer].address;
  s.message_id = m.key.id.value();
  s.bytes = m.pushed;
  s.arrived = m.arrived;
  s.silent = now - m.last_arrival;
}

}  // namespace uet::ses
