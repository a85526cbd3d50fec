// The thread that owns a ring. The kernel lets only one thread use a ring that is as cheap as ours,
// and several may enter an engine: the thread that enters most regularly gets the ring.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace uet::io {

class RingOwner {
 public:
  // calls: that a thread makes in a row before the ring is for it; the next owner twice as many.
  explicit RingOwner(uint32_t calls) : calls_wanted_(calls) {}

  bool is(pthread_t thread) const { return is_owned_ && pthread_equal(owner_, thread) != 0; }
  // A call of this thread, which is not the owner: true when it has made enough of them in a row.
  bool is_due(pthread_t thread) {
    if (calls_ == 0 || pthread_equal(candidate_, thread) == 0) calls_ = 0;
    candidate_ = thread;
    return ++calls_ >= calls_wanted_;
  }
  // A call of the owner: another thread must count its calls from the beginning.
  void on_own_call() { calls_ = 0; }
  // The ring belongs to this thread from here on. With is_owned false no thread has it, and none
  // gets it before twice as many calls.
  void change_to(pthread_t thread, bool is_owned) {
    owner_ = thread;
    is_owned_ = is_owned;
    calls_ = 0;
    if (calls_wanted_ < kCallsMax) calls_wanted_ *= 2;
  }

 private:
  static constexpr uint32_t kCallsMax = 1 << 20;

  pthread_t owner_{};
  pthread_t candidate_{};
  bool is_owned_ = false;
  uint32_t calls_ = 0;  // of the candidate, in a row
  uint32_t calls_wanted_;
};

}  // namespace uet::io
