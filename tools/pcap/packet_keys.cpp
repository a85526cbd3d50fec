// The ciphers and their inputs are those of tss/. [TSS-026, TSS-034]
#include "tools/pcap/packet_keys.h"

#include <algorithm>

namespace uet::tools {

std::string PacketKeys::take(std::string_view text) {
  if (!has_ciphers_) has_ciphers_ = aead_.create().ok() && kdf_.create().ok();
  if (!has_ciphers_) return "0: this uet_pcap was built without OpenSSL and has no ciphers";
  uint32_t line = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    ++line;
    const tss::KeyLine parsed = tss::parse_key_line(one);
    if (parsed.problem != nullptr) {
      const std::string field(parsed.field);
      return std::to_string(line) + ": " + field + (field.empty() ? "" : ": ") + parsed.problem;
    }
    if (parsed.key) keys_.push_back({*parsed.key, line});
  }
  return {};
}

bool PacketKeys::set(const tss::Key& key, const wire::TssHeader& header,
                     const wire::IpAddress& owner, tss::Nonce& nonce) {
  if (!tss::is_derived(key.mode)) {
    if (key.mode == tss::Mode::client) tss::apply_mask(nonce, key.iv_mask);
    return aead_.set_key(key.secret);
  }
  tss::KeyMaterial material;
  if (!kdf_.set_master(key.secret) || !kdf_.derive(key, header, owner, material)) return false;
  tss::apply_mask(nonce, material.iv_mask());
  return aead_.set_key(material.sdk());
}

}  // namespace uet::tools
