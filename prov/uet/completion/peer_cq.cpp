// Writing to the owner of a queue; see peer_cq.h.
#include "prov/uet/completion/peer_cq.h"

#include "prov/uet/api/log.h"

namespace uet::prov {
namespace {

void check(ssize_t written) {
  if (written >= 0) return;
  UET_WARN(CQ, "a completion is lost: the owner of the peer CQ refused it: %s\n",
           fi_strerror(static_cast<int>(-written)));
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
        "fi_cq_open: the FI_PEER context is no valid fi_peer_cq_context: size, cq or owner_ops "
        "(write, writeerr) is missing\n");
    return nullptr;
  }
  return imported->cq;
}

void write_to(fid_peer_cq& owner, const CompletionEntry& entry) {
  check(owner.owner_ops->write(&owner, entry.op_context, entry.flags, entry.len, entry.buf,
                               entry.data, entry.tag, entry.src_addr));
}

// Leaves out err_data: fi_peer does not say how long the owner may use it.
void write_error_to(fid_peer_cq& owner, const CompletionEntry& entry,
                    const CompletionError& error) {
  fi_cq_err_entry out{};
  out.op_context = entry.op_context;
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
  check(owner.owner_ops->writeerr(&owner, &out));
}

}  // namespace uet::prov
