// Packets between the stack and a backend, through Sealer and Opener.
#include "io/seal/sealed_io.h"

#include <algorithm>
#include <cerrno>

namespace uet::io {

namespace {

int errno_of(tss::Refusal refusal) {
  switch (refusal) {
    case tss::Refusal::unknown_domain:
    case tss::Refusal::wrong_client:  // no client has that address [TSS-147]
      return ENOKEY;
    case tss::Refusal::no_tx_key:
      return EKEYEXPIRED;
    case tss::Refusal::too_long:
      return EMSGSIZE;
    default:
      return EKEYREJECTED;
  }
}

}  // namespace

SealedIo::SealedIo(std::unique_ptr<PacketIo> below, tss::Domains& domains, Terms terms)
    : IoLayer(std::move(below)),
      domains_(domains),
      terms_(std::move(terms)),
      sealer_(domains),
      opener_(domains),
      local_(inner().local_address()),
      run_bytes_(inner().caps().burst_bytes != 0 ? inner().caps().burst_bytes : kRunBytes),
      carriage_(inner().caps().ip_protocol != 0 ? tss::Carriage::native : tss::Carriage::udp),
      rooms_(new std::byte[TxBatch::kCapacity * kRoomBytes]) {
  (void)tend();
}

IoCaps SealedIo::caps() const {
  IoCaps caps = inner().caps();
  caps.max_datagram_bytes -= std::min(caps.max_datagram_bytes, terms_.seal_bytes);
  return caps;
}

Instant SealedIo::tend() {
  const Instant now = terms_.clock();
  if (now >= tend_at_) {
    deadline_ = terms_.tend(now);
    tend_at_ = std::min(now + kTendEvery, deadline_);
  }
  return now;
}

void SealedIo::send(std::span<TxPacket> packets) {
  const Instant now = tend();
  bool is_held = false;
  for (size_t done = 0; done < packets.size();) done = send_run(packets, done, is_held, now);
}

// As many as leave in one message: the peer opens them while the next ones are sealed, and they are
// still in the cache when the kernel copies them. Returns how many packets have their fate.
// is_held: a packet of an earlier run, or now of this one, stays in the batch.
size_t SealedIo::send_run(std::span<TxPacket> packets, size_t done, bool& is_held, Instant now) {
  std::array<uint32_t, TxBatch::kCapacity> origin;  // of each sealed packet
  size_t count = 0;
  uint32_t octets = 0;
  while (done < packets.size() && octets < run_bytes_ && count < origin.size()) {
    const size_t at = done++;
    if (is_held && is_behind_a_held_one(packets.first(at), packets[at])) {
      packets[at].fate = TxFate::later;
      continue;
    }
    if (!seal(packets[at], count, now)) continue;
    octets += sealed_[count].bytes();
    // The next one is probably as long.
    if (octets + sealed_[count].bytes() > run_bytes_) octets = run_bytes_;
    origin[count++] = static_cast<uint32_t>(at);
  }
  if (count != 0) inner().send({sealed_.data(), count});
  for (size_t i = 0; i < count; ++i) {
    packets[origin[i]].fate = sealed_[i].fate;
    packets[origin[i]].error = sealed_[i].error;
    is_held |= sealed_[i].fate == TxFate::later;
  }
  return done;
}

// A later packet to the same destination must not overtake it.
bool SealedIo::is_behind_a_held_one(std::span<const TxPacket> before, const TxPacket& packet) {
  return std::any_of(before.begin(), before.end(), [&](const TxPacket& one) {
    return one.fate == TxFate::later && one.ev == packet.ev && one.to == packet.to;
  });
}

// The sealed packet goes to a place of the batch. False: it is refused, and has its fate.
bool SealedIo::seal(TxPacket& packet, size_t place, Instant now) {
  TxPacket& sealed = sealed_[place] = packet;
  packet.fate = TxFate::never;
  if (packet.sdi == 0) {
    const auto counted = terms_.refuses_clear ? tss::Count::out_errored_pkts
                                              : tss::Count::out_rx_encryption_bypass_pkts;
    domains_.count(counted);
    packet.error = ENOKEY;
    return !terms_.refuses_clear;
  }
  std::byte* const room = rooms_.get() + place * kRoomBytes;
  tss::ClearPacket clear{.header = {packet.header, packet.header_bytes},
                         .payload = {packet.slices, packet.slice_count},
                         .sdi = packet.sdi,
                         .route = {.source = wire::IpAddress::of(local_),
                                   .destination = wire::IpAddress::of(packet.to),
                                   .carriage = carriage_,
                                   .entropy = inner().source_port(packet.ev),
                                   .destination_port = packet.to.port},
                         .client_ssi = {},
                         .room = {room, kRoomBytes}};
  if (!sealer_.seal(clear, now)) {
    packet.error = errno_of(clear.refusal);
    return false;
  }
  sealed.header = room;
  sealed.header_bytes = static_cast<uint16_t>(clear.sealed_bytes);
  sealed.slices = nullptr;
  sealed.slice_count = 0;
  sealed.payload_bytes = 0;
  return true;
}

// Packets that are refused are as if they had never come, but a backend may hold more behind them.
std::span<RxDatagram> SealedIo::receive() {
  const Instant now = tend();
  for (int batch = 0; batch < kBatchesMax; ++batch) {
    const std::span<RxDatagram> arrived = inner().receive();
    size_t opened = 0;
    for (RxDatagram& datagram : arrived) {
      if (open(datagram, now)) arrived[opened++] = datagram;
    }
    if (opened != 0 || arrived.empty()) return arrived.first(opened);
  }
  return {};
}

bool SealedIo::open(RxDatagram& datagram, Instant now) {
  // [TSS-084, TSS-103, T-17]
  if (!tss::Opener::is_secured(datagram.bytes)) {
    domains_.count(tss::Count::in_rx_encryption_bypass_pkts);
    return !terms_.refuses_clear;
  }
  // A switch has cut it, check value and all: no forgery, and little to believe. [TSS-081,
  // TSS-104]
  if ((terms_.cut_dscps >> datagram.dscp & 1) != 0) {
    return peek(datagram, now);
  }
  const tss::Route route = route_of(datagram);
  const auto opened = opener_.unseal(datagram.bytes, route, now);
  if (!opened.ok()) return false;
  datagram.bytes = opened->content;
  datagram.sdi = opened->by.sdi;
  return true;
}

// The rest of the headers, read with a ready key, and marked as unverified. False: nothing
// readable. [TSS-081]
bool SealedIo::peek(RxDatagram& datagram, Instant now) {
  wire::Reader r(datagram.bytes);
  const auto header = wire::TssHeader::parse(r);
  const std::span<std::byte> read =
      opener_.peek_trimmed(datagram.bytes, route_of(datagram),
                           datagram.bytes.first(std::min(datagram.bytes.size(), kPeekBytes)), now);
  if (read.empty()) {
    domains_.count(tss::Count::in_trim_unauth);
    return false;
  }
  datagram.bytes = read;
  datagram.sdi = header->sdi | wire::kUnverifiedSdi;
  return true;
}

tss::Route SealedIo::route_of(const RxDatagram& datagram) const {
  return {.source = wire::IpAddress::of(datagram.from),
          .destination = wire::IpAddress::of(local_),
          .carriage = carriage_,
          .entropy = carriage_ == tss::Carriage::native ? datagram.ev.value() : datagram.from.port,
          .destination_port = local_.port};
}

void SealedIo::report_counters(const CounterSink& sink) const {
  inner().report_counters(sink);
  if (terms_.counters) terms_.counters(sink);
  const tss::Counts total = domains_.total_counts();
#define X(count) sink("tss_" #count, total[tss::Count::count]);
  UET_TSS_COUNTS(X)
#undef X
}

}  // namespace uet::io
