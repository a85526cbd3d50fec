// Decides when an operation may start: owns the queue of every flow, and what fences, recoveries,
// reads under way and reads in segments hold back at each remote endpoint.
#pragma once

#include "ses/outgoing/remotes.h"
#include "ses/outgoing/tx_message.h"
#include "ses/resources.h"

#include <cstdint>

namespace uet::ses {

class SendOrder {
 public:
  SendOrder(Resources& res, Remotes& remotes) : res_(res), remotes_(remotes) {}

  // A new operation joins its remote: it is released, or held behind what must come first.
  void post(TxMessage& m);
  // Hands it to its flow; PDS will call start.
  void release(TxMessage& m);
  // The next operation of the flow that may start, or null.
  TxMessage* next(Flow& flow) const;
  // It leaves the queue of its flow.
  void start(TxMessage& m);
  // It is over: what waited for the rest of its segments waits no longer.
  static void end_segments(TxMessage& m);
  // Announces the remaining octets to PDS, if they changed other than by pulls. [CMS-016]
  void announce(TxMessage& m);
  // PDS has pulled that packet of the message.
  static void note_pulled(TxMessage& m, const pds::PacketRef& ref);
  // Takes out one that has not started.
  void withdraw(TxMessage& m);

  // The attempt and its operation are over, or it waits for no PDC: other operations may go.
  void leave(TxMessage& m);
  // It was accepted and the target reads the rest: only a fence waits for it.
  void expose(TxMessage& m);
  void end_exposed(TxMessage& m);
  // Its attempt is over and it must be sent again, `delay` from now.
  void again(TxMessage& m, Duration delay);
  // The same at once; a recovery of its remote comes first.
  void again_now(TxMessage& m);

  // ROD: all later operations to the destination wait for one that was refused. [SES-029]
  void begin_recovery(Remote& remote);
  void end_recovery_wait(Remote& remote);
  // The timer of the remote expired.
  void on_timer(Remote& remote);

  // Releases the read from the limit of its flow, where the next read may wait.
  void end_read(TxMessage& m);
  // An operation of that remote is gone: the next ones go, and the remote may rest.
  void on_gone(Remote& remote);

 private:
  static uint32_t read_packets_of(const TxMessage& m);
  bool must_wait_for_reads(const Flow& flow, uint32_t read_packets) const;
  static bool must_wait(const TxMessage& m);
  void release_held(Remote& remote);
  static void hold(TxMessage& m);

  Resources& res_;
  Remotes& remotes_;
};

inline TxMessage* SendOrder::next(Flow& flow) const {
  TxMessage* const m = flow.queue.front();
  if (m == nullptr || must_wait_for_reads(flow, read_packets_of(*m))) return nullptr;
  return m;
}

// How many packets an operation asks for; 0: none. SES itself reads few messages at once.
inline uint32_t SendOrder::read_packets_of(const TxMessage& m) {
  if (!m.is_read() || m.is_internal()) return 0;
  return m.push_length / m.mtu + (m.push_length % m.mtu != 0 ? 1 : 0);
}

// Then end_read() says when to ask again.
inline bool SendOrder::must_wait_for_reads(const Flow& flow, uint32_t read_packets) const {
  return read_packets != 0 && flow.read_packets != 0 && !flow.last_read_failed &&
         flow.read_packets + read_packets > res_.config.read_packets;
}

}  // namespace uet::ses
