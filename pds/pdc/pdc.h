// One packet delivery context: the state of one end of it. Here is what it consists of, and the
// small questions it can answer alone. What happens to it is in tx, rx and this folder.
// [PDS 2, 5]
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/door/proof.h"
#include "pds/pdc/end_record.h"
#include "pds/pdc/lifecycle.h"
#include "pds/pdc/start.h"
#include "pds/rx/ack_scheduler.h"
#include "pds/rx/order.h"
#include "pds/rx/responses.h"
#include "pds/rx/rx_window.h"
#include "pds/rx/sack.h"
#include "pds/rx/told.h"
#include "pds/schedule/deficit.h"
#include "pds/tx/asking.h"
#include "pds/tx/burst.h"
#include "pds/tx/clearing.h"
#include "pds/tx/heard.h"
#include "pds/tx/loss_detector.h"
#include "pds/tx/losses.h"
#include "pds/tx/messages.h"
#include "pds/tx/peer_range.h"
#include "pds/tx/tail_probe.h"
#include "pds/tx/tx_window.h"
#include "pds/tx/waiting.h"

#include "base/intrusive_list.h"
#include "base/slab.h"
#include "base/timer_wheel.h"

#include <cstdint>

namespace uet::pds {

struct Flow;
struct Context;

// The parameters of a new PDC.
struct PdcOpening {
  PdcEvent event = PdcEvent::opened;
  Mode mode = Mode::rud;
  PeerId peer{};
  uint32_t sdi = 0;
  Psn start{};
  Context* context = nullptr;
  Flow* flow = nullptr;  // initiator only
  Pdcid peer_id{};       // target only: an initiator learns it
  JobId job{};           // target only
};

struct alignas(64) Pdc : ListNode<struct LruTag>,
                         ListNode<struct ControlTag>,
                         ListNode<struct SendTag>,
                         ListNode<struct FlowPdcTag> {
  // Touched by every packet.
  Lifecycle life;
  Mode mode = Mode::rud;
  bool is_reserved = false;  // of the reserved pool [PDS-017]
  Pdcid id;                  // ours
  Pdcid peer_id;             // 0 until learnt
  Asking asking;
  PdcHandle handle;
  PeerId peer;
  JobId job;  // target: of its first request [T-02]
  Context* context = nullptr;
  Flow* flow = nullptr;  // initiator only
  TxWindow tx;
  [[no_unique_address]] RxWindow rx;  // `losses` begins in the octets that it leaves
  Losses losses;
  PeerRange range;  // of the PSNs we send, at the peer [PDS-035]
  Start start;
  Told told;
  Heard heard;
  Proof proof;
  Burst burst;

  Order order;  // ROD

  AckScheduler ack;
  SackSweep sweep;
  RtoEstimator rtt;
  TailProbe tail;

  // Sending.
  Deficit deficit;
  Messages messages;

  // Timers.
  [[no_unique_address]] TimerNode timer;  // `sdi` takes the octets that it leaves
  uint32_t sdi = 0;                       // secure domain of all its packets; 0: none [PDS-V8]
  Instant last_active;                    // last packet either way
  Waiting waiting;
  Clearing clearing;  // initiator
  EndRecord end;

  // Cold.
  Responses responses;

  explicit Pdc(uint8_t timer_kind) : timer(timer_kind) {}

  // Its two PSN spaces begin here; `tx` alone may hold packets, of a start before. [PDS-031,
  // TSS-065]
  void begin_at(Psn first, const Config& config) {
    start.begin_at(first);
    rx.start(first, config.tracked_packets());
    sweep.start(first);
    order.start(first);
    range.start(first, config.default_mpr);
    losses.start(first, tx.base());
    responses.start(first);
  }

  // The table has just given it out: it has a role, an id and a handle. No round trip to its peer
  // is known. [PDS-I1, PDS-T1, PDS-T2, PDS-140]
  void open_as(const PdcOpening& as, const Config& config, Instant now) {
    life.change(as.event);
    mode = as.mode;
    peer = as.peer;
    peer_id = as.peer_id;
    job = as.job;
    sdi = as.sdi;
    context = as.context;
    flow = as.flow;
    tx.start(as.start);
    begin_at(as.start, config);
    rtt = RtoEstimator(config.rto_init);
    last_active = now;
  }

  PdcState state() const { return life.state(); }
  bool is_initiator() const { return life.is_initiator(); }
  bool may_take_message() const { return is_initiator() && life.is_open() && !life.close_asked(); }
  // It leaves the list of senders that it is in, or of those that wait for their context.
  void stop_sending() { static_cast<ListNode<SendTag>&>(*this).unlink(); }
  // Its message was cancelled before the first packet left: the peer does not know this PDC, so
  // there is nothing to close.
  bool is_unheard() const {
    return is_initiator() && state() == PdcState::syn && tx.next() == start.psn() &&
           !messages.has_current() && !messages.is_kept();
  }
  // Target: nothing shows yet that the source of the SYN is where it says it is. [T-38]
  bool is_unverified() const { return !is_initiator() && !proof.is_confirmed() && sdi == 0; }
  // Highest PSN received on this PDC + 1, the payload of a NACK by default. [PDS-111]
  Psn nack_hint() const { return rx.max_received() + 1; }
  // Everything is answered or set aside, yet the peer cannot track another packet: its cumulative
  // ACK waits for a clear, or the ACK that reported it was lost. No packet is in flight whose ACK
  // could report it. [PDS-035, PDS-102, PDS-245]
  bool is_stalled() const {
    if (tx.empty()) return !range.admits(tx.next());
    return tx.has_only_aside() && !losses.has_lost();
  }
};
static_assert(sizeof(Pdc) <= 448, "seven cache lines: 65,000 PDCs stay within 30 MB");

}  // namespace uet::pds
