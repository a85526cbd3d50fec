// Event queue; see eq.h.
#include "prov/uet/completion/eq.h"

#include "prov/uet/api/tables.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>

namespace uet::prov {

fi_ops* EventQueue::fid_ops() { return &eq_fid_ops; }

int EventQueue::open(Fabric& fabric, const fi_eq_attr* attr, fid_eq** fid, void* context) {
  if (fid == nullptr) return -FI_EINVAL;
  const fi_eq_attr wanted = attr != nullptr ? *attr : fi_eq_attr{};
  if ((wanted.flags & ~(FI_WRITE | FI_AFFINITY)) != 0) return -FI_EBADFLAGS;
  if (wanted.wait_obj != FI_WAIT_NONE && wanted.wait_obj != FI_WAIT_UNSPEC &&
      wanted.wait_obj != FI_WAIT_FD && wanted.wait_obj != FI_WAIT_YIELD) {
    return -FI_ENOSYS;
  }
  std::unique_ptr<EventQueue> queue(new EventQueue(fabric, wanted, context));
  if (wanted.wait_obj == FI_WAIT_FD) {
    queue->event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->event_fd_ < 0) return -errno;
  }
  *fid = &queue.release()->link_.fid;
  return 0;
}

EventQueue::EventQueue(Fabric& fabric, const fi_eq_attr& attr, void* context)
    : fabric_(fabric),
      size_(attr.size != 0 ? attr.size : kSizeDefault),
      writable_((attr.flags & FI_WRITE) != 0),
      wait_obj_(attr.wait_obj) {
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_EQ, context, &eq_fid_ops};
  link_.fid.ops = &eq_ops;
  fabric_.add_ref();
}

EventQueue::~EventQueue() {
  if (event_fd_ >= 0) ::close(event_fd_);
  fabric_.drop_ref();
}

int EventQueue::close() {
  home_.require();
  if (refs_ != 0) return -FI_EBUSY;
  delete this;
  return 0;
}

bool EventQueue::has_room() {
  if (!overrun_ && events_.size() + errors_.size() < size_) return true;
  overrun_ = true;  // for good; earlier events can still be read
  update_descriptor();
  return false;
}

void EventQueue::update_descriptor() {
  changed_.notify_all();
  if (event_fd_ < 0 || raised_ == is_pending()) return;
  raised_ = !raised_;
  eventfd_t value = 1;
  // Neither can fail: the descriptor is ours and its value is 0 or 1.
  (void)(raised_ ? eventfd_write(event_fd_, value) : eventfd_read(event_fd_, &value));
}

void EventQueue::report(uint32_t type, const fi_eq_entry& entry) {
  const std::lock_guard lock(mutex_);
  if (!has_room()) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(&entry);
  events_.push_back({type, {bytes, bytes + sizeof entry}});
  update_descriptor();
}

void EventQueue::report_error(const fi_eq_err_entry& entry) {
  const std::lock_guard lock(mutex_);
  if (!has_room()) return;
  errors_.push_back(entry);
  update_descriptor();
}

ssize_t EventQueue::write(uint32_t type, const void* buf, size_t length, uint64_t flags) {
  home_.require();
  if (!writable_ || (buf == nullptr && length != 0)) return -FI_EINVAL;
  if (flags != 0) return -FI_EBADFLAGS;
  const std::lock_guard lock(mutex_);
  if (!has_room()) return -FI_EOVERRUN;
  const auto* bytes = static_cast<const std::byte*>(buf);
  events_.push_back({type, {bytes, bytes + length}});
  update_descriptor();
  return static_cast<ssize_t>(length);
}

ssize_t EventQueue::take(uint32_t* event, void* buf, size_t length, uint64_t flags) {
  if (!errors_.empty()) return -FI_EAVAIL;
  if (events_.empty()) return overrun_ ? -FI_EAVAIL : -FI_EAGAIN;
  const Event& first = events_.front();
  const size_t bytes = first.bytes.size();
  if (length < bytes) return -FI_ETOOSMALL;
  if (event != nullptr) *event = first.type;
  if (bytes != 0) memcpy(buf, first.bytes.data(), bytes);
  if ((flags & FI_PEEK) == 0) {
    events_.pop_front();
    update_descriptor();
  }
  return static_cast<ssize_t>(bytes);
}

ssize_t EventQueue::read(uint32_t* event, void* buf, size_t length, uint64_t flags) {
  home_.require();
  if ((flags & ~FI_PEEK) != 0) return -FI_EBADFLAGS;
  const std::lock_guard lock(mutex_);
  return take(event, buf, length, flags);
}

ssize_t EventQueue::sread(uint32_t* event, void* buf, size_t length, int timeout_ms,
                          uint64_t flags) {
  home_.require();
  if (wait_obj_ == FI_WAIT_NONE) return -FI_EINVAL;
  if ((flags & ~FI_PEEK) != 0) return -FI_EBADFLAGS;
  std::unique_lock lock(mutex_);
  const auto pending = [this] { return is_pending(); };
  if (timeout_ms < 0) {
    changed_.wait(lock, pending);
  } else {
    changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), pending);
  }
  return take(event, buf, length, flags);
}

ssize_t EventQueue::read_error(fi_eq_err_entry* entry, uint64_t flags) {
  home_.require();
  if ((flags & ~FI_PEEK) != 0) return -FI_EBADFLAGS;
  const std::lock_guard lock(mutex_);
  fi_eq_err_entry first{};
  if (!errors_.empty()) {
    first = errors_.front();
    if ((flags & FI_PEEK) == 0) errors_.pop_front();
  } else if (events_.empty() && overrun_) {
    first.fid = &link_.fid.fid;
    first.context = link_.fid.fid.context;
    first.err = FI_EOVERRUN;
  } else {
    return -FI_EAGAIN;
  }
  // No error carries data; the application's buffer stays its own.
  first.err_data = entry->err_data;
  first.err_data_size = 0;
  *entry = first;
  update_descriptor();
  return sizeof *entry;
}

int EventQueue::trywait() {
  home_.require();
  const std::lock_guard lock(mutex_);
  return is_pending() ? -FI_EAGAIN : 0;
}

int EventQueue::control(int command, void* arg) {
  home_.require();
  if (arg == nullptr) return -FI_EINVAL;
  switch (command) {
    case FI_GETWAIT:
      if (wait_obj_ != FI_WAIT_FD) return -FI_ENODATA;
      *static_cast<int*>(arg) = event_fd_;
      return 0;
    case FI_GETWAITOBJ:
      *static_cast<fi_wait_obj*>(arg) = wait_obj_;
      return 0;
    default:
      return -FI_ENOSYS;
  }
}

}  // namespace uet::prov
