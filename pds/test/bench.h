// One Pds on the bench: packets that a test writes go in, what comes out is shown as a line of text
// per packet. PSNs are shown as they are; our own PDCID as "own".
#pragma once

#include "pds/test/coverage.h"
#include "pds/test/stub_client.h"

#include <string>
#include <vector>

namespace uet::pds::test {

inline constexpr Instant kBenchStart = Instant::from_ns(5'000'000'000);
inline constexpr Pdcid kPeerId{7};  // of the peer that the test plays
inline constexpr Psn kFirst{1000};  // its Start_PSN

class Bench {
 public:
  explicit Bench(const Config& config = {}, const cms::Config& cms = without_base_rtt_probe()) {
    EXPECT_TRUE(peers.create(arena, 64, 1).ok());
    const auto made =
        Pds::create(arena, with_equal_timeouts(without_challenge(config)), cms, peers, client, 99);
    EXPECT_TRUE(made.ok());
    pds = client.pds = *made;
  }

  ~Bench() { taken() += pds->counters(); }

  // A few PDCs already count as a flood; proof_test.cpp tests the effect.
  static Config without_challenge(Config config) {
    if (config.challenge_above == Config{}.challenge_above) config.challenge_above = 0;
    return config;
  }

  // One more Probe than the tests of Probes count; a separate test covers the limit.
  static cms::Config without_base_rtt_probe() {
    cms::Config config;
    config.base_rtt_probe = false;
    return config;
  }

  // --- packets in ---

  // Facts about the datagram of each incoming packet besides its octets.
  struct Marks {
    Entropy ev{33};
    uint8_t dscp = 0;
    Ecn ecn = Ecn::ect0;
    Duration late;  // how long it has been unread in the socket
  };

  // A request of the peer with SES octets naming {message psn, offset 0}.
  wire::Request request(uint32_t psn, bool syn = true) const {
    wire::Request h;
    h.next_hdr = wire::NextHeader::standard;
    h.syn = syn;
    h.ar = true;
    h.psn = Psn(psn);
    h.psn_offset = syn ? static_cast<uint16_t>(psn - kFirst.value()) : uint16_t{0};
    h.clear_psn_offset = static_cast<int16_t>(kFirst.value() - 1 - psn);  // clears nothing
    h.spdcid = kPeerId;
    h.dpdcid = syn ? Pdcid(0) : own;
    return h;
  }
  // A first packet of a PDC that begins at this PSN.
  wire::Request syn_at(uint32_t psn) const {
    wire::Request h = request(kFirst.value());
    h.psn = Psn(psn);
    h.psn_offset = 0;
    return h;
  }
  void rx(const wire::Request& h, uint32_t payload = 0) {
    std::vector<std::byte> octets(h.size() + 8 + payload);
    wire::Writer w(octets);
    h.emit(w);
    w.u32(h.psn.value());
    w.u32(0);
    w.bytes({StubClient::payload(), payload});
    rx_octets(std::move(octets));
  }
  template <class Header>
  void rx_header(const Header& h) {
    std::vector<std::byte> octets(h.size());
    wire::Writer w(octets);
    h.emit(w);
    rx_octets(std::move(octets));
  }
  void rx_octets(std::vector<std::byte> octets) {
    RxDatagram d;
    d.bytes = octets;
    d.from = from;
    d.ev = marks.ev;
    d.dscp = marks.dscp;
    d.ecn = marks.ecn;
    d.at = now - marks.late;
    d.sdi = sdi;
    pds->receive(d, now);
  }
  wire::Control control(wire::CtlType type, uint32_t psn, uint32_t payload = 0) const {
    wire::Control h;
    h.ctl_type = type;
    h.ar = true;
    h.psn = Psn(psn);
    h.spdcid = kPeerId;
    h.dpdcid = own;
    h.payload = payload;
    return h;
  }
  wire::Ack ack(Psn cack, int offset = 0) const {
    wire::Ack h;
    h.cack_psn = cack;
    h.ack_psn_offset = static_cast<int16_t>(offset);
    h.spdcid = kPeerId;
    h.dpdcid = own;
    return h;
  }
  wire::Nack nack(wire::NackCode code, Psn psn, uint32_t payload = 0) const {
    wire::Nack h;
    h.nack_code = code;
    h.nack_psn = psn;
    h.dpdcid = own;
    h.payload = payload;
    return h;
  }

  // --- packets out ---

  struct Out {
    std::vector<std::byte> octets;
    FabricAddress to;
    Entropy ev;
    uint8_t dscp = 0;
    Ecn ecn = Ecn::not_ect;
    uint32_t sdi = 0;
    wire::PdsType type() const { return wire::Prologue::of(wire::load_u16(octets.data())).type; }
    template <class Header>
    Header as() const {
      wire::Reader r(octets);
      return Header::read(r);
    }
  };
  std::vector<Out> tx() {
    std::vector<Out> all;
    TxBatch batch;
    while (pds->transmit(batch, now) > 0) {
      for (const TxPacket& p : batch.packets()) {
        Out o{{p.header, p.header + p.header_bytes}, p.to, p.ev, p.dscp, p.ecn, p.sdi};
        for (uint16_t i = 0; i < p.slice_count; ++i) {
          o.octets.insert(o.octets.end(), p.slices[i].data, p.slices[i].data + p.slices[i].length);
        }
        all.push_back(std::move(o));
      }
      batch.clear();
    }
    return all;
  }
  // Everything that goes out now, a line each.
  std::vector<std::string> lines() {
    std::vector<std::string> text;
    for (const Out& o : tx()) text.push_back(picture(o));
    return text;
  }
  std::string picture(const Out& o);

  void elapse(Duration d) {
    const Instant end = now + d;
    while (pds->next_deadline() <= end) {
      now = std::max(now, pds->next_deadline());
      pds->advance(now);
    }
    now = end;
    pds->advance(now);
  }
  uint64_t count(Count c) const { return pds->counters()[c]; }

  // The peer opens a PDC with one request; returns when its ACK has taught us `own`.
  void open_target() {
    rx(request(kFirst.value()));
    const auto out = tx();
    ASSERT_EQ(out.size(), 1u);
    own = out[0].as<wire::Ack>().spdcid;
    if (proves) prove();
  }
  // The peer shows that it has heard us, and nothing else: a copy of its first packet that names
  // our PDCID. [PDS-252]
  void prove(wire::PdsType type = wire::PdsType::rud_request) {
    wire::Request h = request(kFirst.value(), false);
    h.type = type;
    h.ar = false;
    rx(h);
  }
  // We open a PDC with a message of `packets` packets; the peer has not answered.
  std::vector<Out> open_initiator(uint32_t packets, Mode mode = Mode::rud) {
    const auto id = peers.find_or_add(from, now);
    FabricAddress to = from;
    to.port = kUetPort;
    const auto peer = peers.find_or_add(to, now);
    (void)id;
    flow = *pds->flow(*peer, TrafficClass(0), mode, JobId(1), sdi);
    client.post(flow, 1, packets * client.mtu);
    auto out = tx();
    const wire::Request first = out.at(0).as<wire::Request>();
    own = first.spdcid;
    start = first.start_psn();
    return out;
  }

  Arena arena;
  PeerTable peers;
  StubClient client;
  Pds* pds = nullptr;
  Instant now = kBenchStart;
  FabricAddress from = address(9, 50000);
  Marks marks;
  bool proves = true;  // open_target() includes prove()
  uint32_t sdi = 0;    // what the double for TSS reports about each incoming packet
  Pdcid own;
  FlowId flow;  // of the PDC we opened
  Psn start;    // of it
};

inline std::string Bench::picture(const Out& o) {
  const auto id = [&](Pdcid p) { return p == own ? "own" : std::to_string(p.value()); };
  const auto num = [](auto v) { return std::to_string(v); };
  switch (o.type()) {
    case wire::PdsType::ack:
    case wire::PdsType::ack_cc: {
      const auto a = o.as<wire::Ack>();
      std::string s = "ACK cack " + num(a.cack_psn.value()) + " ack " + num(a.ack_psn().value());
      if (a.m) s += " m";
      if (a.retx) s += " retx";
      if (a.req != wire::AckRequest::none) s += std::string(" req ") + wire::name(a.req);
      if (o.type() == wire::PdsType::ack_cc) {
        const auto cc = o.as<wire::AckCc>();
        s += " sack";
        for (uint32_t i = 0; i < 64; ++i) {
          const Psn p = cc.sack_base() + i;
          if (((cc.sack_bitmap >> i) & 1) != 0 && p.after(a.cack_psn)) s += " " + num(p.value());
        }
      }
      const size_t header = o.type() == wire::PdsType::ack ? 12 : 32;
      if (o.octets.size() > header) s += " ses " + num(o.octets.size() - header);
      return s;
    }
    case wire::PdsType::nack: {
      const auto n = o.as<wire::Nack>();
      return std::string("NACK ") + wire::name(n.nack_code) + " psn " + num(n.nack_psn.value()) +
             " from " + id(n.spdcid) + " to " + id(n.dpdcid) + " payload " + num(n.payload);
    }
    case wire::PdsType::control: {
      const auto c = o.as<wire::Control>();
      return std::string("CP ") + wire::name(c.ctl_type) + " psn " + num(c.psn.value()) +
             (c.retx ? " retx" : "") + (c.ar ? " ar" : "") + " payload " + num(c.payload);
    }
    default: {
      const auto r = o.as<wire::Request>();
      return std::string("REQ psn +") + num(r.psn.value() - start.value()) + (r.syn ? " syn" : "") +
             (r.retx ? " retx" : "") + (r.ar ? " ar" : "") + " clear " + num(r.clear_psn_offset);
    }
  }
}

}  // namespace uet::pds::test
