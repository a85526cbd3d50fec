// The order of operations: fences, recoveries and the limit on reads.
#include "ses/outgoing/send_order.h"

#include <algorithm>
#include <utility>

namespace uet::ses {

using State = TxMessage::State;

namespace {

// Octets of a message that PDS has not pulled yet: its payload, and the headers of its packets.
uint64_t to_be_pulled(const TxMessage& m) {
  const bool is_begun = m.state == State::started || m.state == State::ended;
  if ((m.state != State::queued && !is_begun) || m.is_fully_pulled) return 0;
  pds::PacketRef ref;
  ref.asks = m.is_read();
  if (m.is_stopped) return m.pulled_packets == 0 ? 0 : pds::announced_bytes(ref);
  const uint32_t left = m.is_probe ? 0 : m.push_length - m.next_offset;
  const uint64_t packets = left == 0 ? 1 : (uint64_t{left} + m.mtu - 1) / m.mtu;
  return packets * pds::announced_bytes(ref) + (ref.asks ? 0 : left);
}

}  // namespace

void SendOrder::post(TxMessage& m) {
  Remote& to = *m.remote;
  to.leave_idle();
  if (to.held.empty() && !must_wait(m)) return release(m);
  to.held.push_back(m);
  if (m.is_fenced) res_.pds->want_answers(to.flow->id, res_.now);
}

bool SendOrder::must_wait(const TxMessage& m) {
  const Remote& to = *m.remote;
  if (to.is_recovering || (to.in_segments != nullptr && to.in_segments != &m)) return true;
  return m.is_fenced && to.in_flight + to.exposed != 0;
}

// In order, nothing goes between the messages of a read that is cut. [LF-089, LF-131]
void SendOrder::release(TxMessage& m) {
  Remote& to = *m.remote;
  if (to.is_ordered && m.is_read() && m.flow == to.flow) {
    end_segments(m);
    if (m.segment_start + m.segment_length < m.memory.bytes()) to.in_segments = &m;
  }
  ++to.in_flight;
  m.become(State::queued);
  m.flow->queue.push_back(m);
  if (!res_.announces) return res_.pds->ready(m.flow->id, 0);
  announce(m);
}

void SendOrder::announce(TxMessage& m) {
  if (!res_.announces) {
    if (m.state == State::queued) res_.pds->ready(m.flow->id, 0);
    return;
  }
  const uint64_t before = std::exchange(m.announced, to_be_pulled(m));
  if (m.announced >= before && m.state == State::queued) {
    return res_.pds->ready(m.flow->id, m.announced - before);
  }
  if (m.announced < before) res_.pds->withdraw(m.flow->id, before - m.announced);
}

void SendOrder::note_pulled(TxMessage& m, const pds::PacketRef& ref) {
  if (m.announced != 0) m.announced -= std::min<uint64_t>(m.announced, pds::announced_bytes(ref));
}

void SendOrder::start(TxMessage& m) {
  static_cast<ListNode<QueueTag>&>(m).unlink();
  m.become(State::started);
  m.read_packets = read_packets_of(m);
  m.flow->read_packets += m.read_packets;
}

void SendOrder::withdraw(TxMessage& m) {
  const bool was_held = m.state == State::held;
  static_cast<ListNode<QueueTag>&>(m).unlink();
  if (!was_held) leave(m);
}

void SendOrder::leave(TxMessage& m) {
  UET_ASSERT(m.remote->in_flight != 0);
  --m.remote->in_flight;
  if (m.announced != 0) res_.pds->withdraw(m.flow->id, std::exchange(m.announced, 0));
}

void SendOrder::expose(TxMessage& m) {
  m.become(State::exposed);
  ++m.remote->exposed;
  leave(m);
}

void SendOrder::end_exposed(TxMessage& m) {
  UET_ASSERT(m.remote->exposed != 0);
  --m.remote->exposed;
}

void SendOrder::again(TxMessage& m, Duration delay) {
  Remote& remote = *m.remote;
  if (!remote.is_ordered) {
    if (delay == Duration::zero()) {
      leave(m);
      return release(m);
    }
    m.become(State::waiting);
    return res_.timers.arm(m.timer, res_.now + delay);
  }
  begin_recovery(remote);
  remote.recovery_delay = std::max(remote.recovery_delay, delay);
  leave(m);
  hold(m);
  end_recovery_wait(remote);
}

void SendOrder::end_segments(TxMessage& m) {
  if (m.remote->in_segments == &m) m.remote->in_segments = nullptr;
}

void SendOrder::again_now(TxMessage& m) {
  leave(m);
  if (!m.remote->is_recovering) {
    release(m);
    return release_held(*m.remote);
  }
  hold(m);
  end_recovery_wait(*m.remote);
}

// Releases what nothing holds back any more. [LF-060, LF-089, SES-029]
void SendOrder::release_held(Remote& remote) {
  for (;;) {
    TxMessage* m = remote.held.front();
    if (m == nullptr || must_wait(*m)) return;
    static_cast<ListNode<QueueTag>*>(m)->unlink();
    release(*m);
  }
}

// Puts a message that must be sent again among the held ones, at its place in posting order.
void SendOrder::hold(TxMessage& m) {
  Remote& remote = *m.remote;
  m.become(State::held);
  for (TxMessage& later : remote.held) {
    if (later.sequence < m.sequence) continue;
    remote.held.insert_before(later, m);
    return;
  }
  remote.held.push_back(m);
}

// From the first refusal on, all later messages to the destination go after the refused one: those
// not started yet are called back, those in flight are refused by the target too, since they carry
// the generation of their start. [SES-029]
void SendOrder::begin_recovery(Remote& remote) {
  if (!remote.is_ordered || remote.is_recovering) return;
  remote.is_recovering = true;
  for (TxMessage& queued : remote.flow->queue) {
    if (queued.remote != &remote) continue;
    static_cast<ListNode<QueueTag>&>(queued).unlink();
    leave(queued);
    hold(queued);
  }
}

// With nothing in flight any more, the held messages go again after the delay.
void SendOrder::end_recovery_wait(Remote& remote) {
  if (!remote.is_recovering || remote.in_flight != 0 || remote.timer.is_armed()) return;
  const Duration delay = remote.recovery_delay;
  remote.recovery_delay = Duration::zero();
  if (delay == Duration::zero() || remote.held.empty()) {
    remote.is_recovering = false;
    release_held(remote);
  } else {
    res_.timers.arm(remote.timer, res_.now + delay);
  }
}

void SendOrder::on_timer(Remote& remote) {
  remote.is_recovering = false;
  release_held(remote);
}

void SendOrder::end_read(TxMessage& m) {
  if (m.read_packets == 0) return;
  Flow& flow = *m.flow;
  UET_ASSERT(flow.read_packets >= m.read_packets);
  flow.read_packets -= std::exchange(m.read_packets, 0);
  flow.last_read_failed = m.data_bytes < m.expected_bytes();
  if (!flow.queue.empty()) res_.pds->ready(flow.id, 0);
}

void SendOrder::on_gone(Remote& remote) {
  release_held(remote);
  const bool is_done = remote.in_flight + remote.exposed == 0 && remote.held.empty();
  if (is_done && !remote.is_idle()) remotes_.rest(remote);
}

}  // namespace uet::ses
