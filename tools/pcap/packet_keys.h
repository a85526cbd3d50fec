// The lines of a key file, and the cipher with one of them set. Without OpenSSL it takes no keys.
// docs/reference/key-file.md
#pragma once

#include "tss/kdf.h"

#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {

class PacketKeys {
 public:
  struct Known {
    tss::Key key;
    uint32_t line;
  };

  // Returns the error in the text, and its line; or nothing.
  std::string take(std::string_view text);
  const std::vector<Known>& all() const { return keys_; }

  // The cipher has the key for packets with that header from here on, and the nonce is masked where
  // there is a mask. `owner` as in tss::kdf_input. False: OpenSSL cannot.
  bool set(const tss::Key& key, const wire::TssHeader& header, const wire::IpAddress& owner,
           tss::Nonce& nonce);
  tss::Aead& aead() { return aead_; }

 private:
  tss::Aead aead_;
  tss::Kdf kdf_;
  bool has_ciphers_ = false;
  std::vector<Known> keys_;
};

}  // namespace uet::tools
