// Adds and removes rings, and takes packets from them.
#include "io/shm/arrivals.h"

#include "io/packet_io.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace uet::io {
namespace {

// A time of sending that lies in the future, or further back than this, is wrong.
constexpr Duration kOldest = Duration::seconds(60);

}  // namespace

ShmArrivals::ShmArrivals(int epoll, uint64_t watch_base, ShmCounters& counters,
                         std::function<void(const FabricAddress&)> on_agreed)
    : epoll_(epoll),
      watch_base_(watch_base),
      counters_(counters),
      on_agreed_(std::move(on_agreed)) {
  order_.reserve(kRingsMax);
  lent_.reserve(kRingsMax);
}

void ShmArrivals::add(Fd connection) {
  const auto free = std::find(rings_.begin(), rings_.end(), nullptr);
  if (free == rings_.end()) return;  // closing it sends the sender to the socket
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = watch_base_ + static_cast<uint64_t>(free - rings_.begin());
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.get(), &event) != 0) return;
  *free = std::make_unique<Arrival>();
  (*free)->connection = std::move(connection);
}

void ShmArrivals::on_event(uint32_t index) {
  if (index >= kRingsMax || rings_[index] == nullptr) return;
  Arrival& arrival = *rings_[index];
  FabricAddress from;
  Fd descriptor;
  switch (read_connection(arrival.connection, from, descriptor)) {
    case ShmNews::nothing:
      return;
    case ShmNews::hello:
      return take_hello(index, from, descriptor);
    case ShmNews::welcome:
    case ShmNews::closed:
      break;
  }
  release();
  if (!arrival.reader.has_value()) return drop(index);
  arrival.is_over = true;
  // Otherwise epoll would report it without end.
  (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, arrival.connection.get(), nullptr);
}

void ShmArrivals::take_hello(uint32_t index, const FabricAddress& from, const Fd& descriptor) {
  Arrival& arrival = *rings_[index];
  release();
  if (arrival.reader.has_value()) return drop(index);
  arrival.memory = ShmMemory::map(descriptor);
  if (!arrival.memory || !send_welcome(arrival.connection)) return drop(index);
  arrival.from = from;
  arrival.reader.emplace(arrival.memory.get());
  arrival.reader->set_asleep(asleep_);
  order_.push_back(index);
  ++counters_.rings_in;
  on_agreed_(from);
}

void ShmArrivals::drop(uint32_t index) {
  std::erase(order_, index);
  std::erase(lent_, index);
  rings_[index].reset();
}

void ShmArrivals::release() {
  for (const uint32_t index : lent_) rings_[index]->reader->release();
  lent_.clear();
  count_ = 0;
}

std::span<RxDatagram> ShmArrivals::receive() {
  release();
  now_ = Instant::zero();
  const auto rings = static_cast<uint32_t>(order_.size());
  const uint32_t busy = std::min(rings, kBusy);
  const uint32_t first = next_busy_;  // which changes on the way
  for (uint32_t i = 0; i < busy && i < order_.size(); ++i) look_at((i + first) % busy);
  const uint32_t others = rings - busy;
  for (uint32_t i = 0; i < std::min(others, kOthers) && order_.size() == rings; ++i) {
    next_other_ = (next_other_ + 1) % others;
    look_at(busy + next_other_);
  }
  counters_.rx_packets += count_;
  return {datagrams_.data(), count_};
}

void ShmArrivals::look_at(uint32_t place) {
  if (place >= order_.size()) return;
  const uint32_t before = count_;
  if (!take_from(order_[place]) || count_ == before) return;
  // The next call begins with another one.
  next_busy_ = (next_busy_ + 1) % kBusy;
  if (place >= kBusy) std::swap(order_[place], order_[next_busy_]);
}

bool ShmArrivals::take_from(uint32_t index) {
  // A ring that moved in the order may be looked at twice in a call.
  const bool is_lent = std::find(lent_.begin(), lent_.end(), index) != lent_.end();
  Arrival& arrival = *rings_[index];
  ShmPacket packet;
  for (uint32_t taken = 0; taken < kPacketsInARow && count_ < datagrams_.size(); ++taken) {
    const ShmTake outcome = arrival.reader->take(packet);
    if (outcome == ShmTake::broken || (outcome == ShmTake::none && arrival.is_over)) {
      // Packets lent before lie in its memory: the ring is removed in the next call.
      if (taken > 0 || is_lent) return true;
      if (outcome == ShmTake::broken) counters_.on_broken(arrival.from, false);
      drop(index);
      return false;
    }
    if (outcome == ShmTake::none) return true;
    if (taken == 0 && !is_lent) lent_.push_back(index);
    lend(arrival, packet);
  }
  return true;
}

void ShmArrivals::lend(const Arrival& arrival, const ShmPacket& packet) {
  if (now_ == Instant::zero()) now_ = monotonic_now();
  RxDatagram& datagram = datagrams_[count_];
  datagram.bytes = packet.octets;
  if (packet.is_short) {
    std::memcpy(short_[count_].data(), packet.octets.data(), packet.octets.size());
    datagram.bytes = {short_[count_].data(), packet.octets.size()};
  }
  datagram.from = arrival.from;
  datagram.from.port = nominal_source_port(arrival.from, packet.ev);
  datagram.ev = Entropy(datagram.from.port);
  datagram.dscp = packet.dscp;
  datagram.ecn = packet.ecn;
  datagram.at = packet.sent <= now_ && now_ - packet.sent < kOldest ? packet.sent : now_;
  ++count_;
}

void ShmArrivals::set_asleep(bool asleep) {
  asleep_ = asleep;
  for (const uint32_t index : order_) rings_[index]->reader->set_asleep(asleep);
}

bool ShmArrivals::has_packet() const {
  return std::any_of(order_.begin(), order_.end(),
                     [&](uint32_t index) { return rings_[index]->reader->has_packet(); });
}

}  // namespace uet::io
