// Writing key files, key lines and check values.
#include "keys/key_file.h"
#include "keys/timestamps.h"
#include "keys/words.h"
#include "wire/ip_address.h"
#include "wire/text.h"

#include <cstdio>

namespace uet::keys {

namespace {

std::string hex(std::span<const std::byte> octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * octets.size());
  for (const std::byte octet : octets) {
    text += kDigits[std::to_integer<unsigned>(octet) >> 4];
    text += kDigits[std::to_integer<unsigned>(octet) & 15];
  }
  return text;
}

std::string hex_number(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string quoted(const wire::IpAddress& address) {
  char text[64];
  wire::Text to(text);
  wire::print(to, address);
  return std::string("\"") + text + "\"";
}

std::string secret_of(const tss::Key& key) {
  return hex(key.secret) + (key.mode == tss::Mode::client ? hex(key.iv_mask) : "");
}

// The common fields of a domain's keys that differ from the default.
std::string shared_fields(const tss::Key& key, const char* separator) {
  const tss::Key usual;
  std::string text;
  const auto add = [&](const std::string& field) { text += field + separator; };
  const bool is_toml = *separator == '\n';
  const std::string equals = is_toml ? " = " : "=";
  if (key.clear_bytes != 0) add("clear" + equals + std::to_string(key.clear_bytes));
  if (key.rekey_mask != usual.rekey_mask) {
    add("rekey_mask" + equals + hex_number(key.rekey_mask));
  }
  if (key.rekey_shift != usual.rekey_shift) {
    add("rekey_shift" + equals + std::to_string(key.rekey_shift));
  }
  if (key.kdf_ssi_v6 == tss::SsiContext::ssi) {
    add("kdf_ssi_v6" + equals + (is_toml ? "\"ssi\"" : "ssi"));
  }
  return text;
}

// The terms that differ from the default.
std::string terms_text(const tss::DomainTerms& terms) {
  const tss::DomainTerms usual;
  std::string text;
  const auto number = [&](const char* field, int64_t value, int64_t default_value) {
    if (value != default_value) text += std::string(field) + " = " + std::to_string(value) + "\n";
  };
  const auto flag = [&](const char* field, bool value, bool default_value) {
    if (value != default_value) text += std::string(field) + (value ? " = true\n" : " = false\n");
  };
  constexpr int64_t kNs = 1'000'000'000;
  number("guard_s", terms.guard.ns() / kNs, usual.guard.ns() / kNs);
  number("closing_s", terms.closing.ns() / kNs, usual.closing.ns() / kNs);
  number("lifetime_s", terms.lifetime.ns() / kNs, usual.lifetime.ns() / kNs);
  flag("rejects_late", terms.rejects_late, usual.rejects_late);
  number("epoch_lifetime_max", terms.epoch_lifetime_max, usual.epoch_lifetime_max);
  number("forgeries_max", terms.forgeries_max, usual.forgeries_max);
  if (terms.forgery_action != usual.forgery_action) text += "forgery_action = \"latch\"\n";
  flag("strict_direction", terms.strict_direction, usual.strict_direction);
  flag("multi_counter", terms.is_multi_counter, usual.is_multi_counter);
  return text;
}

std::string key_text(const KeyEntry& entry) {
  std::string text = "\n[[domain.key]]\nan = " + std::to_string(entry.key.an ? 1 : 0) +
                     "\nsecret = \"" + secret_of(entry.key) + "\"\n";
  const std::optional<uint16_t> epoch = entry.key.epoch ? entry.key.epoch : entry.epoch;
  if (epoch) text += "epoch = " + std::to_string(*epoch) + "\n";
  if (entry.epoch_floor) text += "epoch_floor = " + std::to_string(*entry.epoch_floor) + "\n";
  if (entry.created) text += "created = " + text_of_time(*entry.created) + "\n";
  if (entry.expires) text += "expires = " + text_of_time(*entry.expires) + "\n";
  return text;
}

std::string domain_text(const DomainEntry& domain) {
  const tss::DomainTerms& terms = domain.terms;
  std::string text = "[[domain]]\nsdi = " + std::to_string(terms.sdi) + "\nmode = \"" +
                     std::string(word(kModes, terms.mode)) + "\"\n";
  if (terms.use_ssi) text += "ssi = " + hex_number(terms.ssi) + "\n";
  text += std::string("policy = \"") + std::string(word(kPolicies, domain.policy)) + "\"\n";
  if (terms.has_clients) {
    std::string clients;
    for (const ClientEntry& one : domain.clients) {
      clients += std::string(clients.empty() ? "" : ", ") + "{ address = " + quoted(one.address) +
                 ", ssi = " + hex_number(one.ssi) + " }";
    }
    text += "clients = [" + clients + "]\n";
  }
  if (terms.has_members) {
    std::string members;
    for (const tss::Identity& one : domain.members) {
      members +=
          (members.empty() ? "" : ", ") + (one.is_ssi ? hex_number(one.ssi) : quoted(one.address));
    }
    text += "members = [" + members + "]\n";
  }
  if (!domain.jobs.empty()) {
    std::string jobs;
    for (const uint32_t job : domain.jobs) {
      jobs += jobs.empty() ? "" : ", ";
      jobs += std::to_string(job);
    }
    text += "jobs = [" + jobs + "]\n";
  }
  text += "transmit = " + std::to_string(domain.transmit ? 1 : 0) + "\n";
  if (!domain.keys.empty()) text += shared_fields(domain.keys.front().key, "\n");
  text += terms_text(terms);
  for (const KeyEntry& entry : domain.keys) text += key_text(entry);
  return text;
}

// The limits that differ from the default.
std::string limits_text(const Limits& limits) {
  const Limits usual;
  if (limits == usual) return "";
  std::string text = "\n[limits]\n";
  for (const Limit& one : kLimits) {
    if (limits.*one.member == usual.*one.member) continue;
    text += std::string(one.field) + " = " + std::to_string(limits.*one.member) + "\n";
  }
  return text;
}

}  // namespace

std::string text_of(const KeyFile& file) {
  std::string text = "# Keys of secure domains: uet_keys(1). Secret.\n" + limits_text(file.limits);
  for (const DomainEntry& domain : file.domains) text += "\n" + domain_text(domain);
  return text;
}

std::string check_value(const tss::Key& key) {
  constexpr std::string_view kLabel = "uet key check v1";  // one cipher block; derivations use more
  constexpr size_t kShownBytes = 8;
  static_assert(kLabel.size() == tss::kBlockBytes);
  tss::Kdf kdf;
  std::array<std::byte, tss::kBlockBytes> mac{};
  if (!kdf.create().ok() || !kdf.set_master(key.secret) ||
      !kdf.mac(std::as_bytes(std::span(kLabel)), mac)) {
    throw KeyFileError("the cipher library has no AES-256 (was this built without OpenSSL?)");
  }
  return hex(std::span(mac).first(kShownBytes));
}

std::string key_line(const tss::Key& key) {
  std::string line = "sdi=" + std::to_string(key.sdi) + " an=" + (key.an ? "1" : "0") +
                     " mode=" + std::string(word(kModes, key.mode)) + " key=" + secret_of(key) +
                     " ";
  if (key.epoch) line += "epoch=" + std::to_string(*key.epoch) + " ";
  line += shared_fields(key, " ");
  line.pop_back();
  return line;
}

}  // namespace uet::keys
