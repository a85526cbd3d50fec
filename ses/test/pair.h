// Two Ses joined by stub PDSs: the fixture of the message tests.
#pragma once

#include "ses/test/stub_pds.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace uet::ses::test {

inline constexpr JobId kJob{0x000102};
inline constexpr PidOnFep kPid{7};
inline constexpr ResourceIndex kRi{3};

inline Octets pattern(size_t length, uint8_t start = 1) {
  Octets out(length);
  for (size_t i = 0; i < length; ++i) {
    out[i] = static_cast<std::byte>(start + i + (i >> 8) * 7 + (i >> 16) * 13);
  }
  return out;
}

// One side: a Ses with one endpoint, its stub PDS and its reports.
struct Node {
  Node(uint32_t number, sim::Transit<Parcel>& network, const Config& config, uint64_t seed)
      : pds(number, network) {
    EXPECT_TRUE(peers.create(arena, 64, seed).ok());
    FabricAddress other;
    other.family = FabricAddress::Family::ipv4;
    other.ip[0] = static_cast<uint8_t>(10 + number);
    auto peer = peers.find_or_add(other, Instant::from_ns(1));
    EXPECT_TRUE(peer.ok() && *peer == PeerId(0));
    peers.add_ref(PeerId(0));
    auto made = Ses::create(arena, config, peers, seed);
    EXPECT_TRUE(made.ok());
    ses = *made;
    exchange = &ses->exchange();
    pds.attach(*ses);
    initiator_id = 100 + number;
  }

  void open(const EndpointOptions& options) {
    EndpointName name;
    name.job = kJob;
    name.pid = kPid;
    name.ri = kRi;
    name.initiator_id = initiator_id;
    const auto opened = ses->open_endpoint(name, options, sink(), sink());
    ASSERT_TRUE(opened.ok());
    ep = *opened;
  }
  // Time, which the owner of a Ses passes in.
  void advance(Instant now) { exchange->advance(now); }
  Instant next_deadline() const { return exchange->next_deadline(); }
  CompletionSink sink() {
    CompletionSink s;
    s.owner = this;
    s.complete = [](void* me, const Completion& c) {
      static_cast<Node*>(me)->completions.push_back(c);
    };
    s.reserve = [](void* me) {
      auto& node = *static_cast<Node*>(me);
      if (node.spare_slots == 0) return false;
      --node.spare_slots;
      return true;
    };
    s.release = [](void* me) { ++static_cast<Node*>(me)->spare_slots; };
    s.carries_data = carries_data;
    return s;
  }

  Arena arena;
  pds::PeerTable peers;
  Ses* ses = nullptr;
  Exchange* exchange = nullptr;  // for tests that say themselves what PDS says
  StubPds pds;
  EndpointId ep;
  uint32_t initiator_id = 0;
  uint32_t spare_slots = 1000;
  bool carries_data = true;
  std::vector<Completion> completions;
};

class PairTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  // Makes both sides again with `config` and `options` as they are now.
  void start() {
    network_.clear();
    a_ = std::make_unique<Node>(0, network_, config_, 11);
    b_ = std::make_unique<Node>(1, network_, config_, 12);
    b_->carries_data = b_carries_data_;
    a_->open(options_);
    b_->open(options_);
  }
  Destination to_b() const {
    Destination d;
    d.peer = PeerId(0);
    d.pid = kPid;
    d.ri = kRi;
    return d;
  }
  // A payload that lives as long as the test.
  const Octets& stored(Octets o) const { return payloads_.emplace_back(std::move(o)); }
  // The slice of some octets, kept as long as the test.
  std::span<const IoSlice> keep(const Octets& o) const {
    slices_.push_back({o.data(), o.size()});
    return {&slices_.back(), 1};
  }
  SendRequest send_request(const Octets& data, uintptr_t context = 1) const {
    SendRequest s;
    s.to = to_b();
    s.iov = keep(data);
    s.context.op = reinterpret_cast<void*>(context);
    return s;
  }
  ReceiveRequest receive_request(Octets& room, uintptr_t context = 2) const {
    ReceiveRequest r;
    r.iov = keep(room);
    r.context.op = reinterpret_cast<void*>(context);
    return r;
  }
  RmaRequest rma_request(bool read, const Octets& data, uint64_t key, uint64_t offset = 0) const {
    RmaRequest r;
    r.to = to_b();
    r.read = read;
    r.iov = keep(data);
    r.key = key;
    r.remote_offset = offset;
    r.context.op = reinterpret_cast<void*>(uintptr_t{1});
    return r;
  }
  // Registers memory of B for remote access and returns its key. `takes_small`: also by RUDI, and
  // with a key of 12 bits.
  uint64_t expose(const Octets& memory, uint32_t access = kRemoteRead | kRemoteWrite,
                  bool takes_small = false) {
    RegionRequest r;
    r.iov = keep(memory);
    r.access = access;
    r.idempotent_safe = r.optimized = takes_small;
    region_ = *b_->ses->memory().add(r);
    b_->ses->memory().enable(region_);
    return b_->ses->memory().key(region_);
  }

  void transmit() {
    a_->pds.transmit(now_);
    b_->pds.transmit(now_);
  }
  void deliver(size_t index) {
    const Parcel p = network_.take(index);
    (p.to == 0 ? *a_ : *b_).pds.receive(p, now_);
  }
  // Until nothing moves: packets in order, or shuffled when rng is given. ROD stays in order.
  void deliver_all(Rng* rng = nullptr) {
    for (transmit(); !network_.empty(); transmit()) {
      deliver(rng == nullptr ? 0 : rng->below(network_.size()));
    }
  }
  // Lets time pass in steps of a deadline, and delivers in between.
  void elapse(Duration span) {
    const Instant end = now_ + span;
    while (now_ < end) {
      Instant next = std::min(a_->next_deadline(), b_->next_deadline());
      now_ = std::min(end, std::max(next, now_ + Duration::microseconds(2)));
      a_->advance(now_);
      b_->advance(now_);
      a_->pds.resend_all();
      b_->pds.resend_all();
      deliver_all();
    }
  }
  // "send ok 100 | recv truncated 8+4 data 5 | ...": the reports of a node, which are then cleared.
  static std::string take(Node& node) { return take(node.completions); }
  static std::string take(std::vector<Completion>& completions);

  Config config_ = [] {
    Config c;
    c.payload_mtu = 1024;
    c.unexpected_bytes = 256 * 1024;
    c.unexpected_messages = 64;
    c.rx_messages = 64;
    c.return_messages = 64;
    c.memory_regions = 64;
    c.remotes = 16;
    c.idle_time = Duration::zero();  // a deadline means that something is awaited
    c.flows = 16;
    return c;
  }();
  EndpointOptions options_;
  bool b_carries_data_ = true;
  sim::Transit<Parcel> network_;
  std::unique_ptr<Node> a_;
  std::unique_ptr<Node> b_;
  RegionId region_;
  Instant now_ = Instant::from_ns(1'000'000'000);
  mutable std::deque<IoSlice> slices_;
  mutable std::deque<Octets> payloads_;
};

inline std::string PairTest::take(std::vector<Completion>& completions) {
  static constexpr const char* kKinds[] = {
      "send",         "tagged_send",     "write",         "read",
      "atomic",       "fetching_atomic", "recv",          "tagged_recv",
      "remote_write", "remote_read",     "remote_atomic", "remote_fetching_atomic"};
  static constexpr const char* kStatus[] = {"ok",        "truncated", "refused", "undeliverable",
                                            "cancelled", "aborted",   "fault"};
  std::string out;
  for (const Completion& c : completions) {
    if (!out.empty()) out += " | ";
    out += std::string(kKinds[size_t(c.kind)]) + " " + kStatus[size_t(c.status)];
    if (c.status == Completion::Status::refused) out += std::string(" ") + wire::name(c.code);
    out += " " + std::to_string(c.bytes);
    if (c.truncated_bytes != 0) out += "+" + std::to_string(c.truncated_bytes);
    if (c.tag != 0 && c.kind == OpKind::tagged_recv) out += " tag " + std::to_string(c.tag);
    if (c.has_data) out += " data " + std::to_string(c.data);
    if (c.multi_done) out += " done";
    out += " #" + std::to_string(reinterpret_cast<uintptr_t>(c.context.op));
  }
  completions.clear();
  return out;
}

}  // namespace uet::ses::test
