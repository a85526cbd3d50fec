// Setting machines up and letting them work.
#include "sim/machines/machines.h"

#include "fep/derive.h"

#include "base/assert.h"

#include <algorithm>
#include <utility>

namespace uet::sim {
namespace {

// The endpoint of every machine.
const ses::EndpointName kName{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};

ses::Destination destination(PeerId to, const PostTerms& terms) {
  ses::Destination d{to, kName.pid, kName.ri, kName.initiator_id, false};
  d.capabilities = terms.capabilities;
  return d;
}

}  // namespace

Machine::Machine(const MachineSetup& setup, const FabricAddress& address, io::SimNet& net)
    : on_completion_(setup.on_completion) {
  fep::Config config = setup.config;
  fep::derive(config);
  auto fep = fep::FabricEndpoint::create(config, address, setup.seed);
  UET_ASSERT(fep.ok());
  if (setup.jobs != nullptr) (*fep)->secure(*setup.jobs);
  std::unique_ptr<io::PacketIo> card = net.attach(address);
  if (setup.around) card = setup.around(std::move(card));
  engine_ = std::make_unique<fep::Engine>(std::move(*fep), std::move(card));
  ses::CompletionSink sink;
  sink.owner = this;
  sink.complete = [](void* owner, const ses::Completion& c) {
    static_cast<Machine*>(owner)->on_completion_(c);
  };
  sink.reserve = [](void*) { return true; };
  const auto endpoint = engine_->fep().ses().open_endpoint(kName, setup.options, sink, sink);
  UET_ASSERT(endpoint.ok());
  endpoint_ = *endpoint;
}

uint64_t Machine::count(const std::string& counter) const {
  uint64_t found = UINT64_MAX;
  fep().for_each_counter([&](const char* name, uint64_t value) {
    if (counter == name) found = value;
  });
  return found;
}

PeerId Machine::meet(const FabricAddress& other, Instant now) {
  const auto id = fep().peers().find_or_add(other, now);
  UET_ASSERT(id.ok());
  fep().peers().list(*id);
  return *id;
}

void Machine::send(PeerId to, std::span<const std::byte> octets, Instant now,
                   const PostTerms& terms) {
  const IoSlice slice{octets.data(), octets.size()};
  ses::SendRequest request;
  request.to = destination(to, terms);
  request.iov = {&slice, 1};
  request.tagged = terms.tagged;
  request.tag = terms.tag;
  request.flags = terms.flags;
  UET_ASSERT(fep().ses().send(endpoint_, request, now).ok());
}

void Machine::receive(std::span<std::byte> room, Instant now, const PostTerms& terms) {
  const IoSlice slice{room.data(), room.size()};
  ses::ReceiveRequest request;
  request.iov = {&slice, 1};
  request.tagged = terms.tagged;
  request.tag = terms.tag;
  UET_ASSERT(fep().ses().receive(endpoint_, request, now).ok());
}

void Machine::write(PeerId to, uint64_t key, std::span<const std::byte> octets, Instant now,
                    const PostTerms& terms) {
  ses::RmaRequest request;
  request.key = key;
  rma(request, to, {octets.data(), octets.size()}, now, terms);
}

void Machine::read(PeerId to, uint64_t key, std::span<std::byte> room, Instant now,
                   const PostTerms& terms) {
  ses::RmaRequest request;
  request.read = true;
  request.key = key;
  rma(request, to, {room.data(), room.size()}, now, terms);
}

void Machine::rma(ses::RmaRequest& request, PeerId to, IoSlice memory, Instant now,
                  const PostTerms& terms) {
  request.to = destination(to, terms);
  request.iov = {&memory, 1};
  request.flags = terms.flags;
  UET_ASSERT(fep().ses().rma(endpoint_, request, now).ok());
}

uint64_t Machine::expose(std::span<std::byte> memory, uint32_t access, bool idempotent_safe) {
  const IoSlice slice{memory.data(), memory.size()};
  ses::RegionRequest request;
  request.iov = {&slice, 1};
  request.access = access;
  request.idempotent_safe = idempotent_safe;
  auto& regions = fep().ses().memory();
  const auto region = regions.add(request);
  UET_ASSERT(region.ok());
  regions.enable(*region);
  return regions.key(*region);
}

Machines::Machines(uint64_t seed, Instant start, Duration turn, const io::SimConfig& config)
    : turn_(turn), net_(seed, config), world_(net_, start) {
  net_.advance(start);
}

uint32_t Machines::add(const MachineSetup& setup) {
  const uint32_t index = world_.add();
  UET_ASSERT(index == size());
  machines_.push_back(std::make_unique<Machine>(setup, address(index), net_));
  world_.wake(index, now());
  return index;
}

void Machines::wake_all() {
  for (uint32_t i = 0; i < size(); ++i) world_.wake(i, now());
}

bool Machines::step(Instant end) {
  return world_.step(end, [this](uint32_t index) { return next_work(index, work(index)); });
}

Instant Machines::next_work(uint32_t index, bool is_busy) const {
  const Instant next = machines_[index]->engine().next_deadline();
  return is_busy ? std::min(next, now() + turn_) : next;
}

void Machines::elapse_until(Instant end) {
  while (step(end)) {
  }
  world_.pass(end);
}

}  // namespace uet::sim
