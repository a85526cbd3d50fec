// Seals the packets of uet_pcap by TSS, with the lines of a key file. One Sealer for a capture: it
// counts. Without OpenSSL it takes no keys.
#pragma once

#include "tools/pcap/packet_keys.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace uet::tools {

// The sealing options of a line.
struct Seal {
  std::optional<uint32_t> sdi;  // none: not sealed, unless all are
  std::optional<uint32_t> an;   // none: the one of the key
  uint32_t epoch = 0;
  std::optional<uint32_t> ssi;
  std::optional<uint64_t> counter;  // none: one more than the last of this source and key
  uint32_t key_line = 0;            // of the key file; 0: the last that fits
  bool from_server = false;         // in mode server the sender is not the client
};

// Ends and transport header of one packet.
struct SealedRoute {
  wire::IpAddress source, destination;
  std::span<const std::byte> transport;
};

class Sealer {
 public:
  // Every packet is sealed with a key of this domain, unless its line names another.
  std::optional<uint32_t> sdi_of_all;

  // Returns the error in the text, and its line; or nothing.
  std::string take_keys(std::string_view text) { return keys_.take(text); }

  bool seals(const Seal& how) const { return how.sdi || sdi_of_all; }

  // Octets that sealing adds.
  static size_t overhead(const Seal& how);

  // Appends header, content and ICV. Returns the error, or nothing.
  std::string seal(const Seal& how, const SealedRoute& route, std::span<const std::byte> content,
                   std::vector<std::byte>& out);

 private:
  using Source = std::pair<uint32_t, std::vector<std::byte>>;  // line of the key, identity

  const PacketKeys::Known* key_for(const Seal& how) const;
  uint64_t next_counter(const Seal& how, uint32_t key_line, const SealedRoute& route);

  PacketKeys keys_;
  std::map<Source, uint64_t> counters_;
};

}  // namespace uet::tools
