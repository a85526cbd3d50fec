// Counting forks; see home.h.
#include "prov/uet/progress/home.h"

#include <pthread.h>

namespace uet::prov {
namespace {

std::mutex& lists() {
  static std::mutex mutex;
  return mutex;
}
std::mutex& imports() {
  static std::mutex mutex;
  return mutex;
}

void lock_all() {
  lists().lock();
  imports().lock();
}
void unlock_all() {
  imports().unlock();
  lists().unlock();
}

}  // namespace

// Once for the process, which the library never leaves. [ABI-015]
void watch_forks() {
  static const int registered = pthread_atfork(lock_all, unlock_all, [] {
    Home::forks_.fetch_add(1);
    unlock_all();
  });
  static_cast<void>(registered);
}

Home::Home(bool has_owner)
    : generation_((watch_forks(), forks_.load(std::memory_order_relaxed))), has_owner_(has_owner) {}

void Home::refuse() const {
  if (is_elsewhere()) throw CalledInForkedChild();
  throw CalledBack();
}

std::mutex& open_objects() {
  watch_forks();
  return lists();
}

std::mutex& imported_objects() {
  watch_forks();
  return imports();
}

}  // namespace uet::prov
