// The interface of the packet delivery sublayer for the layer above. Pds implements it; the tests
// of SES have their own implementation, so that they need no packets. [PDS 19.1]
#pragma once

#include "pds/client.h"

#include "base/result.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// None of these calls the client back before it returns, so the client may call them from inside
// its own callbacks: the packets go with the next transmit.
class Service {
 public:
  // Finds or makes the flow of (peer, class, mode, job). Errc::again when the flow table or the
  // table of RUDI destinations is full. Holds a reference on the peer until the flow is released.
  // Flows of different jobs are one flow when the config says so. Its packets belong to the secure
  // domain `sdi`; 0: none. [PDS-013]
  virtual Result<FlowId> flow(PeerId peer, TrafficClass tc, Mode mode, JobId job,
                              uint32_t sdi = 0) = 0;
  // Whether the flow needs announced octets: only receiver credit uses them. Does not change. If
  // false, ready() may be given 0 and withdraw() need not be called.
  virtual bool heeds_backlog() const { return true; }
  // The flow has at least one message for Client::start(). Idempotent except for `bytes`, O(1).
  // `bytes` are announced: announced_bytes() of all packets of a new message. [CMS-016]
  virtual void ready(FlowId flow, uint64_t bytes) = 0;
  // `bytes` of the announced octets will not be pulled.
  virtual void withdraw(FlowId flow, uint64_t bytes) = 0;
  // An operation now waits for packets that the flow has sent: the next transmit asks for ACKs of
  // those without AR. [PDS-064]
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
  // `bytes` octets of messages without a receive are held now. If so configured, peers are asked to
  // send less. [CMS-111, CMS-116]
  virtual void set_pressure(uint64_t bytes, Instant now) = 0;

 protected:
  ~Service() = default;
};

}  // namespace uet::pds
