// Between the stack's questions and the owner's operations; see peer_receives.h.
//
// The owner's entry of a kept message has the number of a PeerReceives in peer_context: start_* and
// discard_* look the object up by it. retire() removes the number, and waits for operations that
// have found the object.
#include "prov/uet/peer/peer_receives.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/ep_core.h"
#include "prov/uet/peer/peer_api.h"

#include "base/assert.h"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

namespace uet::prov {
namespace {

// All objects of the process by their numbers, and how many operations are under way in each.
struct Imported {
  struct Object {
    explicit Object(PeerReceives& imported) : receives(&imported) {}
    PeerReceives* receives;
    uint32_t operations = 0;
    const Home home;
  };
  std::mutex& lock = imported_objects();
  std::condition_variable left;
  uintptr_t last = 0;
  std::unordered_map<uintptr_t, Object> by_number;
};
Imported& imported() {
  static auto* const kImported = new Imported;  // threads may use it at the end of the process
  return *kImported;
}

// An operation of the owner: the object of the entry, or null, stays as long as this. Throws
// CalledInForkedChild.
class Operation {
 public:
  explicit Operation(const fi_peer_rx_entry& entry)
      : number_(reinterpret_cast<uintptr_t>(entry.peer_context)) {
    const std::lock_guard lock(imported().lock);
    const auto found = imported().by_number.find(number_);
    if (found == imported().by_number.end() || found->second.receives == nullptr) return;
    found->second.home.require();  // no lock of the engine was taken
    ++found->second.operations;
    object_ = found->second.receives;
  }
  ~Operation() {
    if (object_ == nullptr) return;
    const std::lock_guard lock(imported().lock);
    if (--imported().by_number.at(number_).operations == 0) imported().left.notify_all();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  PeerReceives* object() const { return object_; }

 private:
  const uintptr_t number_;
  PeerReceives* object_ = nullptr;
};

bool can_be_asked(const fid_peer_srx* srx) {
  if (srx == nullptr || srx->owner_ops == nullptr) return false;
  const fi_ops_srx_owner& ops = *srx->owner_ops;
  return ops.size >= sizeof ops && ops.get_msg != nullptr && ops.get_tag != nullptr &&
         ops.queue_msg != nullptr && ops.queue_tag != nullptr && ops.free_entry != nullptr;
}

}  // namespace

std::unique_ptr<PeerReceives> PeerReceives::import(Domain& domain, void* context) {
  const auto* const named = static_cast<fi_peer_srx_context*>(context);
  if (named == nullptr || named->size < sizeof(*named) || !can_be_asked(named->srx)) {
    UET_WARN(EP_CTRL,
             "fi_srx_context: the FI_PEER context is not a valid fi_peer_srx_context: size, srx or "
             "owner_ops (get_msg, get_tag, queue_msg, queue_tag, free_entry) is missing\n");
    return nullptr;
  }
  return std::unique_ptr<PeerReceives>(new PeerReceives(domain, *named->srx));
}

PeerReceives::PeerReceives(Domain& domain, fid_peer_srx& srx) : domain_(domain), srx_(srx) {
  Imported& all = imported();
  const std::lock_guard lock(all.lock);
  number_ = ++all.last;
  all.by_number.try_emplace(number_, *this);
  srx_.peer_ops = &peer_receive_ops;
}

PeerReceives::~PeerReceives() { retire(); }

void PeerReceives::retire() {
  Imported& all = imported();
  std::unique_lock lock(all.lock);
  const auto found = all.by_number.find(number_);
  if (found == all.by_number.end()) return;
  found->second.receives = nullptr;
  all.left.wait(lock, [&] { return all.by_number.at(number_).operations == 0; });
  all.by_number.erase(number_);
}

ses::Asked PeerReceives::ask(const ses::Sought& message, ses::ReceiveRequest& out) {
  const ses::Envelope& e = message.envelope;
  const fi_addr_t from =
      av_ == nullptr ? FI_ADDR_NOTAVAIL
                     : av_->table(domain_.engines().first()).reverse(e.peer, e.initiator, e.job);
  fi_peer_rx_entry* entry = nullptr;
  const int rc = ask_owner(srx_, message.tagged, from, e.tag, message.bytes, entry);
  if ((rc != 0 && rc != -FI_ENOENT) || entry == nullptr) return ses::Asked::later;
  sought_ = message;
  if (rc != 0) {
    told_ = entry;
    return ses::Asked::unexpected;
  }
  note_owner(*entry, srx_);
  out.tagged = message.tagged;
  out.tag = e.tag;
  return describe(*entry, out) ? ses::Asked::receive : ses::Asked::useless;
}

// The buffers of the message, and the context of its completion. False: the memory is not usable.
bool PeerReceives::describe(fi_peer_rx_entry& entry, ses::ReceiveRequest& out) {
  out.context = {&entry, kOwned};
  const int rc = slices_.assign(entry.iov, entry.count);
  if (rc == 0) {
    out.iov = slices_.view();
    return true;
  }
  UET_WARN(
      EP_DATA,
      "a receive of another provider (FI_PEER) fails: it has %zu buffers; give at most %u, none "
      "null\n",
      entry.count, ses::kIovMax);
  return false;
}

bool PeerReceives::keep(uint32_t claim, const uint64_t* header_data) {
  try {
    return queue_told(claim, header_data);
  } catch (const std::bad_alloc&) {
    forget();
    return false;
  }
}

bool PeerReceives::queue_told(uint32_t claim, const uint64_t* header_data) {
  told_->peer_context = reinterpret_cast<void*>(number_);
  describe_kept(*told_, sought_.bytes, header_data);
  const auto queue = sought_.tagged ? srx_.owner_ops->queue_tag : srx_.owner_ops->queue_msg;
  queued_[told_] = claim;
  if (queue(told_) == 0) return true;
  queued_.erase(told_);
  free(*told_);
  return false;
}

int PeerReceives::start(fi_peer_rx_entry& entry) {
  const Operation operation(entry);
  return operation.object() == nullptr ? -FI_ENOENT : operation.object()->start_kept(entry);
}

int PeerReceives::start_kept(fi_peer_rx_entry& entry) {
  ProgressEngine::Entry visit(domain_.first_engine());
  const auto kept = queued_.find(&entry);
  if (kept == queued_.end()) return -FI_ENOENT;
  const uint32_t claim = kept->second;
  // Owners do not try a started receive again.
  if (!endpoint_of(visit.ses().claims().look(id_, claim)).rx().make_room()) return -FI_ENOMEM;
  queued_.erase(kept);
  receive(visit, entry, claim);
  visit.post(FlushPolicy::Receive{false});
  return 0;
}

// Where the receive of that message is reported; of one that was lost at the first endpoint.
EndpointCore& PeerReceives::endpoint_of(const ses::Peeked& kept) const {
  UET_ASSERT(!endpoints_.empty());  // entries of the last endpoint went back with it
  for (EndpointCore* const endpoint : endpoints_) {
    if (kept.found && endpoint->id() == kept.endpoint) return *endpoint;
  }
  return *endpoints_.front();
}

void PeerReceives::receive(ProgressEngine::Entry& visit, fi_peer_rx_entry& entry, uint32_t claim) {
  note_owner(entry, srx_);
  const ses::Peeked seen = visit.ses().claims().look(id_, claim);
  ses::ReceiveRequest request;
  request.tagged = seen.tagged;
  request.tag = seen.tag;
  const Result<void> taken = describe(entry, request)
                                 ? visit.ses().claims().receive(id_, claim, request, visit.now())
                                 : Result<void>(Errc::invalid);
  if (taken.ok()) return;
  // The message was lost; or the owner has no usable memory, or none for another receive.
  visit.ses().claims().refuse(id_, claim, visit.now());
  report_lost(endpoint_of(seen), entry, taken.error());
}

int PeerReceives::discard(fi_peer_rx_entry& entry) {
  const Operation operation(entry);
  return operation.object() == nullptr ? -FI_ENOENT : operation.object()->discard_kept(entry);
}

int PeerReceives::discard_kept(fi_peer_rx_entry& entry) {
  ProgressEngine::Entry visit(domain_.first_engine());
  const auto kept = queued_.find(&entry);
  if (kept == queued_.end()) return -FI_ENOENT;
  visit.ses().claims().discard(id_, kept->second, visit.now());
  queued_.erase(kept);
  visit.post(FlushPolicy::Nothing());
  return 0;
}

void PeerReceives::give_back(ProgressEngine::Entry& visit, ses::EndpointId closing) {
  for (auto kept = queued_.begin(); kept != queued_.end();) {
    const ses::Peeked seen = visit.ses().claims().look(id_, kept->second);
    if (!endpoints_.empty() && !(seen.found && seen.endpoint == closing)) {
      ++kept;
      continue;
    }
    fi_peer_rx_entry& entry = *kept->first;
    kept = queued_.erase(kept);
    free(entry);
  }
}

// The message of the entry was lost with its sender, or cannot be received for lack of memory.
void PeerReceives::report_lost(EndpointCore& to, fi_peer_rx_entry& entry, Errc why) {
  ses::Completion lost;
  lost.kind = (entry.flags & FI_TAGGED) != 0 ? ses::OpKind::tagged_recv : ses::OpKind::recv;
  lost.context = {&entry, kOwned};
  lost.tag = entry.tag;
  if (why == Errc::not_found) {
    lost.status = ses::Completion::Status::undeliverable;
    lost.failure = pds::Failure{.reason = pds::FailureReason::closed};
  } else {
    lost.status = ses::Completion::Status::fault;
    lost.local_error = why == Errc::invalid ? EINVAL : ENOMEM;
  }
  const ses::CompletionSink sink = to.rx().sink();
  const bool has_room = sink.reserve(sink.owner);
  UET_ASSERT(has_room);
  sink.complete(sink.owner, lost);
}

void PeerReceives::on_inserted() { tell_of_addresses(srx_, &peer_receive_sender); }

fi_addr_t PeerReceives::sender_of(fi_peer_rx_entry& entry) {
  const Operation operation(entry);
  return operation.object() == nullptr ? FI_ADDR_UNSPEC : operation.object()->sender_of_kept(entry);
}

fi_addr_t PeerReceives::sender_of_kept(fi_peer_rx_entry& entry) {
  ProgressEngine::Entry visit(domain_.first_engine());
  const auto kept = queued_.find(&entry);
  if (kept == queued_.end() || av_ == nullptr) return FI_ADDR_UNSPEC;
  const ses::Peeked seen = visit.ses().claims().look(id_, kept->second);
  if (!seen.found) return FI_ADDR_UNSPEC;
  return av_->table(domain_.engines().first()).reverse(seen.peer, seen.initiator_id, seen.job);
}

}  // namespace uet::prov
