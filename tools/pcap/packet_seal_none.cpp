// In the place of packet_seal.cpp where there is no OpenSSL: no key is taken, so nothing is sealed.
#include "tools/pcap/packet_seal.h"

namespace uet::tools {

bool derive(const tss::Key&, const wire::TssHeader&, const wire::IpAddress&, KeyMaterial&) {
  return false;
}

std::string Sealer::take_keys(std::string_view) {
  return "0: this uet_pcap was built without OpenSSL and cannot seal";
}

size_t Sealer::overhead(const Seal&) { return 0; }

std::string Sealer::seal(const Seal&, const SealedRoute&, std::span<const std::byte>,
                         std::vector<std::byte>&) {
  return "this uet_pcap was built without OpenSSL and cannot seal";
}

}  // namespace uet::tools
