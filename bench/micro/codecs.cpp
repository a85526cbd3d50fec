// Codecs: the headers of the packet path, parsed, read without checks, and written; and a stream of
// packets of one message, each compared with the expected one or parsed. One iteration is one
// packet.
#include "pds/rx/last_request.h"
#include "pds/rx/rx_window.h"
#include "pds/rx/sack.h"
#include "ses/incoming/next_packet.h"
#include "wire/pds.h"
#include "wire/ses.h"

#include "base/arena.h"
#include "base/assert.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

namespace uet {
namespace {

using Octets = std::array<std::byte, 128>;

// A header with values that no field of it has by default.
template <class Header>
Header example();

template <>
wire::Request example() {
  return {.type = wire::PdsType::rud_request,
          .next_hdr = wire::NextHeader::standard,
          .ar = true,
          .clear_psn_offset = -7,
          .spdcid = Pdcid(0x1234),
          .dpdcid = Pdcid(0x5678),
          .psn = Psn(500)};
}
template <>
wire::StandardRequest example() {
  wire::StandardRequest h;
  h.common.opcode = wire::SesOpcode::write;
  h.common.job_id = JobId(9);
  h.common.resource_index = ResourceIndex(3);
  h.message_id = MessageId(77);
  h.match_bits = 0x0123'4567'89AB'CDEF;
  h.payload_length = 64;
  h.message_offset = 64;
  h.request_length = 1u << 20;
  return h;
}
template <>
wire::Ack example() {
  return {
      .ack_psn_offset = 3, .spdcid = Pdcid(0x5678), .dpdcid = Pdcid(0x1234), .cack_psn = Psn(500)};
}
template <>
wire::AckCc example() {
  wire::AckCc h;
  h.ack = example<wire::Ack>();
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 16;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0xFEFE'FEFE'FEFE'FEFE;
  h.state = wire::NsccState{.service_time = 40, .rcvd_bytes = 70'000, .ooo_count = 5}.pack();
  return h;
}
template <>
wire::Nack example() {
  return {.nack_code = wire::NackCode::no_pkt_buffer,
          .nack_psn = Psn(500),
          .spdcid = Pdcid(0x5678),
          .dpdcid = Pdcid(0x1234),
          .payload = 501};
}
template <>
wire::Response example() {
  wire::Response h;
  h.common.opcode = wire::ResponseOpcode::response;
  h.message_id = MessageId(77);
  h.job_id = JobId(9);
  h.modified_length = 1u << 20;
  return h;
}

template <class... Headers>
Octets packet_of() {
  Octets octets{};
  wire::Writer w(octets);
  (example<Headers>().emit(w), ...);
  return octets;
}

template <class Header>
void parse_one(wire::Reader& r) {
  const auto parsed = Header::parse(r);
  UET_ASSERT(parsed.ok());
  benchmark::DoNotOptimize(parsed);
}
template <class Header>
void read_one(wire::Reader& r) {
  const Header header = Header::read(r);
  benchmark::DoNotOptimize(header);
}

// As for a packet from the network.
template <class... Headers>
void parse(benchmark::State& state) {
  Octets octets = packet_of<Headers...>();
  for (auto _ : state) {
    benchmark::DoNotOptimize(octets);
    wire::Reader r(octets);
    (parse_one<Headers>(r), ...);
  }
}
// As for a packet whose headers were judged before.
template <class... Headers>
void read(benchmark::State& state) {
  Octets octets = packet_of<Headers...>();
  for (auto _ : state) {
    benchmark::DoNotOptimize(octets);
    wire::Reader r(octets);
    (read_one<Headers>(r), ...);
  }
}
template <class Header>
void emit_one(wire::Writer& w, Header& header) {
  benchmark::DoNotOptimize(header);
  header.emit(w);
}
template <class... Headers>
void emit(benchmark::State& state) {
  std::tuple<Headers...> headers{example<Headers>()...};
  Octets octets{};
  for (auto _ : state) {
    wire::Writer w(octets);
    std::apply([&](auto&... header) { (emit_one(w, header), ...); }, headers);
    benchmark::DoNotOptimize(octets);
  }
}

#define UET_CODEC(name, ...)                                          \
  BENCHMARK_TEMPLATE(parse, __VA_ARGS__)->Name("codecs/parse/" name); \
  BENCHMARK_TEMPLATE(read, __VA_ARGS__)->Name("codecs/read/" name);   \
  BENCHMARK_TEMPLATE(emit, __VA_ARGS__)->Name("codecs/emit/" name)

UET_CODEC("rud_request+standard", wire::Request, wire::StandardRequest);
UET_CODEC("ack", wire::Ack);
UET_CODEC("ack+response", wire::Ack, wire::Response);
UET_CODEC("ack_cc", wire::AckCc);
UET_CODEC("nack", wire::Nack);

// A receive window in which one packet in eight of 512 is missing.
class Gaps {
 public:
  Gaps() {
    pool_.create(arena_, 1, pds::RxWindow::block_bytes(1024));
    window_.start(Psn(1), 1024);
    sweep_.start(Psn(1));
    for (uint32_t i = 0; i < 512; ++i) {
      if (i % 8 == 1) continue;
      window_.accept(pool_, Psn(1) + i, false);
      sweep_.on_request(Psn(1) + i, window_.cack_psn());
    }
  }
  // An ACK_CC that reports the next 64 PSNs of the sweep.
  wire::AckCc ack() {
    wire::AckCc h = header_;
    const pds::SackBitmap sack = sweep_.next(window_, window_.cack_psn());
    h.ack.cack_psn = window_.cack_psn();
    h.sack_psn_offset = static_cast<int16_t>(sack.base - h.ack.cack_psn);
    h.sack_bitmap = sack.bits;
    return h;
  }

 private:
  Arena arena_;
  pds::BlockPool pool_;
  pds::RxWindow window_;
  pds::SackSweep sweep_;
  wire::AckCc header_ = example<wire::AckCc>();
};

void sack_emit(benchmark::State& state) {
  Gaps gaps;
  Octets octets{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(gaps);
    wire::Writer w(octets);
    gaps.ack().emit(w);
    benchmark::DoNotOptimize(octets);
  }
}
BENCHMARK(sack_emit)->Name("codecs/emit/sack");

// Each PSN that it reports is looked at.
void sack_parse(benchmark::State& state) {
  Gaps gaps;
  Octets octets{};
  wire::Writer w(octets);
  gaps.ack().emit(w);
  for (auto _ : state) {
    benchmark::DoNotOptimize(octets);
    wire::Reader r(octets);
    const auto ack = wire::AckCc::parse(r);
    UET_ASSERT(ack.ok());
    for (uint64_t bits = ack->sack_bitmap; bits != 0; bits &= bits - 1) {
      benchmark::DoNotOptimize(ack->sack_base() + __builtin_ctzll(bits));
    }
  }
}
BENCHMARK(sack_parse)->Name("codecs/parse/sack");

// Packets in the middle of one message, in order. They lie in the first-level cache.
class Stream {
 public:
  Stream() {
    for (uint32_t i = 0; i < kPackets; ++i) {
      auto pds = example<wire::Request>();
      pds.psn = pds.psn + i;
      pds.clear_psn_offset = static_cast<int16_t>(-7 - static_cast<int32_t>(i));
      auto ses = example<wire::StandardRequest>();
      ses.message_offset = kPayload * (i + 1);
      wire::Writer w(octets_[i]);
      pds.emit(w);
      ses.emit(w);
      datagrams_[i].bytes = {octets_[i].data(), w.position() + kPayload};
    }
  }
  // The next one; after the last the first again.
  const RxDatagram& next() {
    at_ = (at_ + 1) % kPackets;
    return datagrams_[at_];
  }
  bool is_at_first() const { return at_ == 0; }

  static pds::RxRequest request(const pds::Inbound& in) {
    pds::RxRequest rx;
    rx.next_hdr = in.next_hdr;
    rx.token.psn = in.psn();
    rx.ses = in.ses;
    return rx;
  }

  static constexpr uint32_t kPayload = 64;

 private:
  static constexpr uint32_t kPackets = 128;
  std::array<Octets, kPackets> octets_{};
  std::array<RxDatagram, kPackets> datagrams_;
  uint32_t at_ = kPackets - 1;
};

// What SES has of it, read from the octets.
ses::Request parsed(const pds::Inbound& in) {
  const auto q = ses::parse_request(Stream::request(in), 4096);
  UET_ASSERT(q.ok());
  return *q;
}
pds::Inbound inbound(const RxDatagram& d) {
  wire::Reader r(d.bytes);
  const auto h = wire::Request::parse(r);
  UET_ASSERT(h.ok());
  return pds::Inbound::of(*h, d, r.rest(), 0);
}

void stream_parsed(benchmark::State& state) {
  Stream stream;
  for (auto _ : state) benchmark::DoNotOptimize(parsed(inbound(stream.next())));
}
BENCHMARK(stream_parsed)->Name("codecs/stream/parsed");

// The fast way: the octets are those that follow from the packet before. [SES-113]
void stream_compared(benchmark::State& state) {
  Stream stream;
  pds::LastRequest last;
  ses::NextPacket next;
  ses::RxMessage m;
  m.pushed = m.request_length = example<wire::StandardRequest>().request_length;
  for (auto _ : state) {
    const RxDatagram& d = stream.next();
    ses::Request q;
    if (stream.is_at_first()) {
      wire::Reader r(d.bytes);
      const auto h = wire::Request::read(r);
      const pds::Inbound& in = last.set(h, d, r.rest(), 0);
      q = parsed(in);
      std::construct_at(&m.packets);
      m.packets.note(0, Stream::kPayload, false);
      m.arrived = Stream::kPayload;
      next.follow(m, q, in.ses);
    } else {
      const pds::Inbound* const in = last.next(d);
      UET_ASSERT(in != nullptr);
      const ses::Request* const taken = next.take(Stream::request(*in));
      UET_ASSERT(taken != nullptr);
      benchmark::DoNotOptimize(*taken);
      m.arrived += taken->length;
      m.packets.note(taken->offset, taken->length, false);
      continue;
    }
    m.arrived += q.length;
    m.packets.note(q.offset, q.length, false);
  }
}
BENCHMARK(stream_compared)->Name("codecs/stream/compared");

}  // namespace
}  // namespace uet
