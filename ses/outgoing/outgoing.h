// The initiator half of SES: owns its parts and routes to them what users post, what PDS asks of
// outgoing messages, and their answers. [ses.md 2, 4.1, 4.2, 4.7, 7]
#pragma once

#include "ses/deferral/deferrals.h"
#include "ses/endpoints.h"
#include "ses/outgoing/flows.h"
#include "ses/outgoing/last_header.h"
#include "ses/outgoing/operations.h"
#include "ses/outgoing/posting.h"
#include "ses/outgoing/remotes.h"
#include "ses/outgoing/send_order.h"
#include "ses/outgoing/settling.h"
#include "ses/rendezvous/exposures.h"
#include "ses/resources.h"

#include "base/timer_wheel.h"

#include <cstdint>
#include <optional>

namespace uet::ses {

class Outgoing {
 public:
  Outgoing(Resources& res, const Endpoints& endpoints, MemoryRegions& memory)
      : res_(res),
        flows_(res),
        remotes_(res, flows_),
        order_(res, remotes_),
        exposures_(res, memory),
        deferrals_(res),
        operations_(res, endpoints, flows_, order_, exposures_, deferrals_),
        settling_(res, operations_, order_, exposures_),
        posting_(res, remotes_, order_, operations_, exposures_, deferrals_) {}
  Result<void> create(uint64_t seed);

  // Where operations are posted.
  Posting& posting() { return posting_; }
  // Cancels the oldest operation of that context that still has packets to send. [LF-058]
  bool cancel(Endpoint& ep, void* op_context);
  // Ses::take_back.
  void take_back(Endpoint& ep, uint64_t user);
  // Ends the oldest operation of the endpoint with status aborted. False: it has none.
  bool abort_next(Endpoint& ep);

  // Calls of PDS about outgoing messages.
  bool start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out);
  bool pull(pds::MessageHandle message, pds::PacketRef& out);
  void encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch);
  // Packets of one message; the first of them was not a MSG_ERROR, or it is the only one.
  void on_responses(std::span<const pds::PacketRef> refs, const pds::RxResponse& response);
  void on_failed(const pds::PacketRef& ref, const pds::Failure& failure);
  void on_aborted(pds::MessageHandle message, const pds::Failure& failure);
  void on_pdc_closed(pds::PdcHandle pdc) { settling_.on_pdc_closed(pdc); }
  // Read data that came back as a request. [SES-074]
  pds::Verdict on_return_data(const pds::RxRequest& request);
  // The system refused a packet of the message for good.
  void on_send_failed(pds::MessageHandle message, int error);

  // The route to the peer carries shorter packets: messages to it use packets that fit, or end.
  // [LF-141]
  void on_path_lowered(PeerId peer);
  bool shorten(const pds::PacketRef& ref);
  // The keys of the secure domain are gone: all of its operations end. [TSS-146]
  void end_domain(uint32_t sdi);
  void forget_peer(PeerId peer) { remotes_.forget_peer(peer); }
  void on_timer(TimerNode& node);

  // A peer asks for a deferred send again. False: it names no send to that peer. [SES-099]
  bool restart(const Restart& order);

  // The source that is exposed to that peer in that region, or null; and the reads of the peer.
  Exposure* exposure_of(RegionId region, PeerId peer) { return exposures_.of_region(region, peer); }
  void on_read_begun(Exposure& x, uint64_t offset, uint32_t length) {
    look_at(exposures_.on_read_begun(x, offset, length));
  }
  void on_served(Exposure& x, uint32_t bytes) { look_at(exposures_.on_served(x, bytes)); }
  void on_answer_cut(const AnswerEnd& cut) { exposures_.on_answer_cut(cut); }
  void on_answer_end(const AnswerEnd& answer);

  // How operations of SES itself ended, the oldest first; nothing: all were returned.
  std::optional<InternalEnd> next_end() { return operations_.next_end(); }
  const Operations& operations() const { return operations_; }
  bool idle() const { return operations_.is_empty(); }

 private:
  void look_at(TxMessage* m) {
    if (m != nullptr) settling_.look_at_exposed(*m);
  }

  Resources& res_;
  Flows flows_;
  Remotes remotes_;
  SendOrder order_;
  Exposures exposures_;
  Deferrals deferrals_;
  Operations operations_;
  Settling settling_;
  Posting posting_;
  LastHeader last_header_;
};

}  // namespace uet::ses
