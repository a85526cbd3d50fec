// fi_getinfo's addresses: which local address serves which request. Hints are info_hints.cpp's.
#include "prov/uet/domain/info.h"

#include "prov/uet/address/resolve.h"
#include "prov/uet/api/log.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/domain/open_domains.h"
#include "prov/uet/domain/payload_mtu.h"
#include "prov/uet/observe/user_message.h"

#include "io/socket.h"

#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>

namespace uet::prov {
namespace {

using InfoList = std::unique_ptr<fi_info, decltype(&fi_freeinfo)>;

constexpr const char* kFabricNames[] = {"UET", "UET6", "UET-lo", "UET6-lo"};

bool is_link_usable(const io::Interface& interface) {
  return interface.address.valid() && !interface.is_link_local();
}

// The value of FI_UET_IFACE as an address, if it is one.
std::optional<FabricAddress> iface_address(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::vector<FabricAddress> found = resolve_node(text.c_str(), true);
  if (found.empty()) return std::nullopt;
  return found.front();
}

// Said once: fi_getinfo is asked again and again.
void warn_of_useless_iface(const std::string& iface) {
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  tell_user(
      "FI_UET_IFACE=%s is neither an interface that is up nor a local address, so nothing is "
      "offered; `ip addr` lists both, and without the variable all are offered",
      iface.c_str());
}

bool same_ip(const FabricAddress& a, const FabricAddress& b) {
  return a.family == b.family && a.ip == b.ip;
}

// The candidate for `address` among `all`, also for the unconfigured ones of loopback.
std::optional<DomainCandidate> pick(const std::vector<DomainCandidate>& all,
                                    const FabricAddress& address) {
  for (const DomainCandidate& c : all) {
    if (same_ip(c.interface.address, address)) return c;
  }
  std::vector<io::Interface> interfaces;
  interfaces.reserve(all.size());
  for (const DomainCandidate& c : all) interfaces.push_back(c.interface);
  const io::Interface* loopback = io::find_interface(interfaces, address);
  if (loopback == nullptr || !loopback->is_loopback()) return std::nullopt;
  DomainCandidate candidate{loopback->name + "/" + io::ip_text(address), *loopback};
  candidate.interface.address = address;
  candidate.interface.address.port = kUetPort;
  return candidate;
}

std::vector<DomainCandidate> all_domains() {
  std::vector<DomainCandidate> all;
  for (const io::Interface& interface : io::list_interfaces()) {
    if (!is_link_usable(interface)) continue;
    const bool again = std::any_of(all.begin(), all.end(), [&](const DomainCandidate& c) {
      return c.interface.name == interface.name;
    });
    const std::string suffix = again ? "/" + io::ip_text(interface.address) : std::string();
    all.push_back({interface.name + suffix, interface});
  }
  return all;
}

// The addresses in the caller's arguments.
struct AddressRequest {
  std::vector<UetAddress> sources;       // any of them; empty: no wish
  std::vector<UetAddress> destinations;  // best first; empty: none
  UetAddress source_fields;              // PIDonFEP and so on, for sources without an address
  std::string domain_name;
  std::string fabric_name;
  fid_domain* domain = nullptr;  // an open one that the answer is for; null: no wish
  FabricAddress domain_address;  // its own
  fid_fabric* fabric = nullptr;  // the same for a fabric
};

bool read_hint_address(const fi_info& hints, const void* data, size_t bytes,
                       std::vector<UetAddress>& out) {
  if (data == nullptr || bytes == 0) return true;
  const Result<UetAddress> address = read_address(hints.addr_format, data, bytes);
  if (address.ok()) out.push_back(*address);
  return address.ok();
}

bool is_wildcard(const FabricAddress& fa) {
  return !fa.valid() || std::all_of(fa.ip.begin(), fa.ip.end(), [](uint8_t b) { return b == 0; });
}

// Node and service, on the side that FI_SOURCE says. 0 or -FI_ENODATA.
int read_node(const char* node, const char* service, uint64_t flags, AddressRequest& request) {
  if (node == nullptr && service == nullptr) return 0;
  UetAddress fields;
  if (service != nullptr && !apply_service(service, fields).ok()) return -FI_ENODATA;
  const bool source = (flags & FI_SOURCE) != 0;
  if (source && node == nullptr) {
    request.source_fields = fields;
    return 0;
  }
  // An address in the string form of uet is a node, too.
  std::vector<UetAddress>& list = source ? request.sources : request.destinations;
  list.clear();
  if (node != nullptr) {
    const Result<UetAddress> own = read_address(FI_ADDR_STR, node, SIZE_MAX);
    if (own.ok()) {
      list.push_back(*own);
      return 0;
    }
  }
  // No node and not FI_SOURCE: this host, as with getaddrinfo.
  const bool numeric = node == nullptr || (flags & FI_NUMERICHOST) != 0;
  for (const FabricAddress& fa : resolve_node(node != nullptr ? node : "127.0.0.1", numeric)) {
    UetAddress address = fields;
    address.fa = fa;
    list.push_back(address);
  }
  return list.empty() ? -FI_ENODATA : 0;
}

// An open domain restricts the answer to itself. [fi_domain, domain attributes]
bool read_domain(fid_domain* domain, AddressRequest& request) {
  if (domain == nullptr) return true;
  const std::optional<FabricAddress> address = open_domains().address_of(domain);
  if (!address) {
    UET_INFO(CORE, "fi_getinfo: hints->domain_attr->domain is not an open domain of uet\n");
    return false;
  }
  request.domain = domain;
  request.domain_address = *address;
  return true;
}

// An open fabric restricts the answer to itself. [fi_fabric, fabric attributes]
bool read_fabric(const fi_fabric_attr& attr, AddressRequest& request) {
  if (attr.name != nullptr) request.fabric_name = attr.name;
  if (attr.fabric == nullptr) return true;
  const std::optional<std::string> name = Fabric::name_of(attr.fabric);
  if (!name) {
    UET_INFO(CORE, "fi_getinfo: hints->fabric_attr->fabric is not an open fabric of uet\n");
    return false;
  }
  request.fabric = attr.fabric;
  if (name->empty()) return true;  // it was opened without a name: it takes any domain
  const std::string& wanted = request.fabric_name;
  if (!wanted.empty() && strcasecmp(wanted.c_str(), name->c_str()) != 0) return false;
  request.fabric_name = *name;
  return true;
}

int read_request(const char* node, const char* service, uint64_t flags, const fi_info* hints,
                 AddressRequest& request) {
  if (hints != nullptr) {
    if (!read_hint_address(*hints, hints->src_addr, hints->src_addrlen, request.sources) ||
        !read_hint_address(*hints, hints->dest_addr, hints->dest_addrlen, request.destinations)) {
      return -FI_ENODATA;
    }
    if (const fi_domain_attr* attr = hints->domain_attr; attr != nullptr) {
      if (attr->name != nullptr) request.domain_name = attr->name;
      if (!read_domain(attr->domain, request)) return -FI_ENODATA;
    }
    if (hints->fabric_attr != nullptr && !read_fabric(*hints->fabric_attr, request)) {
      return -FI_ENODATA;
    }
  }
  if (const int error = read_node(node, service, flags, request); error != 0) return error;
  // A source without a Fabric Address only states the other fields.
  if (!request.sources.empty() && is_wildcard(request.sources.front().fa)) {
    request.source_fields = request.sources.front();
    request.source_fields.fa = {};
    request.sources.clear();
  }
  return 0;
}

bool is_family_expressible(uint32_t addr_format, FabricAddress::Family family) {
  if (addr_format == FI_SOCKADDR_IN) return family == FabricAddress::Family::ipv4;
  if (addr_format == FI_SOCKADDR_IN6) return family == FabricAddress::Family::ipv6;
  return true;
}

void set_address(const std::string& octets, void*& data, size_t& bytes) {
  data = malloc(octets.size());
  if (data == nullptr) throw std::bad_alloc();
  memcpy(data, octets.data(), octets.size());
  bytes = octets.size();
}

char* copy_text(const std::string& text) {
  char* copy = strdup(text.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

// The fi_info of one candidate, with the addresses given. [ABI-014, ABI-023]
InfoList make_info(const Settings& settings, const DomainCandidate& candidate, Agreement agreement,
                   UetAddress source, const UetAddress* destination) {
  InfoList info(fi_allocinfo(), &fi_freeinfo);
  if (info == nullptr) throw std::bad_alloc();
  const bool ipv6 = candidate.interface.address.family == FabricAddress::Family::ipv6;
  if (agreement.addr_format == FI_SOCKADDR) {
    agreement.addr_format = ipv6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
  }
  fill_attributes(agreement, *info);
  if (agreement.type == FI_EP_DGRAM) {  // one packet [LF-072]
    info->ep_attr->max_msg_size = payload_mtu_of(settings, candidate.interface);
    info->tx_attr->inject_size = std::min(info->tx_attr->inject_size, info->ep_attr->max_msg_size);
  }
  info->domain_attr->name = copy_text(candidate.name);
  info->fabric_attr->name = copy_text(fabric_name(candidate.interface));
  source.fa = candidate.interface.address;
  source.absolute = settings.absolute || agreement.has_av_keys;  // [LF-020]
  set_address(write_address(agreement.addr_format, source), info->src_addr, info->src_addrlen);
  if (destination != nullptr) {
    set_address(write_address(agreement.addr_format, *destination), info->dest_addr,
                info->dest_addrlen);
  }
  info->domain_attr->domain = open_domains().first_at(candidate.interface.address);
  info->fabric_attr->fabric = Fabric::first_open(info->fabric_attr->name);
  info->nic = make_nic(candidate.interface, settings.io);
  return info;
}

// Candidates that can reach `destination`. The system's route decides unless the caller named the
// source or the domain.
bool reaches(const DomainCandidate& candidate, const FabricAddress& destination, bool chosen) {
  if (candidate.interface.address.family != destination.family) return false;
  if (chosen) return true;
  const Result<FabricAddress> local = local_address_toward(destination);
  return local.ok() && same_ip(*local, candidate.interface.address);
}

class Lister {
 public:
  Lister(const Settings& settings, const Agreement& agreement, const AddressRequest& request)
      : settings_(settings), agreement_(agreement), request_(request) {}

  int run(fi_info** out) {
    for (const UetAddress& source : request_.sources) {
      if (const auto c = find_domain(settings_, source.fa)) offer(*c, source);
    }
    if (request_.sources.empty() && request_.domain != nullptr) {
      if (const auto c = find_domain(settings_, request_.domain_address))
        offer(*c, request_.source_fields);
    } else if (request_.sources.empty() && !request_.domain_name.empty()) {
      if (const auto c = find_domain(settings_, request_.domain_name))
        offer(*c, request_.source_fields);
    } else if (request_.sources.empty()) {
      for (const DomainCandidate& c : list_domains(settings_)) offer(c, request_.source_fields);
    }
    if (head_ == nullptr) return -FI_ENODATA;
    *out = head_.release();
    return 0;
  }

 private:
  void offer(const DomainCandidate& candidate, const UetAddress& source) {
    const std::string& name = request_.domain_name;
    if (!name.empty() && strcasecmp(name.c_str(), candidate.name.c_str()) != 0) return;
    if (request_.domain != nullptr &&
        !same_ip(request_.domain_address, candidate.interface.address)) {
      return;
    }
    const std::string& fabric = request_.fabric_name;
    if (!fabric.empty() && strcasecmp(fabric.c_str(), fabric_name(candidate.interface)) != 0)
      return;
    if (agreement_.type == FI_EP_DGRAM &&
        agreement_.message_bytes > payload_mtu_of(settings_, candidate.interface)) {
      return;
    }
    if (!is_family_expressible(agreement_.addr_format, candidate.interface.address.family)) return;
    if (request_.destinations.empty())
      append(make_info(settings_, candidate, agreement_, source, nullptr));
    const bool chosen = !name.empty() || !request_.sources.empty();
    for (const UetAddress& destination : request_.destinations) {
      if (!reaches(candidate, destination.fa, chosen)) continue;
      append(make_info(settings_, candidate, agreement_, source, &destination));
      return;
    }
  }

  void append(InfoList info) {
    if (request_.domain != nullptr) info->domain_attr->domain = request_.domain;
    if (request_.fabric != nullptr) info->fabric_attr->fabric = request_.fabric;
    fi_info* const added = info.release();
    if (tail_ != nullptr) {
      tail_->next = added;
    } else {
      head_.reset(added);
    }
    tail_ = added;
  }

  const Settings& settings_;
  const Agreement& agreement_;
  const AddressRequest& request_;
  fi_info* tail_ = nullptr;
  InfoList head_{nullptr, &fi_freeinfo};
};

}  // namespace

std::vector<DomainCandidate> list_domains(const Settings& settings) {
  std::vector<DomainCandidate> all = all_domains();
  const std::string& iface = settings.iface;
  if (iface.empty()) return all;
  if (const auto address = iface_address(iface)) {
    const auto c = pick(all, *address);
    all.clear();
    if (c) all.push_back(*c);
  } else {
    std::erase_if(all, [&](const DomainCandidate& c) { return c.interface.name != iface; });
  }
  if (all.empty()) warn_of_useless_iface(iface);
  return all;
}

std::optional<DomainCandidate> find_domain(const Settings& settings, const FabricAddress& address) {
  const auto only = iface_address(settings.iface);
  if (only && !same_ip(*only, address)) return std::nullopt;
  return pick(list_domains(settings), address);
}

std::optional<DomainCandidate> find_domain(const Settings& settings, const std::string& name) {
  const std::vector<DomainCandidate> all = list_domains(settings);
  for (const DomainCandidate& c : all) {
    if (strcasecmp(name.c_str(), c.name.c_str()) == 0) return c;
  }
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::vector<FabricAddress> found = resolve_node(name.c_str() + slash + 1, true);
  return found.empty() ? std::nullopt : find_domain(settings, found.front());
}

const char* fabric_name(const io::Interface& interface) {
  const bool ipv6 = interface.address.family == FabricAddress::Family::ipv6;
  return kFabricNames[(interface.is_loopback() ? 2 : 0) + (ipv6 ? 1 : 0)];
}

bool is_fabric_name(const char* name) {
  return std::any_of(std::begin(kFabricNames), std::end(kFabricNames),
                     [&](const char* known) { return strcasecmp(name, known) == 0; });
}

uint32_t payload_mtu_of(const Settings& settings, const io::Interface& interface) {
  return settings.payload_mtu.value_or(payload_mtu_for(interface));
}

int get_info(const Settings& settings, uint32_t version, const char* node, const char* service,
             uint64_t flags, const fi_info* hints, fi_info** out) {
  // Probes of layered providers ask with this flag; answering would list everything twice.
  // [ABI-031, ABI-034]
  if ((flags & kCoreProviderOnly) != 0) return -FI_ENODATA;
  if (!settings.valid) return -FI_ENODATA;
  const std::optional<Agreement> agreement = agree(settings, version, hints);
  if (!agreement) return -FI_ENODATA;
  AddressRequest request;
  if (const int error = read_request(node, service, flags, hints, request); error != 0) {
    return error;
  }
  return Lister(settings, *agreement, request).run(out);
}

}  // namespace uet::prov
