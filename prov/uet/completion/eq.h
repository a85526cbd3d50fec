// Event queue: events that applications write to it, and reports of the provider about domains and
// endpoints. It has no engine; its descriptor is an eventfd that is readable while the queue is not
// empty. [LF-001]
#pragma once

#include "prov/uet/api/shim.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/progress/home.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace uet::prov {

class EventQueue {
 public:
  using Link = FidLink<fid_eq, EventQueue>;
  static fi_ops* fid_ops();

  // The fabric's eq_open operation. `attr` may be null: no wait object, default size.
  static int open(Fabric& fabric, const fi_eq_attr* attr, fid_eq** fid, void* context);
  ~EventQueue();
  int close();

  fid_eq* fid() { return &link_.fid; }
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

  // Events of the provider; any thread. An event without room puts the queue in overrun.
  void report(uint32_t type, const fi_eq_entry& entry);
  void report_error(const fi_eq_err_entry& entry);

  // The operations behind struct fi_ops_eq; any thread.
  ssize_t read(uint32_t* event, void* buf, size_t length, uint64_t flags);
  ssize_t sread(uint32_t* event, void* buf, size_t length, int timeout_ms, uint64_t flags);
  ssize_t read_error(fi_eq_err_entry* entry, uint64_t flags);
  ssize_t write(uint32_t type, const void* buf, size_t length, uint64_t flags);
  int trywait();
  int control(int command, void* arg);

 private:
  static constexpr size_t kSizeDefault = 256;

  struct Event {
    uint32_t type = 0;
    std::vector<std::byte> bytes;
  };

  EventQueue(Fabric& fabric, const fi_eq_attr& attr, void* context);
  bool has_room();
  void update_descriptor();
  bool is_pending() const { return !events_.empty() || !errors_.empty() || overrun_; }
  ssize_t take(uint32_t* event, void* buf, size_t length, uint64_t flags);

  Link link_;
  Fabric& fabric_;
  const Home home_;
  std::atomic<uint32_t> refs_{0};
  const size_t size_;
  const bool writable_;
  const fi_wait_obj wait_obj_;
  int event_fd_ = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  std::deque<fi_eq_err_entry> errors_;
  bool overrun_ = false;
  bool raised_ = false;  // the descriptor is readable
};

}  // namespace uet::prov
