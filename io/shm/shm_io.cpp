// Chooses the path of a packet, and wakes readers.
#include "io/shm/shm_io.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace uet::io {
namespace {

// The source of an event of the epoll set.
constexpr uint64_t kDoorEvent = 0;
constexpr uint64_t kBellEvent = 1;
constexpr uint64_t kDepartureEvents = uint64_t{1} << 32;  // + index
constexpr uint64_t kArrivalEvents = uint64_t{2} << 32;    // + index

}  // namespace

std::unique_ptr<ShmIo> ShmIo::open(std::unique_ptr<PacketIo>& inner, std::string* error) {
  std::unique_ptr<ShmIo> io(new ShmIo);
  io->take_over(inner);
  std::string why;
  if (io->start(why)) return io;
  io->give_back(inner);
  if (error != nullptr) *error = why;
  return nullptr;
}

bool ShmIo::start(std::string& error) {
  const FabricAddress local = inner().local_address();
  const uint8_t ip_protocol = inner().caps().ip_protocol;
  if (!door_.open(local, ip_protocol)) {
    error = errno == EADDRINUSE ? "the name of its Unix socket is taken"
                                : "no Unix socket: " + errno_text(errno);
    return false;
  }
  epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  bell_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // The door reports each newcomer once: if no descriptor is left for it, no thread stays awake.
  if (!epoll_ || !bell_ || !watch(door_.fd(), kDoorEvent, EPOLLIN | EPOLLET) ||
      !watch(bell_.get(), kBellEvent, EPOLLIN) || !inner().watch_input(epoll_.get())) {
    error = "no descriptors to wait with: " + errno_text(errno);
    return false;
  }
  departures_ = std::make_unique<ShmDepartures>(local, ip_protocol, epoll_.get(), kDepartureEvents,
                                                counters_);
  arrivals_ = std::make_unique<ShmArrivals>(
      epoll_.get(), kArrivalEvents, counters_,
      [this](const FabricAddress& from) { departures_->on_local(from); });
  return true;
}

bool ShmIo::watch(int fd, uint64_t what, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = what;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void ShmIo::send(std::span<TxPacket> packets) {
  size_t left = 0;  // packets in a row for the socket, which takes them together
  for (size_t i = 0; i < packets.size(); ++i) {
    ++left;
    ShmDeparture* const ring = departures_->find(packets[i].to);
    if (ring == nullptr || !put(*ring, packets[i])) continue;
    if (left > 1) {
      eager_calls_ = kEagerCalls;
      inner().send(packets.subspan(i + 1 - left, left - 1));
    }
    left = 0;
  }
  departures_->end_batch();
  if (left == 0) return;
  eager_calls_ = kEagerCalls;
  inner().send(packets.last(left));
}

// A seal covers the port that the packet would leave the socket with, so the ring says that port.
// [TSS-022]
bool ShmIo::put(ShmDeparture& ring, TxPacket& packet) {
  if (packet.sdi == 0) return departures_->put(ring, packet);
  const Entropy ev = packet.ev;
  packet.ev = Entropy(inner().source_port(ev));
  const bool is_put = departures_->put(ring, packet);
  packet.ev = ev;
  return is_put;
}

std::span<RxDatagram> ShmIo::receive() {
  if (sleepers_ > 0) {
    look_at_connections();
    arrivals_->set_asleep(true);
    shm_fence();
    if (has_newcomers_) rest_with_bell();
  } else if (++calls_since_look_ >= kCallsPerLook) {
    look_at_connections();
  }
  if (arrivals_->none()) return inner().receive();
  std::span<RxDatagram> got;
  if (++calls_since_socket_ < kCallsPerSocket) {
    got = arrivals_->receive();
    if (got.empty() && eager_calls_ > 0) got = receive_from_socket();
  } else {
    got = receive_from_socket();
    if (got.empty()) got = arrivals_->receive();
  }
  if (sleepers_ > 0 && !got.empty()) rest_with_bell();
  return got;
}

std::span<RxDatagram> ShmIo::receive_from_socket() {
  calls_since_socket_ = 0;
  const std::span<RxDatagram> got = inner().receive();
  if (!got.empty()) {
    eager_calls_ = kEagerCalls;
  } else if (eager_calls_ > 0) {
    --eager_calls_;
  }
  return got;
}

void ShmIo::on_sleep(bool begins) {
  if (!begins) {
    if (--sleepers_ == 0) arrivals_->set_asleep(false);
    return;
  }
  ++sleepers_;
  look_at_connections();
  arrivals_->set_asleep(true);
  shm_fence();
  rest_with_bell();
}

// Packets already in a ring wake a sleeper, as packets in a socket would; and so does a waiting
// connection, which the door reports only once.
void ShmIo::rest_with_bell() {
  if (!has_newcomers_ && !arrivals_->has_packet()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
}

void ShmIo::accept_newcomers() {
  Fd connection;
  for (uint32_t i = 0; i < kNewcomersAtOnce; ++i) {
    has_newcomers_ = door_.accept(connection);
    if (!has_newcomers_) return;
    if (connection) {
      arrivals_->add(std::move(connection));
    } else {
      ++counters_.refused;
    }
  }
}

// Handles the events of epoll: new connections, messages on connections, and wake-ups (bells).
void ShmIo::look_at_connections() {
  calls_since_look_ = 0;
  if (has_newcomers_) accept_newcomers();
  std::array<epoll_event, 32> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const uint64_t what = events[static_cast<size_t>(i)].data.u64;
    const auto index = static_cast<uint32_t>(what);
    if (what == kDoorEvent) {
      accept_newcomers();
    } else if (what == kBellEvent) {
      uint64_t value = 0;
      [[maybe_unused]] const ssize_t got = ::read(bell_.get(), &value, sizeof value);
    } else if (what >= kArrivalEvents) {
      arrivals_->on_event(index);
    } else {
      departures_->on_event(index);
    }
  }
}

void ShmIo::report_counters(const CounterSink& sink) const {
  sink("shm_tx_packets", counters_.tx_packets);
  sink("shm_tx_later", counters_.tx_later);
  sink("shm_tx_overflow", counters_.tx_overflow);
  sink("shm_tx_bells", counters_.tx_bells);
  sink("shm_rx_packets", counters_.rx_packets);
  sink("shm_rings_out", counters_.rings_out);
  sink("shm_rings_in", counters_.rings_in);
  sink("shm_rings_broken", counters_.rings_broken);
  sink("shm_refused", counters_.refused);
  inner().report_counters(sink);
}

}  // namespace uet::io
