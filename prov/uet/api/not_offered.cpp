// Tables of operations that an object does not have; see not_offered.h.
// Each operation answers -FI_ENOSYS, as the headers do for a missing one.
#include "prov/uet/api/not_offered.h"

#include "prov/uet/api/shim.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {

fi_ops_cm no_cm_ops = {
    .size = sizeof(fi_ops_cm),
    .setname = not_offered,
    .getname = not_offered,
    .getpeer = not_offered,
    .connect = not_offered,
    .listen = not_offered,
    .accept = not_offered,
    .reject = not_offered,
    .shutdown = not_offered,
    .join = not_offered,
};

fi_ops_rma no_rma_ops = {
    .size = sizeof(fi_ops_rma),
    .read = not_offered_op,
    .readv = not_offered_op,
    .readmsg = not_offered_op,
    .write = not_offered_op,
    .writev = not_offered_op,
    .writemsg = not_offered_op,
    .inject = not_offered_op,
    .writedata = not_offered_op,
    .injectdata = not_offered_op,
};

fi_ops_atomic no_atomic_ops = {
    .size = sizeof(fi_ops_atomic),
    .write = not_offered_op,
    .writev = not_offered_op,
    .writemsg = not_offered_op,
    .inject = not_offered_op,
    .readwrite = not_offered_op,
    .readwritev = not_offered_op,
    .readwritemsg = not_offered_op,
    .compwrite = not_offered_op,
    .compwritev = not_offered_op,
    .compwritemsg = not_offered_op,
    .writevalid = not_offered,
    .readwritevalid = not_offered,
    .compwritevalid = not_offered,
};

fi_ops_collective no_collective_ops = {
    .size = sizeof(fi_ops_collective),
    .barrier = not_offered_op,
    .broadcast = not_offered_op,
    .alltoall = not_offered_op,
    .allreduce = not_offered_op,
    .allgather = not_offered_op,
    .reduce_scatter = not_offered_op,
    .reduce = not_offered_op,
    .scatter = not_offered_op,
    .gather = not_offered_op,
    .msg = not_offered_op,
    .barrier2 = not_offered_op,
};

}  // namespace uet::prov
