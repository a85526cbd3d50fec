// Posting operations and their ends, as the tests of other parts see them.
#include "ses/outgoing/outgoing.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

Operations::Operations(Resources& res, const Endpoints& endpoints, Flows& flows, SendOrder& order,
                       Exposures& exposures, Deferrals& deferrals)
    : res_(res),
      endpoints_(endpoints),
      flows_(flows),
      order_(order),
      exposures_(exposures),
      deferrals_(deferrals),
      users_max_(0),
      payloads_(res, endpoints) {}

Result<void> Posting::read_rest(Endpoint&, const RestRequest& request) {
  if (!answers().may_post) return Errc::again;
  uint64_t bytes = 0;
  for (const IoSlice& slice : request.iov) bytes += slice.length;
  note("read " + std::to_string(bytes) + " at " + std::to_string(request.offset));
  answers().posted.push_back(request.pull);
  return {};
}
Result<void> Posting::send_restart(Endpoint&, const Restart& restart, uint32_t deferred) {
  if (!answers().may_post) return Errc::again;
  note("send_restart " + std::to_string(restart.tokens.initiator));
  answers().posted.push_back(deferred);
  return {};
}

Result<void> Operations::create() { return ends_.create(*res_.arena, 4); }
void Operations::report(TxMessage& m, Completion::Status status) {
  InternalEnd end;
  end.pull = m.pull;
  end.status = status;
  ends_.push(end);
}

namespace {
// Ends as many of SES's own operations as the test asks for.
void end_some(Operations& operations) {
  for (; answers().to_exchange.ends > 0; --answers().to_exchange.ends) {
    TxMessage m;
    m.pull = answers().to_exchange.ends;
    operations.report(m, Completion::Status::ok);
  }
}
}  // namespace

Result<void> Outgoing::create(uint64_t) { return operations_.create(); }
bool Outgoing::start(pds::FlowId flow, pds::PdcHandle, pds::StartedMessage&) {
  note("start " + std::to_string(flow.value()));
  return answers().to_exchange.has_message;
}
bool Outgoing::pull(pds::MessageHandle message, pds::PacketRef&) {
  end_some(operations_);

  note("pull " + std::to_string(message.value()));
  return answers().to_exchange.has_packet;
}
void Outgoing::encode(const pds::PacketRef& ref, wire::Writer&, TxBatch&) {
  note("encode " + std::to_string(ref.message.value()));
}
void Outgoing::on_responses(std::span<const pds::PacketRef> refs, const pds::RxResponse&) {
  end_some(operations_);

  const std::string message = std::to_string(refs.front().message.value());
  if (refs.size() == 1) return note("on_response " + message);
  note("on_responses " + message + " of " + std::to_string(refs.size()) + " packets");
}
void Outgoing::on_failed(const pds::PacketRef& ref, const pds::Failure&) {
  end_some(operations_);

  note("on_failed " + std::to_string(ref.message.value()));
}
void Outgoing::on_aborted(pds::MessageHandle message, const pds::Failure&) {
  end_some(operations_);

  note("on_aborted " + std::to_string(message.value()));
}
pds::Verdict Outgoing::on_return_data(const pds::RxRequest&) {
  end_some(operations_);

  note("on_return_data");
  return pds::Verdict::refused(wire::NackCode::no_resource);
}
void Outgoing::on_send_failed(pds::MessageHandle message, int error) {
  end_some(operations_);

  note("on_send_failed " + std::to_string(message.value()) + " by " + std::to_string(error));
}
void Outgoing::on_path_lowered(PeerId) {
  end_some(operations_);
  note("on_path_lowered");
}
bool Outgoing::shorten(const pds::PacketRef& ref) {
  end_some(operations_);

  note("shorten " + std::to_string(ref.message.value()));
  return answers().to_exchange.is_shortened;
}
void Outgoing::end_domain(uint32_t sdi) {
  end_some(operations_);
  note("end_domain " + std::to_string(sdi));
}
void Outgoing::on_timer(TimerNode&) {
  end_some(operations_);
  note("on_timer");
}
void Outgoing::on_answer_end(const AnswerEnd& answer) {
  note("answer of " + std::to_string(answer.length) + " ended" +
       (answer.exposed == 0 ? "" : ", of an exposed source"));
}
bool Outgoing::restart(const Restart& order) {
  note("restart " + std::to_string(order.tokens.initiator));
  return answers().knows_restart;
}
void Settling::on_pdc_closed(pds::PdcHandle) {
  end_some(operations_);
  note("on_pdc_closed");
}
void Settling::look_at_exposed(TxMessage&) { note("look_at_exposed"); }

}  // namespace uet::ses
