// Opening both sides, posting, and running the pipe until all is reported.
#include "tools/perf/pair.h"

#include <algorithm>
#include <utility>

namespace uet::perf {
namespace {

constexpr uint16_t kPid = 5;

// The two sides know each other by as many addresses as there are peers.
FabricAddress address(uint8_t host, uint32_t peer) {
  return FabricAddress::v4(0x0A000000U | uint32_t{host} << 16 | (peer & 0xFFFF));
}

// Where a packet to that address comes from.
FabricAddress opposite(FabricAddress to) {
  to.ip[1] ^= 1;
  return to;
}

}  // namespace

Pair::Pair(const fep::Config& config, uint32_t flows, Spread spread)
    : config_(config), flows_(flows), spread_(spread), memory_(1 << 20) {
  if (spread == Spread::jobs) {
    config_.ses.endpoints = std::max(config_.ses.endpoints, flows);
  } else {
    config_.peers_max = std::max(config_.peers_max, flows);
  }
  fep::derive(config_);
  open(a_, 2);
  open(b_, 3);
  pipe_.join(*a_.fep, *b_.fep);
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
    side.peers.push_back(*side.fep->peers().find_or_add(other, pipe_.now()));
    side.fep->peers().add_ref(side.peers.back());
  }
}

void Pair::run_until(uint64_t sender_completions, uint64_t receiver_completions) {
  const auto is_done = [&] {
    return a_.completions >= sender_completions && b_.completions >= receiver_completions;
  };
  pipe_.run_until(is_done, opposite);
}

uint64_t Pair::write(uint64_t bytes, uint32_t rounds, uint32_t messages) {
  const uint64_t before = pipe_.requests();
  const IoSlice slice{memory_.data(), bytes};
  uint64_t expected = a_.completions;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t i = 0; i < flows_ * messages; ++i) {
      const uint32_t flow = i % flows_;
      ses::RmaRequest request;
      request.to = {a_.peer(flow), PidOnFep(kPid), ResourceIndex(1), 1, false};
      request.iov = {&slice, 1};
      request.key = key_;
      UET_ASSERT(a_.fep->ses().rma(a_.endpoint(flow), request, pipe_.now()).ok());
      ++expected;
    }
    run_until(expected, 0);
  }
  return pipe_.requests() - before;
}

uint64_t Pair::tagged(uint64_t bytes, uint32_t rounds) {
  const uint64_t before = pipe_.requests();
  const IoSlice slice{memory_.data(), bytes};
  uint64_t expected_a = a_.completions, expected_b = b_.completions;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t flow = 0; flow < flows_; ++flow) {
      ses::ReceiveRequest receive;
      receive.iov = {&slice, 1};
      receive.tagged = true;
      receive.tag = flow;
      UET_ASSERT(b_.fep->ses().receive(b_.endpoint(flow), receive, pipe_.now()).ok());
      ses::SendRequest send;
      send.to = {a_.peer(flow), PidOnFep(kPid), ResourceIndex(1), 1, false};
      send.iov = {&slice, 1};
      send.tagged = true;
      send.tag = flow;
      UET_ASSERT(a_.fep->ses().send(a_.endpoint(flow), send, pipe_.now()).ok());
      ++expected_a;
      ++expected_b;
    }
    run_until(expected_a, expected_b);
  }
  return pipe_.requests() - before;
}

}  // namespace uet::perf
