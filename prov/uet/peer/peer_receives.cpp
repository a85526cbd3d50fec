// Between the stack's questions and the owner's operations; see peer_receives.h.
//
// The owner's entry of a kept message carries a word (peer_context): the number of this object, and
// the claim of the message. After the object is closed or the message is lost, no object or message
// matches the entry, and calls with it change nothing.
#include "prov/uet/peer/peer_receives.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/ep_core.h"
#include "prov/uet/peer/peer_api.h"

#include <cerrno>
#include <mutex>
#include <unordered_map>

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

// All objects of the process by their numbers.
struct Imported {
  std::mutex lock;
  uint32_t last = 0;
  std::unordered_map<uint32_t, PeerReceives*> by_number;
};
Imported& imported() {
  static auto* const kImported = new Imported;  // threads may use it at the end of the process
  return *kImported;
}

void* word_of(uint32_t number, uint32_t claim) {
  static_assert(sizeof(void*) >= 2 * sizeof(uint32_t));
  return reinterpret_cast<void*>(uintptr_t{number} << 32 | claim);
}
uint32_t claim_of(const fi_peer_rx_entry& entry) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(entry.peer_context));
}
PeerReceives* object_of_entry(const fi_peer_rx_entry& entry) {
  const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(entry.peer_context) >> 32);
  Imported& all = imported();
  const std::lock_guard lock(all.lock);
  const auto found = all.by_number.find(number);
  return found == all.by_number.end() ? nullptr : found->second;
}

int start_op(fi_peer_rx_entry* entry) noexcept {
  return guard([&] {
    PeerReceives* const self = object_of_entry(*entry);
    return self == nullptr ? -FI_ENOENT : self->start(*entry, claim_of(*entry));
  });
}

// Of a receive context that is closed nothing is kept.
int discard_op(fi_peer_rx_entry* entry) noexcept {
  return guard([&] {
    PeerReceives* const self = object_of_entry(*entry);
    return self == nullptr ? 0 : self->discard(claim_of(*entry));
  });
}

fi_addr_t address_op(fi_peer_rx_entry* entry) noexcept {
  try {
    PeerReceives* const self = object_of_entry(*entry);
    return self == nullptr ? FI_ADDR_UNSPEC : self->sender_of(claim_of(*entry));
  } catch (...) {
    return FI_ADDR_UNSPEC;
  }
}

fi_ops_srx_peer peer_ops = {
    .size = sizeof(fi_ops_srx_peer),
    .start_msg = start_op,
    .start_tag = start_op,
    .discard_msg = discard_op,
    .discard_tag = discard_op,
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
             "fi_srx_context: the FI_PEER context is no valid fi_peer_srx_context: size, srx or "
             "owner_ops (get_msg, get_tag, queue_msg, queue_tag, free_entry) is missing\n");
    return nullptr;
  }
  return std::unique_ptr<PeerReceives>(new PeerReceives(domain, *named->srx));
}

PeerReceives::PeerReceives(Domain& domain, fid_peer_srx& srx)
    : domain_(domain), srx_(srx), owner_{this, &on_ask, &on_keep, &on_forget} {
  Imported& all = imported();
  const std::lock_guard lock(all.lock);
  number_ = ++all.last;
  all.by_number.emplace(number_, this);
  srx_.peer_ops = &peer_ops;
}

PeerReceives::~PeerReceives() {
  Imported& all = imported();
  const std::lock_guard lock(all.lock);
  all.by_number.erase(number_);
}

ses::Asked PeerReceives::on_ask(void* self, const ses::Sought& message, ses::ReceiveRequest& out) {
  return static_cast<PeerReceives*>(self)->ask(message, out);
}

bool PeerReceives::on_keep(void* self, uint32_t claim, const uint64_t* header_data) {
  return static_cast<PeerReceives*>(self)->keep(claim, header_data);
}

void PeerReceives::on_forget(void* object) {
  auto& self = *static_cast<PeerReceives*>(object);
  self.free(*self.told_);
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
  out.tagged = message.tagged;
  out.tag = e.tag;
  return describe(*entry, out) ? ses::Asked::receive : ses::Asked::useless;
}

// Where the message goes, and what its completion leads back to. False: there is no such memory.
bool PeerReceives::describe(fi_peer_rx_entry& entry, ses::ReceiveRequest& out) {
  out.context = {&entry, kOwned};
  const int rc = slices_.assign(entry.iov, entry.count);
  if (rc == 0) {
    out.iov = slices_.view();
    return true;
  }
  UET_WARN(EP_DATA,
           "a receive of another provider (FI_PEER) fails: %zu buffers, at most %u and none null\n",
           entry.count, ses::kIovMax);
  return false;
}

bool PeerReceives::keep(uint32_t claim, const uint64_t* header_data) {
  told_->peer_context = word_of(number_, claim);
  describe_kept(*told_, sought_.bytes, header_data);
  const auto queue = sought_.tagged ? srx_.owner_ops->queue_tag : srx_.owner_ops->queue_msg;
  if (queue(told_) == 0) return true;
  free(*told_);
  return false;
}

int PeerReceives::start(fi_peer_rx_entry& entry, uint32_t claim) {
  ProgressEngine::Entry visit(domain_.first_engine());
  const ses::Peeked seen = visit.ses().claims().look(id_, claim);
  if (!seen.found) {
    report_lost(entry, Errc::not_found);
    return 0;
  }
  ses::ReceiveRequest request;
  request.tagged = seen.tagged;
  request.tag = seen.tag;
  const Result<void> taken = describe(entry, request)
                                 ? visit.ses().claims().receive(id_, claim, request, visit.now())
                                 : Result<void>(Errc::invalid);
  if (!taken.ok()) {  // no usable memory of the owner, or none for another receive
    visit.ses().claims().refuse(id_, claim, visit.now());
    report_lost(entry, taken.error());
  }
  visit.post(FlushPolicy::Receive{false});
  return 0;
}

int PeerReceives::discard(uint32_t claim) {
  ProgressEngine::Entry visit(domain_.first_engine());
  visit.ses().claims().discard(id_, claim, visit.now());
  visit.post(FlushPolicy::Nothing());
  return 0;
}

// The message of the entry was lost with its sender, or cannot be received for lack of memory. An
// endpoint of the queue reports it; without endpoints nothing is reported.
void PeerReceives::report_lost(fi_peer_rx_entry& entry, Errc why) {
  if (teller_ == nullptr) return free(entry);
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
  const ses::CompletionSink sink = teller_->rx().sink();
  if (!sink.reserve(sink.owner)) return free(entry);
  sink.complete(sink.owner, lost);
}

void PeerReceives::on_inserted() { tell_of_addresses(srx_, &address_op); }

fi_addr_t PeerReceives::sender_of(uint32_t claim) {
  ProgressEngine::Entry visit(domain_.first_engine());
  const ses::Peeked seen = visit.ses().claims().look(id_, claim);
  if (!seen.found || av_ == nullptr) return FI_ADDR_UNSPEC;
  return av_->table(domain_.engines().first()).reverse(seen.peer, seen.initiator_id, seen.job);
}

}  // namespace uet::prov
