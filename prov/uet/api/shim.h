// Between C and C++: how a fid leads to its object, how nothing thrown leaves an entry point, and
// how an Errc becomes libfabric's error number. Completions have their own mapping (cq.h).
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/progress/home.h"

#include "base/result.h"

#include <sys/types.h>
#include <new>
#include <type_traits>

namespace uet::prov {

// The C face of an object. The fid comes first, so a pointer to it is a pointer to the link, and
// the link is standard-layout whatever the owner is. [LF-127]
template <class Fid, class Owner>
struct FidLink {
  Fid fid{};
  Owner* owner = nullptr;
};

// The object behind a fid of uet. `fid` is the specific struct (fid_cq*) or its inner struct fid*.
template <class Owner, class Fid>
Owner& object_of(Fid* fid) {
  using Link = typename Owner::Link;
  static_assert(std::is_standard_layout_v<Link>);
  return *reinterpret_cast<Link*>(fid)->owner;
}

// The same for a fid from an application: null when it is of another kind or belongs to another
// provider. `Owner::fid_ops()` identifies ours.
template <class Owner>
Owner* checked_object_of(fid* fid) {
  if (fid == nullptr || fid->ops != Owner::fid_ops()) return nullptr;
  return &object_of<Owner>(fid);
}

// The negative FI_E number of an Errc.
int to_fi_errno(Errc e);

// A call that another provider makes while uet calls it: -FI_EBUSY, after a warning. [LF-159]
int refuse_call_back() noexcept;

// Runs the body of an extern "C" entry; whatever is thrown becomes a negative errno. [ABI-015]
template <class Fn>
auto guard(Fn&& body) noexcept -> decltype(body()) {
  using R = decltype(body());
  try {
    return body();
  } catch (const CalledInForkedChild&) {
    return static_cast<R>(-FI_EOPBADSTATE);
  } catch (const CalledBack&) {
    return static_cast<R>(refuse_call_back());
  } catch (const std::bad_alloc&) {
    return static_cast<R>(-FI_ENOMEM);
  } catch (...) {
    return static_cast<R>(-FI_EOTHER);
  }
}

// Stubs for operations that are not offered: every entry of an op table is filled. [ABI-026]
template <class... Args>
int not_offered(Args...) noexcept {
  return -FI_ENOSYS;
}
template <class... Args>
ssize_t not_offered_op(Args...) noexcept {
  return -FI_ENOSYS;
}
template <class... Args>
int not_supported(Args...) noexcept {
  return -FI_EOPNOTSUPP;
}
int no_bind(fid*, fid*, uint64_t) noexcept;
int no_control(fid*, int, void*) noexcept;
int no_ops_open(fid*, const char*, uint64_t, void**, void*) noexcept;

}  // namespace uet::prov
