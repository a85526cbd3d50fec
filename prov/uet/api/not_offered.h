// Tables of operations that an object does not have. libfabric's headers call an operation without
// looking whether its table exists, so each one does. [ABI-026, LF-100]
#pragma once

#include "prov/uet/api/compat.h"

#include <rdma/fi_collective.h>

namespace uet::prov {

extern struct fi_ops_cm no_cm_ops;
extern struct fi_ops_rma no_rma_ops;
extern struct fi_ops_atomic no_atomic_ops;
extern struct fi_ops_collective no_collective_ops;

}  // namespace uet::prov
