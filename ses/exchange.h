// SES as the layers below see it, and time: implements pds::Client, passes each call to the half
// that it concerns, and reports to the target half how its own operations ended. It owns nothing;
// Ses has the halves.
#pragma once

#include "ses/incoming/incoming.h"
#include "ses/incoming/read_answers.h"
#include "ses/outgoing/outgoing.h"
#include "ses/resources.h"

#include "pds/client.h"

#include "base/time.h"

#include <cstdint>
#include <span>

namespace uet::ses {

class Exchange final : public pds::Client {
 public:
  Exchange(Resources& res, Outgoing& outgoing, ReadAnswers& answers, Incoming& incoming)
      : res_(res), outgoing_(outgoing), answers_(answers), incoming_(incoming) {}

  // Which jobs are secured, and in which domain; null: none is. The table outlives this. [TSS-074]
  void secure(const tss::JobTable* jobs) { res_.jobs = jobs; }

  // After every call to Outgoing that may end an operation.
  void pass_ends() {
    while (const auto done = outgoing_.next_end()) incoming_.on_end(*done);
  }

  // A packet of the message was refused by the system for good (TxFate::never): the operation ends
  // in status fault, its PDC survives; with EMSGSIZE it ends as undeliverable, too_long. `cookie`
  // is the message's MessageHandle.
  void on_send_failed(uint32_t cookie, int error, Instant now);
  // The MTU toward the peer has become smaller: shortens its packets. [LF-141]
  void on_path_lowered(PeerId peer, Instant now);

  // The keys of a secure domain are gone, and so are its PDCs: all of its operations end as
  // undeliverable, no_key. [TSS-146]
  void end_domain(uint32_t sdi, Instant now);

  void advance(Instant now);
  Instant next_deadline() const;
  // Payloads that were copied when they were posted and that the peers may not have yet.
  const CopyTally& copies() const { return outgoing_.operations().copies(); }
  bool idle() const;  // no operation is unfinished and no message half received

  // pds::Client
  bool start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out, Instant now) override;
  bool pull(pds::MessageHandle message, pds::PacketRef& out) override;
  void encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) override;
  pds::Verdict on_request(const pds::RxRequest& request, Instant now) override;
  void on_response(const pds::PacketRef& ref, const pds::RxResponse& response,
                   Instant now) override;
  void on_responses(std::span<const pds::PacketRef> refs, const pds::RxResponse& response,
                    Instant now) override;
  void on_failed(const pds::PacketRef& ref, const pds::Failure& failure, Instant now) override;
  void on_aborted(pds::MessageHandle message, const pds::Failure& failure, Instant now) override;
  bool shorten(const pds::PacketRef& ref) override;
  JobId job_of(std::span<const std::byte> ses) const override;
  bool has_open_message(pds::PdcHandle pdc) const override;
  void on_no_place(pds::PdcHandle pdc, Instant now) override;
  void on_pdc_closed(pds::PdcHandle pdc, PeerId peer, bool clean, Instant now) override;

 private:
  Resources& res_;
  Outgoing& outgoing_;
  ReadAnswers& answers_;
  Incoming& incoming_;
};

}  // namespace uet::ses
