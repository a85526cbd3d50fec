// A source alone: packets go nowhere, ACKs are written by hand.
#include "tools/perf/gap.h"

#include "pds/pds.h"

#include "base/arena.h"
#include "base/assert.h"
#include "wire/pds.h"

#include <array>
#include <memory>

namespace uet::perf {
namespace {

constexpr Pdcid kPeerId{7};
constexpr uint32_t kSpared = 3;  // the last packets stay unanswered

// One message of packets without payload.
class Source final : public pds::Client {
 public:
  explicit Source(uint32_t packets) : packets_(packets) {}

  bool start(pds::FlowId, pds::PdcHandle, pds::StartedMessage& out, Instant) override {
    out.message = pds::MessageHandle(1);
    out.is_last = true;
    return pulled_ == 0;
  }
  bool pull(pds::MessageHandle message, pds::PacketRef& out) override {
    out.message = message;
    out.next_hdr = wire::NextHeader::standard;
    out.som = pulled_ == 0;
    out.eom = ++pulled_ == packets_;
    out.sack_completes = !out.eom;
    return true;
  }
  void encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch&) override {
    header.u32(ref.message.value());
  }
  pds::Verdict on_request(const pds::RxRequest&, Instant) override {
    return pds::Verdict::accepted();
  }
  void on_response(const pds::PacketRef&, const pds::RxResponse&, Instant) override {}
  void on_failed(const pds::PacketRef&, const pds::Failure&, Instant) override {}
  void on_aborted(pds::MessageHandle, const pds::Failure&, Instant) override {}
  JobId job_of(std::span<const std::byte>) const override { return JobId(1); }
  bool has_open_message(pds::PdcHandle) const override { return false; }
  void on_pdc_closed(pds::PdcHandle, PeerId, bool, Instant) override {}

 private:
  uint32_t packets_;
  uint32_t pulled_ = 0;
};

class Gap {
 public:
  explicit Gap(uint32_t packets) : source_(packets), packets_(packets) {
    UET_ASSERT(peers_.create(arena_, 4, 1).ok());
    pds::Config config;
    config.tx_window_packets = 2048;
    config.default_mpr = 16;
    cms::Config window;
    window.algorithm = cms::Algorithm::fixed;
    window.initial_window_packets = 4096;
    window.window_bytes_max = 64u << 20;
    pds_ = *pds::Pds::create(arena_, config, window, peers_, source_, 1);
    from_ = FabricAddress::v4(0x0A000001);
    const PeerId peer = *peers_.find_or_add(from_, now_);
    pds_->ready(*pds_->flow(peer, TrafficClass(0), pds::Mode::rud, JobId(1)), 0);
    send_all();
    receive(ack(0));
    for (uint32_t n = 2; n < packets_ - kSpared; ++n) acks_.push_back(ack(n));
  }

  uint64_t receive_all() {
    for (auto& octets : acks_) receive(octets);
    UET_ASSERT(pds_->counters()[pds::Count::retx_ev] == 1);  // the lost packet is known
    return acks_.size();
  }

 private:
  using Octets = std::array<std::byte, wire::AckCc::kSize>;

  void send_all() {
    const auto batch = std::make_unique<TxBatch>();
    while (pds_->transmit(*batch, now_) > 0) {
      if (own_ == Pdcid{}) {
        wire::Reader first({batch->packets().front().header, wire::Request::kSize});
        const wire::Request h = wire::Request::read(first);
        own_ = h.spdcid;
        start_ = h.psn;
      }
      batch->clear();
    }
    UET_ASSERT(pds_->counters()[pds::Count::tx_requests] == packets_);
  }
  // The ACK of packet n, and of all before it but the second one.
  Octets ack(uint32_t n) const {
    wire::AckCc h;
    h.ack.cack_psn = start_;
    h.ack.ack_psn_offset = static_cast<int16_t>(n);
    h.ack.spdcid = kPeerId;
    h.ack.dpdcid = own_;
    h.mpr = 16;
    const uint32_t base = n / 64 * 64;
    h.sack_psn_offset = static_cast<int16_t>(base);
    for (uint32_t i = 0; base + i <= n; ++i) {
      if (base + i > 1) h.sack_bitmap |= uint64_t{1} << i;
    }
    Octets octets{};
    wire::Writer w(octets);
    h.emit(w);
    return octets;
  }
  void receive(Octets octets) {
    RxDatagram d;
    d.bytes = octets;
    d.from = from_;
    d.at = now_;
    pds_->receive(d, now_);
  }

  Arena arena_;
  pds::PeerTable peers_;
  Source source_;
  pds::Pds* pds_ = nullptr;
  FabricAddress from_;
  Instant now_ = Instant::from_ns(1'000'000'000);
  uint32_t packets_;
  Pdcid own_;
  Psn start_;
  std::vector<Octets> acks_;
};

}  // namespace

std::vector<GapFigure> gap_figures(const Timer& timer) {
  std::vector<GapFigure> out;
  for (const uint32_t packets : {64u, 512u, 2040u}) {
    std::unique_ptr<Gap> gap;
    const double ns =
        timer([&] { gap = std::make_unique<Gap>(packets); }, [&] { return gap->receive_all(); });
    out.push_back({packets, ns});
  }
  return out;
}

}  // namespace uet::perf
