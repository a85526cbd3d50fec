// Counting forks; see process.h.
#include "prov/uet/api/process.h"

#include <pthread.h>

namespace uet::prov {
namespace {

std::mutex& lists() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

// Once for the process, which the library never leaves. [ABI-015]
void watch_forks() {
  static const int registered = pthread_atfork([] { lists().lock(); }, [] { lists().unlock(); },
                                               [] {
                                                 Home::forks_.fetch_add(1);
                                                 lists().unlock();
                                               });
  static_cast<void>(registered);
}

Home::Home() : generation_((watch_forks(), forks_.load(std::memory_order_relaxed))) {}

void Home::refuse() const {
  if (is_elsewhere()) throw CalledInForkedChild();
  throw CalledBack();
}

std::mutex& open_objects() {
  watch_forks();
  return lists();
}

}  // namespace uet::prov
