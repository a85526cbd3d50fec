// A flood against one endpoint with default settings: 50,000 packets a second from 10,000
// addresses. 100 of them belong to attackers that receive answers and take all they can get; the
// others are forged. New peers must get in quickly. Simulated time. [PDS-251, PDS-252, T-01, T-38]
#include "fep/fabric_endpoint.h"

#include "base/rng.h"
#include "sim/world/stations.h"
#include "wire/pds.h"
#include "wire/ses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace uet::fep {
namespace {

using namespace uet::literals;

constexpr uint16_t kPid = 5;
constexpr uint64_t kFirstTag = 1000;
constexpr uint8_t kServer = 12;
constexpr uint8_t kHonest = 11;
constexpr uint8_t kForged = 14;
constexpr uint8_t kReal = 15;
constexpr Duration kStep = 100_us;
constexpr uint32_t kAttackers = 100;
constexpr uint32_t kPorts = 8;  // of each attacker; each port is a peer

FabricAddress address(uint8_t net, uint32_t number) {
  return FabricAddress::v4(uint32_t{net} << 24 | (number & 0xFFFFFF));
}

FabricAddress attacker_address(uint32_t number) {
  FabricAddress a = address(kReal, number / kPorts);
  a.port = static_cast<uint16_t>(20'000 + 16 * (number % kPorts));  // [WIRE-121]
  return a;
}

uint32_t number_of(const FabricAddress& a) {
  return uint32_t{a.ip[1]} << 16 | uint32_t{a.ip[2]} << 8 | a.ip[3];
}

// Builds the packets of attackers.
class Forgery {
 public:
  explicit Forgery(uint64_t seed) : rng_(seed, 1) {}
  uint64_t tag = 7;  // of all messages

  // A SYN with the first packet of a message of `bytes` octets.
  std::vector<std::byte> first_of(Pdcid spdcid, Psn start, uint32_t bytes, bool own_port) {
    wire::Request h;
    h.private_mark = own_port;
    h.type = rng_.chance(0.5) ? wire::PdsType::rud_request : wire::PdsType::rod_request;
    h.syn = true;
    h.psn = start;
    h.spdcid = spdcid;
    return message(h, bytes);
  }
  // The same on a PDC that is open.
  std::vector<std::byte> next_of(wire::PdsType type, Pdcid spdcid, Pdcid dpdcid, Psn psn,
                                 uint32_t bytes) {
    wire::Request h;
    h.type = type;
    h.psn = psn;
    h.spdcid = spdcid;
    h.dpdcid = dpdcid;
    return message(h, bytes);
  }
  // The Close command of the PDC that `first` opens, sent without waiting for an answer.
  static std::vector<std::byte> close_of(std::vector<std::byte> first) {
    wire::Reader reader(first);
    const wire::Request opened = wire::Request::read(reader);
    wire::Control h;
    h.isrod = opened.type == wire::PdsType::rod_request;
    h.ctl_type = wire::CtlType::close_cmd;
    h.syn = h.ar = true;
    h.psn = opened.psn + 1;
    h.psn_offset = 1;
    h.spdcid = opened.spdcid;
    std::vector<std::byte> octets(wire::Control::kSize);
    wire::Writer w(octets);
    h.emit(w);
    return octets;
  }
  // An ACK with random PDCIDs.
  std::vector<std::byte> blind_ack() {
    wire::Ack h;
    h.cack_psn = Psn(rng_.u32());
    h.spdcid = Pdcid(static_cast<uint16_t>(1 + rng_.below(65535)));
    h.dpdcid = Pdcid(static_cast<uint16_t>(1 + rng_.below(65535)));
    std::vector<std::byte> octets(wire::Ack::kSize);
    wire::Writer w(octets);
    h.emit(w);
    return octets;
  }

 private:
  std::vector<std::byte> message(wire::Request h, uint32_t bytes) {
    constexpr uint32_t kPayload = 4096;
    h.next_hdr = wire::NextHeader::standard;
    h.ar = true;
    h.clear_psn_offset = -1;
    wire::StandardRequest s;
    s.common.opcode = wire::SesOpcode::tagged_send;
    s.common.rel = s.common.som = true;
    s.common.eom = bytes <= kPayload;
    s.common.job_id = JobId(1);
    s.common.pid_on_fep = PidOnFep(kPid);
    s.common.resource_index = ResourceIndex(1);
    s.message_id = MessageId(++message_ == 0 ? ++message_ : message_);
    s.initiator = 1;
    s.match_bits = tag;
    s.request_length = bytes;
    std::vector<std::byte> octets(h.size() + wire::StandardRequest::kSize +
                                  std::min(bytes, kPayload));
    wire::Writer w(octets);
    h.emit(w);
    s.emit(w);
    return octets;
  }

  Rng rng_;
  uint16_t message_ = 0;
};

class FloodTest : public ::testing::Test {
 protected:
  struct Side {
    std::unique_ptr<FabricEndpoint> fep;
    ses::EndpointId endpoint;
    std::map<uint64_t, Instant> received;  // by tag
    uint64_t receives = 0;
    uint64_t failed = 0;
    const sim::Stations<FabricEndpoint>* stations = nullptr;
  };
  // One port of an attacker. It opens as many PDCs as it can and keeps them.
  struct Attacker {
    uint16_t next_id = 1;
    struct Pdc {
      wire::PdsType type = wire::PdsType::rud_request;
      Psn start;
      Psn next;
      Pdcid theirs;
    };
    std::map<uint16_t, Pdc> pdcs;
  };
  struct Account {
    uint64_t came = 0;  // octets from the address
    uint64_t went = 0;  // octets to it
  };

  FloodTest() : attackers_(kAttackers * kPorts) {
    open(honest_, kHonest);
    open(server_, kServer);
  }
  void open(Side& side, uint8_t net) {
    auto made = FabricEndpoint::create(Config(), address(net, 0), net);
    ASSERT_TRUE(made.ok());
    side.fep = std::move(*made);
    side.stations = &stations_;
    ses::CompletionSink sink;
    sink.owner = &side;
    sink.reserve = [](void*) { return true; };
    sink.complete = [](void* me, const ses::Completion& c) {
      Side& s = *static_cast<Side*>(me);
      if (!c.ok()) ++s.failed;
      if (c.kind != ses::OpKind::tagged_recv) return;
      s.received[c.tag] = s.stations->now();
      ++s.receives;
    };
    const ses::EndpointName name{JobId(1), PidOnFep(kPid), ResourceIndex(1), 1, false};
    const auto endpoint = side.fep->ses().open_endpoint(name, {}, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    side.endpoint = *endpoint;
    stations_.add(*side.fep, address(net, 0));
  }
  Instant now() const { return stations_.now(); }

  uint64_t count(const char* name) {
    uint64_t found = UINT64_MAX;
    server_.fep->for_each_counter([&](const char* counter, uint64_t value) {
      if (std::string(counter) == name) found = value;
    });
    return found;
  }

  // --- the network ---

  void arrive(const FabricAddress& from, std::vector<std::byte> octets) {
    if (from.ip[0] == kForged) accounts_[number_of(from)].came += octets.size();
    sim::Datagram d;
    d.octets = std::move(octets);
    d.from = from;
    d.to = address(kServer, 0);
    stations_.arrive(d);
  }
  // All addresses of kHonest lead to the honest endpoint: to the server it is as many hosts.
  sim::Fate fate(sim::Datagram& d) {
    const uint32_t number = number_of(d.to);
    switch (d.to.ip[0]) {
      case kForged:
        accounts_[number].went += d.octets.size();
        return {};
      case kReal:
        hear(number * kPorts + (d.to.port - 20'000U) / 16, d.octets);
        return {};
      case kServer:
        d.from = address(kHonest, number);
        break;
      default:
        d.from = address(kServer, number);
        break;
    }
    d.to = address(d.to.ip[0], 0);
    return {Duration::microseconds(1)};
  }

  // --- the flood ---

  // An attacker gets an answer. It begins at the Start_PSN of a challenge; to an ACK it sends the
  // next packet with the server's PDCID, which proves its source.
  void hear(uint32_t number, std::span<const std::byte> octets) {
    Attacker& a = attackers_[number];
    wire::Reader peek(octets);
    const auto prologue = wire::Prologue::parse(peek);
    if (!prologue.ok()) return;
    wire::Reader reader(octets);
    if (prologue->type == wire::PdsType::nack) {
      const auto h = wire::Nack::parse(reader);
      const auto pdc = h.ok() ? a.pdcs.find(h->dpdcid.value()) : a.pdcs.end();
      if (pdc == a.pdcs.end() || h->nack_code != wire::NackCode::new_start_psn) return;
      ++challenged_;
      pdc->second.start = Psn(h->payload);
      return begin(number, pdc->first, pdc->second);
    }
    if (!wire::is_ack(prologue->type)) return;
    const wire::Ack h = wire::Ack::read(reader);
    const auto pdc = a.pdcs.find(h.dpdcid.value());
    if (pdc == a.pdcs.end() || pdc->second.theirs != Pdcid()) return;
    pdc->second.theirs = h.spdcid;
    const uint32_t bytes = rng_.chance(0.5) ? 32 : 1 << 20;
    later_.push_back({number, forgery_.next_of(pdc->second.type, Pdcid(pdc->first), h.spdcid,
                                               pdc->second.start + 1, bytes)});
  }
  void begin(uint32_t number, uint16_t id, Attacker::Pdc& pdc) {
    auto octets = forgery_.first_of(Pdcid(id), pdc.start, rng_.chance(0.5) ? 32 : 1 << 20, true);
    wire::Reader reader(octets);
    pdc.type = wire::Prologue::parse(reader)->type;
    later_.push_back({number, std::move(octets)});
  }
  void attack(uint32_t number) {
    Attacker& a = attackers_[number];
    const uint16_t id = a.next_id++;
    if (id == 0) return;
    Attacker::Pdc& pdc = a.pdcs[id] = {};
    pdc.start = Psn(rng_.u32());
    begin(number, id, pdc);
  }
  void flood(uint32_t packets) {
    for (uint32_t i = 0; i < packets; ++i) {
      const uint32_t number = static_cast<uint32_t>(rng_.below(9900));
      if (rng_.chance(0.4)) {
        attack(number % (kAttackers * kPorts));
      } else if (rng_.chance(0.1)) {
        arrive(address(kForged, number), forgery_.blind_ack());
      } else {
        const Pdcid id(static_cast<uint16_t>(1 + rng_.below(65535)));
        const uint32_t bytes = rng_.chance(0.5) ? 32 : 1 << 20;
        arrive(address(kForged, number), forgery_.first_of(id, Psn(rng_.u32()), bytes, false));
      }
    }
    for (const auto& [number, octets] : std::exchange(later_, {})) {
      arrive(attacker_address(number), octets);
    }
  }
  void step(uint32_t packets) {
    flood(packets);
    stations_.run_until(now() + kStep, [&](TxPacket&, sim::Datagram& d) { return fate(d); });
  }

  // --- the newcomers ---

  void post_receive(uint64_t tag) {
    const IoSlice slice{room_.data(), room_.size()};
    ses::ReceiveRequest request;
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = tag;
    ASSERT_TRUE(server_.fep->ses().receive(server_.endpoint, request, now()).ok());
  }
  // A message from a host that is new to the server.
  void send_from_newcomer(uint32_t number, uint64_t tag, uint32_t bytes) {
    const auto to = honest_.fep->peers().find_or_add(address(kServer, number), now());
    ASSERT_TRUE(to.ok());
    honest_.fep->peers().list(*to);
    const IoSlice slice{payload_.data(), bytes};
    ses::SendRequest request;
    request.to = {*to, PidOnFep(kPid), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = tag;
    ASSERT_TRUE(honest_.fep->ses().send(honest_.endpoint, request, now()).ok());
  }

  sim::Stations<FabricEndpoint> stations_{Instant::from_ns(1'000'000'000)};
  Rng rng_{7, 7};
  Forgery forgery_{8};
  Side honest_;
  Side server_;
  std::vector<Attacker> attackers_;
  std::vector<std::pair<uint32_t, std::vector<std::byte>>> later_;
  std::map<uint32_t, Account> accounts_;
  uint64_t challenged_ = 0;
  std::vector<std::byte> payload_ = std::vector<std::byte>(100'000);
  std::vector<std::byte> room_ = std::vector<std::byte>(100'000);
};

// [PDS-251, PDS-252, PDS-253, T-01] The first message of a new peer arrives within 100 ms, and a
// forged source gets at most three times the octets that came from it.
TEST_F(FloodTest, NewcomersAreNotDelayed) {
  constexpr uint32_t kPerStep = 5;  // 50,000 a second
  constexpr uint32_t kNewcomers = 200;
  constexpr uint32_t kApart = 100;  // steps
  for (uint32_t i = 0; i < 20'000; ++i) step(kPerStep);
  const uint32_t taken = server_.fep->pds().open_pdcs();
  struct Sent {
    Instant at;
    bool is_late;  // the receive is posted after the message has arrived
  };
  std::map<uint64_t, Sent> sent;
  for (uint32_t i = 0; i < kNewcomers; ++i) {
    const uint64_t tag = kFirstTag + i;
    const bool is_late = i % 3 == 2;
    if (!is_late) post_receive(tag);
    send_from_newcomer(i + 1, tag, i % 3 == 1 ? 100'000 : 100);
    sent[tag] = {now(), is_late};
    for (uint32_t s = 0; s < kApart; ++s) {
      step(kPerStep);
      if (is_late && s == 10) post_receive(tag);
    }
  }
  for (uint32_t i = 0; i < 1'000; ++i) step(kPerStep);
  Duration longest;
  for (const auto& [tag, s] : sent) {
    const auto at = server_.received.find(tag);
    ASSERT_NE(at, server_.received.end()) << "newcomer " << tag - kFirstTag;
    longest = std::max(longest, at->second - s.at);
  }
  RecordProperty("longest_us", static_cast<int>(longest.ns() / 1000));
  EXPECT_LT(longest, 100_ms);
  EXPECT_EQ(honest_.failed, 0u);

  uint64_t came = 0;
  uint64_t went = 0;
  double most = 0;
  for (const auto& [number, account] : accounts_) {
    came += account.came;
    went += account.went;
    most = std::max(most, static_cast<double>(account.went) / static_cast<double>(account.came));
  }
  EXPECT_LE(most, 3.0);
  // It was a flood: SYNs were challenged, attackers got in and reached their shares.
  EXPECT_GT(count("challenged"), 10'000u);
  EXPECT_GT(challenged_, 1'000u);
  EXPECT_GT(count("peer_share_limit") + count("host_share_limit"), 1'000u);
  EXPECT_GT(taken, pds::Config().max_pdcs * 6 / 10) << "all but what is left to newcomers";
  std::printf(
      "%u PDCs taken; a newcomer's message took %.2f ms at most; to forged sources %.2f octets for "
      "each that came, %.2f at most\n",
      taken, static_cast<double>(longest.ns()) / 1e6,
      static_cast<double>(went) / static_cast<double>(came), most);
}

// [PDS-176, PDS-248] While attackers open and close as many PDCs as they can, a copy of a packet of
// a closed PDC is not executed again before its tombstone expires.
TEST_F(FloodTest, NothingExecutesTwice) {
  const auto close_many = [&](uint32_t steps) {
    for (uint32_t i = 0; i < steps; ++i) {
      for (int pair = 0; pair < 3; ++pair) {  // 60,000 packets a second
        const FabricAddress from = address(kForged, static_cast<uint32_t>(rng_.below(10'000)));
        const Pdcid id(static_cast<uint16_t>(1 + rng_.below(65535)));
        const Psn start(rng_.u32());
        const auto first = forgery_.first_of(id, start, 32, false);
        arrive(from, first);
        arrive(from, Forgery::close_of(first));
      }
      step(0);
    }
  };
  close_many(10'000);
  const FabricAddress victim = address(kForged, 20'000);
  forgery_.tag = kFirstTag;
  const auto message = forgery_.first_of(Pdcid(77), Psn(1000), 32, false);
  forgery_.tag = 7;
  post_receive(kFirstTag);
  post_receive(kFirstTag);
  arrive(victim, message);
  arrive(victim, Forgery::close_of(message));
  ASSERT_EQ(server_.receives, 1u);
  const uint64_t closed = count("close_cmd_rx");
  close_many(3'900);
  const uint64_t hits = count("tombstone_hits");
  arrive(victim, message);
  EXPECT_EQ(count("tombstone_hits"), hits + 1);
  EXPECT_EQ(server_.receives, 1u);
  EXPECT_GT(count("close_cmd_rx") - closed, 4'500u) << "more than 4,096 in 400 ms";
}

}  // namespace
}  // namespace uet::fep
