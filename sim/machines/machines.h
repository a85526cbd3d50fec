// Machines at a simulated network, in simulated time: each has an engine over a port of the network
// and one endpoint for its application. For tests and measurements with few machines and a plan of
// their own; the runs of uet_sim use sim/host.h. [decision 28]
#pragma once

#include "sim/world/world.h"

#include "fep/engine.h"
#include "io/simnet/simnet.h"

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace uet::sim {

struct MachineSetup {
  fep::Config config;  // need not be derived
  uint64_t seed = 0;
  ses::EndpointOptions options;
  const tss::JobTable* jobs = nullptr;  // of secure domains; null: packets are in the clear
  // Puts a layer around the port; none: the engine has the port itself.
  std::function<std::unique_ptr<io::PacketIo>(std::unique_ptr<io::PacketIo>)> around;
  std::function<void(const ses::Completion&)> on_completion;
};

// What distinguishes one message or access from another.
struct PostTerms {
  bool tagged = false;
  uint64_t tag = 0;
  uint32_t flags = 0;        // ses::OpFlags
  uint8_t capabilities = 0;  // of the other end
};

class Machine {
 public:
  // Its address is `address`, and its port is one of `net`.
  Machine(const MachineSetup& setup, const FabricAddress& address, io::SimNet& net);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  fep::Engine& engine() { return *engine_; }
  fep::FabricEndpoint& fep() const { return engine_->fep(); }
  uint64_t count(const std::string& counter) const;

  // The peer at that address, for good, as an entry of an address vector.
  PeerId meet(const FabricAddress& other, Instant now);

  // Posts. The memory must stay valid until the completion; each must find room.
  void send(PeerId to, std::span<const std::byte> octets, Instant now, const PostTerms& terms = {});
  void receive(std::span<std::byte> room, Instant now, const PostTerms& terms = {});
  void write(PeerId to, uint64_t key, std::span<const std::byte> octets, Instant now,
             const PostTerms& terms = {});
  void read(PeerId to, uint64_t key, std::span<std::byte> room, Instant now,
            const PostTerms& terms = {});
  // Registers memory; returns its key.
  uint64_t expose(std::span<std::byte> memory, uint32_t access, bool idempotent_safe = false);

 private:
  void rma(ses::RmaRequest& request, PeerId to, IoSlice memory, Instant now,
           const PostTerms& terms);

  std::function<void(const ses::Completion&)> on_completion_;
  std::unique_ptr<fep::Engine> engine_;
  ses::EndpointId endpoint_;
};

// The machines, their network and the clock. Actor i of the world is machine i at port i.
class Machines {
 public:
  // A machine that had something to do works again after `turn`.
  Machines(uint64_t seed, Instant start, Duration turn, const io::SimConfig& config = {});

  static FabricAddress address(uint32_t index) { return FabricAddress::v4(0x0A000001U + index); }
  // The next machine, awake from now on; returns its index: 0, 1, ...
  uint32_t add(const MachineSetup& setup);
  Machine& operator[](uint32_t index) { return *machines_[index]; }
  const Machine& operator[](uint32_t index) const { return *machines_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(machines_.size()); }

  io::SimNet& net() { return net_; }
  const io::SimNet& net() const { return net_; }
  Instant now() const { return world_.now(); }
  // All of them: the test may have given them work.
  void wake_all();

  // One event, not after `end`; each machine that it concerns works. False: there is none.
  bool step(Instant end);
  // The same; visit(index) says when the machine is to work again: see work() and next_work().
  template <class Visit>
  bool step(Instant end, Visit&& visit) {
    return world_.step(end, visit);
  }
  // The machine receives, runs timers and sends. Whether packets moved.
  bool work(uint32_t index) { return machines_[index]->engine().progress(now()); }
  Instant next_work(uint32_t index, bool is_busy) const;

  // Events until then; the time is `end` afterwards.
  void elapse_until(Instant end);

 private:
  Duration turn_;
  io::SimNet net_;
  World<io::SimNet> world_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace uet::sim
