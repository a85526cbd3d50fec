// Requests to the kernel and their results.
#include "io/uring/ring.h"

#include "base/assert.h"

#include <poll.h>

#include <cerrno>

namespace uet::io {
namespace {

// Tags of requests; send requests have the number of their departure.
constexpr uint64_t kWatching = UINT64_MAX;
constexpr uint64_t kStopWatching = UINT64_MAX - 1;

// The thread that is in the kernel anyway does the ring's work, and no signal disturbs it
// elsewhere.
constexpr uint32_t kSetup = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                            IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;

std::string open_failure(int error) {
  std::string text = "cannot open an io_uring: " + errno_text(error);
  switch (error) {
    case EPERM:
      text +=
          "; sysctl kernel.io_uring_disabled forbids it, or a filter of the container: allow "
          "it, or use FI_UET_IO=udp";
      break;
    case ENOSYS:
      text += "; the kernel or a filter of the container offers none: use FI_UET_IO=udp";
      break;
    case EINVAL:
      text += "; Linux 6.1 or later is needed: use FI_UET_IO=udp";
      break;
    case ENOMEM:
      text += "; allow more locked memory (ulimit -l), or use FI_UET_IO=udp";
      break;
    case EMFILE:
    case ENFILE:
      text += "; allow more open files (ulimit -n)";
      break;
    default:
      text += "; use FI_UET_IO=udp";
  }
  return text;
}

}  // namespace

std::unique_ptr<UdpRing> UdpRing::open(const Fd& socket, uint32_t settled_calls,
                                       std::string* error) {
  auto ring = std::make_unique<Uring>(socket.get(), settled_calls);
  const int failure = ring->start();
  if (failure == 0) return ring;
  if (error != nullptr) *error = open_failure(failure);
  return nullptr;
}

int Uring::start() {
  is_waiting_ = true;
  return open_ring(IORING_SETUP_R_DISABLED);
}

Uring::~Uring() {
  if (is_watching_ && is_mine()) stop_watching();
  close_ring();
}

int Uring::open_ring(uint32_t flags) {
  io_uring_params params{};
  params.flags = kSetup | flags;
  const int result = io_uring_queue_init_params(kRequests, &ring_, &params);
  if (result != 0) return -result;
  is_open_ = true;
  is_watching_ = is_told_ = false;
  has_more_ = true;
  // A forked child has no use for it.
  (void)io_uring_ring_dontfork(&ring_);
  for (uint32_t i = 0; i < kRequests; ++i) ring_.sq.array[i] = i;
  return 0;
}

void Uring::close_ring() {
  if (is_open_) io_uring_queue_exit(&ring_);
  is_open_ = is_watching_ = false;
}

// A ring that is closed while a request watches holds the socket, and so its port, for some
// milliseconds more.
void Uring::stop_watching() {
  io_uring_sqe* const sqe = add_request();
  io_uring_prep_cancel64(sqe, kWatching, 0);
  sqe->user_data = kStopWatching;
  uint32_t unanswered = 0;
  for (int attempt = 0; is_watching_ && attempt < 3; ++attempt) {
    if (enter(1, IORING_ENTER_GETEVENTS) < 0) return;
    reap({}, unanswered);
  }
}

bool Uring::is_mine() const { return owner_.is(pthread_self()); }

bool Uring::change_owner() {
  int failure = 0;
  if (is_waiting_ && is_open_) {
    failure = -io_uring_enable_rings(&ring_);
  } else {
    close_ring();
    failure = open_ring(0);
  }
  is_waiting_ = false;
  owner_.change_to(pthread_self(), failure == 0);
  if (failure == 0) ++counters_.owners;
  return failure == 0;
}

io_uring_sqe* Uring::add_request() {
  io_uring_sqe* const sqe = &ring_.sq.sqes[ring_.sq.sqe_tail++ & (kRequests - 1)];
  *sqe = {};
  return sqe;
}

// Submits added requests. The number that the kernel took, or a negative errno.
int Uring::enter(uint32_t wait_for, uint32_t flags) {
  io_uring_smp_store_release(ring_.sq.ktail, ring_.sq.sqe_tail);
  const uint32_t waiting = ring_.sq.sqe_tail - io_uring_smp_load_acquire(ring_.sq.khead);
  return io_uring_enter(static_cast<unsigned>(ring_.ring_fd), waiting, wait_for, flags, nullptr);
}

bool Uring::may_have_arrivals() {
  const pthread_t self = pthread_self();
  if (owner_.is(self)) {
    owner_.on_own_call();
  } else if (!owner_.is_due(self) || !change_owner()) {
    return true;
  }
  const bool is_flagged = (io_uring_smp_load_acquire(ring_.sq.kflags) &
                           (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
  if (is_watching_ && !is_flagged) return has_more_;
  // Reads arrived packets first. The kernel is asked to continue watching while the next packet is
  // on its way.
  if (is_watching_ && !is_told_) {
    is_told_ = true;
    return true;
  }
  return watch_on();
}

// Whether something waits now.
bool Uring::watch_on() {
  if (!is_watching_) {
    io_uring_sqe* const sqe = add_request();
    io_uring_prep_poll_multishot(sqe, socket_, POLLIN);
    sqe->user_data = kWatching;
    is_watching_ = true;
  }
  is_told_ = false;
  has_more_ = false;
  ++counters_.rx_system_calls;
  const int result = enter(0, IORING_ENTER_GETEVENTS);
  if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY) {
    close_ring();  // not the owner's any more, or not this process's
    owner_.change_to(pthread_self(), false);
    return true;
  }
  uint32_t unanswered = 0;
  reap({}, unanswered);
  return has_more_;
}

void Uring::reap(std::span<UdpDeparture> departures, uint32_t& unanswered) {
  unsigned head = 0;
  unsigned seen = 0;
  io_uring_cqe* cqe = nullptr;
  io_uring_for_each_cqe(&ring_, head, cqe) {
    ++seen;
    if (cqe->user_data == kWatching) {
      if ((cqe->flags & IORING_CQE_F_MORE) == 0) is_watching_ = false;
      has_more_ = true;
    } else if (cqe->user_data < departures.size()) {
      departures[cqe->user_data].error = cqe->res < 0 ? -cqe->res : 0;
      --unanswered;
    }
  }
  io_uring_cq_advance(&ring_, seen);
}

// Every message is sent, or refused, within the call that hands it over.
bool Uring::send(std::span<UdpDeparture> departures) {
  UET_ASSERT(is_mine() && departures.size() <= kDepartures);
  for (size_t i = 0; i < departures.size(); ++i) {
    io_uring_sqe* const sqe = add_request();
    io_uring_prep_sendmsg(sqe, departures[i].fd, departures[i].message, MSG_DONTWAIT);
    sqe->user_data = i;
    departures[i].error = EAGAIN;
  }
  auto unanswered = static_cast<uint32_t>(departures.size());
  counters_.tx_messages += unanswered;
  bool is_usable = true;
  while (unanswered > 0) {
    ++counters_.tx_system_calls;
    const int result = enter(0, 0);
    if (result == -EINTR) continue;
    // Requests that the kernel did not take are withdrawn.
    const uint32_t left = ring_.sq.sqe_tail - io_uring_smp_load_acquire(ring_.sq.khead);
    ring_.sq.sqe_tail -= left;
    unanswered -= left;
    is_usable = result >= 0;
    reap(departures, unanswered);
    while (unanswered > 0 && enter(1, IORING_ENTER_GETEVENTS) >= 0) reap(departures, unanswered);
    break;
  }
  return is_usable;
}

void Uring::report_counters(const CounterSink& sink) const {
  sink("uring_rx_system_calls", counters_.rx_system_calls);
  sink("uring_tx_system_calls", counters_.tx_system_calls);
  sink("uring_tx_messages", counters_.tx_messages);
  sink("uring_owners", counters_.owners);
}

}  // namespace uet::io
