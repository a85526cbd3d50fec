// The wait object of a completion queue or counter. The descriptor is an epoll set of an eventfd
// (written when something is inserted while a waiter is armed), the I/O descriptor and a timerfd at
// the engine's deadline: no sleeper depends on which thread drained the socket. Of the threads that
// sleep one watches the socket, or the helper does for all of them. [architecture 5]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/completion/wait_descriptors.h"
#include "prov/uet/progress/poll_habit.h"
#include "prov/uet/progress/progress.h"

#include <cstdint>

struct fid;

namespace uet::prov {

class WaitObject {
 public:
  // Is there something to return to the waiter? Called with the engine lock held.
  struct Condition {
    void* self = nullptr;
    bool (*holds)(void* self) = nullptr;
  };

  WaitObject() = default;
  ~WaitObject() { close(); }
  WaitObject(const WaitObject&) = delete;
  WaitObject& operator=(const WaitObject&) = delete;

  // FI_WAIT_NONE, UNSPEC, FD or YIELD; others are -FI_ENOSYS. Descriptors are close-on-exec.
  // `engine` must outlive this object.
  int open(enum fi_wait_obj kind, ProgressEngine& engine);
  void close();

  // The engine that runs while a thread waits. Its owner enters it by this seat.
  EngineSeat& seat() { return seat_; }
  const EngineSeat& seat() const { return seat_; }
  // Uses another engine from now on. False, and nothing changes, while a thread waits or may begin
  // to by the descriptor. Called with the set-up lock of the domain and no other.
  bool move_to(ProgressEngine& engine);

  bool can_wait() const { return kind_ != FI_WAIT_NONE; }

  // Something was inserted. Engine lock held. Costs a branch when no thread sleeps.
  void signal() {
    if ((sleeping_ > 0 || armed_) && !raised_) raise();
  }
  // The queue was read again: a thread that was to sleep on the descriptor is awake, and others may
  // continue to sleep. Engine lock held.
  void disarm() {
    if (armed_ && armed_by_ == this_thread()) stand_down();
  }
  // The owner goes away: no thread may sleep on it any more. Engine lock held.
  void retire() {
    if (armed_) stand_down();
  }

  // Runs the engine until `condition` holds (0), the time is up or a thread called interrupt()
  // (-FI_EAGAIN). Negative timeout: no limit. May poll briefly [PollHabit], then sleeps with the
  // lock released. The lock is held on entry (`entry`) and on return.
  int wait(ProgressEngine::Entry& entry, int timeout_ms, const Condition& condition);
  // Makes every thread in wait() return. Engine lock held.
  void interrupt();

  // For fi_trywait: runs the engine once; -FI_EAGAIN when the owner must be read first, 0 when
  // the descriptor may be slept on.
  int trywait(ProgressEngine::Entry& entry, const Condition& condition);
  // FI_GETWAIT (int* for FI_WAIT_FD) and FI_GETWAITOBJ; other commands are -FI_ENOSYS.
  int control(int command, void* arg) const;

 private:
  int get_wait(void* arg) const;
  int get_wait_obj(void* arg) const;
  void stand_down();
  void raise();
  void lower();
  bool begin_watch(Sleepers::Way way);
  void end_watch(bool watched, Sleepers::Way way);
  void sleep(ProgressEngine::Entry& entry, Instant until);

  ProgressEngine& engine() const { return seat_.engine(); }

  EngineSeat seat_;
  enum fi_wait_obj kind_ = FI_WAIT_NONE;
  // Under the engine lock.
  uint32_t sleeping_ = 0;    // threads asleep in wait()
  uint32_t unseen_ = 0;      // sleepers that the last raise() has still to wake
  uint32_t raises_ = 0;      // times raise() was called
  uint32_t interrupts_ = 0;  // times interrupt() was called
  uint32_t waiters_ = 0;     // threads inside wait(), asleep or not
  PollHabit poll_habit_;
  bool interrupt_pending_ = false;  // interrupt() found no sleeper; the next wait() returns at once
  bool armed_ = false;  // trywait() said yes, and the same thread has not read the owner since
  const void* armed_by_ = nullptr;  // null: several threads
  bool watches_ = false;            // while armed: see Sleepers
  bool raised_ = false;             // the eventfd is readable
  WaitDescriptors fds_;
};

// The fi_trywait operation of a fabric: every fid of `fids` is a CQ, a counter or an EQ.
int trywait(struct fid** fids, int count);

}  // namespace uet::prov
