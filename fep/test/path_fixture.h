// Two whole stacks over a simulated network with a router in front of one or both, simulated time:
// the fixture of the tests of routes that become smaller. [LF-141, PDS-250]
#pragma once

#include "sim/machines/machines.h"

#include "io/frame/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::fep::test {

using namespace uet::literals;

inline constexpr uint64_t kTag = 7;
inline constexpr uint32_t kPayload = 8192;
inline constexpr Duration kRoundTrip = 100_us;
inline constexpr Instant kStart = Instant::from_ns(1'000'000'000);

// Of host 1, 2, ...
inline FabricAddress address(uint32_t host) { return sim::Machines::address(host - 1); }

// The network of a host: packets that are too long for the route are lost, and an ICMP error
// reports it. The error also carries the limit that the host's own system has for the route.
class RoutedIo final : public io::PacketIo {
 public:
  struct Route {
    uint32_t mtu_bytes = 65535;
    uint32_t believed_bytes = 0;  // limit in the errors; 0: the true one
    bool is_believed = true;
    struct Said {
      FabricAddress to;
      int error = 0;
      uint32_t mtu_bytes = 0;  // that the system has for the route
    };
    std::vector<Said> errors;
    uint32_t asked = 0;  // for the MTU
    uint32_t dropped = 0;
    uint32_t longest = 0;  // IP packet that passed
    bool is_deaf = false;  // what arrives is lost
  };
  RoutedIo(Route& route, std::unique_ptr<io::PacketIo> below)
      : route_(route), below_(std::move(below)) {}
  io::IoCaps caps() const override { return below_->caps(); }
  FabricAddress local_address() const override { return below_->local_address(); }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& p : packets) {
      const uint32_t bytes = p.bytes() + io::header_bytes_of(p.to);
      if (bytes <= route_.mtu_bytes) {
        below_->send({&p, 1});
        route_.longest = std::max(route_.longest, bytes);
        continue;
      }
      p.fate = TxFate::sent;
      ++route_.dropped;
      const uint32_t said = route_.believed_bytes != 0 ? route_.believed_bytes : route_.mtu_bytes;
      route_.errors.push_back({p.to, EMSGSIZE, said});
    }
  }
  std::span<RxDatagram> receive() override {
    const std::span<RxDatagram> arrived = below_->receive();
    return route_.is_deaf ? std::span<RxDatagram>() : arrived;
  }
  std::span<const io::PathError> path_errors() override {
    reported_.clear();
    said_ = std::exchange(route_.errors, {});
    for (const Route::Said& s : said_) reported_.push_back({s.to, s.error});
    const auto below = below_->path_errors();
    reported_.insert(reported_.end(), below.begin(), below.end());
    return reported_;
  }
  uint32_t route_mtu(const FabricAddress& to) override {
    ++route_.asked;
    if (!route_.is_believed) return 0;
    for (const Route::Said& s : said_) {
      if (s.to == to) return s.mtu_bytes;
    }
    return below_->route_mtu(to);
  }
  int wait_fd() const override { return -1; }

 private:
  Route& route_;
  std::vector<Route::Said> said_;
  std::unique_ptr<io::PacketIo> below_;
  std::vector<io::PathError> reported_;
};

class PathFixture : public ::testing::Test {
 protected:
  struct Host {
    RoutedIo::Route route;
    sim::Machine* machine = nullptr;
    PeerId other;
    std::vector<ses::Completion> done;
    uint64_t count(const char* name) const { return machine->count(name); }
    pds::Peer& peer() const { return machine->fep().peers()[other]; }
    uint32_t payload() const { return peer().payload_toward(kPayload); }
  };

  void SetUp() override {
    notices().clear();
    machines_.emplace(4, kStart, 1_us);
    a_ = {};
    b_ = {};
    io::FaultPlan plan;
    plan.delay = kRoundTrip / 2;
    net().set_plan(plan);
    open(a_);
    open(b_);
    a_.other = a_.machine->meet(address(2), now());
    b_.other = b_.machine->meet(address(1), now());
  }
  void open(Host& host) {
    sim::MachineSetup setup;
    setup.config.ses.payload_mtu = kPayload;
    setup.config.ses.rendezvous_bytes = rendezvous_bytes_;
    setup.seed = machines_->size() + 1;
    setup.options.mode = mode_;
    setup.around = [&host](std::unique_ptr<io::PacketIo> port) {
      return std::make_unique<RoutedIo>(host.route, std::move(port));
    };
    setup.on_completion = [&host](const ses::Completion& c) { host.done.push_back(c); };
    host.machine = &(*machines_)[machines_->add(setup)];
    host.machine->engine().report_paths_to([](const Engine::PathNotice& n) {
      notices().push_back(std::to_string(n.mtu_bytes) + ": " +
                          (n.change == nullptr ? std::string("ignored")
                                               : std::to_string(n.change->before) + " to " +
                                                     std::to_string(n.change->after)));
    });
  }
  io::SimNet& net() { return machines_->net(); }
  Instant now() const { return machines_->now(); }

  sim::PostTerms terms(uint32_t flags) const {
    return {.tagged = true, .tag = kTag, .flags = flags, .capabilities = capabilities_};
  }
  void send(Host& host, const std::vector<std::byte>& octets, uint32_t flags = 0) {
    host.machine->send(host.other, octets, now(), terms(flags));
  }
  void receive(Host& host, std::vector<std::byte>& room) {
    host.machine->receive(room, now(), terms(0));
  }
  static uint64_t expose(Host& host, std::vector<std::byte>& memory, uint32_t access) {
    return host.machine->expose(memory, access, /*idempotent_safe=*/true);
  }
  void write(Host& host, uint64_t key, const std::vector<std::byte>& octets, uint32_t flags = 0) {
    host.machine->write(host.other, key, octets, now(), terms(flags));
  }
  void read(Host& host, uint64_t key, std::vector<std::byte>& room, uint32_t flags = 0) {
    host.machine->read(host.other, key, room, now(), terms(flags));
  }
  // A round trip passes: much is under way when a report comes then.
  void step() { run(kRoundTrip); }
  void run(Duration time) {
    machines_->wake_all();  // a test may have given them work
    machines_->elapse_until(now() + time);
  }
  // Simulated time until `count` operations of the host have ended; at most ten seconds.
  Duration until_done(Host& host, size_t count) {
    const Instant begin = now();
    machines_->wake_all();
    while (host.done.size() < count && machines_->step(begin + 10_s)) {
    }
    EXPECT_EQ(host.done.size(), count);
    return now() - begin;
  }
  static std::vector<std::byte> pattern(size_t size, uint32_t seed) {
    std::vector<std::byte> octets(size);
    for (size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>((i + seed) * 31 >> 3);
    return octets;
  }
  // One message each way, on PDCs that stay open.
  void meet() {
    std::vector<std::byte> hello = pattern(30000, 3);
    std::vector<std::byte> room_a(30000);
    std::vector<std::byte> room_b(30000);
    receive(b_, room_b);
    send(a_, hello);
    until_done(a_, 1);
    receive(a_, room_a);
    send(b_, hello);
    until_done(b_, 2);
    until_done(a_, 2);
    ASSERT_EQ(room_b, hello);
    ASSERT_EQ(a_.route.dropped + b_.route.dropped, 0u);
    a_.done.clear();
    b_.done.clear();
  }

  static std::vector<std::string>& notices() {
    static std::vector<std::string> all;
    return all;
  }
  pds::Mode mode_ = pds::Mode::rud;
  uint32_t rendezvous_bytes_ = UINT32_MAX;
  uint8_t capabilities_ = 0;  // of the other end
  Host a_;
  Host b_;
  std::optional<sim::Machines> machines_;
};

}  // namespace uet::fep::test
