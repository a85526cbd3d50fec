// Many of everything: PDCs up to the end of their 16-bit names, peers, messages without an answer,
// packets outstanding. Checks the memory against the budget, and the instructions for a packet
// against those with few PDCs. [decision 15]
#include "pds/schedule/flow.h"
#include "pds/test/bench.h"
#include "pds/test/pair.h"

#include "base/test/instructions.h"

#include <gtest/gtest.h>

namespace uet::pds::test {
namespace {

// The budget of docs/performance.md, Memory.
static_assert(sizeof(Pdc) <= 448);
static_assert(sizeof(Peer) <= 160);
static_assert(sizeof(Context) <= 1216);  // with its Ccc and ContextEntropy, and what tools show
static_assert(sizeof(TxSlot) == 32);

constexpr uint64_t kMegabyte = 1'000'000;

cms::Config wide_open() {
  cms::Config c;
  c.algorithm = cms::Algorithm::fixed;
  c.window_bytes_max = uint32_t{1} << 30;
  return c;
}

FabricAddress numbered(uint32_t n) {
  FabricAddress a = address(0);
  a.ip = {10, static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)};
  return a;
}

// [PDS-010, PDS-013, PDS-018, PDS-019, PDS-176] 20,000 PDCs between two FEPs, one for each JobID,
// all of them in use twice and then closed because they are idle, as fast as closes are remembered.
TEST(ScaleTest, TwentyThousandPdcsAtOnce) {
  constexpr uint32_t kPdcs = 20000;
  Config config;
  config.max_pdcs = config.max_flows = kPdcs;
  config.max_contexts = 4;
  config.target_floor_percent = 0;
  config.peer_share_percent = config.job_share_percent = 100;
  config.pdcs_per_key = 1;
  config.challenge_above = 0;   // this many at once look like a flood
  config.newcomer_percent = 0;  // there is one host
  Pair pair(config, config, 1, wide_open());
  pair.keep_sent = false;
  StubClient& client = pair.side[0].client;
  std::vector<FlowId> flows;
  for (uint32_t job = 1; job <= kPdcs; ++job) flows.push_back(pair.flow(0, Mode::rud, job));

  for (uint32_t round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < kPdcs; ++i) client.post(flows[i], 1 + round * kPdcs + i, 100);
    pair.run(Duration::milliseconds(1));
    EXPECT_EQ(client.responded.size(), (1 + round) * kPdcs);
    EXPECT_EQ(pair.side[1].client.received.times.size(), (1 + round) * kPdcs);
    for (const Pair::Side& side : pair.side) EXPECT_EQ(side.pds->open_pdcs(), kPdcs);
  }
  EXPECT_EQ(pair.count(0, Count::pdc_opened_initiator), kPdcs);
  EXPECT_EQ(pair.count(1, Count::pdc_opened_target), kPdcs);
  for (const Pair::Side& side : pair.side) {
    EXPECT_EQ(side.pds->usage().tx_blocks + side.pds->usage().rx_blocks, 0u);
  }

  pair.run(config.idle_time + Duration::seconds(12));
  EXPECT_GT(pair.count(1, Count::close_waits), 0u);
  EXPECT_EQ(pair.count(0, Count::idle_closes), kPdcs);
  EXPECT_EQ(pair.count(1, Count::pdc_closed_ok), kPdcs);
  pair.expect_all_given_back();
}

// [PDS-016, PDS-061] One PDC, hundreds of messages without an answer; one ACK answers them all.
TEST(ScaleTest, ManyUnansweredMessagesOnOnePdc) {
  constexpr uint32_t kMessages = 256;
  Config config;
  config.pdcs_per_key = 1;
  Bench b(config, wide_open());
  auto out = b.open_initiator(1);
  const FlowId flow = *b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1));
  for (uint32_t m = 2; m <= kMessages; ++m) b.client.post(flow, m, 100);
  const auto more = b.tx();
  out.insert(out.end(), more.begin(), more.end());
  ASSERT_EQ(out.size(), kMessages);
  for (uint32_t i = 0; i < kMessages; ++i) {
    const wire::Request h = out[i].as<wire::Request>();
    EXPECT_EQ(h.spdcid, b.own);
    EXPECT_EQ(h.psn, b.start + i);
  }
  b.rx_header(b.ack(b.start + (kMessages - 1)));
  EXPECT_EQ(b.client.responded.size(), kMessages);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-035, PDS-037] The largest window, and a loss at its beginning: all else is kept behind it.
TEST(ScaleTest, TwoThousandPacketsBehindALoss) {
  constexpr uint32_t kWindow = 2048;
  Config config;
  config.mpr = config.default_mpr = kWindow / 128;
  config.tx_window_packets = kWindow;
  Pair pair(config, config, 1, wide_open());
  bool has_lost = false;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.side == 1 && p.number == 1 && !has_lost) {
      has_lost = true;
      return {};
    }
    // Answers take long: the window fills.
    return {p.side == 1 ? Pair::kDelay : Duration::milliseconds(2)};
  };
  pair.side[0].client.post(pair.flow(0), 1, 3 * kWindow * 1024);
  pair.run(Duration::milliseconds(1));
  EXPECT_EQ(pair.side[1].client.received.times.size(), kWindow - 1);
  EXPECT_EQ(pair.side[1].pds->usage().rx_blocks, 1u);
  pair.run(Duration::seconds(1));
  EXPECT_EQ(pair.side[0].client.responded.size(), 3 * kWindow);
  EXPECT_EQ(pair.side[1].pds->usage().rx_blocks, 0u);
  pair.expect_all_given_back();
}

// One Pds and its peers; the test makes their answers.
class BudgetTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kPeers = 16384;

  void SetUp() override {
    config_.max_pdcs = config_.max_flows = kPeers + 1;
    config_.idle_time = Duration::seconds(3600);
    config_.target_floor_percent = 0;
    config_.low_water_percent = 0;
    ASSERT_TRUE(peers_.create(arena_, kPeers + 1, 1).ok());
    const auto made = Pds::create(arena_, config_, wide_open(), peers_, client_, 7);
    ASSERT_TRUE(made.ok());
    pds_ = client_.pds = *made;
  }
  // A message of `packets` packets to that peer.
  void post(uint32_t peer, uint32_t packets) {
    const auto id = peers_.find_or_add(numbered(peer), now_);
    ASSERT_TRUE(id.ok());
    const FlowId flow = *pds_->flow(*id, TrafficClass(0), Mode::rud, JobId(1));
    client_.post(flow, ++messages_, packets * client_.mtu);
  }
  // Sends everything; answers each packet when asked to. Returns the number of packets.
  uint32_t send(bool answer) {
    TxBatch batch;
    uint32_t count = 0;
    while (pds_->transmit(batch, now_) > 0) {
      for (const TxPacket& p : batch.packets()) {
        ++count;
        if (!answer) continue;
        wire::Reader r({p.header, p.header_bytes});
        const wire::Request h = wire::Request::read(r);
        wire::Ack ack;
        ack.cack_psn = h.psn;
        ack.spdcid = kPeerId;
        ack.dpdcid = h.spdcid;
        std::array<std::byte, wire::Ack::kSize> octets;
        wire::Writer w(octets);
        ack.emit(w);
        RxDatagram d;
        d.bytes = octets;
        d.from = p.to;
        d.at = now_;
        pds_->receive(d, now_);
      }
      batch.clear();
    }
    return count;
  }

  Config config_;
  Arena arena_;
  PeerTable peers_;
  StubClient client_;
  Pds* pds_ = nullptr;
  Instant now_ = kStart;
  uint32_t messages_ = 0;
};

// 16,384 idle peers with a PDC and a traffic class each cost 30 MB, and 1,024 of them that have a
// window of 256 packets outstanding 9 MB more.
TEST_F(BudgetTest, IdlePeersAndActiveOnes) {
  for (uint32_t i = 0; i < kPeers; ++i) {
    post(i, 1);
    ASSERT_EQ(send(true), 1u);
  }
  const Footprint idle = pds_->footprint();
  EXPECT_EQ(pds_->open_pdcs(), kPeers);
  EXPECT_EQ(idle.pdc_bytes, kPeers * sizeof(Pdc));
  EXPECT_EQ(idle.context_bytes, kPeers * sizeof(Context));
  const uint64_t peer_bytes = kPeers * sizeof(Peer);
  EXPECT_LE(idle.pdc_bytes + idle.context_bytes + idle.window_bytes + peer_bytes, 30 * kMegabyte);
  EXPECT_EQ(idle.window_bytes, 0u);

  for (uint32_t i = 0; i < 1024; ++i) post(i, 256);
  EXPECT_EQ(send(false), 1024u * 256);
  EXPECT_LE(pds_->footprint().window_bytes, 9 * kMegabyte);
}

// [PDS-181, PDS-182] Under pressure each new PDC takes the place of the longest idle ones, and
// every message finds its PDC.
TEST_F(BudgetTest, PressureTakesTheLongestIdle) {
  for (uint32_t i = 0; i < kPeers; ++i) {
    post(i, 1);
    ASSERT_EQ(send(true), 1u);
    now_ = now_ + Duration::milliseconds(2);
    pds_->advance(now_);
  }
  post(0, 1);  // not the longest idle one any more
  ASSERT_EQ(send(true), 1u);
  now_ = now_ + Duration::milliseconds(2);
  client_.closed.clear();
  post(kPeers, 1);  // takes the last free one
  EXPECT_EQ(send(true), 3u) << "the message, and the Close commands of two victims";
  EXPECT_EQ(pds_->counters()[Count::pressure_closes], 2u);
  EXPECT_EQ(client_.closed, (std::vector<bool>{true, true}));
  EXPECT_EQ(pds_->open_pdcs(), kPeers - 1);
  post(0, 1);
  EXPECT_EQ(send(true), 1u);
  EXPECT_EQ(pds_->counters()[Count::pdc_opened_initiator], kPeers + 1) << "peer 0 kept its PDC";
}

// --- cost of a packet ---

// A client without state, so that only the work of PDS is counted: one message of one packet waits
// on one flow.
class PlainClient final : public Client {
 public:
  FlowId waiting;
  bool has_message = false;

  bool start(FlowId flow, PdcHandle, StartedMessage& out, Instant) override {
    if (!has_message || flow != waiting) return false;
    has_message = false;
    out.message = MessageHandle(1);
    out.is_last = true;
    return true;
  }
  bool pull(MessageHandle message, PacketRef& out) override {
    out = {.message = message, .length = 0, .next_hdr = wire::NextHeader::standard};
    out.som = out.eom = true;
    return true;
  }
  void encode(const PacketRef&, wire::Writer& header, TxBatch&) override { header.u64(0); }
  Verdict on_request(const RxRequest&, Instant) override { return Verdict::accepted(); }
  void on_response(const PacketRef&, const RxResponse&, Instant) override {}
  void on_failed(const PacketRef&, const Failure&, Instant) override {}
  void on_aborted(MessageHandle, const Failure&, Instant) override {}
  JobId job_of(std::span<const std::byte>) const override { return JobId(1); }
  bool has_open_message(PdcHandle) const override { return false; }
  void on_pdc_closed(PdcHandle, PeerId, bool, Instant) override {}
};

// Spare places for PDCs, and whether the PDCs have unanswered packets.
struct Scene {
  uint32_t spare = 2;
  bool is_busy = false;
};

// A Pds with a number of PDCs of each role, each toward another peer.
class Crowd {
 public:
  Crowd(uint32_t pdcs, const Scene& scene) : is_answered_(!scene.is_busy) {
    Config config;
    config.max_pdcs = 2 * pdcs + scene.spare;
    config.max_flows = pdcs + 2;
    config.idle_time = Duration::seconds(3600);
    config.target_floor_percent = config.low_water_percent = 0;
    config.half_open_percent = config.peer_share_percent = config.job_share_percent = 100;
    config.challenge_above = 0;  // this many at once look like a flood
    EXPECT_TRUE(peers_.create(arena_, 2 * pdcs + 4, 1).ok());
    const auto made = Pds::create(arena_, config, wide_open(), peers_, client_, 7);
    EXPECT_TRUE(made.ok());
    pds_ = *made;
    for (uint32_t i = 0; i < pdcs; ++i) {
      message_to(i);
      receive_request(pdcs + i);
      now_ = now_ + Duration::microseconds(3);  // each timer at another time
    }
    EXPECT_EQ(pds_->open_pdcs(), 2 * pdcs);
    is_answered_ = true;
  }

  // A message to that peer goes out and is answered.
  void message_to(uint32_t peer) {
    const PeerId id = *peers_.find_or_add(numbered(peer), now_);
    client_.waiting = *pds_->flow(id, TrafficClass(0), Mode::rud, JobId(1));
    client_.has_message = true;
    pds_->ready(client_.waiting, 0);
    transmit();
    if (!is_answered_) return;
    for (const TxPacket& p : batch_.packets()) {
      wire::Reader r({p.header, p.header_bytes});
      const wire::Request sent = wire::Request::read(r);
      wire::Ack ack;
      ack.cack_psn = sent.psn;
      ack.spdcid = kPeerId;
      ack.dpdcid = sent.spdcid;
      receive(ack, p.to);
    }
  }
  // A request of that peer, which opens a PDC, is received and answered.
  void receive_request(uint32_t peer) {
    wire::Request h;
    h.next_hdr = wire::NextHeader::standard;
    h.syn = h.ar = true;
    h.psn = Psn(1000);
    h.clear_psn_offset = -1;
    h.spdcid = kPeerId;
    receive(h, numbered(peer));
    transmit();
  }
  Instant next_deadline() const { return pds_->next_deadline(); }

 private:
  void transmit() {
    batch_.clear();
    pds_->transmit(batch_, now_);
  }
  template <class Header>
  void receive(const Header& h, const FabricAddress& from) {
    std::array<std::byte, 64> octets{};
    wire::Writer w(octets);
    h.emit(w);
    RxDatagram d;
    d.bytes = {octets.data(), w.position() + (std::is_same_v<Header, wire::Request> ? 8u : 0u)};
    d.from = from;
    d.at = now_;
    pds_->receive(d, now_);
  }

  Arena arena_;
  PeerTable peers_;
  PlainClient client_;
  Pds* pds_ = nullptr;
  Instant now_ = kStart;
  TxBatch batch_;
  bool is_answered_;
};

// The instructions of what `act` does with a Crowd of few and of many are about the same: tables
// are a little fuller, and no list is walked.
template <class Act>
void expect_same_cost(const char* what, Act&& act, const Scene& scene = {}) {
  // Not near powers of two, where tables grow.
  constexpr uint32_t kFew = 24;
  constexpr uint32_t kMany = 12000;
  uint64_t cost[2] = {0, 0};
  for (const bool is_many : {false, true}) {
    Crowd crowd(is_many ? kMany : kFew, scene);
    const auto counted = uet::test::instructions_of([&] { act(crowd, is_many ? kMany : kFew); });
    if (!counted) GTEST_SKIP() << "instructions are counted on x86-64 only";
    cost[is_many] = *counted;
  }
  ::testing::Test::RecordProperty(what, std::to_string(cost[0]) + " " + std::to_string(cost[1]));
  EXPECT_LE(cost[1], cost[0] + cost[0] / 4 + 200) << what << ": " << cost[0] << " among few";
}

// [PDS-014, PDS-060, TSS-141] Packets find their PDC among many as among few.
TEST(CostTest, APacketCostsTheSameAmongMany) {
  expect_same_cost("message", [](Crowd& crowd, uint32_t pdcs) { crowd.message_to(pdcs / 2); });
  expect_same_cost("request",
                   [](Crowd& crowd, uint32_t pdcs) { crowd.receive_request(pdcs + pdcs / 2); });
}

// [PDS-010] PDCs are opened among many as among few, in either role.
TEST(CostTest, OpeningCostsTheSameAmongMany) {
  expect_same_cost("open", [](Crowd& crowd, uint32_t pdcs) { crowd.message_to(2 * pdcs + 1); });
  expect_same_cost("opened",
                   [](Crowd& crowd, uint32_t pdcs) { crowd.receive_request(2 * pdcs + 1); });
}

// [PDS-142] The cost of next_deadline() does not depend on the number of PDCs either.
TEST(CostTest, TheNextDeadlineCostsTheSameAmongMany) {
  expect_same_cost("deadline", [](Crowd& crowd, uint32_t) { (void)crowd.next_deadline(); });
}

// [PDS-181] Where no PDC is free, a few of the longest idle ones are looked at, not all, even if
// none of them can give way.
TEST(CostTest, PressureCostsTheSameAmongMany) {
  for (const bool is_busy : {false, true}) {
    expect_same_cost(is_busy ? "pressure_of_busy" : "pressure",
                     [](Crowd& crowd, uint32_t pdcs) { crowd.message_to(2 * pdcs + 1); },
                     {0, is_busy});
  }
}

}  // namespace
}  // namespace uet::pds::test
