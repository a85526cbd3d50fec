// Rules of receive calls; see receive_call.h.
#include "prov/uet/endpoint/receive_call.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"

#include <cstring>

namespace uet::prov {
namespace {

// The named formats have fields, which are ignored as a whole or not at all. [LF-065, LF-066]
bool may_ignore(uint64_t tag_format, uint64_t mask) {
  constexpr uint64_t kMessageTag = 0xFFFF'FFFF;   // FI_MPI_IGNORE_TAG
  constexpr uint64_t kPayloadId = 0xFFULL << 32;  // FI_MPI_IGNORE_PAYLOAD
  const auto whole = [mask](uint64_t field) {
    return (mask & field) == 0 || (mask & field) == field;
  };
  if (tag_format == kTagMpi) return whole(kMessageTag) && whole(kPayloadId);
  return tag_format != kTagCcl || mask == 0;
}

}  // namespace

ssize_t check_receive(const MessageCall& call, uint64_t tag_format) {
  if (call.ignore != 0 && !may_ignore(tag_format, call.ignore)) {
    UET_WARN(EP_DATA,
             "fi_trecv: the ignore mask 0x%llx does not fit the tag format: with FI_TAG_MPI it "
             "must cover whole fields, with FI_TAG_CCL it must be 0\n",
             static_cast<unsigned long long>(call.ignore));
    return -FI_EINVAL;
  }
  if ((call.flags & FI_TRIGGER) != 0) {
    UET_WARN(EP_DATA, "%s: the flag FI_TRIGGER is not supported: leave it out\n",
             call.tagged ? "fi_trecvmsg" : "fi_recvmsg");
    return -FI_EOPNOTSUPP;  // [LF-100]
  }
  const bool peeks = (call.flags & FI_PEEK) != 0;
  const bool claims = (call.flags & FI_CLAIM) != 0;
  const bool discards = (call.flags & FI_DISCARD) != 0;
  if ((discards && !peeks && !claims) || (claims && call.context == nullptr)) {
    UET_WARN(EP_DATA,
             "fi_trecvmsg: FI_DISCARD needs FI_PEEK or FI_CLAIM, and FI_CLAIM needs a struct "
             "fi_context as context\n");
    return -FI_EINVAL;
  }
  const bool multi = (call.flags & FI_MULTI_RECV) != 0;
  if (multi && (call.tagged || call.count != 1)) {
    UET_WARN(EP_DATA, "FI_MULTI_RECV needs one buffer and no tag: use fi_recvmsg\n");
    return -FI_EINVAL;
  }
  return 0;
}

// FI_EXACT_DIRECTED_RECV alone also makes a receive directed.
ses::ReceiveRequest receive_request(const MessageCall& call, std::span<const IoSlice> buffers,
                                    uint32_t multi_min) {
  ses::ReceiveRequest request;
  request.iov = buffers;
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.ignore = call.ignore;
  request.multi = (call.flags & FI_MULTI_RECV) != 0;
  request.multi_min = multi_min;
  return request;
}

bool is_directed(uint64_t caps, bool tagged) {
  if ((caps & FI_DIRECTED_RECV) != 0) return true;
  if ((caps & kTaggedDirectedRecv) != 0) return tagged;
  return (caps & kExactDirectedRecv) != 0;
}

ssize_t aim_receive(const MessageCall& call, uint64_t caps, AddressVector* av,
                    const DomainEngine& engine, ses::ReceiveRequest& request) {
  if (!is_directed(caps, call.tagged)) return 0;
  if (call.addr == FI_ADDR_UNSPEC) return (caps & kExactDirectedRecv) != 0 ? -FI_EINVAL : 0;
  if (av == nullptr) {
    UET_WARN(
        EP_DATA,
        "a receive from one sender: bind an address vector to an endpoint of the receive context "
        "first\n");
    return -FI_ENOAV;
  }
  if ((call.flags & kAuthKeyFlag) != 0) {
    const JobId* const job = av->keys().find(call.addr);
    if (job == nullptr) return -FI_EADDRNOTAVAIL;
    request.job = job->value();
    request.by_job = true;
    return 0;
  }
  const ses::Destination* from = av->table(engine).find(call.addr);
  if (from == nullptr) return -FI_EADDRNOTAVAIL;
  if (!av->table(engine).address_of(call.addr).has_initiator) {
    UET_WARN(EP_DATA,
             "a receive from one sender: its address does not say which endpoint of its host it "
             "is; insert the name that fi_getname gives there\n");
    return -FI_EINVAL;
  }
  request.directed = true;
  request.from = from->peer;
  request.from_initiator = from->initiator_id;
  if (from->job.value() != 0) {
    request.job = from->job.value();
    request.by_job = true;
  }
  return 0;
}

void keep_claim(void* context, uint32_t claim) {
  std::memcpy(static_cast<fi_context*>(context)->internal, &claim, sizeof(claim));
}

uint32_t kept_claim(const void* context) {
  uint32_t claim = 0;
  std::memcpy(&claim, static_cast<const fi_context*>(context)->internal, sizeof(claim));
  return claim;
}

}  // namespace uet::prov
