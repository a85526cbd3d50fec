// For the tests of a single part of the sublayer. Such a test links the sources of its own folder,
// the record of a PDC, base and wire. Of the other folders it links test/stub.cpp, which defines
// their functions anew: each one notes that it was called, and answers as the test has set it.
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/flow.h"
#include "pds/schedule/turn.h"

#include "base/arena.h"
#include "base/test/calls.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::pds::part {

inline const Instant kNow = Instant::from_ns(5'000'000'000);
inline constexpr Psn kFirst(1000);  // of both directions of each PDC
inline constexpr Pdcid kPeerId(7);  // of each PDC, at the peer
inline constexpr MessageHandle kMessage(1);
inline constexpr uint32_t kPacketBytes = 4096;  // nominal, the largest
inline constexpr Duration kRto = Duration::milliseconds(5);

using uet::test::Calls;
using uet::test::calls;
using uet::test::calls_of;
using uet::test::count_of;
using uet::test::note;
using uet::test::was_called;

inline std::string text(Psn psn) { return std::to_string(psn.value()); }
inline std::string text(Duration d) { return std::to_string(d.ns() / 1000) + "us"; }

// What the stubs answer to Demux.
struct AnswersToDemux {
  Pdc* of_syn = nullptr;                  // Door: the PDC of a SYN
  bool may_leave_pending = true;          // Door
  wire::NackCode refusal{};               // Inbox; none: it refuses nothing
  bool is_taken = true;                   // Inbox: the packet came for the first time
  bool is_established = false;            // AckReader: the peer's PDCID is known now
  bool is_closed = false;                 // AckReader: the ACK answers a Close command
  std::optional<AckTrigger> lost_answer;  // NackReader: to be given again
  std::optional<Connectionless::Refusal> refused_without_pdc;
};

// What the stubs answer. A test changes it before it acts.
struct Answers {
  bool may_spend = true;        // octets to an unproven source
  bool may_refuse = true;       // the budget of NACKs
  bool owes_proof = false;      // Proofs
  bool is_close_early = false;  // CloseSteps
  bool may_send_close = true;   // Outbox has room for the closing packet
  bool has_message = true;      // Outbox gets one
  Turn turn{Step::idle, true};  // of Outbox
  Pdc* grants_on = nullptr;     // Destination has one grant, for that PDC
  bool has_credit_room = true;  // Destination has state for a source that asks for credit
  Context* context = nullptr;   // Contexts; null: a context of its own, where there is room
  cms::Algorithm algorithm = cms::Algorithm::fixed;  // a congestion context says so
  int64_t credit_bytes = 0;                          // and so
  AnswersToDemux to_demux;
};
inline Answers& answers() {
  static Answers all;
  return all;
}

// A client whose messages have packets without end, or a limited number.
class PartClient final : public Client {
 public:
  bool start(FlowId, PdcHandle, StartedMessage& out, Instant) override {
    if (waiting == 0) return false;
    out.message = MessageHandle(++started);
    out.keep_pdc = false;
    out.is_last = --waiting == 0;
    return true;
  }
  bool pull(MessageHandle message, PacketRef& out) override {
    if (packets == 0) return false;
    out = {};
    out.message = message;
    out.offset = pulled * payload_bytes;
    out.length = static_cast<uint16_t>(payload_bytes);
    out.next_hdr = wire::NextHeader::standard;
    out.som = pulled == 0;
    out.eom = --packets == 0;
    ++pulled;
    return true;
  }
  void encode(const PacketRef& ref, wire::Writer& header, TxBatch& batch) override {
    header.u32(ref.message.value());
    header.u32(ref.offset);
    batch.add_payload(octets.data(), ref.length);
  }
  Verdict on_request(const RxRequest& request, Instant) override {
    requests.push_back(request.token.psn.value());
    return verdict;
  }
  void on_response(const PacketRef& ref, const RxResponse&, Instant) override {
    responded.push_back(ref.offset);
  }
  void on_responses(std::span<const PacketRef> refs, const RxResponse& response,
                    Instant now) override {
    note("on_responses " + std::to_string(refs.size()));
    Client::on_responses(refs, response, now);
  }
  void on_failed(const PacketRef& ref, const Failure& failure, Instant) override {
    failed.push_back(ref.offset);
    failures.push_back(failure);
  }
  void on_aborted(MessageHandle message, const Failure&, Instant) override {
    aborted.push_back(message.value());
  }
  JobId job_of(std::span<const std::byte>) const override { return JobId(1); }
  bool has_open_message(PdcHandle) const override { return has_open; }
  void on_no_place(PdcHandle, Instant) override { note("on_no_place"); }
  void on_pdc_closed(PdcHandle, PeerId, bool clean, Instant) override { closed.push_back(clean); }

  uint32_t waiting = 0;  // messages that were not started
  uint32_t packets = 0;  // left in the message that is being pulled
  uint32_t payload_bytes = 1024;
  uint32_t started = 0;
  uint32_t pulled = 0;
  bool has_open = false;
  Verdict verdict;
  std::vector<uint32_t> requests;           // PSNs
  std::vector<uint32_t> responded, failed;  // offsets
  std::vector<Failure> failures;
  std::vector<uint32_t> aborted;
  std::vector<bool> closed;
  std::array<std::byte, 8192> octets{};
};

inline FabricAddress address(uint8_t last) { return FabricAddress::v4(0x0A000000U | last); }

// PDCs toward one peer, on a context with a fixed window and one entropy value at a time.
class PartTest : public testing::Test {
 protected:
  explicit PartTest(const Config& config = usual())
      : res_(config, fixed(), peers_, client_, random_) {
    calls().clear();
    answers() = {};
    EXPECT_TRUE(peers_.create(arena_, 8, 1).ok());
    peer_ = *peers_.find_or_add(address(9), kNow);
    peers_.add_ref(peer_);
    EXPECT_TRUE(table_.create(arena_, {8, 8, 4, 0}, random_, &peers_).ok());
    EXPECT_TRUE(res_.return_messages.create(arena_, 8).ok());
    res_.tx_pool.create(arena_, 8);
    res_.rx_pool.create(arena_, 8, RxWindow::block_bytes(res_.config.tracked_packets()));
    context_.limits.packet_bytes_max = kPacketBytes;
    context_.refs = 1;
    answers().context = &context_;
  }
  ~PartTest() override {
    table_.for_each([&](Pdc& pdc) { pdc.tx.abandon(res_.tx_pool); });
  }

  static Config usual() {
    Config config;
    config.rto_init = config.rto_min = kRto;
    config.tail_loss = kRto;
    return config;
  }
  static cms::Config fixed() {
    cms::Config config;
    config.algorithm = cms::Algorithm::fixed;
    config.window_bytes_max = 64 * kPacketBytes;
    config.base_rtt_probe = false;
    return config;
  }

  // Of the state ESTABLISHED, with nothing outstanding.
  Pdc& initiator(Mode mode = Mode::rud) {
    Pdc& pdc = opened(true, mode);
    pdc.life.change(PdcEvent::first_ack);
    return pdc;
  }
  // The same in SYN.
  Pdc& in_syn() { return opened(true, Mode::rud); }
  // Its peer is proven, unless the test says otherwise.
  Pdc& target(Mode mode = Mode::rud, bool is_proven = true) {
    Pdc& pdc = opened(false, mode);
    if (is_proven) pdc.proof.confirm();
    return pdc;
  }
  // Sends a message of `count` packets, all of which are in flight afterwards.
  void send(Pdc& pdc, uint32_t count, bool is_quiet = false) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(pdc.tx.reserve(res_.tx_pool));
      const Psn psn = pdc.tx.next();
      TxSlot& slot = pdc.tx.push();
      slot.ref.message = kMessage;
      slot.ref.offset = psn.value() - kFirst.value();
      slot.ref.eom = i + 1 == count;
      slot.ev = context_.ev.next(kNow);
      slot.bytes = kPacketBytes / 4;
      slot.note_sent(kNow);
      slot.state.set_quiet(is_quiet);
      slot.state.send();
      pdc.tx.note_first_sent(psn);
      context_.on_sent(pdc, {.bytes = slot.bytes, .ev = slot.ev, .at = kNow});
    }
  }
  TxSlot& slot(Pdc& pdc, int offset) { return pdc.tx[kFirst + offset]; }
  // The packets whose slots are lost, by their distance from the first one.
  static std::string lost(Pdc& pdc) {
    std::string all;
    for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
      const TxSlot* const slot = pdc.tx.find(p);
      if (slot == nullptr || !slot->state.is_lost()) continue;
      if (!all.empty()) all += ' ';
      all += '+' + std::to_string(p - kFirst);
    }
    return all;
  }
  // A packet has shown, since the last such question, that the peer lives.
  bool was_heard() {
    return std::exchange(peers_[peer_].last_heard, Instant::zero()) != Instant::zero();
  }
  uint64_t counted(Count count) const { return res_.counters[count]; }

  Arena arena_;
  PeerTable peers_;
  PartClient client_;
  SeededRandom random_{1};
  Resources res_;
  PdcTable table_;
  uint32_t senders_ = 0;
  Context context_{ContextKey{}, fixed(), 0, res_.rng, senders_};
  PeerId peer_;
  Flow flow_{FlowKey{}};

 private:
  Pdc& opened(bool is_initiator, Mode mode) {
    Pdc* const pdc = table_.allocate(is_initiator, random_);
    EXPECT_NE(pdc, nullptr);
    PdcOpening as{.mode = mode, .peer = peer_, .start = kFirst, .context = &context_};
    as.flow = is_initiator ? &flow_ : nullptr;
    as.peer_id = kPeerId;
    pdc->open_as(as, res_.config, kNow);
    if (is_initiator) {
      flow_.context = &context_;
      flow_.pdcs.push_back(*pdc);
      ++flow_.pdc_count;
    }
    return *pdc;
  }
};

}  // namespace uet::pds::part
