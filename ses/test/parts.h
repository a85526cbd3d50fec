// Shared parts of unit tests of SES: resources over a packet delivery sublayer that only records
// its calls, a peer, and an endpoint.
#pragma once

#include "ses/endpoints.h"
#include "ses/resources.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace uet::ses::test {

class RecordingPds final : public pds::Service {
 public:
  Result<pds::FlowId> flow(PeerId, TrafficClass, pds::Mode, JobId, uint32_t sdi) override {
    domain = sdi;
    if (refusal) return *refusal;
    return only_flow ? *only_flow : pds::FlowId(next_flow_++);
  }
  void ready(pds::FlowId flow, uint64_t) override { note("ready " + std::to_string(flow.value())); }
  void withdraw(pds::FlowId, uint64_t) override {}
  void want_answers(pds::FlowId, Instant) override { note("want_answers"); }
  void release(pds::FlowId flow) override { note("release " + std::to_string(flow.value())); }
  bool respond(pds::RxToken, const pds::Verdict& verdict, Instant) override {
    note("respond");
    responded = verdict;
    return true;
  }
  bool send_return(pds::PdcHandle, pds::MessageHandle message, uint32_t) override {
    returned = message;
    return has_pdc;
  }
  void message_done(pds::PdcHandle) override { note("message_done"); }
  void set_pressure(uint64_t bytes, Instant) override { pressure = bytes; }

  // The calls since the last take(), with commas between them.
  std::string take() { return std::exchange(calls_, {}); }

  // What it answers.
  bool has_pdc = true;
  std::optional<Errc> refusal;           // of flows
  std::optional<pds::FlowId> only_flow;  // for all keys; none: the next number
  // The arguments of the last calls.
  uint32_t domain = 0;  // of a flow
  pds::Verdict responded;
  pds::MessageHandle returned;
  uint64_t pressure = 0;

 private:
  void note(const std::string& call) { calls_ += (calls_.empty() ? "" : ", ") + call; }

  uint32_t next_flow_ = 1;
  std::string calls_;
};

class PartTest : public ::testing::Test {
 protected:
  static constexpr JobId kJob{0x102};
  static constexpr PidOnFep kPid{7};
  static constexpr ResourceIndex kRi{3};

  explicit PartTest(const Config& config = small()) : res_(arena_, config, peers_, 5) {
    EXPECT_TRUE(peers_.create(arena_, 8, 9).ok());
    res_.now = Instant::from_ns(1'000'000'000);
    res_.pds = &pds_;
    EXPECT_TRUE(res_.create().ok());
    Rng rng(3, 1);
    EXPECT_TRUE(endpoints_.create(rng).ok());
    peer_ = another_peer(1);
  }

  static Config small() {
    Config c;
    c.payload_mtu = 1024;
    c.unexpected_bytes = 64 * 1024;
    c.unexpected_messages = 16;
    c.rx_messages = 16;
    c.memory_regions = 16;
    c.remotes = 8;
    c.flows = 8;
    c.idle_time = Duration::zero();
    return c;
  }
  PeerId another_peer(uint8_t number) {
    FabricAddress address;
    address.family = FabricAddress::Family::ipv4;
    address.ip = {10, 0, 0, number};
    const PeerId peer = *peers_.find_or_add(address, res_.now);
    peers_.add_ref(peer);
    return peer;
  }
  Endpoint& open(pds::Mode mode = pds::Mode::rud, ReceiveQueueId shared = {}) {
    EndpointName name;
    name.job = kJob;
    name.pid = kPid;
    name.ri = kRi;
    EndpointOptions options;
    options.mode = mode;
    options.shared = shared;
    return *endpoints_.get(*endpoints_.open_endpoint(name, options, {}, {}));
  }
  Destination to_peer() const {
    Destination to;
    to.peer = peer_;
    to.pid = kPid;
    to.ri = kRi;
    to.initiator_id = 44;
    return to;
  }

  Arena arena_;
  pds::PeerTable peers_;
  RecordingPds pds_;
  Resources res_;
  Endpoints endpoints_{res_};
  PeerId peer_;
};

}  // namespace uet::ses::test
