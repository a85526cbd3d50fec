// The scripted packet delivery sublayer: packets out, packets in, answers, failures.
#include "ses/test/stub_pds.h"

#include "ses/incoming/request.h"

#include <gtest/gtest.h>

namespace uet::ses::test {

Result<pds::FlowId> StubPds::flow(PeerId peer, TrafficClass, pds::Mode mode, JobId, uint32_t sdi) {
  if (flows_.size() - asked.released.size() >= flows_max) return Errc::again;
  flows_.push_back({peer, mode, false, 0, 0, {}});
  asked.domains.push_back(sdi);
  return pds::FlowId(static_cast<uint32_t>(flows_.size() - 1));
}

bool StubPds::respond(pds::RxToken token, const pds::Verdict& v, Instant) {
  const uint32_t flow = token.pdc.value() - kTargetPdc;
  TargetState& t = targets_[flow];
  t.forward.answers[token.psn.value()] = v;
  Parcel p;
  p.initiator = 1 - node_;
  p.flow = flow;
  p.psn = token.psn.value();
  answer(p, v);
  return true;
}

void StubPds::withdraw(pds::FlowId flow, uint64_t bytes) {
  ASSERT_LE(bytes, flows_[flow.value()].announced) << "more than was announced";
  flows_[flow.value()].announced -= bytes;
}

uint64_t StubPds::announced() const {
  uint64_t sum = 0;
  for (const FlowState& f : flows_) sum += f.announced;
  return sum;
}

bool StubPds::send_return(pds::PdcHandle pdc, pds::MessageHandle message, uint32_t bytes) {
  EXPECT_GE(bytes, pds::kPacketOverheadBytes);
  if (ends_returns) return false;
  targets_[pdc.value() - kTargetPdc].back.returns.push_back(message);
  return true;
}

Octets StubPds::encode(const pds::PacketRef& ref) {
  batch_->clear();
  const std::span<std::byte> room = batch_->begin();
  wire::Writer header(room);
  client_->encode(ref, header, *batch_);
  batch_->commit(static_cast<uint32_t>(header.position()), {}, Entropy(), 0, Ecn::ect0);
  const TxPacket& packet = batch_->packets()[0];
  Octets out(packet.header, packet.header + packet.header_bytes);
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    out.insert(out.end(), packet.slices[i].data, packet.slices[i].data + packet.slices[i].length);
  }
  return out;
}

void StubPds::send(Direction& d, const pds::PacketRef& ref, Parcel p) {
  p.to = 1 - node_;
  p.psn = d.next_psn++;
  p.next_hdr = ref.next_hdr;
  p.octets = encode(ref);
  d.outstanding[p.psn] = {ref, p.octets};
  network_.add(std::move(p));
}

void StubPds::transmit(Instant now) {
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    FlowState& f = flows_[i];
    while (f.forward.outstanding.size() < window) {
      if (f.forward.active == pds::MessageHandle()) {
        pds::StartedMessage started;
        const pds::PdcHandle pdc(i + 1 + f.pdc_number * 0x10000);
        if (!f.is_ready || !client_->start(pds::FlowId(i), pdc, started, now)) {
          f.is_ready = false;
          break;
        }
        if (started.keep_pdc) ++asked.keep_pdc;
        f.forward.active = started.message;
      }
      pds::PacketRef ref;
      if (!client_->pull(f.forward.active, ref)) {
        f.forward.active = pds::MessageHandle();
        continue;
      }
      asked.quiet.push_back(ref.quiet);
      EXPECT_GE(f.announced, pds::announced_bytes(ref));
      f.announced -= std::min<uint64_t>(f.announced, pds::announced_bytes(ref));
      Parcel p;
      p.initiator = node_;
      p.flow = i;
      p.mode = f.mode;
      const bool was_last = ref.eom;
      send(f.forward, ref, std::move(p));
      if (was_last) f.forward.active = pds::MessageHandle();
      if (f.mode == pds::Mode::uud) {
        f.forward.outstanding.erase(f.forward.next_psn - 1);
        client_->on_response(ref, {}, now);
      }
    }
  }
  for (auto& [flow, t] : targets_) {
    while (!t.back.returns.empty() && t.back.outstanding.size() < window) {
      const pds::MessageHandle message = t.back.returns.front();
      pds::PacketRef ref;
      if (!client_->pull(message, ref)) {
        t.back.returns.pop_front();
        continue;
      }
      Parcel p;
      p.initiator = 1 - node_;
      p.flow = flow;
      p.is_return = true;
      p.mode = t.mode;
      send(t.back, ref, std::move(p));
    }
  }
}

void StubPds::answer(const Parcel& p, const pds::Verdict& v) {
  Parcel out;
  out.is_answer = true;
  out.to = 1 - node_;
  out.initiator = p.initiator;
  out.flow = p.flow;
  out.is_return = p.is_return;
  out.psn = p.psn;
  if (v.kind == pds::Verdict::Kind::respond) {
    out.next_hdr = v.response.next_hdr;
    out.octets.assign(v.response.bytes.begin(), v.response.bytes.begin() + v.response.length);
  }
  network_.add(std::move(out));
}

void StubPds::receive_request(const Parcel& p, Instant now) {
  TargetState& t = targets_[p.flow];
  if (!p.is_return) t.mode = p.mode;
  Direction& d = p.is_return ? flows_[p.flow].forward : t.forward;
  const uint32_t key = p.psn;
  if (d.received.count(key) != 0) {
    if (d.answers.count(key) != 0) answer(p, d.answers[key]);
    return;
  }
  // Packets behind a refused one wait for it. [PDS-079]
  if (p.mode == pds::Mode::rod && !p.is_return && key != d.received.size()) return;
  pds::RxRequest rx;
  rx.peer = PeerId(0);
  rx.mode = p.mode;
  rx.next_hdr = p.next_hdr;
  const uint32_t own = p.flow + 1 + (p.is_return ? flows_[p.flow].pdc_number * 0x10000 : 0);
  rx.token = {pds::PdcHandle(p.is_return ? own : kTargetPdc + p.flow), Psn(p.psn)};
  if (p.mode == pds::Mode::uud || p.mode == pds::Mode::rudi) rx.token.pdc = pds::PdcHandle();
  rx.ses = p.octets;
  pds::Verdict v;
  if (only_answers) {
    v = response({}, *only_answers, 0);
  } else {
    v = client_->on_request(rx, now);
  }
  if (v.kind == pds::Verdict::Kind::nack) {
    ++nacks_sent;
    return;  // comes again with resend_all
  }
  if (v.kind == pds::Verdict::Kind::drop) return;
  d.received.insert(key);
  if (v.kind == pds::Verdict::Kind::later) return;
  d.answers[key] = v;
  answer(p, v);
}

void StubPds::receive_answer(const Parcel& p, Instant now) {
  Direction& d = p.is_return ? targets_[p.flow].back : flows_[p.flow].forward;
  const auto found = d.outstanding.find(p.psn);
  if (found == d.outstanding.end()) return;
  const pds::PacketRef ref = found->second.ref;
  d.outstanding.erase(found);
  if (p.octets.size() > 1) last_answers.push_back(uint8_t(p.octets[1]) & 0x3F);
  pds::RxResponse response;
  response.next_hdr = p.next_hdr;
  response.ses = p.octets;
  client_->on_response(ref, response, now);
}

void StubPds::receive(const Parcel& p, Instant now) {
  if (p.is_answer) {
    receive_answer(p, now);
  } else {
    receive_request(p, now);
  }
}

void StubPds::resend_all() {
  const auto resend = [&](Direction& d, Parcel like) {
    for (auto& [psn, sent] : d.outstanding) {
      Parcel p = like;
      p.to = 1 - node_;
      p.psn = psn;
      p.next_hdr = sent.ref.next_hdr;
      p.octets = encode(sent.ref);
      EXPECT_TRUE(allows_void_resend || p.octets == sent.octets) << "a resend differs [PDS-146]";
      network_.add(std::move(p));
    }
  };
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    Parcel p;
    p.initiator = node_;
    p.flow = i;
    p.mode = flows_[i].mode;
    resend(flows_[i].forward, p);
  }
  for (auto& [flow, t] : targets_) {
    Parcel p;
    p.initiator = 1 - node_;
    p.flow = flow;
    p.is_return = true;
    p.mode = t.mode;
    resend(t.back, p);
  }
}

void StubPds::shorten_returns() {
  allows_void_resend = true;
  for (auto& [flow, t] : targets_) {
    for (auto& [psn, sent] : t.back.outstanding) EXPECT_TRUE(client_->shorten(sent.ref));
  }
}

uint32_t StubPds::shorten_requests() {
  allows_void_resend = true;
  uint32_t count = 0;
  for (FlowState& f : flows_) {
    for (auto& [psn, sent] : f.forward.outstanding) count += client_->shorten(sent.ref);
  }
  return count;
}

void StubPds::fail_sends(int error, Instant now) {
  allows_void_resend = true;
  const auto fail = [&](Direction& d) {
    for (auto& [psn, sent] : d.outstanding) {
      client_->on_send_failed(sent.ref.message.value(), error, now);
    }
  };
  for (FlowState& f : flows_) fail(f.forward);
  for (auto& [flow, t] : targets_) fail(t.back);
}

void StubPds::fail_returns(const pds::Failure& failure, Instant now) {
  ends_returns = true;
  for (auto& [flow, t] : targets_) {
    for (auto& [psn, sent] : t.back.outstanding) client_->on_failed(sent.ref, failure, now);
    for (const pds::MessageHandle message : t.back.returns) {
      client_->on_aborted(message, failure, now);
    }
    t.back.outstanding.clear();
    t.back.returns.clear();
  }
}

void StubPds::fail_flow(uint32_t flow, const pds::Failure& failure, Instant now) {
  FlowState& f = flows_[flow];
  const pds::PdcHandle pdc(flow + 1 + f.pdc_number * 0x10000);
  auto outstanding = std::move(f.forward.outstanding);
  f.forward.outstanding.clear();
  const pds::MessageHandle active = f.forward.active;
  f.forward.active = pds::MessageHandle();
  ++f.pdc_number;
  for (auto& [psn, sent] : outstanding) client_->on_failed(sent.ref, failure, now);
  if (active != pds::MessageHandle()) client_->on_aborted(active, failure, now);
  client_->on_pdc_closed(pdc, f.peer, false, now);
}

bool StubPds::has_outstanding() const {
  for (const FlowState& f : flows_) {
    if (!f.forward.outstanding.empty()) return true;
  }
  for (const auto& [flow, t] : targets_) {
    if (!t.back.outstanding.empty() || !t.back.returns.empty()) return true;
  }
  return false;
}

}  // namespace uet::ses::test
