// What the layer above asks of the packet delivery sublayer. Pds implements it; the tests of SES
// implement another one, so that they need no packets. [PDS 19.1]
#pragma once

#include "pds/client.h"

#include "base/result.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// None of these calls the client back before it returns, so the client may make them from inside
// its own calls: what they start goes with the next transmit.
class Service {
 public:
  // Find or make; set-up act per (peer, class, mode, job); Errc::again when the flow table is full,
  // or the RUDI destinations are all used. Holds a reference on the peer until it is released.
  // Flows of different jobs are one when the config says so.
  // Its packets belong to the secure domain `sdi`; 0: none. [PDS-013]
  virtual Result<FlowId> flow(PeerId peer, TrafficClass tc, Mode mode, JobId job,
                              uint32_t sdi = 0) = 0;
  // Whether octets that are announced matter to it: only receiver credit is asked for by them. Does
  // not change. Where it is false, ready() may be given 0 and withdraw() need not be called.
  virtual bool heeds_backlog() const { return true; }
  // The flow has at least one message for Client::start(). Idempotent but for `bytes`, O(1). These
  // are announced: announced_bytes() of all packets that a new message will have. [CMS-016]
  virtual void ready(FlowId flow, uint64_t bytes) = 0;
  // So much of what was announced is not pulled after all.
  virtual void withdraw(FlowId flow, uint64_t bytes) = 0;
  // An operation now waits for what the flow has sent: the next transmit asks for ACKs of packets
  // that were sent without AR. [PDS-064]
  virtual void want_answers(FlowId flow, Instant now) = 0;
  // The client is done with the flow: none of its messages is unfinished, and it uses the id no
  // more. PDCs that still serve it are closed, and with the last one it is gone. [PDS-247]
  virtual void release(FlowId flow) = 0;

  // The answer that a Verdict::later promised. False: the PDC is gone; forget it.
  virtual bool respond(RxToken token, const Verdict& verdict, Instant now) = 0;
  // Queues a message of return data on the PDC of a request that this FEP received; its packets are
  // pulled like any other. `bytes`: announced_bytes() of these. False: the PDC is gone or ends,
  // or too many return messages are queued. [PDS-167]
  virtual bool send_return(PdcHandle pdc, MessageHandle message, uint32_t bytes) = 0;
  // The message started with keep_pdc has all its return data (or failed). [PDS-015]
  virtual void message_done(PdcHandle pdc) = 0;
  // So many octets of messages that no receive waits for are held now. Peers are asked for less
  // where the configuration says so. [CMS-111, CMS-116]
  virtual void set_pressure(uint64_t bytes, Instant now) = 0;

 protected:
  ~Service() = default;
};

}  // namespace uet::pds
