// The packet delivery sublayer's face: packets in, packets out, timers, and the calls SES makes
// (Service). It owns the parts and only routes.
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/counters.h"
#include "pds/pdc/pdc_state.h"
#include "pds/pdc/peer_table.h"
#include "pds/service.h"
#include "pds/snapshot.h"

#include "cms/config.h"

#include "base/arena.h"
#include "base/random_source.h"
#include "base/result.h"

#include <optional>
#include <span>

namespace uet::pds {

class PathReports;
struct Parts;

// Resources in use now, for tools and for tests that check that everything was given back.
struct Usage {
  uint32_t pdcs = 0;
  uint32_t timers = 0;  // armed, of PDCs
  uint32_t stored_responses = 0;
  uint32_t reordered_packets = 0;
  uint32_t return_messages = 0;
  uint32_t tx_blocks = 0;
  uint32_t rx_blocks = 0;
  uint32_t rudi_packets = 0;    // sent, not answered yet
  uint32_t rudi_answers = 0;    // of requests of others, about to leave
  uint64_t inflight_bytes = 0;  // as CMS counts them, all contexts
  bool operator==(const Usage&) const = default;
};

// The same in octets.
struct Footprint {
  uint64_t pdc_bytes = 0;
  uint64_t context_bytes = 0;
  uint64_t window_bytes = 0;
};

class Pds final : public Service {
 public:
  // All memory comes from `arena`. `peers`, `client` and `random` must outlive this object.
  // `random` decides PDCIDs and Start_PSNs. Errc::invalid for a config out of range,
  // Errc::no_memory.
  static Result<Pds*> create(Arena& arena, const Config& config, const cms::Config& cms,
                             PeerTable& peers, Client& client, RandomSource& random);
  // The same with numbers that follow from a seed, for simulations and tests.
  static Result<Pds*> create(Arena& arena, const Config& config, const cms::Config& cms,
                             PeerTable& peers, Client& client, uint64_t seed);

  Result<FlowId> flow(PeerId peer, TrafficClass tc, Mode mode, JobId job,
                      uint32_t sdi = 0) override;
  bool heeds_backlog() const override;
  void ready(FlowId flow, uint64_t bytes) override;
  void withdraw(FlowId flow, uint64_t bytes) override;
  void want_answers(FlowId flow, Instant now) override;
  void release(FlowId flow) override;

  // One datagram as received. Never fails: faults in it are counted. [PDS 7.1]
  void receive(const RxDatagram& datagram, Instant now);
  // The same for each in turn, and faster than one by one when there are many PDCs.
  void receive(std::span<const RxDatagram> datagrams, Instant now);
  // Fills `batch` with what may go now: answers (NACKs, ACKs, control packets), then resends and
  // new packets. With Lead::payload, resends and new packets go first; answers follow when there
  // are no more of them, or after 128 KiB or four batches. What the call before put into a batch
  // has left, or its payload was detached. [PDS-211]
  // Returns the number of packets added; 0: nothing may go until an event.
  uint32_t transmit(TxBatch& batch, Instant now, Lead lead = Lead::answers);
  // For a caller that knows which datagrams come soon. Each step follows addresses that the step
  // before has prefetched, so the caller lets some time pass between them. 0: what every packet
  // reads; 1: the entry of the PDC that the datagram is for, in the table; 2: that PDC; 3: what the
  // PDC points to. Returns the message that the PDC sends, from step 3 on; 0: none.
  MessageHandle prefetch(uint32_t step, std::span<const std::byte> datagram = {}) const;
  // Runs the timers due at or before now.
  void advance(Instant now);
  // The next instant at which advance has work; never() when idle. has_work() is apart from it.
  Instant next_deadline() const;
  // Something could be sent right now: transmit is worth a call. The call may still send nothing.
  bool has_work(Work which = Work::any) const;

  bool respond(RxToken token, const Verdict& verdict, Instant now) override;
  // False also when config.return_messages are queued.
  bool send_return(PdcHandle pdc, MessageHandle message, uint32_t bytes = 0) override;
  void message_done(PdcHandle pdc) override;
  void set_pressure(uint64_t bytes, Instant now) override;

  // Advertises another PSN range from now on, between 1 and config.mpr. Errc::invalid. [PDS-035]
  Result<void> set_mpr(uint8_t mpr);
  // Reports of the system about the route to a peer go there.
  PathReports& path_reports();
  // Starts an orderly close of every PDC, or with `abort` frees them all at once, reporting to the
  // client. Afterwards idle() becomes true. Not to be called from inside the client.
  //
  // With an sdi only PDCs and messages of that secure domain, which is being taken out of use.
  // Initiators continue while messages wait, so call it again until the last call, with `abort`:
  // then there are no keys any more. [TSS-146]
  void close_all(bool abort, Instant now, uint32_t sdi = 0);
  bool idle() const;  // no outstanding packet, no PDC waiting for a close to finish

  const Counters& counters() const;
  uint32_t open_pdcs() const;
  Usage usage() const;
  Footprint footprint() const;
  // Copies PDCs, first those on which operations wait; returns how many. Cost: a look at every PDC.
  uint32_t snapshot(std::span<PdcSnapshot> out, Instant now) const;
  // Copies contexts from that index on, 0 for the first page. A context that exists all the while
  // is on exactly one of the pages. Cost: a look at every context.
  ContextPage snapshot(std::span<ContextSnapshot> out, uint32_t from) const;

  explicit Pds(Parts& parts) : parts_(parts) {}

 private:
  Parts& parts_;
};

}  // namespace uet::pds
