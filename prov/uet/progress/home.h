// Whether a call may proceed, decided in this one place. After a fork the child has the parent's
// descriptors, sequence numbers and locks, but none of its threads. [decision 14] Another provider
// that is called from inside the engine (FI_PEER) and calls uet would wait for the lock that its
// own thread holds, or for the lock of another domain with an owner, while a thread of that domain
// waits for the first lock. [LF-159]
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace uet::prov {

// The calling thread, as long as it lives.
inline const void* this_thread() {
  static thread_local char self;
  return &self;
}

// Thrown by a call in a forked child; guard() answers -FI_EOPBADSTATE.
struct CalledInForkedChild {};
// Thrown by a call of another provider that uet is calling at the time; guard() answers -FI_EBUSY.
struct CalledBack {};

class Home {
 public:
  // The calling process. `has_owner`: of an engine that calls other providers.
  explicit Home(bool has_owner = false);
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  // This is a forked child of that process.
  bool is_elsewhere() const { return generation_ != forks_.load(std::memory_order_relaxed); }
  // The calling thread is inside a CallOut of this home, or of another one: then this one may wait
  // for a thread that waits for that one.
  bool is_called_back() const { return has_owner_ && caller_ != nullptr; }
  // Either of the two. Calls that post check this; others call require(), which throws.
  bool is_barred() const { return is_elsewhere() || is_called_back(); }
  void require() const {
    if (is_barred()) [[unlikely]] {
      refuse();
    }
  }

  // While it lives, its thread calls another provider from inside an engine. Engine lock held.
  class CallOut {
   public:
    explicit CallOut(const Home& home) { caller_ = &home; }
    ~CallOut() { caller_ = nullptr; }
    CallOut(const CallOut&) = delete;
    CallOut& operator=(const CallOut&) = delete;
  };

 private:
  friend void watch_forks();
  [[noreturn]] void refuse() const;

  // Number of forks between the process that loaded the provider and this one.
  inline static std::atomic<uint32_t> forks_{0};
  inline static constinit thread_local const Home* caller_ = nullptr;  // while inside a CallOut
  const uint32_t generation_;
  const bool has_owner_;
};

// Guards the lists of open objects. A fork waits for it, so that the child finds it free; a holder
// must not fork, and waits for the network at the end of the process only.
std::mutex& open_objects();
// The same for what was imported from other providers: held for look-ups alone.
std::mutex& imported_objects();

}  // namespace uet::prov
