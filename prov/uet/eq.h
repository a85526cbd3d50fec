// Event queue: what applications write to it and what the provider reports about domains and
// endpoints. Has no engine; its descriptor is an eventfd. [LF-001]
#pragma once

#include "prov/uet/fabric.h"
#include "prov/uet/shim.h"

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
  static EventQueue& from(fid_eq* fid) { return object_of<EventQueue>(fid); }
  static EventQueue& from(struct fid* fid) { return object_of<EventQueue>(fid); }

  // The fabric's eq_open operation.
  static int open(Fabric& fabric, const fi_eq_attr* attr, fid_eq** fid, void* context);
  ~EventQueue();
  int close();

  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

  // Reports something that went wrong with `fid`. Any thread; an event too many is dropped and
  // turns into an overrun.
  void report_error(struct fid* fid, int err, int prov_errno);

  // The operations behind struct fi_ops_eq; any thread.
  ssize_t read(uint32_t* event, void* buf, size_t length, uint64_t flags);
  ssize_t sread(uint32_t* event, void* buf, size_t length, int timeout_ms, uint64_t flags);
  ssize_t read_error(fi_eq_err_entry* entry, uint64_t flags);
  ssize_t write(uint32_t event, const void* buf, size_t length, uint64_t flags);
  int trywait();
  int control(int command, void* arg);

 private:
  struct Event {
    uint32_t type = 0;
    bool is_error = false;
    fi_eq_err_entry error{};
    std::vector<std::byte> bytes;
  };

  EventQueue(Fabric& fabric, const fi_eq_attr& attr, void* context);
  void append(Event&& event);
  void update_descriptor();
  ssize_t take(uint32_t* event, void* buf, size_t length, uint64_t flags);

  Link link_;
  Fabric& fabric_;
  std::atomic<uint32_t> refs_{0};
  size_t size_;
  bool writable_;
  fi_wait_obj wait_obj_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool overrun_ = false;
  bool descriptor_raised_ = false;
  int event_fd_ = -1;
};

}  // namespace uet::prov
