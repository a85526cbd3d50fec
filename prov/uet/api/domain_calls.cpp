// The operation tables of domains: they open objects and register memory. [LF-001]
#include "prov/uet/address/av.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/atomic.h"
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/shared_receives.h"
#include "prov/uet/memory/mr.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

int av_open(fid_domain* domain, fi_av_attr* attr, fid_av** av, void* context) noexcept {
  return guard([&] { return AddressVector::open(object_of<Domain>(domain), attr, av, context); });
}

int cq_open(fid_domain* domain, fi_cq_attr* attr, fid_cq** cq, void* context) noexcept {
  return guard([&] { return CompletionQueue::open(object_of<Domain>(domain), attr, cq, context); });
}

int endpoint2(fid_domain* domain, fi_info* info, fid_ep** ep, uint64_t flags,
              void* context) noexcept {
  return guard([&] { return Endpoint::open(object_of<Domain>(domain), info, flags, ep, context); });
}

int endpoint(fid_domain* domain, fi_info* info, fid_ep** ep, void* context) noexcept {
  return endpoint2(domain, info, ep, 0, context);
}

int cntr_open(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** cntr, void* context) noexcept {
  return guard([&] { return Counter::open(object_of<Domain>(domain), attr, cntr, context); });
}

int srx_ctx(fid_domain* domain, fi_rx_attr* attr, fid_ep** ep, void* context) noexcept {
  return guard([&] { return SharedReceives::open(object_of<Domain>(domain), attr, ep, context); });
}

int query_atomic(fid_domain*, fi_datatype datatype, fi_op op, fi_atomic_attr* attr,
                 uint64_t flags) noexcept {
  return prov::query_atomic(datatype, op, attr, flags);
}

int regattr(fid* fid, const fi_mr_attr* attr, uint64_t flags, fid_mr** mr) noexcept {
  return guard([&] { return MemoryRegion::open(object_of<Domain>(fid), attr, flags, mr); });
}

int regv(fid* fid, const iovec* iov, size_t count, uint64_t access, uint64_t offset,
         uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) noexcept {
  fi_mr_attr attr{};
  attr.mr_iov = iov;
  attr.iov_count = count;
  attr.access = access;
  attr.offset = offset;
  attr.requested_key = requested_key;
  attr.context = context;
  return regattr(fid, &attr, flags, mr);
}

int reg(fid* fid, const void* buf, size_t length, uint64_t access, uint64_t offset,
        uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) noexcept {
  const iovec iov{const_cast<void*>(buf), length};
  return regv(fid, &iov, 1, access, offset, requested_key, flags, mr, context);
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<Domain>(fid).close(); });
}

int bind(fid* fid, struct fid* bound, uint64_t flags) noexcept {
  return guard([&] { return object_of<Domain>(fid).bind(bound, flags); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<Domain>(fid).control(command, arg); });
}

}  // namespace

fi_ops domain_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = bind,
    .control = control,
    .ops_open = open_ops,
};

fi_ops_domain domain_ops = {
    .size = sizeof(fi_ops_domain),
    .av_open = av_open,
    .cq_open = cq_open,
    .endpoint = endpoint,
    .scalable_ep = not_offered,
    .cntr_open = cntr_open,
    .poll_open = not_offered,
    .stx_ctx = not_offered,
    .srx_ctx = srx_ctx,
    .query_atomic = query_atomic,
    .query_collective = not_offered,
    .endpoint2 = endpoint2,
};

fi_ops_mr registration_ops = {
    .size = sizeof(fi_ops_mr),
    .reg = reg,
    .regv = regv,
    .regattr = regattr,
};

// With FI_AV_AUTH_KEY the key comes with fi_mr_regattr. [fi_mr, fi_mr_reg]
fi_ops_mr keyed_registration_ops = {
    .size = sizeof(fi_ops_mr),
    .reg = not_supported,
    .regv = not_supported,
    .regattr = regattr,
};

}  // namespace uet::prov
