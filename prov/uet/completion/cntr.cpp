// Counter; see cntr.h.
#include "prov/uet/completion/cntr.h"

#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/memory/mr.h"

#include <memory>

namespace uet::prov {

fi_ops* Counter::fid_ops() { return &counter_fid_ops; }

Counter::Counter(Domain& domain, void* context) : domain_(domain) {
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_CNTR, context, &counter_fid_ops};
  link_.fid.ops = &counter_ops;
  domain_.add_ref();
}

Counter::~Counter() { domain_.drop_ref(); }

int Counter::open(Domain& domain, fi_cntr_attr* attr, fid_cntr** fid, void* context) {
  domain.home().require();
  if (fid == nullptr) return -FI_EINVAL;
  const fi_cntr_attr wanted = attr != nullptr ? *attr : fi_cntr_attr{};
  if (wanted.events != FI_CNTR_EVENTS_COMP) return -FI_EOPNOTSUPP;  // [LF-125]
  const bool is_peer = wanted.flags == FI_PEER;
  if (wanted.flags != 0 && !is_peer) return -FI_EBADFLAGS;
  std::unique_ptr<Counter> counter(new Counter(domain, context));
  if (const int error = is_peer ? counter->import(context) : 0; error != 0) return error;
  const fi_wait_obj wait = is_peer ? FI_WAIT_NONE : wanted.wait_obj;
  if (const int error = counter->wait_.open(wait, domain.first_engine()); error != 0) {
    return error;
  }
  *fid = &counter.release()->link_.fid;
  return 0;
}

// The counter that the context of fi_cntr_open names.
int Counter::import([[maybe_unused]] void* context) {
#if UET_HAVE_PEER_CNTR
  if (!domain_.may_import("fi_cntr_open")) return -FI_EINVAL;
  const auto* const named = static_cast<fi_peer_cntr_context*>(context);
  if (named == nullptr || named->size < sizeof(*named) || named->cntr == nullptr ||
      named->cntr->owner_ops == nullptr ||
      named->cntr->owner_ops->size < sizeof(*named->cntr->owner_ops) ||
      named->cntr->owner_ops->inc == nullptr || named->cntr->owner_ops->incerr == nullptr) {
    UET_WARN(CNTR,
             "fi_cntr_open: the FI_PEER context is not a valid fi_peer_cntr_context: size, cntr or "
             "owner_ops (inc, incerr) is missing\n");
    return -FI_EINVAL;
  }
  owner_ = named->cntr;
  link_.fid.ops = &peer_counter_ops;
  return 0;
#else
  UET_WARN(CNTR,
           "fi_cntr_open: FI_PEER counters need a provider built with libfabric 1.19 or later\n");
  return -FI_EINVAL;
#endif
}

uint64_t Counter::run() {
  if (domain_.home().is_barred()) return 0;  // the call returns no error
  ProgressEngine::Entry entry(wait_.seat());
  entry.turn([&] { deliver(); }, [&] { return value_ != 0 || errors_ != 0; });
  return 0;
}

// In the owner's turn, and when it closes.
void Counter::deliver() {
#if UET_HAVE_PEER_CNTR
  if (owner_ == nullptr) return;
  for (uint64_t n = value_.exchange(0); n != 0; --n) owner_->owner_ops->inc(owner_);
  for (uint64_t n = errors_.exchange(0); n != 0; --n) owner_->owner_ops->incerr(owner_);
#endif
}

int Counter::close() {
  domain_.home().require();
  if (refs_ != 0) return -FI_EBUSY;
  {
    ProgressEngine::Entry entry(wait_.seat());
    entry.call_out([&] { deliver(); });
    for (MemoryRegion* region : regions_) region->forget(*this);
    wait_.retire();
  }
  delete this;
  return 0;
}

uint64_t Counter::observe(const std::atomic<uint64_t>& word) {
  // The call returns no error, but the unchanged value.
  if (domain_.home().is_barred()) return word.load(std::memory_order_relaxed);
  ProgressEngine::Entry entry(wait_.seat());
  entry.round();
  // Reading either word shows that the application is awake: both count as seen.
  seen_value_ = value_.load(std::memory_order_relaxed);
  seen_errors_ = errors_.load(std::memory_order_relaxed);
  wait_.disarm();
  return word.load(std::memory_order_relaxed);
}

int Counter::change(std::atomic<uint64_t>& word, uint64_t value, bool add) {
  const ProgressEngine::Entry entry(wait_.seat());
  word.store(add ? word.load(std::memory_order_relaxed) + value : value, std::memory_order_relaxed);
  wait_.signal();
  return 0;
}

int Counter::wait(uint64_t threshold, int timeout_ms) {
  domain_.home().require();
  if (!wait_.can_wait()) return -FI_EINVAL;
  struct Goal {
    const Counter* counter;
    uint64_t threshold;
    uint64_t errors;
    bool reached() const { return counter->value_.load(std::memory_order_relaxed) >= threshold; }
    bool failed() const { return counter->errors_.load(std::memory_order_relaxed) != errors; }
  };
  ProgressEngine::Entry entry(wait_.seat());
  Goal goal{this, threshold, errors_.load(std::memory_order_relaxed)};
  const WaitObject::Condition condition{&goal, [](void* self) {
                                          const Goal& g = *static_cast<Goal*>(self);
                                          return g.reached() || g.failed();
                                        }};
  if (goal.reached()) {
    entry.poll([] { return true; }, Find::stays);
    return 0;
  }
  const int result = wait_.wait(entry, timeout_ms, condition);
  if (goal.reached()) return 0;
  if (goal.failed()) return -FI_EAVAIL;
  return result == -FI_EAGAIN ? -FI_ETIMEDOUT : result;
}

int Counter::trywait() {
  ProgressEngine::Entry entry(wait_.seat());
  const WaitObject::Condition condition{this, [](void* self) {
                                          const Counter& c = *static_cast<Counter*>(self);
                                          return c.value_ != c.seen_value_ ||
                                                 c.errors_ != c.seen_errors_;
                                        }};
  return wait_.trywait(entry, condition);
}

int Counter::control(int command, void* arg) {
  domain_.home().require();
  if (arg == nullptr) return -FI_EINVAL;
  return wait_.control(command, arg);
}

}  // namespace uet::prov
