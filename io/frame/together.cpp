// A thread for one of the calls.
#include "io/frame/together.h"

#include <pthread.h>
#include <csignal>

namespace uet::io {
namespace {

using Call = std::function<void()>;

void* run(void* call) {
  (*static_cast<const Call*>(call))();
  return nullptr;
}

}  // namespace

void run_together(const Call& one, const Call& other) {
  // Signals belong to the application's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool is_running = pthread_create(&thread, nullptr, run, const_cast<Call*>(&other)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!is_running) other();
  one();
  if (is_running) pthread_join(thread, nullptr);
}

}  // namespace uet::io
