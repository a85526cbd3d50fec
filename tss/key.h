// A key of a secure domain, and the line of text that contains it: key files and key logs consist
// of such lines. docs/reference/key-file.md describes them; nothing here opens a file or computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace uet::tss {

constexpr uint32_t kSdkBytes = 32;
constexpr uint32_t kIvMaskBytes = 12;
constexpr uint32_t kClearBytesMin = 12, kClearBytesMax = 64;  // [TSS-024]

// The kind of key that a domain keeps, and the keys derived from it.
enum class Mode : uint8_t {
  direct,   // the SDK itself, without an IV mask [TSS-029]
  cluster,  // a master; each source has a separate SDK and IV mask [TSS-030]
  server,   // a master that only servers have; each client has its own SDK [TSS-031]
  client,   // the keys that the server derived for one client: SDK and IV mask [TSS-031]
};

// Context of the derivation for IPv6 with an SSI, on which sources differ. [TSS-014]
enum class SsiContext : uint8_t {
  address,
  ssi
};

// The contents of one line.
struct Key {
  uint32_t sdi = 0;  // 24 bits
  bool an = false;
  Mode mode = Mode::direct;
  std::array<std::byte, kSdkBytes> secret{};      // the SDK, or the master it is derived from
  std::array<std::byte, kIvMaskBytes> iv_mask{};  // with mode client
  uint8_t clear_bytes = 0;  // behind the security header, authenticated only [TSS-024]
  uint64_t rekey_mask = 0x0000FFFF00000000;  // with mode cluster; 0: never [TSS-036, TSS-037]
  uint8_t rekey_shift = 32;
  SsiContext kdf_ssi_v6 = SsiContext::address;
  std::optional<uint16_t> epoch;  // the only one that the key is for

  bool operator==(const Key&) const = default;
};

// A key, or nothing (an empty line or a comment), or the error and its field. The error leaves the
// value out: it may be a key.
struct KeyLine {
  std::optional<Key> key;
  const char* problem = nullptr;
  std::string_view field;
};

KeyLine parse_key_line(std::string_view text);

}  // namespace uet::tss
