// The pipe: headers are copied, payload is left as the slot happens to hold it.
#include "tools/perf/pair.h"

#include "sim/world/station.h"

#include <cstring>

namespace uet::perf {
namespace {

// The largest packet, and an odd number of cache lines: slots do not compete for one set.
constexpr uint32_t kSlotBytes = 8192 + 7 * 64;
constexpr uint32_t kBatches = 4;  // in a row, as Engine::progress does
constexpr uint16_t kPid = 5;

// The two sides know each other by as many addresses as there are peers.
FabricAddress address(uint8_t host, uint32_t peer) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, host, static_cast<uint8_t>(peer >> 8), static_cast<uint8_t>(peer)};
  return a;
}

// Where a packet to that address comes from.
FabricAddress opposite(FabricAddress to) {
  to.ip[1] ^= 1;
  return to;
}

}  // namespace

Pair::Pair(const fep::Config& config, uint32_t flows, Spread spread)
    : config_(config),
      flows_(flows),
      spread_(spread),
      batch_(std::make_unique<TxBatch>()),
      memory_(1 << 20),
      wire_(size_t{TxBatch::kCapacity} * kSlotBytes),
      datagrams_(TxBatch::kCapacity) {
  if (spread == Spread::jobs) {
    config_.ses.endpoints = std::max(config_.ses.endpoints, flows);
  } else {
    config_.peers_max = std::max(config_.peers_max, flows);
  }
  fep::settle(config_);
  open(a_, 2);
  open(b_, 3);
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
  auto fep = fep::FabricEndpoint::create(config_, address(host, 0), host);
  UET_ASSERT(fep.ok());
  side.fep = std::move(*fep);
  ses::CompletionSink sink;
  sink.owner = &side;
  sink.complete = [](void* owner, const ses::Completion& c) {
    UET_ASSERT(c.ok());
    ++static_cast<Side*>(owner)->completions;
  };
  sink.reserve = [](void*) { return true; };
  ses::EndpointOptions options;
  if (spread_ == Spread::peers) {
    options.tx_size = std::max(options.tx_size, flows_);
  } else if (flows_ > 64) {
    options.tx_size = options.rx_size = 64;  // room for all of them together
  }
  for (uint32_t i = 0; i < (spread_ == Spread::jobs ? flows_ : 1); ++i) {
    const ses::EndpointName name{JobId(1 + i), PidOnFep(kPid), ResourceIndex(1), 1, false};
    const auto endpoint = side.fep->ses().open_endpoint(name, options, sink, sink);
    UET_ASSERT(endpoint.ok());
    side.endpoints.push_back(*endpoint);
  }
  for (uint32_t i = 0; i < (spread_ == Spread::peers ? flows_ : 1); ++i) {
    const FabricAddress other = opposite(address(host, i));
    side.peers.push_back(*side.fep->peers().find_or_add(other, now_));
    side.fep->peers().add_ref(side.peers.back());
  }
}

void Pair::carry(Side& from, Side& to) {
  for (uint32_t i = 0; i < kBatches; ++i) {
    std::byte* slot = wire_.data();
    RxDatagram* datagram = datagrams_.data();
    const uint32_t count = sim::take_batch(*from.fep, *batch_, now_, [&](TxPacket& packet) {
      std::memcpy(slot, packet.header, packet.header_bytes);
      datagram->bytes = {slot, packet.bytes()};
      datagram->from = opposite(packet.to);
      datagram->ev = packet.ev;
      datagram->ecn = packet.ecn;
      datagram->at = now_;
      if (packet.payload_bytes != 0) ++packets_;
      slot += kSlotBytes;
      ++datagram;
    });
    if (count == 0) break;
    moved_ += count;
    to.fep->receive({datagrams_.data(), count}, now_);
  }
}

void Pair::run_until(uint64_t sender_completions, uint64_t receiver_completions) {
  while (a_.completions < sender_completions || b_.completions < receiver_completions) {
    const uint64_t before = packets_;
    carry(a_, b_);
    carry(b_, a_);
    // So that timers fire about as often as they would.
    const auto moved = static_cast<int64_t>(packets_ - before);
    now_ = now_ + Duration::nanoseconds(1000 + 300 * moved);
    if (a_.fep->next_deadline() <= now_) a_.fep->advance(now_);
    if (b_.fep->next_deadline() <= now_) b_.fep->advance(now_);
  }
}

uint64_t Pair::write(uint64_t bytes, uint32_t rounds, uint32_t messages) {
  const uint64_t before = packets_;
  const IoSlice slice{memory_.data(), bytes};
  uint64_t expected = a_.completions;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t i = 0; i < flows_ * messages; ++i) {
      const uint32_t flow = i % flows_;
      ses::RmaRequest request;
      request.to = {a_.peer(flow), PidOnFep(kPid), ResourceIndex(1), 1, false};
      request.iov = {&slice, 1};
      request.key = key_;
      UET_ASSERT(a_.fep->ses().rma(a_.endpoint(flow), request, now_).ok());
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
      UET_ASSERT(b_.fep->ses().receive(b_.endpoint(flow), receive, now_).ok());
      ses::SendRequest send;
      send.to = {a_.peer(flow), PidOnFep(kPid), ResourceIndex(1), 1, false};
      send.iov = {&slice, 1};
      send.tagged = true;
      send.tag = flow;
      UET_ASSERT(a_.fep->ses().send(a_.endpoint(flow), send, now_).ok());
      ++expected_a;
      ++expected_b;
    }
    run_until(expected_a, expected_b);
  }
  return packets_ - before;
}

}  // namespace uet::perf
