// Key files: the secure domains of a host, with their keys, in TOML. docs/howto/keys.md describes
// them. Nothing here prints a secret.
#pragma once

#include "keys/limits.h"
#include "tss/policy.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace uet::keys {

// "FILE:LINE: FIELD: error". Never contains a value: it may be a key.
class KeyFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One key of a domain; overwritten when it is destroyed.
struct KeyEntry {
  tss::Key key;
  std::optional<int64_t> created;  // seconds since 1970
  std::optional<int64_t> expires;
  // From a key manager that counts epochs: that of the packets of this host, and that below which
  // sources are late of which nothing is known. Not in mode client. [TSS-052, TSS-055]
  std::optional<uint16_t> epoch;
  std::optional<uint16_t> epoch_floor;

  KeyEntry() = default;
  KeyEntry(const KeyEntry&) = default;
  KeyEntry& operator=(const KeyEntry&) = default;
  ~KeyEntry() { tss::wipe(key.secret); }
  bool operator==(const KeyEntry&) const = default;
};

// A client of a domain of mode server with SSI. [TSS-147]
struct ClientEntry {
  wire::IpAddress address;
  uint32_t ssi = 0;
};

struct DomainEntry {
  tss::DomainTerms terms;
  std::vector<ClientEntry> clients;
  std::vector<tss::Identity> members;  // with terms.has_members [TSS-088]
  tss::Policy policy = tss::Policy::require;
  std::vector<uint32_t> jobs;  // JobIDs; empty: no job is bound to it
  std::vector<KeyEntry> keys;  // one or two, of different AN
  bool transmit = false;       // AN of the key to send with

  const KeyEntry* key(bool an) const;
};

struct KeyFile {
  Limits limits;
  std::vector<DomainEntry> domains;

  const DomainEntry* domain(uint32_t sdi) const;
  DomainEntry* domain(uint32_t sdi);
};

// Throws KeyFileError; `name` stands for the file in its text.
KeyFile parse_key_file(std::string_view text, const std::string& name);
std::string text_of(const KeyFile& file);

// Refuses a file that other users may read or write, that another user owns, or that is not a
// regular file: the keys in it would not be secret. Throws KeyFileError.
KeyFile read_key_file(const std::string& path);
// Replaces the file at once, with mode 0600: a reader sees the old one or the new one, also after a
// crash. Throws KeyFileError.
void write_key_file(const KeyFile& file, const std::string& path);

// Distinguishes two keys without showing either: 16 hexadecimal digits of a CMAC.
std::string check_value(const tss::Key& key);

// The line of a key log or of a key file for Wireshark and uet_pcap: docs/reference/key-file.md.
// It contains the key.
std::string key_line(const tss::Key& key);

}  // namespace uet::keys
