// The rings that an AF_XDP socket shares with the kernel: one side writes entries, the other reads
// them, and each publishes its position. No system call. [decision 26]
#pragma once

#include "io/socket.h"

#include <linux/if_xdp.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace uet::io {

// The memory of one ring.
template <typename Entry>
class XdpRing {
 public:
  XdpRing() = default;
  ~XdpRing() {
    if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
  }
  XdpRing(const XdpRing&) = delete;
  XdpRing& operator=(const XdpRing&) = delete;

  // entries: a power of two, the same as in the socket's option. False with errno.
  bool map(const Fd& socket, const xdp_ring_offset& at, uint64_t page_offset, uint32_t entries) {
    memory_bytes_ = at.desc + size_t{entries} * sizeof(Entry);
    void* const memory =
        ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
               socket.get(), static_cast<off_t>(page_offset));
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::byte*>(memory);
    producer_ = reinterpret_cast<uint32_t*>(memory_ + at.producer);
    consumer_ = reinterpret_cast<uint32_t*>(memory_ + at.consumer);
    flags_ = reinterpret_cast<uint32_t*>(memory_ + at.flags);
    entries_ = reinterpret_cast<Entry*>(memory_ + at.desc);
    size_ = entries;
    return true;
  }
  uint32_t size() const { return size_; }
  // The kernel sleeps and must be called before it continues with this ring.
  bool needs_wakeup() const {
    return (__atomic_load_n(flags_, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP) != 0;
  }

 protected:
  Entry& entry(uint32_t index) { return entries_[index & (size_ - 1)]; }

  uint32_t* producer_ = nullptr;
  uint32_t* consumer_ = nullptr;

 private:
  uint32_t* flags_ = nullptr;
  Entry* entries_ = nullptr;
  uint32_t size_ = 0;
  std::byte* memory_ = nullptr;
  size_t memory_bytes_ = 0;
};

// We write: frames to be filled, frames to be sent.
template <typename Entry>
class XdpProducer : public XdpRing<Entry> {
 public:
  // Entries that the kernel has not taken yet.
  uint32_t untaken() const { return mine_ - __atomic_load_n(this->consumer_, __ATOMIC_ACQUIRE); }
  uint32_t room() const { return this->size() - untaken(); }
  // Only with room(). The kernel sees it after publish().
  void put(const Entry& entry) { this->entry(mine_++) = entry; }
  void publish() { __atomic_store_n(this->producer_, mine_, __ATOMIC_RELEASE); }

 private:
  uint32_t mine_ = 0;
};

// We read: frames that came, frames that have left.
template <typename Entry>
class XdpConsumer : public XdpRing<Entry> {
 public:
  bool has_entry() {
    if (mine_ == theirs_) theirs_ = __atomic_load_n(this->producer_, __ATOMIC_ACQUIRE);
    return mine_ != theirs_;
  }
  // Only with has_entry().
  Entry take() { return this->entry(mine_++); }
  // Taken entries may be overwritten.
  void release() { __atomic_store_n(this->consumer_, mine_, __ATOMIC_RELEASE); }

 private:
  uint32_t mine_ = 0;
  uint32_t theirs_ = 0;  // as last seen
};

}  // namespace uet::io
