// From fi_info to what an endpoint is opened as; see attributes.h.
#include "prov/uet/endpoint/attributes.h"

#include "prov/uet/domain/domain.h"

#include <algorithm>

namespace uet::prov {
namespace {

constexpr uint32_t kDefaultQueueSize = 1024;
constexpr uint32_t kQueueSizeMax = 1u << 16;

// Any of these asks for an order between messages, which only ROD gives. [LF-089]
constexpr uint64_t kOrderBits = 0x1FFULL | (0xFFULL << 32);

// DSCP of a traffic class, or `otherwise` if the class has none; control packets keep theirs.
// [LF-092]
TrafficClass traffic_class(uint32_t tclass, uint8_t otherwise) {
  if ((tclass & FI_TC_DSCP) != 0) return TrafficClass{static_cast<uint8_t>(tclass & 0x3F)};
  switch (tclass) {
    case FI_TC_LOW_LATENCY:
      return TrafficClass{40};
    case FI_TC_DEDICATED_ACCESS:
      return TrafficClass{34};
    case FI_TC_SCAVENGER:
      return TrafficClass{1};
    case FI_TC_NETWORK_CTRL:
      return TrafficClass{48};
    default:
      return TrafficClass{otherwise};
  }
}

// Before 2.0 every value is a mask of bits. [LF-067]
uint64_t tag_format_of(const fi_info& info, uint32_t api_version) {
  if (info.ep_attr == nullptr || api_version < FI_VERSION(2, 0)) return kTagFormat;
  return info.ep_attr->mem_tag_format;
}

bool asks_for_order(const fi_info& info) {
  const uint64_t tx = info.tx_attr != nullptr ? info.tx_attr->msg_order : 0;
  const uint64_t rx = info.rx_attr != nullptr ? info.rx_attr->msg_order : 0;
  return ((tx | rx) & kOrderBits) != 0;
}

}  // namespace

uint32_t class_of(const fi_info& info) {
  if (info.tx_attr != nullptr && info.tx_attr->tclass != FI_TC_UNSPEC) return info.tx_attr->tclass;
  return info.domain_attr != nullptr ? info.domain_attr->tclass : uint32_t{FI_TC_UNSPEC};
}

bool is_of_trimmed(const Settings& settings, uint32_t tclass) {
  const uint8_t dscp = traffic_class(tclass, settings.data_dscp()).value();
  return (settings.cut_dscps() >> dscp & 1) != 0;
}

uint32_t endpoint_queue_size(size_t asked) {
  if (asked == 0) return kDefaultQueueSize;
  return static_cast<uint32_t>(std::min<size_t>(asked, kQueueSizeMax));
}

EndpointAttributes::EndpointAttributes(const Domain& domain, const fi_info& info)
    : caps(info.caps != 0 ? info.caps : domain.terms().caps),
      tx_size(endpoint_queue_size(info.tx_attr != nullptr ? info.tx_attr->size : 0)),
      rx_size(endpoint_queue_size(info.rx_attr != nullptr ? info.rx_attr->size : 0)),
      message_bytes_max(ses::kMaxMessageBytes),
      addr_format(info.addr_format),
      tc(traffic_class(class_of(info), domain.settings().data_dscp())),
      tag_format(tag_format_of(info, domain.api_version())),
      mode(domain.settings().mode),
      ordered(asks_for_order(info)),
      datagram(info.ep_attr != nullptr && info.ep_attr->type == FI_EP_DGRAM),
      shares(info.ep_attr != nullptr && info.ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT) {
  if (!datagram) return;
  message_bytes_max = domain.terms().payload_mtu();
  caps &= ~(FI_TAGGED | FI_RMA);  // when they come from the domain
}

}  // namespace uet::prov
