// How operations are posted.
#include "ses/outgoing/posting.h"

#include "ses/outgoing/headers.h"

#include "wire/payload_mtu.h"

#include <algorithm>
#include <array>

namespace uet::ses {

Result<Taken> Posting::send(Endpoint& ep, const SendRequest& request) {
  const bool is_datagram = ep.options.mode == pds::Mode::uud;
  if (is_datagram && request.tagged) return Errc::unsupported;
  TxMessage* m = UET_TRY(make(ep, request.to, request.iov, request.flags));
  if (is_datagram && m->memory.bytes() > m->mtu) {  // [SES-104]
    operations_.free(*m);
    return Errc::too_long;
  }
  m->kind = request.tagged ? OpKind::tagged_send : OpKind::send;
  m->opcode = is_datagram      ? wire::SesOpcode::datagram_send
              : request.tagged ? wire::SesOpcode::tagged_send
                               : wire::SesOpcode::send;
  m->match_bits = request.tagged ? request.tag : 0;  // [SES-071]
  m->header_data = request.data;
  m->context = request.context;
  if (m->segment_length >= res_.config.rendezvous_bytes) {
    exposures_.expose(ep, *m, request.iov, request.to.capabilities);
  }
  if (m->segment_length >= res_.config.defer_bytes && m->exposure == nullptr) {
    deferrals_.make_deferrable(ep, *m, request.to);
  }
  m->header = choose_header(res_.config, *m, request.to.capabilities);
  return post(ep, *m);
}

Result<Taken> Posting::rma(Endpoint& ep, const RmaRequest& request) {
  if (ep.options.mode == pds::Mode::uud) return Errc::unsupported;
  if (request.read && (request.flags & (kOpInject | kOpRemoteData)) != 0) return Errc::invalid;
  TxMessage* m = UET_TRY(make(ep, request.to, request.iov, request.flags));
  m->kind = request.read ? OpKind::read : OpKind::write;
  m->opcode = request.read ? wire::SesOpcode::read : wire::SesOpcode::write;
  m->match_bits = request.key;
  m->remote_offset = request.remote_offset;
  m->header_data = request.data;
  m->context = request.context;
  // The MTU implies how much a first packet requests, so toward a peer with another MTU every
  // packet is a separate message. [LF-131, SES-017]
  if (request.read && !reads_whole(*m, request.to.peer)) {
    m->push_length = m->segment_length = std::min<uint32_t>(m->segment_length, m->mtu);
  }
  if (Flow* const rudi = rudi_flow(ep, request)) {
    m->flow = rudi;
    remotes_.enter(*rudi);
  }
  m->header = choose_header(res_.config, *m, request.to.capabilities);
  return post(ep, *m);
}

// RUDI is optional: an operation that it cannot carry uses the endpoint's mode. Only memory that
// tolerates replays, no header data, no order. [SES-027, SES-077, LF-091]
Flow* Posting::rudi_flow(const Endpoint& ep, const RmaRequest& request) {
  if ((request.flags & kOpRudi) == 0) return nullptr;
  const uint8_t common = common_profiles(res_.config.profiles, request.to.capabilities);
  if (support(common, Feature::rudi) != Support::mandatory) return nullptr;
  if ((request.flags & kOpRemoteData) != 0) return nullptr;
  if (ep.options.mode != pds::Mode::rud || (request.key & kIdempotentSafe) == 0) return nullptr;
  const JobId job = request.to.job.value() != 0 ? request.to.job : ep.name.job;
  const Result<Flow*> found = remotes_.flow(ep, request.to.peer, pds::Mode::rudi, job);
  return found.ok() ? *found : nullptr;
}

Result<TxMessage*> Posting::make(Endpoint& ep, const Destination& to, std::span<const IoSlice> iov,
                                 uint32_t flags) {
  if (is_too_late(ep, to)) return Errc::no_key;
  if (ep.tx_open >= ep.options.tx_size || !operations_.has_room()) return Errc::again;
  Remote* const at = UET_TRY(remotes_.get(ep, to));
  TxMessage* const m = UET_TRY(operations_.make(ep, *at, iov, flags));
  m->is_fenced = (flags & kOpFence) != 0;
  m->delivery_complete = (flags & kOpDeliveryComplete) != 0;
  m->has_data = (flags & kOpRemoteData) != 0;
  // The user already has the completion of a retained operation. With the queue or the buffers half
  // full the user may be waiting for room there.
  const bool is_awaited = (flags & kOpQuiet) == 0 && !m->is_retained;
  const bool is_scarce = ep.tx_open >= ep.options.tx_size / 2 || ep.retained.is_scarce();
  m->is_quiet = !is_awaited && !is_scarce && !m->delivery_complete && !m->is_fenced &&
                m->segment_length <= m->mtu;
  return m;
}

// The secure domain of its job is being taken out of use. Only users cannot begin operations any
// more: the stack's own sends belong to started ones. [TSS-146]
bool Posting::is_too_late(const Endpoint& ep, const Destination& to) const {
  if (res_.jobs == nullptr) return false;
  return res_.jobs->is_closing(to.job.value() != 0 ? to.job : ep.name.job);
}

// The peer takes a READ of several packets for pieces of the size that both use by default.
bool Posting::reads_whole(const TxMessage& m, PeerId peer) const {
  const uint32_t own = res_.config.payload_mtu;
  return m.mtu == own && (*res_.peers)[peer].implied_payload(own) == own;
}

Taken Posting::post(Endpoint& ep, TxMessage& m) {
  operations_.enrol(ep, m);
  order_.post(m);
  return m.is_retained ? Taken::retained : Taken::posted;
}

// On RUD and without a fence, so nothing holds it back.
void Posting::post_internal(Endpoint& ep, TxMessage& m) {
  UET_ASSERT(m.is_internal() && !m.remote->is_ordered && m.remote->held.empty());
  operations_.enrol(ep, m);
  order_.post(m);
}

Result<void> Posting::read_rest(Endpoint& ep, const RestRequest& request) {
  Remote* const at = UET_TRY(remotes_.get(ep, request.from, /*is_internal=*/true));
  TxMessage* const m = UET_TRY(operations_.make_internal(ep, *at, request.iov));
  m->kind = OpKind::read;
  m->opcode = wire::SesOpcode::read;
  // The sender's first packet shows the largest payload that its path carries. This value is used
  // for a sender that is in no address vector [LF-131], and if it is below the agreed payload: then
  // the MTU of the path has become smaller. [LF-141]
  const bool is_unknown = !(*res_.peers)[request.from.peer].states_payload();
  const bool is_shown =
      wire::is_payload_mtu(request.shown_payload) && (is_unknown || request.shown_payload < m->mtu);
  if (is_shown) m->mtu = static_cast<uint16_t>(request.shown_payload);
  if (!reads_whole(*m, request.from.peer)) {  // [LF-131]
    m->segment_length = std::min<uint32_t>(m->segment_length, m->mtu);
  }
  m->push_length = m->segment_length;
  m->may_repeat = !request.iov.empty() && m->segment_length == m->memory.bytes();
  m->pull = request.pull;
  m->match_bits = request.key;
  m->remote_offset = request.offset;
  post_internal(ep, *m);
  return {};
}

// Outside the order of the user's operations. Process and index are those of the sender's address
// if known, else 0; no receiver reads them. [SES-098, SES-102]
Result<void> Posting::send_restart(Endpoint& ep, const Restart& r, uint32_t deferred) {
  Destination to;
  to.peer = r.peer;
  to.job = r.job;
  to.absolute = ep.name.absolute;
  if (const Remote* const known = remotes_.of_source(ep.id, r.peer, r.initiator)) {
    to.pid = known->key.pid;
    to.ri = known->key.ri;
  }
  Remote* const at = UET_TRY(remotes_.get(ep, to, /*is_internal=*/true));
  TxMessage* const m = UET_TRY(operations_.make_internal(ep, *at, {}));
  m->kind = OpKind::send;
  m->opcode = wire::SesOpcode::deferrable_rtr;
  m->restart = deferred;
  m->match_bits = r.tokens.pack();
  post_internal(ep, *m);
  return {};
}

}  // namespace uet::ses
