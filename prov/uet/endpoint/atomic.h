// The supported atomics, in libfabric's terms: its operations and data types, and those of UET.
// [LF-050..052, LF-061..063]
#pragma once

#include "prov/uet/api/compat.h"

#include "ses/atomics.h"

#include <cstddef>
#include <optional>

namespace uet::prov {

// The UET operation and data type; none for what UET has no code for. [LF-061, LF-062]
std::optional<ses::AtomicCode> to_atomic_code(fi_datatype datatype, fi_op op);

// Elements that one call takes, and their size in octets; none: not supported. [LF-063]
std::optional<fi_atomic_attr> atomic_limits(fi_datatype datatype, fi_op op, ses::AtomicForm form);

// fi_atomicvalid and its like. 0, -FI_EOPNOTSUPP or -FI_EINVAL.
int atomic_count(fi_datatype datatype, fi_op op, ses::AtomicForm form, size_t* count);
// fi_query_atomic. 0, -FI_EOPNOTSUPP, -FI_EBADFLAGS or -FI_EINVAL.
int query_atomic(fi_datatype datatype, fi_op op, fi_atomic_attr* attr, uint64_t flags);

}  // namespace uet::prov
