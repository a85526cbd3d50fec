// The way of a packet back through tss: nonce, key, authenticated octets. [TSS-026, TSS-034]
#include "tools/pcap/packet_unseal.h"

#include <algorithm>
#include <array>

namespace uet::tools {
namespace {

struct Ends {
  wire::IpAddress source, destination;
};

bool find_ends(const wire::DecodedPacket& packet, Ends& ends) {
  if (const auto* const v4 = std::get_if<wire::Ipv4Header>(&packet.ip)) {
    ends = {v4->src, v4->dst};
  } else if (const auto* const v6 = std::get_if<wire::Ipv6Header>(&packet.ip)) {
    ends = {v6->src, v6->dst};
  } else {
    return false;
  }
  return packet.udp || packet.entropy;
}

bool open(PacketKeys& keys, const tss::Key& key, const wire::IpAddress& owner, const Ends& ends,
          const wire::DecodedPacket& packet, std::vector<std::byte>& content) {
  if (!tss::is_allowed(key.mode, *packet.tss, ends.source.family)) return false;
  tss::Nonce nonce = tss::raw_nonce(*packet.tss, ends.source);
  if (!keys.set(key, *packet.tss, owner, nonce)) return false;
  // The headers lie in front of the sealed octets, as they came.
  const uint32_t transport_bytes = packet.udp ? wire::UdpHeader::kSize : wire::EntropyHeader::kSize;
  const std::byte* const header = packet.ciphertext.data() - packet.tss->size();
  const size_t clear = std::min<size_t>(key.clear_bytes, packet.ciphertext.size());
  tss::Aad aad(ends.source, ends.destination, {header - transport_bytes, transport_bytes});
  aad.add({header, packet.tss->size() + clear});
  content.assign(packet.ciphertext.begin(), packet.ciphertext.end());
  return keys.aead().unseal(nonce, aad.span(), std::span(content).subspan(clear),
                            packet.icv.first<tss::kIcvBytes>());
}

}  // namespace

Opening unseal(PacketKeys& keys, const wire::DecodedPacket& packet,
               std::vector<std::byte>& content) {
  Ends ends;
  if (!packet.tss || packet.icv.size() != tss::kIcvBytes || !find_ends(packet, ends)) {
    return Opening::not_sealed;
  }
  Opening found = Opening::no_key;
  const auto epoch = static_cast<uint16_t>(packet.tss->tsc >> 48);
  for (const PacketKeys::Known& known : keys.all()) {
    const tss::Key& key = known.key;
    if (key.sdi != packet.tss->sdi || key.an != packet.tss->an) continue;
    if (key.epoch && *key.epoch != epoch) continue;
    found = Opening::refused;
    // In mode server the key is the client's, which is either end.
    for (const wire::IpAddress& owner : {ends.source, ends.destination}) {
      if (open(keys, key, owner, ends, packet, content)) return Opening::opened;
    }
  }
  content.clear();
  return found;
}

void show_content(wire::DecodedPacket& packet, const std::vector<std::byte>& content) {
  wire::DecodeOptions how;
  how.start = wire::Start::pds_after_tss;
  const wire::DecodedPacket inner = wire::decode(content, how);
  if (packet.outcome == wire::Outcome::accept || inner.outcome == wire::Outcome::reject) {
    packet.outcome = inner.outcome;
    packet.error = inner.error;
    packet.tolerance = inner.tolerance;
    packet.shortfall = inner.shortfall;
  }
  packet.prologue = inner.prologue;
  packet.pds = inner.pds;
  packet.ses = inner.ses;
  packet.extension = inner.extension;
  packet.payload = inner.payload;
  packet.surplus = inner.surplus;
}

Opening unseal_headers(PacketKeys& keys, wire::DecodedPacket& packet,
                       std::vector<std::byte>& content) {
  const Opening opening = unseal(keys, packet, content);
  if (opening == Opening::opened) show_content(packet, content);
  return opening;
}

}  // namespace uet::tools
