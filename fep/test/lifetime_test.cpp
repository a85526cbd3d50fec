// Peers come and go: their resources are freed, nothing runs out over the life of a FabricEndpoint,
// and memory follows the number in use. Two endpoints know each other by as many addresses as there
// are peers. Simulated time. [PDS-247, PDS-248, T-02]
#include "fep/fabric_endpoint.h"

#include "sim/world/stations.h"
#include "wire/pds.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace uet::fep {
namespace {

constexpr uint16_t kPid = 5;
constexpr uint64_t kTag = 7;

FabricAddress address(uint8_t host, uint32_t peer) {
  return FabricAddress::v4((uint32_t{10} + host) << 24 | (peer & 0xFFFFFF));
}

// Where a packet to that address comes from.
FabricAddress opposite(FabricAddress to) {
  to.ip[0] = to.ip[0] == 11 ? 12 : 11;
  return to;
}

struct Side {
  std::unique_ptr<FabricEndpoint> fep;
  ses::EndpointId endpoint;
  std::vector<PeerId> peers;
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t failed = 0;
};

class LifetimeTest : public ::testing::Test {
 protected:
  LifetimeTest() {
    open(crowd_, 1);
    open(server_, 2);
    stations_.add(*crowd_.fep, address(1, 0));
    stations_.add(*server_.fep, address(2, 0));
  }
  void open(Side& side, uint8_t host) {
    Config config;
    idle_ = config.pds.idle_time;
    auto made = FabricEndpoint::create(config, address(host, 0), host);
    ASSERT_TRUE(made.ok());
    side.fep = std::move(*made);
    ses::CompletionSink sink;
    sink.owner = &side;
    sink.reserve = [](void*) { return true; };
    sink.complete = [](void* me, const ses::Completion& c) {
      Side& s = *static_cast<Side*>(me);
      if (!c.ok()) ++s.failed;
      ++(c.kind == ses::OpKind::tagged_send ? s.sent : s.received);
    };
    ses::EndpointOptions options;
    const ses::EndpointName name{JobId(1), PidOnFep(kPid), ResourceIndex(1), 1, false};
    const auto endpoint = side.fep->ses().open_endpoint(name, options, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    side.endpoint = *endpoint;
  }
  // As an address vector does.
  PeerId insert(Side& side, uint8_t host, uint32_t peer) {
    const auto id = side.fep->peers().find_or_add(address(host, peer), now());
    EXPECT_TRUE(id.ok());
    side.fep->peers().list(*id);
    return *id;
  }
  void post_receive(Side& side) {
    const IoSlice slice{room_.data(), room_.size()};
    ses::ReceiveRequest request;
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    ASSERT_TRUE(side.fep->ses().receive(side.endpoint, request, now()).ok());
  }
  Result<void> send(Side& side, PeerId to) {
    const IoSlice slice{payload_.data(), payload_.size()};
    ses::SendRequest request;
    request.to = {to, PidOnFep(kPid), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    const auto sent = side.fep->ses().send(side.endpoint, request, now());
    if (!sent.ok()) return sent.error();
    return {};
  }
  // Sends, and waits while there is no room: the wait must end by itself.
  void send_patiently(Side& side, PeerId to) {
    for (int i = 0; i < 100; ++i) {
      const Result<void> sent = send(side, to);
      if (sent.ok()) return;
      ASSERT_EQ(sent.error(), Errc::again);
      pass(Duration::microseconds(100));
    }
    FAIL() << "no room after 100 tries";
  }
  // Runs the simulation for that time. Packets arrive after a microsecond. Their source is the
  // address of the other side that belongs to their destination, see opposite().
  void pass(Duration time) {
    const auto fate = [](TxPacket&, sim::Datagram& d) -> sim::Fate {
      d.from = opposite(d.to);
      d.to.ip[1] = d.to.ip[2] = d.to.ip[3] = 0;
      return {Duration::microseconds(1)};
    };
    stations_.run_until(now() + time, fate);
  }
  // A message to the server from that peer, and its answer.
  void exchange(PeerId at_crowd, PeerId at_server) {
    post_receive(server_);
    post_receive(crowd_);
    const uint64_t there = server_.received + 1;
    const uint64_t back = crowd_.received + 1;
    send_patiently(crowd_, at_crowd);
    for (int i = 0; i < 1000 && server_.received < there; ++i) pass(Duration::microseconds(20));
    send_patiently(server_, at_server);
    for (int i = 0; i < 1000 && crowd_.received < back; ++i) pass(Duration::microseconds(20));
    ASSERT_EQ(server_.received, there);
    ASSERT_EQ(crowd_.received, back);
  }
  Instant now() const { return stations_.now(); }
  size_t memory() const { return server_.fep->memory_bytes() + crowd_.fep->memory_bytes(); }

  Duration idle_;
  Side crowd_;
  Side server_;
  std::array<std::byte, 64> payload_{};
  std::array<std::byte, 64> room_{};
  sim::Stations<FabricEndpoint> stations_{Instant::from_ns(1'000'000'000)};
};

// [PDS-247] A server that inserts, answers and removes its peers one after the other: 20,000 of
// them take as much memory as the first thousand.
TEST_F(LifetimeTest, TwentyThousandPeersComeAndGo) {
  size_t early = 0;
  for (uint32_t i = 1; i <= 20'000; ++i) {
    const PeerId at_crowd = insert(crowd_, 2, i);
    const PeerId at_server = insert(server_, 1, i);
    exchange(at_crowd, at_server);
    if (HasFatalFailure()) FAIL() << "peer " << i;
    crowd_.fep->unlist(at_crowd, now());
    server_.fep->unlist(at_server, now());
    pass(Duration::microseconds(100));
    if (i == 6'000) early = memory();  // tombstones and spare records have reached their bounds
  }
  EXPECT_EQ(memory(), early) << "grew by " << memory() - early;
  EXPECT_EQ(server_.failed + crowd_.failed, 0u);
  EXPECT_LE(server_.fep->pds().open_pdcs(), 4u);
  EXPECT_LE(server_.fep->peers().size(), 6'000u);
}

// 5,000 peers at once with default settings, in both directions; the second and third round take no
// memory. Idle ones cost no flow, context or PDC any more. [PDS-247, decision 15]
TEST_F(LifetimeTest, FiveThousandPeersAtOnce) {
  constexpr uint32_t kPeers = 5'000;
  for (uint32_t i = 1; i <= kPeers; ++i) {
    crowd_.peers.push_back(insert(crowd_, 2, i));
    server_.peers.push_back(insert(server_, 1, i));
  }
  size_t warm = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < kPeers; ++i) {
      exchange(crowd_.peers[i], server_.peers[i]);
      if (HasFatalFailure()) FAIL() << "round " << round << ", peer " << i;
    }
    if (round == 0) warm = memory();
  }
  EXPECT_EQ(memory(), warm);
  EXPECT_EQ(server_.fep->pds().open_pdcs(), 2 * kPeers) << "none had to give way";
  for (int round = 0; round < 3; ++round) {
    pass(idle_ * 6);
    EXPECT_EQ(server_.fep->pds().open_pdcs(), 0u);
    EXPECT_EQ(server_.fep->pds().footprint().context_bytes, 0u) << "no flow holds a context";
    EXPECT_EQ(crowd_.fep->pds().footprint().context_bytes, 0u);
    if (round == 1) warm = memory();  // with the tombstones of all peers
    // All of it again, from freed memory.
    for (uint32_t i = 0; i < kPeers; ++i) exchange(crowd_.peers[i], server_.peers[i]);
  }
  EXPECT_EQ(memory(), warm);
}

// [PDS-247] What is in flight when the application removes its peer ends as it would have.
TEST_F(LifetimeTest, ARemovedPeerGetsThePostedMessages) {
  const PeerId to = insert(crowd_, 2, 1);
  post_receive(server_);
  ASSERT_TRUE(send(crowd_, to).ok());
  crowd_.fep->unlist(to, now());
  for (int i = 0; i < 10; ++i) pass(Duration::microseconds(100));
  EXPECT_EQ(server_.received, 1u);
  EXPECT_EQ(crowd_.sent, 1u);
  EXPECT_EQ(crowd_.failed, 0u);
  EXPECT_EQ(crowd_.fep->pds().open_pdcs(), 0u) << "and then its connection is closed";
  // The peer comes back.
  const PeerId again = insert(crowd_, 2, 1);
  post_receive(server_);
  ASSERT_TRUE(send(crowd_, again).ok());
  for (int i = 0; i < 10; ++i) pass(Duration::microseconds(100));
  EXPECT_EQ(server_.received, 2u);
}

// [T-01, T-02] Memory for strangers who only send a first packet is bounded: 200,000 addresses more
// take no more than the first ones, which is as much as the table of PDCs and its tombstones can
// hold.
TEST_F(LifetimeTest, StrangersTakeBoundedMemory) {
  const auto knock = [&](uint32_t from, uint32_t count) {
    for (uint32_t i = from; i < from + count; ++i) {
      wire::Request h;
      h.next_hdr = wire::NextHeader::standard;
      h.syn = h.ar = true;
      h.psn = Psn(i);
      h.clear_psn_offset = -1;
      h.spdcid = Pdcid(7);
      std::vector<std::byte> octets(h.size() + 44);
      wire::Writer w(octets);
      h.emit(w);
      RxDatagram d;
      d.bytes = octets;
      d.from = address(1, i);
      d.at = now();
      server_.fep->receive({&d, 1}, now());
      if (i % 64 == 0) pass(Duration::milliseconds(1));
    }
  };
  const size_t before = server_.fep->memory_bytes();
  knock(1, 60'000);
  const size_t early = server_.fep->memory_bytes();
  EXPECT_LT(early - before, size_t{32} << 20);
  knock(100'000, 200'000);
  EXPECT_EQ(server_.fep->memory_bytes(), early);
  EXPECT_LE(server_.fep->peers().size(), 40'000u);
}

}  // namespace
}  // namespace uet::fep
