// Two whole stacks over a simulated network with a router in front of one or both, simulated time:
// the fixture of the tests of routes that become smaller. [LF-141, PDS-250]
#pragma once

#include "fep/derive.h"
#include "fep/engine.h"

#include "io/frame/frame.h"
#include "io/simnet/simnet.h"
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace uet::fep::test {

using namespace uet::literals;

inline constexpr uint64_t kTag = 7;
inline constexpr uint32_t kPayload = 8192;
inline constexpr Duration kRoundTrip = 100_us;
inline constexpr Instant kStart = Instant::from_ns(1'000'000'000);

inline FabricAddress address(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

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
  PathFixture() {
    world_.add();
    world_.add();
  }
  struct Host {
    RoutedIo::Route route;
    std::unique_ptr<Engine> engine;
    ses::EndpointId endpoint;
    PeerId other;
    std::vector<ses::Completion> done;
    uint64_t count(const char* name) const {
      uint64_t found = UINT64_MAX;
      engine->fep().for_each_counter([&](const char* counter, uint64_t value) {
        if (std::string(counter) == name) found = value;
      });
      return found;
    }
    uint32_t payload() const { return engine->fep().peers()[other].payload_toward(kPayload); }
  };

  void SetUp() override {
    notices().clear();
    a_ = {};
    b_ = {};
    io::FaultPlan plan;
    plan.delay = kRoundTrip / 2;
    net_.set_plan(plan);
    open(a_, 1);
    open(b_, 2);
    a_.other = *a_.engine->fep().peers().find_or_add(address(2), now_);
    b_.other = *b_.engine->fep().peers().find_or_add(address(1), now_);
    a_.engine->fep().peers().list(a_.other);
    b_.engine->fep().peers().list(b_.other);
  }
  void open(Host& host, uint8_t number) {
    Config config;
    config.ses.payload_mtu = kPayload;
    config.ses.rendezvous_bytes = rendezvous_bytes_;
    derive(config);
    auto fep = FabricEndpoint::create(config, address(number), number);
    ASSERT_TRUE(fep.ok());
    host.engine = std::make_unique<Engine>(
        std::move(*fep), std::make_unique<RoutedIo>(host.route, net_.attach(address(number))));
    host.engine->tell_of_paths([](const Engine::PathNotice& n) {
      notices().push_back(std::to_string(n.mtu_bytes) + ": " +
                          (n.change == nullptr ? std::string("ignored")
                                               : std::to_string(n.change->before) + " to " +
                                                     std::to_string(n.change->after)));
    });
    ses::CompletionSink sink;
    sink.owner = &host;
    sink.complete = [](void* owner, const ses::Completion& c) {
      static_cast<Host*>(owner)->done.push_back(c);
    };
    sink.reserve = [](void*) { return true; };
    ses::EndpointOptions options;
    options.mode = mode_;
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = host.engine->fep().ses().open_endpoint(name, options, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    host.endpoint = *endpoint;
  }
  static ses::Destination to(const Host& host) {
    return {host.other, PidOnFep(1), ResourceIndex(1), 1, false};
  }
  void send(Host& host, const std::vector<std::byte>& octets, uint32_t flags = 0) {
    const IoSlice slice{octets.data(), octets.size()};
    ses::SendRequest request;
    request.to = to(host);
    request.to.capabilities = capabilities_;
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    request.flags = flags;
    ASSERT_TRUE(host.engine->fep().ses().send(host.endpoint, request, now_).ok());
  }
  void receive(Host& host, std::vector<std::byte>& room) {
    const IoSlice slice{room.data(), room.size()};
    ses::ReceiveRequest request;
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    ASSERT_TRUE(host.engine->fep().ses().receive(host.endpoint, request, now_).ok());
  }
  uint64_t expose(Host& host, std::vector<std::byte>& memory, uint32_t access) {
    const IoSlice slice{memory.data(), memory.size()};
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = access;
    request.idempotent_safe = true;
    auto& regions = host.engine->fep().ses().memory();
    const auto region = regions.add(request);
    EXPECT_TRUE(region.ok());
    regions.enable(*region);
    return regions.key(*region);
  }
  void rma(Host& host, bool is_read, uint64_t key, std::vector<std::byte>& local,
           uint32_t flags = 0) {
    const IoSlice slice{local.data(), local.size()};
    ses::RmaRequest request;
    request.to = to(host);
    request.to.capabilities = capabilities_;
    request.read = is_read;
    request.key = key;
    request.iov = {&slice, 1};
    request.flags = flags;
    ASSERT_TRUE(host.engine->fep().ses().rma(host.endpoint, request, now_).ok());
  }
  // A round trip passes: much is under way when a report comes then.
  void step() { run(kRoundTrip); }
  void run(Duration time) {
    const Instant end = now_ + time;
    run_until(end, [] { return false; });
    net_.advance(end);
    now_ = end;
  }
  // Simulated time until so many operations of the host have ended; at most ten seconds.
  Duration until_done(Host& host, size_t count) {
    const Instant begin = now_;
    run_until(begin + 10_s, [&] { return host.done.size() >= count; });
    EXPECT_EQ(host.done.size(), count);
    return now_ - begin;
  }
  template <class Done>
  void run_until(Instant end, Done&& done) {
    for (const uint32_t host : {kA, kB}) world_.wake(host, now_);  // a test may have given it work
    while (!done() && world_.step(end, [this](uint32_t host) { return visit(host); })) {
      now_ = world_.now();
    }
  }
  Instant visit(uint32_t host) {
    Engine& engine = *(host == kA ? a_ : b_).engine;
    const Instant now = world_.now();
    const bool is_busy = engine.progress(now);
    const Instant next = engine.next_deadline();
    return is_busy ? std::min(next, now + 1_us) : next;
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
  io::SimNet net_{4};
  static constexpr uint32_t kA = 0, kB = 1;  // actors of the world, and ports of the network
  sim::World<io::SimNet> world_{net_, kStart};
  Instant now_ = kStart;
  Host a_;
  Host b_;
};

}  // namespace uet::fep::test
