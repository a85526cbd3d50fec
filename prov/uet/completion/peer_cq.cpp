// Writing to the owner of a queue; see peer_cq.h.
#include "prov/uet/completion/peer_cq.h"

#include "prov/uet/api/log.h"
#include "prov/uet/peer/peer_api.h"

namespace uet::prov {
namespace {

Handed judge(ssize_t written) {
  if (written >= 0) return Handed::written;
  if (written == -FI_EAGAIN || written == -FI_ENOMEM) return Handed::later;
  UET_WARN(CQ,
           "a completion is lost (peer_cq_lost): the owner of the peer CQ refused it: %s; where it "
           "has no room now it returns -FI_EAGAIN\n",
           fi_strerror(static_cast<int>(-written)));
  return Handed::lost;
}

ssize_t write_to(fid_peer_cq& owner, const CompletionEntry& entry, void* context) {
  return owner.owner_ops->write(&owner, context, entry.flags, entry.len, entry.buf, entry.data,
                                entry.tag, entry.src_addr);
}

// Leaves out err_data: fi_peer does not say how long the owner may use it.
ssize_t write_error_to(fid_peer_cq& owner, const CompletionEntry& entry, void* context,
                       const CompletionError& error) {
  fi_cq_err_entry out{};
  out.op_context = context;
  out.flags = entry.flags;
  out.len = entry.len;
  out.buf = entry.buf;
  out.data = entry.data;
  out.tag = entry.tag;
  out.olen = error.olen;
  out.err = error.err;
  out.prov_errno = error.prov_errno;
#if UET_HAVE_CQ_ERR_SRC
  out.src_addr = entry.src_addr;
#endif
  return owner.owner_ops->writeerr(&owner, &out);
}

// For an entry with a receive.
fi_peer_rx_entry& receive_of(const CompletionEntry& entry) {
  return *static_cast<fi_peer_rx_entry*>(entry.op_context);
}

}  // namespace

fid_peer_cq* peer_cq_of(void* context) {
  const auto* const imported = static_cast<fi_peer_cq_context*>(context);
  if (imported == nullptr || imported->size < sizeof(*imported) || imported->cq == nullptr ||
      imported->cq->owner_ops == nullptr ||
      imported->cq->owner_ops->size < sizeof(*imported->cq->owner_ops) ||
      imported->cq->owner_ops->write == nullptr || imported->cq->owner_ops->writeerr == nullptr) {
    UET_WARN(
        CQ,
        "fi_cq_open: the FI_PEER context is not a valid fi_peer_cq_context: size, cq or owner_ops "
        "(write, writeerr) is missing\n");
    return nullptr;
  }
  return imported->cq;
}

Handed hand_over(fid_peer_cq& owner, const CompletionEntry& entry, const CompletionError* error) {
  Handed what = Handed::written;
  if (!entry.is_silent) {
    void* const context = entry.is_owned ? receive_of(entry).context : entry.op_context;
    what = judge(error != nullptr ? write_error_to(owner, entry, context, *error)
                                  : write_to(owner, entry, context));
  }
  if (entry.is_owned && what != Handed::later) free_receive(receive_of(entry));
  return what;
}

void give_back(CompletionEntry& entry) {
  if (!entry.is_owned) return;
  fi_peer_rx_entry& receive = receive_of(entry);
  entry.is_owned = false;
  entry.op_context = receive.context;
  free_receive(receive);
}

}  // namespace uet::prov
