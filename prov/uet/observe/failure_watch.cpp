// Reports failures to event queues; see failure_watch.h.
#include "prov/uet/observe/failure_watch.h"

#include "prov/uet/completion/eq.h"

namespace uet::prov {

void FailureWatch::add(const struct fid& object, EventQueue& eq) {
  fi_eq_err_entry entry{};
  entry.fid = const_cast<struct fid*>(&object);  // for the application, which owns it
  entry.context = object.context;
  const std::lock_guard lock(mutex_);
  listeners_.push_back({entry, &eq});
  if (error_ != 0) report(listeners_.back(), error_);
}

void FailureWatch::remove(const struct fid& object) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [&](const Listener& l) { return l.entry.fid == &object; });
}

void FailureWatch::set(int error) {
  const std::lock_guard lock(mutex_);
  // A failure that changes its reason is still the same one.
  if (error != 0 && error_ == 0) {
    for (Listener& listener : listeners_) report(listener, error);
  }
  error_ = error;
}

int FailureWatch::get() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void FailureWatch::report(Listener& listener, int error) {
  listener.entry.err = error;
  listener.entry.prov_errno = error;
  listener.eq->report_error(listener.entry);
}

}  // namespace uet::prov
