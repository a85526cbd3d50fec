// Words of a key line: each field once, in any order.
#include "tss/key.h"

#include <charconv>
#include <span>

namespace uet::tss {

namespace {

// Decimal, or hexadecimal after 0x.
bool number(std::string_view text, uint64_t max, uint64_t& out) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() && out <= max;
}

template <class Member>
bool set_number(Member& member, std::string_view text, uint64_t max) {
  uint64_t value = 0;
  if (!number(text, max, value)) return false;
  member = static_cast<Member>(value);
  return true;
}

bool octets(std::string_view text, std::span<std::byte> out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::byte& octet : out) {
    uint8_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, value, 16);
    if (error != std::errc() || end != text.data() + 2) return false;
    octet = std::byte{value};
    text.remove_prefix(2);
  }
  return true;
}

bool set_mode(Key& key, std::string_view text) {
  constexpr std::string_view kNames[] = {"direct", "cluster", "server", "client"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text != kNames[i]) continue;
    key.mode = static_cast<Mode>(i);
    return true;
  }
  return false;
}

// An SDK or a master, with an IV mask behind it for mode client.
bool set_key(Key& key, std::string_view text) {
  constexpr size_t kSdkDigits = 2 * kSdkBytes;
  if (!octets(text.substr(0, kSdkDigits), key.secret)) return false;
  return text.size() == kSdkDigits || octets(text.substr(kSdkDigits), key.iv_mask);
}

bool set_clear(Key& key, std::string_view text) {
  if (!set_number(key.clear_bytes, text, kClearBytesMax)) return false;
  return key.clear_bytes == 0 || key.clear_bytes >= kClearBytesMin;
}

bool set_kdf_ssi_v6(Key& key, std::string_view text) {
  key.kdf_ssi_v6 = text == "ssi" ? SsiContext::ssi : SsiContext::address;
  return text == "ssi" || text == "address";
}

bool set_epoch(Key& key, std::string_view text) {
  uint16_t value = 0;
  if (!set_number(value, text, 0xFFFF)) return false;
  key.epoch = value;
  return true;
}

struct Field {
  std::string_view name;
  bool (*set)(Key&, std::string_view);
  const char* problem;  // with an invalid value
};

enum Index : size_t {
  kSdi,
  kAn,
  kMode,
  kKey,
  kClear,
  kRekeyMask,
  kRekeyShift,
  kSsiContext,
  kEpoch
};

constexpr Field kFields[] = {
    {"sdi", [](Key& k, std::string_view t) { return set_number(k.sdi, t, 0xFFFFFF); },
     "sdi is a number of 24 bits"},
    {"an", [](Key& k, std::string_view t) { return set_number(k.an, t, 1); }, "an is 0 or 1"},
    {"mode", set_mode, "mode is direct, cluster, server or client"},
    {"key", set_key, "key is 64 hexadecimal digits, with mode client 88"},
    {"clear", set_clear, "clear is 0, or 12 to 64"},
    {"rekey_mask", [](Key& k, std::string_view t) { return set_number(k.rekey_mask, t, ~0ULL); },
     "rekey_mask is a number of 64 bits"},
    {"rekey_shift", [](Key& k, std::string_view t) { return set_number(k.rekey_shift, t, 63); },
     "rekey_shift is 0 to 63"},
    {"kdf_ssi_v6", set_kdf_ssi_v6, "kdf_ssi_v6 is address or ssi"},
    {"epoch", set_epoch, "epoch is a number of 16 bits"},
};

// Cuts the first word off.
std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  text.remove_prefix(first == std::string_view::npos ? text.size() : first);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

const char* take(Key& key, uint32_t& given, std::string_view word, size_t& key_digits) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return "a word is FIELD=VALUE";
  for (size_t i = 0; i < std::size(kFields); ++i) {
    const Field& field = kFields[i];
    if (word.substr(0, equals) != field.name) continue;
    if ((given >> i & 1U) != 0) return "a field is given once";
    given |= 1U << i;
    const std::string_view value = word.substr(equals + 1);
    if (i == kKey) key_digits = value.size();
    return field.set(key, value) ? nullptr : field.problem;
  }
  return "there is no such field";
}

// Checks on the combination of fields.
const char* contradiction(const Key& key, uint32_t given, size_t key_digits) {
  const auto has = [&](Index i) { return (given >> i & 1U) != 0; };
  if (!has(kSdi) || !has(kAn) || !has(kMode) || !has(kKey)) {
    return "a key needs sdi, an, mode and key";
  }
  const size_t octets = kSdkBytes + (key.mode == Mode::client ? kIvMaskBytes : 0);
  if (key_digits != 2 * octets) return kFields[kKey].problem;
  if (key.mode == Mode::client && !key.epoch) {
    return "mode client needs epoch: what it has is derived for one";
  }
  const bool rekeys = has(kRekeyMask) || has(kRekeyShift);
  if (rekeys && key.mode != Mode::cluster) return "only mode cluster has rekey_mask, rekey_shift";
  return nullptr;
}

}  // namespace

KeyLine parse_key_line(std::string_view text) {
  text = text.substr(0, text.find('#'));
  Key key;
  uint32_t given = 0;
  size_t key_digits = 0;
  while (true) {
    const std::string_view word = next_word(text);
    if (word.empty()) break;
    if (const char* problem = take(key, given, word, key_digits)) {
      return {{}, problem, word.substr(0, word.find('='))};
    }
  }
  if (given == 0) return {};
  if (const char* problem = contradiction(key, given, key_digits)) return {{}, problem, {}};
  return {key, nullptr, {}};
}

}  // namespace uet::tss
