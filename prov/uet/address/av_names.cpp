// Counting up nodes and services; see av_names.h.
#include "prov/uet/address/av_names.h"

#include "prov/uet/address/resolve.h"
#include "prov/uet/api/compat.h"

#include <charconv>
#include <cstring>
#include <vector>

namespace uet::prov {
namespace {

// The IP address `step` after this one; false past the last.
bool count_up(FabricAddress& fa, size_t step) {
  size_t carry = step;
  for (uint32_t i = fa.ip_length(); i-- > 0 && carry != 0;) {
    carry += fa.ip[i];
    fa.ip[i] = static_cast<uint8_t>(carry);
    carry >>= 8;
  }
  return carry == 0;
}

Result<FabricAddress> of_family(const std::vector<FabricAddress>& found,
                                FabricAddress::Family family) {
  for (const FabricAddress& fa : found) {
    if (fa.family == family) return fa;
  }
  return Errc::not_found;
}

Result<FabricAddress> node_at(const char* node, size_t step, FabricAddress::Family family) {
  const std::vector<FabricAddress> numeric = resolve_node(node, true);
  if (!numeric.empty()) {
    FabricAddress fa = UET_TRY(of_family(numeric, family));
    if (!count_up(fa, step)) return Errc::invalid;
    return fa;
  }
  const std::string name = step == 0 ? std::string(node) : counted_name(node, step);
  if (name.empty()) return Errc::invalid;
  return of_family(resolve_node(name.c_str(), false), family);
}

}  // namespace

std::string counted_name(const std::string& node, size_t step) {
  const size_t digits = node.size() - (node.find_last_not_of("0123456789") + 1);
  if (digits == 0 || digits > 9) return {};
  size_t number = 0;
  std::from_chars(node.data() + node.size() - digits, node.data() + node.size(), number);
  std::string text = std::to_string(number + step);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return node.substr(0, node.size() - digits) + text;
}

Result<UetAddress> SymmetricNames::address(size_t position) const {
  if (position == 0 && service == nullptr) {
    const Result<UetAddress> own = read_address(FI_ADDR_STR, node, SIZE_MAX);
    if (own.ok()) return *own;
  }
  UetAddress result;
  result.fa = UET_TRY(node_at(node, position / service_count, family));
  const size_t step = position % service_count;
  if (service == nullptr) return step == 0 ? Result<UetAddress>(result) : Errc::invalid;
  if (step == 0) {
    UET_CHECK(apply_service(service, result));
    return result;
  }
  size_t number = 0;
  const char* const end = service + strlen(service);
  const auto [stop, error] = std::from_chars(service, end, number);
  if (error != std::errc{} || stop != end) return Errc::invalid;
  UET_CHECK(apply_service(std::to_string(number + step).c_str(), result));
  return result;
}

}  // namespace uet::prov
