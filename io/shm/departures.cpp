// Destinations, the way to a ring, and what happens when one is full.
#include "io/shm/departures.h"

#include "io/host/interfaces.h"

#include "base/hash.h"

#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace uet::io {
namespace {

// A full ring is left to itself when its reader has not read a sixteenth of it in this time: the
// reader computes, or delays everybody's packets on purpose.
constexpr Duration kStuck = Duration::microseconds(200);
constexpr uint32_t kDueShare = 16;
// Between tries to find a peer that shares memory: it may just be starting.
constexpr int64_t kFirstPauseNs = 10'000'000;
constexpr int64_t kLastPauseNs = 1'000'000'000;
constexpr size_t kHostAddresses = 256;

int64_t coarse_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

bool is_same_host(const FabricAddress& a, const FabricAddress& b) {
  return a.family == b.family && a.ip == b.ip && a.scope_id == b.scope_id;
}

bool is_loopback(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv4 && a.ip[0] == 127;
}

}  // namespace

ShmDepartures::ShmDepartures(const FabricAddress& local, uint8_t ip_protocol, int epoll,
                             uint64_t watch_base, ShmCounters& counters)
    : local_(local),
      ip_protocol_(ip_protocol),
      epoll_(epoll),
      watch_base_(watch_base),
      counters_(counters),
      known_(std::make_unique<std::array<Known, kKnownMax>>()) {
  host_.push_back(local);
  for (const Interface& interface : list_interfaces()) on_local(interface.address);
  used_.reserve(kRingsMax);
  changes_.reserve(kRingsMax);
}

void ShmDepartures::on_local(const FabricAddress& address) {
  const auto is_it = [&](const FabricAddress& a) { return is_same_host(a, address); };
  if (host_.size() >= kHostAddresses || std::any_of(host_.begin(), host_.end(), is_it)) return;
  host_.push_back(address);
  if (is_same_host(remote_, address)) remote_ = {};
}

bool ShmDepartures::is_remote_slowly(const FabricAddress& to) {
  const auto is_it = [&](const FabricAddress& a) { return is_same_host(a, to); };
  if (is_loopback(to) || std::any_of(host_.begin(), host_.end(), is_it)) return false;
  remote_ = to;
  return true;
}

// The record of a destination. A destination without a ring may have to give its place away; null:
// all others could have rings.
ShmDepartures::Known* ShmDepartures::place_of(const FabricAddress& to) {
  const auto octets = std::as_bytes(std::span(&to, 1));
  const auto first = static_cast<uint32_t>(hash64(octets, 0)) % (kKnownMax / kWays) * kWays;
  Known* free = nullptr;
  for (uint32_t i = first; i < first + kWays; ++i) {
    Known& known = (*known_)[i];
    if (known.address == to) return &known;
    const bool is_better = free == nullptr || known.next_try_ns < free->next_try_ns;
    if (known.ring == kNone && is_better) free = &known;
  }
  if (free != nullptr) *free = Known{to};
  return free;
}

ShmDeparture* ShmDepartures::find_known(const FabricAddress& to) {
  Known* const known = place_of(to);
  if (known == nullptr) return nullptr;
  if (known->ring == kNone) {
    const int64_t now_ns = coarse_ns();
    if (now_ns >= known->next_try_ns) try_to_agree(*known, now_ns);
    return nullptr;
  }
  ShmDeparture* const ring = rings_[known->ring].get();
  if (!ring->is_agreed) return nullptr;
  found_ = ring;
  return ring;
}

void ShmDepartures::try_to_agree(Known& known, int64_t now_ns) {
  const int64_t pause = std::min(kFirstPauseNs << std::min(known.tries, 10u), kLastPauseNs);
  known.next_try_ns = now_ns + pause;
  ++known.tries;
  (void)open_ring(known);
}

bool ShmDepartures::open_ring(Known& known) {
  const auto free = std::find(rings_.begin(), rings_.end(), nullptr);
  if (free == rings_.end()) return false;
  auto made = std::make_unique<ShmDeparture>();
  made->to = known.address;
  made->connection = connect_to_door(known.address, ip_protocol_);
  if (!made->connection) {
    if (errno == EPERM) ++counters_.refused;
    return false;
  }
  Fd descriptor;
  made->memory = ShmMemory::make(descriptor);
  if (!made->memory || !send_hello(made->connection, local_, descriptor)) return false;
  made->writer.emplace(made->memory.get());
  const auto index = static_cast<uint32_t>(free - rings_.begin());
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = watch_base_ + index;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, made->connection.get(), &event) != 0) return false;
  *free = std::move(made);
  known.ring = index;
  return true;
}

void ShmDepartures::on_event(uint32_t index) {
  if (index >= kRingsMax || rings_[index] == nullptr) return;
  ShmDeparture& ring = *rings_[index];
  FabricAddress from;
  Fd descriptor;
  for (;;) {
    switch (read_connection(ring.connection, from, descriptor)) {
      case ShmNews::nothing:
        return;
      case ShmNews::welcome:
        if (!ring.is_agreed) {
          ++counters_.rings_out;
          tell({ring.to, 0, kRoomBytes});
        }
        ring.is_agreed = true;
        continue;
      case ShmNews::hello:
      case ShmNews::closed:
        return drop(index, false);
    }
  }
}

void ShmDepartures::drop(uint32_t index, bool is_broken) {
  ShmDeparture* const ring = rings_[index].get();
  if (is_broken) counters_.on_broken(ring->to, true);
  Known* const known = place_of(ring->to);
  UET_ASSERT(known != nullptr && known->ring == index);
  known->ring = kNone;
  if (ring->is_agreed) tell({ring->to, 0, 0});
  // A process that ended may be restarted; one that breaks rings or refuses will do so again.
  if (is_broken || !ring->is_agreed) {
    known->next_try_ns = coarse_ns() + kLastPauseNs;
  } else {
    known->tries = 0;
    known->next_try_ns = 0;
  }
  found_ = nullptr;
  std::erase(used_, ring);
  rings_[index].reset();
}

void ShmDepartures::tell(const PathError& change) {
  if (are_changes_told_) changes_.clear();
  are_changes_told_ = false;
  changes_.push_back(change);
}

std::span<const PathError> ShmDepartures::changes() {
  if (are_changes_told_) changes_.clear();
  are_changes_told_ = !changes_.empty();
  return changes_;
}

bool ShmDepartures::put(ShmDeparture& ring, TxPacket& packet) {
  if (packet.bytes() > kShmPacketBytesMax) return false;
  if (now_ == Instant::zero()) now_ = monotonic_now();
  if (!ring.is_used) {
    ring.is_used = true;
    used_.push_back(&ring);
    ring.writer->begin();
  }
  switch (ring.writer->put(packet, now_)) {
    case ShmPut::done:
      packet.fate = TxFate::sent;
      packet.error = 0;
      ++counters_.tx_packets;
      return true;
    case ShmPut::full:
      break;
    case ShmPut::broken:
      drop(static_cast<uint32_t>((*place_of(ring.to)).ring), true);
      return false;
  }
  // After the peer has read from a full ring, more than this is free.
  const uint32_t read = ring.writer->read();
  if (ring.stuck_since.is_never() || read - ring.read >= ring.due) {
    ring.stuck_since = now_;
    ring.read = read;
    ring.due = std::max(1U, (ring.writer->written() - read) / kDueShare);
  }
  if (now_ - ring.stuck_since >= kStuck) {
    ++counters_.tx_overflow;
    return false;
  }
  packet.fate = TxFate::later;
  ++counters_.tx_later;
  return true;
}

void ShmDepartures::end_batch() {
  for (ShmDeparture* const ring : used_) {
    ring->is_used = false;
    if (!ring->writer->end()) continue;
    ring_bell(ring->connection);
    ++counters_.tx_bells;
  }
  used_.clear();
  now_ = Instant::zero();
}

uint32_t ShmDepartures::ring_count() const {
  const auto is_there = [](const auto& ring) { return ring != nullptr; };
  return static_cast<uint32_t>(std::count_if(rings_.begin(), rings_.end(), is_there));
}

}  // namespace uet::io
