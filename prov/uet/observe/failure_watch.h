// Reports a failure of the network interface under a domain to the event queues bound to the domain
// and to its endpoints, once for each failure. Any thread.
#pragma once

#include "prov/uet/api/compat.h"

#include <mutex>
#include <vector>

namespace uet::prov {

class EventQueue;

class FailureWatch {
 public:
  // Failures are reported to `eq` as an error of `object`; one that is there already, at once.
  void add(const struct fid& object, EventQueue& eq);
  // Nothing is reported of `object` any more. Afterwards it and its queue may go away.
  void remove(const struct fid& object);

  // errno of the network, 0: it works (again). Reports when it stops working.
  void set(int error);
  int get() const;

 private:
  struct Listener {
    fi_eq_err_entry entry;  // err aside
    EventQueue* eq;
  };
  static void report(Listener& listener, int error);

  mutable std::mutex mutex_;
  std::vector<Listener> listeners_;
  int error_ = 0;
};

}  // namespace uet::prov
