// The one place that includes libfabric's headers and that knows which of their names exist since
// when. Most new names are enumerators or members, which the preprocessor cannot see, so every
// decision here compares FI_MAJOR_VERSION and FI_MINOR_VERSION. [LF-101, LF-104, LF-105]
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#if FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 18
#include <rdma/providers/fi_peer.h>
#else
#include <rdma/fi_ext.h>
#endif
#pragma GCC diagnostic pop

#include <cstdint>

#define UET_FI_HEADERS_AT_LEAST(major, minor) \
  (FI_MAJOR_VERSION > (major) || (FI_MAJOR_VERSION == (major) && FI_MINOR_VERSION >= (minor)))

// Declarations of the present headers. [ABI-027, LF-108 .. LF-126]
#define UET_HAVE_CUDA_OPT UET_FI_HEADERS_AT_LEAST(1, 18)     // FI_OPT_CUDA_API_PERMITTED
#define UET_HAVE_PEER_CNTR UET_FI_HEADERS_AT_LEAST(1, 19)    // fi_peer_cntr_context ...
#define UET_HAVE_PEER_MATCH UET_FI_HEADERS_AT_LEAST(2, 0)    // fi_peer_match_attr
#define UET_HAVE_AV_AUTH_KEY UET_FI_HEADERS_AT_LEAST(1, 20)  // fi_ops_av.insert_auth_key ...
#define UET_HAVE_CQ_ERR_SRC UET_FI_HEADERS_AT_LEAST(1, 20)   // fi_cq_err_entry.src_addr
#define UET_HAVE_MR_DMABUF UET_FI_HEADERS_AT_LEAST(1, 20)    // FI_MR_DMABUF
#define UET_HAVE_UNIFIED_PROGRESS UET_FI_HEADERS_AT_LEAST(1, 21)
#define UET_HAVE_SHM_OPT UET_FI_HEADERS_AT_LEAST(1, 21)        // FI_OPT_SHARED_MEMORY_PERMITTED
#define UET_HAVE_SIZE_OPTS UET_FI_HEADERS_AT_LEAST(1, 22)      // FI_OPT_MAX_MSG_SIZE ...
#define UET_HAVE_BASE_MR UET_FI_HEADERS_AT_LEAST(2, 0)         // fi_mr_attr.base_mr
#define UET_HAVE_GROUP_ID UET_FI_HEADERS_AT_LEAST(2, 0)        // fi_domain_attr.max_group_id
#define UET_HAVE_MAX_CNTR_VALUE UET_FI_HEADERS_AT_LEAST(2, 5)  // fi_domain_attr.max_cntr_value

namespace uet::prov {

// The target of fi_mr_attr.auth_key with FI_AV_AUTH_KEY: struct fi_mr_auth_key. [LF-108]
struct MrAuthKey {
  struct fid_av* av;
  fi_addr_t src_addr;
};
#if UET_HAVE_AV_AUTH_KEY
static_assert(sizeof(MrAuthKey) == sizeof(fi_mr_auth_key));
#endif

// The region that contains the new one, or null. In an application of an API before 2.0 the member
// does not exist. [LF-119]
inline const fid_mr* base_mr_of([[maybe_unused]] const fi_mr_attr& attr,
                                [[maybe_unused]] uint32_t api_version) {
#if UET_HAVE_BASE_MR
  if (api_version >= FI_VERSION(2, 0)) return attr.base_mr;
#endif
  return nullptr;
}

// The highest API version whose man pages were reviewed for this provider. [ABI-013]
inline constexpr uint32_t kApiReviewed = FI_VERSION(2, 6);
// Since then mr_mode is a set of bits; before, it named one of two ways of registering. [LF-128]
inline constexpr uint32_t kApiMrBits = FI_VERSION(1, 5);
// Since then fi_mr_attr names the interface of the memory. [LF-134]
inline constexpr uint32_t kApiHmem = FI_VERSION(1, 9);
inline constexpr uint32_t kApiHeaders = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

// libfabric's structures grew at these releases; within one class they are the same. A library that
// is older than what this was built with has no room for what would be written. [LF-102]
constexpr bool can_load_into(uint32_t running, uint32_t built) {
  constexpr uint32_t kFirst[] = {FI_VERSION(1, 20), FI_VERSION(2, 0), FI_VERSION(2, 5)};
  for (const uint32_t first : kFirst) {
    if (built >= first && running < first) return false;
  }
  return true;
}

// The layout of peer objects changed in these releases: headers and library must be of the same
// range. [LF-159, fi_peer]
constexpr bool has_same_peers(uint32_t running, uint32_t built) {
  constexpr uint32_t kFirst[] = {FI_VERSION(1, 19), FI_VERSION(2, 0), FI_VERSION(2, 3)};
  for (const uint32_t first : kFirst) {
    if ((running >= first) != (built >= first)) return false;
  }
  return true;
}

// Constants under own names where the headers may lack them or spell them as a deprecated macro.
inline constexpr uint32_t kAddrUet = 0x80554554;   // private FI_ADDR_UET [LF-008]
inline constexpr uint32_t kProtoUet = 0x80554554;  // private FI_PROTO_UET [LF-009]
inline constexpr uint32_t kProtoUetVersion = 1;
inline constexpr int kMrBasic = 1 << 0;                    // FI_MR_BASIC
inline constexpr int kMrScalable = 1 << 1;                 // FI_MR_SCALABLE
inline constexpr int kProgressUnified = 3;                 // FI_PROGRESS_CONTROL_UNIFIED [LF-111]
inline constexpr uint64_t kCoreProviderOnly = 1ULL << 59;  // flag of the core's probes [ABI-034]
// Capabilities since 2.0, whose bits had another meaning before. [LF-114]
inline constexpr uint64_t kTaggedDirectedRecv = 1ULL << 45;  // FI_TAGGED_DIRECTED_RECV
inline constexpr uint64_t kExactDirectedRecv = 1ULL << 48;   // FI_EXACT_DIRECTED_RECV
inline constexpr uint64_t kRegMr = 1ULL << 59;               // FI_REG_MR, for fi_domain_bind
inline constexpr uint64_t kMrDmabuf = 1ULL << 40;            // FI_MR_DMABUF [LF-134]
inline constexpr uint64_t kMrIdempotent = 1ULL << 60;        // registration flag, ours [LF-027]
// How tags are written, and the end of the range of such names. [LF-067, LF-113]
inline constexpr uint64_t kTagBits = 0;                        // FI_TAG_BITS
inline constexpr uint64_t kTagMpi = 1;                         // FI_TAG_MPI
inline constexpr uint64_t kTagCcl = 2;                         // FI_TAG_CCL
inline constexpr uint64_t kTagFormats = 1 << 16;               // FI_TAG_MAX_FORMAT
inline constexpr uint64_t kTagFormat = 0xAAAA'AAAA'AAAA'AAAA;  // all 64 bits usable [LF-064]

}  // namespace uet::prov
