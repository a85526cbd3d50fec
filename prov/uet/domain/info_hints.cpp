// What of the hints can be met: capabilities, modes, orders, sizes. Answers as the libfabric manual
// asks (fi_getinfo, fi_endpoint, fi_domain): every requirement is met or the whole is refused.
#include "prov/uet/domain/info.h"

#include "prov/uet/address/av_keys.h"
#include "prov/uet/api/log.h"
#include "prov/uet/endpoint/attributes.h"
#include "prov/uet/observe/user_message.h"

#include "ses/types.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace uet::prov {
namespace {

constexpr uint64_t kMessageCaps = FI_MSG | FI_TAGGED;
constexpr uint64_t kMemoryCaps = FI_RMA | FI_ATOMIC;
constexpr uint64_t kTxRmaCaps = FI_READ | FI_WRITE;
constexpr uint64_t kRxRmaCaps = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr uint64_t kDomainCaps = FI_LOCAL_COMM | FI_REMOTE_COMM;
constexpr uint64_t kTxCaps = kMessageCaps | kMemoryCaps | FI_SEND | kTxRmaCaps | FI_FENCE;
constexpr uint64_t kRxCaps = kMessageCaps | kMemoryCaps | FI_RECV | kRxRmaCaps | FI_DIRECTED_RECV |
                             FI_MULTI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT;
// Only on request, and only for applications with the meaning of these bits in 2.0. [LF-068,
// LF-114]
constexpr uint64_t kNewRxCaps = kTaggedDirectedRecv | kExactDirectedRecv;
constexpr uint64_t kCaps = kTxCaps | kRxCaps | kDomainCaps;  // [LF-068]
// Datagrams are untagged messages and nothing else. [LF-072]
constexpr uint64_t kDatagramCaps = FI_MSG | FI_SEND | FI_RECV | FI_FENCE | FI_DIRECTED_RECV |
                                   FI_MULTI_RECV | FI_SOURCE | FI_SOURCE_ERR | kDomainCaps;

// Only on request, in the capabilities of the whole or of the domain. [LF-159, LF-160]
constexpr uint64_t kPeerCaps = FI_PEER | FI_AV_USER_ID;
constexpr size_t kPeerIovLimit = 4;

// [LF-089]
constexpr uint64_t kOrders = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR |
                             FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAR | FI_ORDER_SAW |
                             FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR |
                             FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
                             FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
constexpr uint64_t kRawOrders = FI_ORDER_RAW | FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_RAW;
constexpr uint64_t kWarOrders = FI_ORDER_WAR | FI_ORDER_RMA_WAR | FI_ORDER_ATOMIC_WAR;
constexpr uint64_t kWawOrders = FI_ORDER_WAW | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_WAW;

// FI_COMMIT_COMPLETE is not among them. [LF-056]
constexpr uint64_t kTxOpFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
// Datagrams are not acknowledged. [LF-044]
constexpr uint64_t kDatagramTxOpFlags = kTxOpFlags & ~(FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE);
constexpr size_t kKeyBytes = 8;  // of a key, of the application or of the provider [LF-029]
constexpr uint64_t kRxOpFlags = FI_COMPLETION | FI_MULTI_RECV;

// A request for more than there is.
constexpr bool exceeds(uint64_t wanted, uint64_t offered) { return wanted > offered; }
constexpr bool has_other(uint64_t bits, uint64_t known) { return (bits & ~known) != 0; }

bool is_class(uint32_t tclass) {
  if (tclass == FI_TC_UNSPEC) return true;
  if ((tclass & ~0x3FU) == FI_TC_DSCP) return true;
  return tclass >= FI_TC_LABEL && tclass <= FI_TC_NETWORK_CTRL;
}

// Message classes without SEND or RECV mean both, FI_RMA and FI_ATOMIC without direction all four.
uint64_t with_implied(uint64_t caps) {
  if ((caps & kMessageCaps) != 0) {
    if ((caps & (FI_SEND | FI_RECV)) == 0) caps |= FI_SEND | FI_RECV;
    caps |= FI_FENCE;
    if ((caps & FI_RECV) != 0) caps |= FI_MULTI_RECV;
  }
  if ((caps & kMemoryCaps) != 0) {
    if ((caps & (kTxRmaCaps | kRxRmaCaps)) == 0) caps |= kTxRmaCaps | kRxRmaCaps;
    caps |= FI_FENCE;
  }
  return caps | kDomainCaps;
}

// The keys come later, with the address vector. [LF-019, LF-108]
bool has_av_keys(uint32_t version, const fi_domain_attr& domain) {
  return UET_HAVE_AV_AUTH_KEY && version >= FI_VERSION(1, 20) &&
         domain.auth_key_size == kKeysFromAv;
}

// FI_PEER: refused if the provider was built for another layout, and with what peers exclude
// (FI_PROGRESS_AUTO, datagrams, keys of the address vector).
bool agree_peers(uint32_t version, const fi_info* hints, Agreement& a) {
  if (hints == nullptr) return true;
  const fi_domain_attr* const domain = hints->domain_attr;
  a.peer_caps = (hints->caps | (domain != nullptr ? domain->caps : 0)) & kPeerCaps;
  if (a.peer_caps == 0) return true;
  const bool has_keys = domain != nullptr && has_av_keys(version, *domain);
  if (has_keys || a.type == FI_EP_DGRAM) return false;
  if ((a.peer_caps & FI_PEER) == 0) return true;
  const bool is_auto = domain != nullptr && (domain->data_progress == FI_PROGRESS_AUTO ||
                                             domain->control_progress == FI_PROGRESS_AUTO);
  return !is_auto && has_same_peers(fi_version(), kApiHeaders);
}

bool agree_caps(uint32_t version, const fi_info* hints, Agreement& a) {
  if (!agree_peers(version, hints, a)) return false;
  const uint64_t wanted = hints != nullptr ? hints->caps & ~kPeerCaps : 0;
  const uint64_t offered = a.type == FI_EP_DGRAM ? kDatagramCaps : kCaps;
  uint64_t newer = a.type == FI_EP_DGRAM ? kExactDirectedRecv : kNewRxCaps;
  if (version < FI_VERSION(2, 0) || kApiHeaders < FI_VERSION(2, 0)) newer = 0;
  if (has_other(wanted, offered | newer)) return false;
  // Reporting an unknown sender is a refinement of reporting the sender.
  if ((wanted & FI_SOURCE_ERR) != 0 && (wanted & FI_SOURCE) == 0) return false;
  // It also turns completions into errors, so only on request. [LF-016]
  a.caps = (wanted == 0 ? offered & ~FI_SOURCE_ERR : with_implied(wanted)) | a.peer_caps;
  a.tx_caps = a.caps & kTxCaps;
  a.rx_caps = a.caps & (kRxCaps | newer);
  if (hints == nullptr) return true;
  if (hints->tx_attr != nullptr && hints->tx_attr->caps != 0) {
    if (has_other(hints->tx_attr->caps, a.tx_caps)) return false;
    a.tx_caps = hints->tx_attr->caps;
  }
  if (hints->rx_attr != nullptr && hints->rx_attr->caps != 0) {
    if (has_other(hints->rx_attr->caps, a.rx_caps)) return false;
    a.rx_caps = hints->rx_attr->caps;
  }
  return true;
}

size_t queue_size(size_t wanted) { return wanted != 0 ? wanted : kQueueSizeDefault; }

// Remote segments of an operation: each one is a message in the queue. [LF-047]
size_t rma_segments(size_t tx_size) { return std::min(kIovLimit, tx_size); }

// lnx returns our limit as its own, and accepts no more. [LF-159]
size_t buffers(const Agreement& a) {
  return (a.peer_caps & FI_PEER) != 0 ? kPeerIovLimit : kIovLimit;
}

bool agree_tx(const fi_tx_attr* tx, Agreement& a) {
  a.tx_size = kQueueSizeDefault;
  a.rma_iov_limit = buffers(a);
  if (tx == nullptr) return true;
  const bool is_datagram = a.type == FI_EP_DGRAM;
  if (has_other(tx->msg_order, is_datagram ? 0 : kOrders) || tx->comp_order != 0) return false;
  if (has_other(tx->op_flags, is_datagram ? kDatagramTxOpFlags : kTxOpFlags)) return false;
  if (!is_class(tx->tclass)) return false;
  if (exceeds(tx->inject_size, ses::kInjectBytes) || exceeds(tx->size, kQueueSizeMax) ||
      exceeds(tx->iov_limit, kIovLimit) ||
      exceeds(tx->rma_iov_limit, rma_segments(queue_size(tx->size)))) {
    return false;
  }
  a.tx_order = tx->msg_order;
  a.tx_op_flags = tx->op_flags;
  a.tx_size = queue_size(tx->size);
  a.rma_iov_limit = std::max(a.rma_iov_limit, tx->rma_iov_limit);
  a.ep_tclass = tx->tclass;
  return true;
}

bool agree_rx(const fi_rx_attr* rx, Agreement& a) {
  a.rx_size = kQueueSizeDefault;
  a.rx_iov_limit = buffers(a);
  if (rx == nullptr) return true;
  if (has_other(rx->msg_order, a.type == FI_EP_DGRAM ? 0 : kOrders)) return false;
  if (rx->comp_order != 0) return false;
  if (has_other(rx->op_flags, kRxOpFlags) || rx->total_buffered_recv != 0) return false;
  if (exceeds(rx->size, kQueueSizeMax) || exceeds(rx->iov_limit, kIovLimit)) return false;
  a.rx_iov_limit = std::max(a.rx_iov_limit, rx->iov_limit);
  a.rx_order = rx->msg_order;
  a.rx_op_flags = rx->op_flags;
  a.rx_size = queue_size(rx->size);
  return true;
}

// Job of a key, or no key at all. Anything else is a mistake. [LF-017]
bool agree_key(const uint8_t* key, size_t bytes, const uint8_t*& agreed) {
  if (bytes == 0) return true;
  if (!job_of_key(key, bytes)) return false;
  agreed = key;
  return true;
}

// Limit for a read before an ordered write. Longer data is fetched from memory when its packet is
// made, and the write may come earlier. [LF-090]
constexpr size_t kWarBytes = ses::Config{}.ack_data_bytes_max;

// Without an order messages may overtake each other: the sizes are then 0. [LF-090]
size_t order_size(uint64_t orders, uint64_t asked, size_t bytes = ses::kMaxMessageBytes) {
  return (orders & asked) != 0 ? bytes : 0;
}

// A size of ordered data asks for that order. Without RMA there is nothing to order. [LF-090]
bool agree_order_sizes(const fi_ep_attr& ep, Agreement& a) {
  if ((a.caps & kMemoryCaps) == 0) return true;
  const struct {
    size_t wanted;
    uint64_t orders;  // any one of these satisfies the size
    uint64_t order;   // granted when none was requested
    size_t most;
  } sizes[] = {{ep.max_order_raw_size, kRawOrders, FI_ORDER_RAW, ses::kMaxMessageBytes},
               {ep.max_order_war_size, kWarOrders, FI_ORDER_WAR, kWarBytes},
               {ep.max_order_waw_size, kWawOrders, FI_ORDER_WAW, ses::kMaxMessageBytes}};
  for (const auto& size : sizes) {
    if (size.wanted == 0) continue;
    if (exceeds(size.wanted, size.most)) return false;
    if (((a.tx_order | a.rx_order) & size.orders) != 0) continue;
    a.tx_order |= size.order;
    a.rx_order |= size.order;
  }
  return true;
}

bool agree_ep(uint32_t version, const fi_ep_attr* ep, Agreement& a) {
  if (ep == nullptr) return true;
  if (ep->type != FI_EP_UNSPEC && ep->type != a.type) return false;  // [LF-072]
  if (ep->protocol != FI_PROTO_UNSPEC && ep->protocol != kProtoUet) return false;
  if (exceeds(ep->protocol_version, kProtoUetVersion)) return false;
  if (exceeds(ep->max_msg_size, ses::kMaxMessageBytes) || ep->msg_prefix_size != 0) return false;
  if (!agree_order_sizes(*ep, a)) return false;
  a.message_bytes = ep->max_msg_size;
  a.shares_receives = ep->rx_ctx_cnt == FI_SHARED_CONTEXT;  // [LF-077]
  if (exceeds(ep->tx_ctx_cnt, 1)) return false;
  if (exceeds(ep->rx_ctx_cnt, 1) && !a.shares_receives) return false;
  if (version >= FI_VERSION(2, 0) && ep->mem_tag_format != kTagBits &&
      ep->mem_tag_format < kTagFormats) {
    // These two are subsets of all 64 bits; other names are unknown. [LF-065, LF-066, LF-067,
    // LF-113]
    if (ep->mem_tag_format != kTagMpi && ep->mem_tag_format != kTagCcl) return false;
    a.mem_tag_format = ep->mem_tag_format;
  }
  if (a.has_av_keys) return ep->auth_key_size == 0;
  return agree_key(ep->auth_key, ep->auth_key_size, a.endpoint_key);
}

// Regions need no action of the application, so every requirement comes from its own hints, and
// unneeded ones are dropped: programs bind a region to one endpoint when FI_MR_ENDPOINT comes back
// and then use it through another. [LF-030 .. LF-033, ABI-033]
bool agree_mr_mode(const Settings& settings, uint32_t version, int offered, Agreement& a) {
  if (version < kApiMrBits && offered == 0) offered = kMrScalable;  // the other one [LF-128]
  int negotiable = FI_MR_PROV_KEY | FI_MR_ALLOCATED;
  if (!settings.mr_domain) negotiable |= FI_MR_ENDPOINT;
  const bool is_old = offered == kMrScalable || offered == kMrBasic;  // [LF-151]
  a.mr_mode = is_old ? offered : offered & negotiable;
  if ((a.caps & FI_RMA_EVENT) != 0 && !is_old) {
    a.mr_mode |= offered & FI_MR_RMA_EVENT;
  }
  return settings.mr_domain || (a.mr_mode & FI_MR_ENDPOINT) != 0;
}

bool agree_progress(const Settings& settings, fi_progress wanted, fi_progress& out) {
  if (wanted == FI_PROGRESS_AUTO) {
    out = FI_PROGRESS_AUTO;
    return settings.helper;
  }
  out = FI_PROGRESS_MANUAL;  // [LF-081, LF-111]
  return static_cast<int>(wanted) <= kProgressUnified;
}

bool agree_domain_key(uint32_t version, const fi_domain_attr& domain, Agreement& a) {
  a.has_av_keys = has_av_keys(version, domain);
  if (a.has_av_keys) return domain.auth_key == nullptr;
  return agree_key(domain.auth_key, domain.auth_key_size, a.domain_key);
}

// Members that older applications do not have in this structure, and members that they do not set.
// [ABI-024]
bool agree_newer([[maybe_unused]] uint32_t version, [[maybe_unused]] const fi_domain_attr& domain,
                 Agreement& a) {
  // One key for each endpoint, or those of its address vector. A provider that links others passes
  // this answer on, and lnx has none. [LF-108, LF-159]
  a.endpoint_keys = (a.peer_caps & FI_PEER) != 0 ? 0 : 1;
  if (has_av_keys(version, domain)) a.endpoint_keys = kKeysMax;
#if UET_HAVE_AV_AUTH_KEY
  if (version >= FI_VERSION(1, 20) && exceeds(domain.max_ep_auth_key, a.endpoint_keys)) {
    return false;
  }
#endif
#if UET_HAVE_GROUP_ID
  if (version >= FI_VERSION(2, 0) && domain.max_group_id != 0) return false;  // [LF-116]
#endif
  return true;
}

// With keys of the address vector, regions can be for one address or key. [fi_domain, caps]
uint64_t domain_caps(uint32_t version, const fi_domain_attr& domain, const Agreement& a) {
  return kDomainCaps | a.peer_caps | (has_av_keys(version, domain) ? a.caps & FI_DIRECTED_RECV : 0);
}

bool agree_domain(const Settings& settings, uint32_t version, const fi_domain_attr* domain,
                  Agreement& a) {
  a.mr_count = settings.stack.ses.memory_regions;
  if (domain == nullptr) return agree_mr_mode(settings, version, 0, a);
  if (has_other(domain->caps, domain_caps(version, *domain, a))) return false;
  if (!agree_mr_mode(settings, version, domain->mr_mode, a)) return false;
  if (exceeds(domain->mr_key_size, kKeyBytes) || exceeds(domain->cq_data_size, 8) ||
      exceeds(domain->mr_iov_limit, kIovLimit) || exceeds(domain->mr_cnt, a.mr_count) ||
      exceeds(domain->cq_cnt, kObjectCount) || exceeds(domain->cntr_cnt, kObjectCount) ||
      exceeds(domain->ep_cnt, kEndpointCount) || exceeds(domain->max_err_data, kErrDataBytes)) {
    return false;
  }
  if (exceeds(domain->tx_ctx_cnt, kEndpointCount) || exceeds(domain->rx_ctx_cnt, kEndpointCount) ||
      exceeds(domain->max_ep_tx_ctx, 1) || exceeds(domain->max_ep_rx_ctx, 1) ||
      domain->max_ep_stx_ctx != 0 || exceeds(domain->max_ep_srx_ctx, kEndpointCount)) {
    return false;
  }
  if (exceeds(domain->threading, 5) || exceeds(domain->resource_mgmt, FI_RM_ENABLED) ||
      exceeds(domain->av_type, FI_AV_TABLE) || !is_class(domain->tclass)) {
    return false;
  }
  if (!agree_newer(version, *domain, a)) return false;
  if (domain->threading != FI_THREAD_UNSPEC) a.threading = domain->threading;
  if (domain->av_type != FI_AV_UNSPEC) a.av_type = domain->av_type;
  a.domain_tclass = domain->tclass;
  return agree_progress(settings, domain->control_progress, a.control_progress) &&
         agree_progress(settings, domain->data_progress, a.data_progress) &&
         agree_domain_key(version, *domain, a);
}

bool set_key(const uint8_t* key, uint8_t*& out, size_t& bytes) {
  if (key == nullptr) return true;
  out = static_cast<uint8_t*>(malloc(kJobKeyBytes));
  if (out == nullptr) return false;
  memcpy(out, key, kJobKeyBytes);
  bytes = kJobKeyBytes;
  return true;
}

void fill_domain(const Agreement& a, fi_domain_attr& domain) {
  domain.threading = a.threading;
  domain.control_progress = a.control_progress;
  domain.data_progress = a.data_progress;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = a.av_type;
  domain.mr_mode = a.mr_mode;
  domain.mr_key_size = kKeyBytes;
  domain.cq_data_size = 8;
  domain.cq_cnt = kObjectCount;
  domain.ep_cnt = kEndpointCount;
  domain.tx_ctx_cnt = kEndpointCount;
  domain.rx_ctx_cnt = kEndpointCount;
  domain.max_ep_tx_ctx = 1;
  domain.max_ep_rx_ctx = 1;
  domain.max_ep_srx_ctx = kEndpointCount;  // [LF-077]
  domain.cntr_cnt = kObjectCount;
  domain.mr_iov_limit = kIovLimit;
  domain.caps = kDomainCaps | a.peer_caps | (a.has_av_keys ? a.caps & FI_DIRECTED_RECV : 0);
  domain.max_err_data = kErrDataBytes;
  domain.mr_cnt = a.mr_count;
  domain.tclass = a.domain_tclass;
#if UET_HAVE_AV_AUTH_KEY
  domain.max_ep_auth_key = a.endpoint_keys;  // [LF-108]
#endif
#if UET_HAVE_MAX_CNTR_VALUE
  domain.max_cntr_value = UINT64_MAX;  // [LF-125]
  domain.max_err_cntr_value = UINT64_MAX;
#endif
  if (!set_key(a.domain_key, domain.auth_key, domain.auth_key_size)) throw std::bad_alloc();
  if (a.has_av_keys) domain.auth_key_size = kKeysFromAv;
}

// Logged once: programs call fi_getinfo again and again, and with other hints.
void warn_of_useless_mode() {
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  tell_user(
      "the program asks for messages in order, which FI_UET_MODE=rud does not keep, so nothing is "
      "offered; auto, the default, uses ROD for it");
}

std::nullopt_t refuse(const char* what) {
  UET_INFO(CORE, "fi_getinfo: the hints ask for more than is offered in %s\n", what);
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> job_of_key(const uint8_t* key, size_t bytes) {
  uint32_t job = 0;
  if (key == nullptr || bytes != kJobKeyBytes) return std::nullopt;
  memcpy(&job, key, sizeof job);  // host order
  if (job == 0 || job > 0xFF'FFFF) return std::nullopt;
  return job;
}

std::optional<Agreement> agree(const Settings& settings, uint32_t version, const fi_info* hints) {
  Agreement a;
  const auto tx = hints != nullptr ? hints->tx_attr : nullptr;
  const auto rx = hints != nullptr ? hints->rx_attr : nullptr;
  const auto ep = hints != nullptr ? hints->ep_attr : nullptr;
  const auto domain = hints != nullptr ? hints->domain_attr : nullptr;
  // Only on request; otherwise layered providers would put themselves on top of it. [LF-072,
  // ABI-034]
  if (ep != nullptr && ep->type == FI_EP_DGRAM) a.type = FI_EP_DGRAM;
  if (!agree_caps(version, hints, a)) return refuse("caps, tx_attr->caps or rx_attr->caps");
  if (!agree_tx(tx, a)) return refuse("tx_attr");
  if (!agree_rx(rx, a)) return refuse("rx_attr");
  if (!agree_domain(settings, version, domain, a)) return refuse("domain_attr");
  if (!agree_ep(version, ep, a)) return refuse("ep_attr");
  if (is_of_trimmed(settings, a.ep_tclass) || is_of_trimmed(settings, a.domain_tclass)) {
    return refuse(
        "tclass: that DSCP is the one of trimmed packets (FI_UET_DSCP_TRIMMED, "
        "FI_UET_DSCP_TRIMMED_LASTHOP)");
  }
  if (hints != nullptr) {
    const auto fabric = hints->fabric_attr;
    if (fabric != nullptr && exceeds(fabric->prov_version, provider().version)) {
      return refuse("fabric_attr->prov_version");
    }
    if (hints->handle != nullptr) return refuse("handle");  // no endpoint here is connected
    if (!is_supported_format(hints->addr_format)) return refuse("addr_format");
    a.addr_format = hints->addr_format;
    // A socket address cannot say that an endpoint is absolute. [LF-020]
    const bool is_socket = a.addr_format >= FI_SOCKADDR && a.addr_format <= FI_SOCKADDR_IN6;
    if (a.has_av_keys && is_socket) return refuse("addr_format with FI_AV_AUTH_KEY");
  }
  // Only ROD keeps an order. [LF-089]
  const bool unordered = settings.mode == ModeChoice::rud;
  if (unordered && (a.tx_order | a.rx_order) != 0) {
    warn_of_useless_mode();
    return refuse("msg_order with FI_UET_MODE=rud");
  }
  return a;
}

void fill_attributes(const Agreement& a, fi_info& info) {
  const uint64_t orders = a.tx_order | a.rx_order;
  info.caps = a.caps;
  info.mode = 0;  // [LF-071]
  info.addr_format = a.addr_format;
  *info.tx_attr = {};
  info.tx_attr->caps = a.tx_caps;
  info.tx_attr->op_flags = a.tx_op_flags;
  info.tx_attr->msg_order = a.tx_order;
  info.tx_attr->inject_size = ses::kInjectBytes;
  info.tx_attr->size = a.tx_size;
  info.tx_attr->iov_limit = kIovLimit;
  info.tx_attr->rma_iov_limit = std::min(a.rma_iov_limit, rma_segments(a.tx_size));
  info.tx_attr->tclass = a.ep_tclass;
  *info.rx_attr = {};
  info.rx_attr->caps = a.rx_caps;
  info.rx_attr->op_flags = a.rx_op_flags;
  info.rx_attr->msg_order = a.rx_order;
  info.rx_attr->size = a.rx_size;
  info.rx_attr->iov_limit = a.rx_iov_limit;
  fi_ep_attr& ep = *info.ep_attr;
  ep.type = a.type;
  ep.protocol = kProtoUet;
  ep.protocol_version = kProtoUetVersion;
  ep.max_msg_size = ses::kMaxMessageBytes;
  ep.max_order_raw_size = order_size(orders, kRawOrders);
  ep.max_order_war_size = order_size(orders, kWarOrders, kWarBytes);
  ep.max_order_waw_size = order_size(orders, kWawOrders);
  ep.mem_tag_format = a.mem_tag_format;
  ep.tx_ctx_cnt = 1;
  ep.rx_ctx_cnt = a.shares_receives ? size_t{FI_SHARED_CONTEXT} : 1;
  // The endpoint's key comes before the domain's. [LF-018]
  const uint8_t* const key = a.endpoint_key != nullptr ? a.endpoint_key : a.domain_key;
  if (!set_key(key, ep.auth_key, ep.auth_key_size)) throw std::bad_alloc();
  fill_domain(a, *info.domain_attr);
}

}  // namespace uet::prov
