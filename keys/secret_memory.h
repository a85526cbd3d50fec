// Memory for keys: locked, left out of core dumps, zero in a forked child, and overwritten before
// it goes, each as far as the kernel allows. [TSS-043, TSS-136, T-55]
#pragma once

#include <cstddef>
#include <span>

namespace uet::keys {

class SecretMemory {
 public:
  // Zeroed. Throws std::bad_alloc when the system has none.
  explicit SecretMemory(size_t bytes);
  ~SecretMemory();
  SecretMemory(const SecretMemory&) = delete;
  SecretMemory& operator=(const SecretMemory&) = delete;

  std::span<std::byte> octets() { return octets_; }
  // As objects for which all zero octets are valid.
  template <class T>
  std::span<T> as(size_t count) {
    return {reinterpret_cast<T*>(octets_.data()), count};
  }

  // Protection that the kernel did not allow; the memory can be used anyway.
  bool is_locked() const { return is_locked_; }                // never written to swap
  bool is_undumped() const { return is_undumped_; }            // not in core dumps
  bool is_wiped_on_fork() const { return is_wiped_on_fork_; }  // a child has zeros

 private:
  std::span<std::byte> octets_;
  size_t mapped_bytes_ = 0;
  bool is_locked_ = false;
  bool is_undumped_ = false;
  bool is_wiped_on_fork_ = false;
};

}  // namespace uet::keys
