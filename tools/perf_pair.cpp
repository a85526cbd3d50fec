// The pipe: headers are copied, payload is left as the slot happens to hold it.
#include "tools/perf_pair.h"

#include <cstring>

namespace uet::perf {
namespace {

constexpr uint32_t kSlotBytes = 16 * 1024;
constexpr uint16_t kPid = 5;

FabricAddress address(uint8_t host) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, 0, 0, host};
  return a;
}

}  // namespace

Pair::Pair(const fep::Config& config, uint32_t flows)
    : config_(config),
      flows_(flows),
      batch_(std::make_unique<TxBatch>()),
      memory_(1 << 20),
      wire_(size_t{TxBatch::kCapacity} * kSlotBytes),
      datagrams_(TxBatch::kCapacity) {
  config_.ses.endpoints = std::max(config_.ses.endpoints, flows);
  fep::settle(config_);
  open(a_, 1);
  open(b_, 2);
  a_.peer = *a_.fep->peers().find_or_add(address(2), now_);
  b_.peer = *b_.fep->peers().find_or_add(address(1), now_);
  const IoSlice slice{memory_.data(), memory_.size()};
  ses::RegionRequest request;
  request.iov = {&slice, 1};
  request.access = ses::kRemoteRead | ses::kRemoteWrite;
  const auto region = b_.fep->ses().memory().add(request);
  UET_ASSERT(region.ok());
  b_.fep->ses().memory().enable(*region);
  key_ = b_.fep->ses().memory().key(*region);
}

void Pair::open(Side& side, uint8_t host) {
  auto fep = fep::FabricEndpoint::create(config_, address(host), host);
  UET_ASSERT(fep.ok());
  side.fep = std::move(*fep);
  ses::CompletionSink sink;
  sink.owner = &side;
  sink.complete = [](void* owner, const ses::Completion& c) {
    UET_ASSERT(c.ok());
    ++static_cast<Side*>(owner)->completions;
  };
  sink.reserve = [](void*) { return true; };
  for (uint32_t i = 0; i < flows_; ++i) {
    const ses::EndpointName name{JobId(1 + i), PidOnFep(kPid), ResourceIndex(1), 1, false};
    const auto endpoint = side.fep->ses().open_endpoint(name, {}, sink, sink);
    UET_ASSERT(endpoint.ok());
    side.endpoints.push_back(*endpoint);
  }
}

void Pair::carry(Side& from, Side& to, const FabricAddress& source) {
  while (from.fep->transmit(*batch_, now_) != 0) {
    uint32_t count = 0;
    for (TxPacket& packet : batch_->packets()) {
      std::byte* slot = &wire_[size_t{count} * kSlotBytes];
      std::memcpy(slot, packet.header, packet.header_bytes);
      RxDatagram& d = datagrams_[count++];
      d.bytes = {slot, packet.bytes()};
      d.from = source;
      d.ev = packet.ev;
      d.ecn = packet.ecn;
      d.at = now_;
      packet.fate = TxFate::sent;
      if (packet.payload_bytes != 0) ++packets_;
    }
    from.fep->on_sent(*batch_, now_);
    batch_->compact();
    to.fep->receive({datagrams_.data(), count}, now_);
  }
}

void Pair::run_until(uint64_t sender_completions, uint64_t receiver_completions) {
  const FabricAddress from_a = address(1), from_b = address(2);
  while (a_.completions < sender_completions || b_.completions < receiver_completions) {
    carry(a_, b_, from_a);
    carry(b_, a_, from_b);
    now_ = now_ + Duration::microseconds(1);
    if (a_.fep->next_deadline() <= now_) a_.fep->advance(now_);
    if (b_.fep->next_deadline() <= now_) b_.fep->advance(now_);
  }
}

uint64_t Pair::write(uint64_t bytes, uint32_t rounds) {
  const uint64_t before = packets_;
  const IoSlice slice{memory_.data(), bytes};
  uint64_t expected = a_.completions;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t flow = 0; flow < flows_; ++flow) {
      ses::RmaRequest request;
      request.to = {a_.peer, PidOnFep(kPid), ResourceIndex(1), 1, false};
      request.iov = {&slice, 1};
      request.key = key_;
      UET_ASSERT(a_.fep->ses().rma(a_.endpoints[flow], request, now_).ok());
      ++expected;
    }
    run_until(expected, 0);
  }
  return packets_ - before;
}

uint64_t Pair::tagged(uint64_t bytes, uint32_t rounds) {
  const uint64_t before = packets_;
  const IoSlice slice{memory_.data(), bytes};
  uint64_t expected_a = a_.completions, expected_b = b_.completions;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t flow = 0; flow < flows_; ++flow) {
      ses::ReceiveRequest receive;
      receive.iov = {&slice, 1};
      receive.tagged = true;
      receive.tag = flow;
      UET_ASSERT(b_.fep->ses().receive(b_.endpoints[flow], receive, now_).ok());
      ses::SendRequest send;
      send.to = {a_.peer, PidOnFep(kPid), ResourceIndex(1), 1, false};
      send.iov = {&slice, 1};
      send.tagged = true;
      send.tag = flow;
      UET_ASSERT(a_.fep->ses().send(a_.endpoints[flow], send, now_).ok());
      ++expected_a;
      ++expected_b;
    }
    run_until(expected_a, expected_b);
  }
  return packets_ - before;
}

}  // namespace uet::perf
