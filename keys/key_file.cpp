// Reads key files by toml++. tss/key.h alone knows the legal keys: the fields of TOML become a key
// line, which it checks.
#include "keys/key_file.h"

#include "keys/timestamps.h"
#include "keys/whole_file.h"
#include "keys/words.h"
#include "wire/ip_address.h"

#include <toml++/toml.h>

#include <algorithm>
#include <bit>
#include <set>

namespace uet::keys {

namespace {

// Names the place of a mistake.
class Place {
 public:
  Place(const std::string& name, const toml::source_region& where)
      : text_(name + ":" + std::to_string(where.begin.line) + ": ") {}
  [[noreturn]] void fail(std::string_view field, std::string_view what) const {
    throw KeyFileError(text_ + std::string(field) + ": " + std::string(what));
  }

 private:
  std::string text_;
};

struct Context {
  const std::string& name;
  Place at(const toml::node& node) const { return {name, node.source()}; }
};

// Outside of comments key files are ASCII. toml++ 3.3 has undefined behaviour with some other
// letters in names.
void check_letters(std::string_view text, const std::string& name) {
  uint32_t line = 1;
  bool is_begun = false, is_comment = false;  // this line
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      is_begun = is_comment = false;
      continue;
    }
    if (!is_begun && c != ' ' && c != '\t') {
      is_begun = true;
      is_comment = c == '#';
    }
    if (!is_comment && static_cast<unsigned char>(c) >= 0x80) {
      throw KeyFileError(name + ":" + std::to_string(line) +
                         ": TOML: only lines that begin with # may have letters beyond ASCII");
    }
  }
}

uint64_t number(const Context& in, std::string_view field, const toml::node& value, uint64_t max) {
  const auto* const whole = value.as_integer();
  if (whole == nullptr || whole->get() < 0 || static_cast<uint64_t>(whole->get()) > max) {
    in.at(value).fail(field, "is a whole number from 0 to " + std::to_string(max));
  }
  return static_cast<uint64_t>(whole->get());
}

bool flag(const Context& in, std::string_view field, const toml::node& value) {
  const auto* const is = value.as_boolean();
  if (is == nullptr) in.at(value).fail(field, "is true or false");
  return is->get();
}

template <class T, size_t N>
T choice(const Context& in, std::string_view field, const toml::node& value,
         const std::string_view (&names)[N]) {
  const auto* const word = value.as_string();
  for (size_t i = 0; word != nullptr && i < N; ++i) {
    if (word->get() == names[i]) return static_cast<T>(i);
  }
  std::string all;
  for (const std::string_view one : names) {
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  in.at(value).fail(field, "is one of " + all);
}

std::vector<uint32_t> jobs_of(const Context& in, const toml::node& value) {
  const toml::array* const all = value.as_array();
  if (all == nullptr) in.at(value).fail("jobs", "is a list of JobIDs");
  std::vector<uint32_t> jobs;
  for (const toml::node& one : *all) {
    jobs.push_back(static_cast<uint32_t>(number(in, "jobs", one, 0xFFFFFF)));
  }
  return jobs;
}

ClientEntry client_of(const Context& in, const toml::node& node) {
  const toml::table* const table = node.as_table();
  const toml::node* const text = table == nullptr ? nullptr : table->get("address");
  const toml::node* const ssi = table == nullptr ? nullptr : table->get("ssi");
  if (text == nullptr || ssi == nullptr || table->size() != 2) {
    in.at(node).fail("clients", "each is { address = \"ADDRESS\", ssi = NUMBER }");
  }
  const auto address = wire::parse_ip_address(text->value_or(std::string_view{}));
  if (!address.ok()) in.at(*text).fail("address", "is an IP address");
  return {*address, static_cast<uint32_t>(number(in, "ssi", *ssi, 0xFFFFFFFF))};
}

// Each address has one client, and each client one address: a packet shows no more. [TSS-147]
std::vector<ClientEntry> clients_of(const Context& in, const toml::node& value) {
  const toml::array* const all = value.as_array();
  if (all == nullptr) in.at(value).fail("clients", "is a list of clients");
  std::vector<ClientEntry> clients;
  std::set<wire::IpAddress> addresses;
  std::set<uint32_t> ssis;
  for (const toml::node& one : *all) {
    const ClientEntry next = client_of(in, one);
    if (!addresses.insert(next.address).second || !ssis.insert(next.ssi).second) {
      in.at(one).fail("clients", "two have the same address or ssi");
    }
    clients.push_back(next);
  }
  return clients;
}

// A source: an address, or an SSI. [TSS-088]
tss::Identity member_of(const Context& in, const toml::node& node) {
  if (node.is_integer()) {
    return tss::Identity::of(static_cast<uint32_t>(number(in, "members", node, 0xFFFFFFFF)));
  }
  const auto address = wire::parse_ip_address(node.value_or(std::string_view{}));
  if (!address.ok()) in.at(node).fail("members", "each is an IP address or an SSI");
  return tss::Identity::of(*address);
}

std::vector<tss::Identity> members_of(const Context& in, const toml::node& value) {
  const toml::array* const all = value.as_array();
  if (all == nullptr) in.at(value).fail("members", "is a list of sources");
  std::vector<tss::Identity> members;
  for (const toml::node& one : *all) members.push_back(member_of(in, one));
  return members;
}

constexpr uint64_t kSecondsMax = 10 * 365 * uint64_t{86400};

// A field of a domain outside its keys. False: there is no such field.
bool set_term(const Context& in, DomainEntry& domain, std::string_view field,
              const toml::node& value) {
  tss::DomainTerms& terms = domain.terms;
  const auto whole = [&](uint64_t max) { return number(in, field, value, max); };
  const auto seconds = [&] { return Duration::seconds(static_cast<int64_t>(whole(kSecondsMax))); };
  if (field == "sdi") {
    terms.sdi = static_cast<uint32_t>(whole(0xFFFFFF));
  } else if (field == "mode") {
    terms.mode = choice<tss::Mode>(in, field, value, kModes);
  } else if (field == "ssi") {
    terms.use_ssi = true;
    terms.ssi = static_cast<uint32_t>(whole(0xFFFFFFFF));
  } else if (field == "clients") {
    domain.clients = clients_of(in, value);
    terms.use_ssi = terms.has_clients = true;
  } else if (field == "members") {
    domain.members = members_of(in, value);
    terms.has_members = true;
  } else if (field == "policy") {
    domain.policy = choice<tss::Policy>(in, field, value, kPolicies);
  } else if (field == "jobs") {
    domain.jobs = jobs_of(in, value);
  } else if (field == "transmit") {
    domain.transmit = whole(1) == 1;
  } else if (field == "guard_s") {
    terms.guard = seconds();
  } else if (field == "closing_s") {
    terms.closing = seconds();
  } else if (field == "lifetime_s") {
    terms.lifetime = seconds();
  } else if (field == "rejects_late") {
    terms.rejects_late = flag(in, field, value);
  } else if (field == "epoch_lifetime_max") {
    terms.epoch_lifetime_max = static_cast<uint16_t>(whole(0x7FFF));
  } else if (field == "forgeries_max") {
    terms.forgeries_max = static_cast<uint32_t>(whole(0xFFFFFFFF));
  } else if (field == "forgery_action") {
    terms.forgery_action = choice<tss::ForgeryAction>(in, field, value, kActions);
  } else if (field == "strict_direction") {
    terms.strict_direction = flag(in, field, value);
  } else if (field == "multi_counter") {
    terms.is_multi_counter = flag(in, field, value);
  } else {
    return false;
  }
  return true;
}

// Fields of all keys of a domain, which stand in its table.
constexpr std::string_view kSharedFields[] = {"clear", "rekey_mask", "rekey_shift", "kdf_ssi_v6"};
bool is_shared(std::string_view field) {
  return std::ranges::find(kSharedFields, field) != std::end(kSharedFields);
}

// FIELD=VALUE for a key line.
std::string word_of(const Context& in, std::string_view field, const toml::node& value) {
  if (const auto* text = value.as_string()) return std::string(field) + "=" + text->get() + " ";
  if (const auto* whole = value.as_integer()) {
    return std::string(field) + "=" + std::to_string(whole->get()) + " ";
  }
  in.at(value).fail(field, "is neither a whole number nor text");
}

int64_t time_of(const Context& in, std::string_view field, const toml::node& value) {
  const auto* const time = value.as_date_time();
  if (time == nullptr || !time->get().offset) {
    in.at(value).fail(field, "is a date and a time with zone, like 2026-11-30T12:00:00Z");
  }
  const toml::date_time& t = time->get();
  return seconds_of(
             {t.date.year, t.date.month, t.date.day, t.time.hour, t.time.minute, t.time.second}) -
         int64_t{60} * t.offset->minutes;
}

KeyEntry key_of(const Context& in, tss::Mode mode, const toml::table& table,
                const std::string& shared) {
  KeyEntry entry;
  std::string line = shared;
  for (const auto& [field, value] : table) {
    if (field == "created") {
      entry.created = time_of(in, field, value);
    } else if (field == "expires") {
      entry.expires = time_of(in, field, value);
    } else if (field == "epoch" && mode != tss::Mode::client) {
      entry.epoch = static_cast<uint16_t>(number(in, field, value, 0xFFFF));
    } else if (field == "epoch_floor" && mode != tss::Mode::client) {
      entry.epoch_floor = static_cast<uint16_t>(number(in, field, value, 0xFFFF));
    } else if (field == "an" || field == "epoch") {
      line += word_of(in, field, value);
    } else if (field == "secret") {
      line += word_of(in, "key", value);
    } else {
      in.at(value).fail(field.str(), "there is no such field of a key");
    }
  }
  const tss::KeyLine parsed = tss::parse_key_line(line);
  const std::string field(parsed.field == "key" ? "secret" : parsed.field);
  tss::wipe(std::as_writable_bytes(std::span(line)));
  if (parsed.key) {
    entry.key = *parsed.key;
    return entry;
  }
  in.at(table).fail(field.empty() ? "key" : field, parsed.problem);
}

void read_keys(const Context& in, DomainEntry& domain, const toml::table& table,
               const std::string& shared) {
  const toml::array* const keys = table["key"].as_array();
  if (keys == nullptr || keys->empty()) in.at(table).fail("key", "a domain has one key or two");
  for (const toml::node& one : *keys) {
    const toml::table* const key = one.as_table();
    if (key == nullptr) in.at(one).fail("key", "is a table, [[domain.key]]");
    domain.keys.push_back(key_of(in, domain.terms.mode, *key, shared));
    const bool an = domain.keys.back().key.an;
    if (domain.key(an) != &domain.keys.back()) in.at(one).fail("an", "two keys have the same");
  }
  if (domain.key(domain.transmit) == nullptr) {
    in.at(table).fail("transmit", "no key has this an");
  }
}

DomainEntry read_domain(const Context& in, const toml::table& table) {
  DomainEntry domain;
  std::string shared;
  for (const auto& [field, value] : table) {
    if (field == "key") continue;
    if (is_shared(field)) {
      shared += word_of(in, field, value);
    } else if (!set_term(in, domain, field, value)) {
      in.at(value).fail(field.str(), "there is no such field of a domain");
    }
  }
  for (const char* needed : {"sdi", "mode"}) {
    if (!table.contains(needed)) in.at(table).fail(needed, "is missing");
  }
  shared += "sdi=" + std::to_string(domain.terms.sdi) +
            " mode=" + std::string(word(kModes, domain.terms.mode)) + " ";
  if (domain.terms.has_clients && domain.terms.mode != tss::Mode::server) {
    in.at(table).fail("clients", "only a domain of mode server has clients");
  }
  const bool is_odd = std::ranges::any_of(
      domain.members, [&](const tss::Identity& one) { return one.is_ssi != domain.terms.use_ssi; });
  if (is_odd) in.at(table).fail("members", "are SSIs where the domain has SSIs, else addresses");
  // IPv6 is judged where the address is known.
  if (const char* problem = tss::problem_of(domain.terms, wire::IpFamily::v4)) {
    in.at(table).fail("sdi", problem);
  }
  read_keys(in, domain, table, shared);
  return domain;
}

Limits read_limits(const Context& in, const toml::table& table) {
  Limits limits;
  for (const auto& [field, value] : table) {
    const auto* const limit = std::ranges::find(kLimits, std::string_view(field), &Limit::field);
    if (limit == std::end(kLimits)) in.at(value).fail(field.str(), "there is no such limit");
    const uint64_t given = number(in, field, value, limit->max);
    if (given < limit->min) {
      in.at(value).fail(field.str(), "is at least " + std::to_string(limit->min));
    }
    limits.*limit->member = static_cast<uint32_t>(given);
  }
  if (!std::has_single_bit(limits.replay_packets)) {
    in.at(table).fail("replay_packets", "is a power of two");
  }
  return limits;
}

}  // namespace

const KeyEntry* DomainEntry::key(bool an) const {
  const auto found = std::ranges::find_if(keys, [an](const KeyEntry& k) { return k.key.an == an; });
  return found == keys.end() ? nullptr : &*found;
}

const DomainEntry* KeyFile::domain(uint32_t sdi) const {
  return const_cast<KeyFile*>(this)->domain(sdi);
}
DomainEntry* KeyFile::domain(uint32_t sdi) {
  const auto found =
      std::ranges::find_if(domains, [sdi](const DomainEntry& d) { return d.terms.sdi == sdi; });
  return found == domains.end() ? nullptr : &*found;
}

KeyFile parse_key_file(std::string_view text, const std::string& name) {
  check_letters(text, name);
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& e) {
    // The library's words may quote the line.
    Place(name, e.source()).fail("TOML", "this is not TOML");
  }
  const Context in{name};
  KeyFile file;
  for (const auto& [field, node] : root) {
    if (const toml::table* const limits = node.as_table(); limits != nullptr && field == "limits") {
      file.limits = read_limits(in, *limits);
      continue;
    }
    const toml::array* const domains = node.as_array();
    if (field != "domain" || domains == nullptr) {
      in.at(node).fail(field.str(), "a key file has tables [[domain]]");
    }
    for (const toml::node& one : *domains) {
      const toml::table* const table = one.as_table();
      if (table == nullptr) in.at(one).fail("domain", "is a table, [[domain]]");
      DomainEntry domain = read_domain(in, *table);
      if (file.domain(domain.terms.sdi) != nullptr) {
        in.at(one).fail("sdi", "two domains have the same");
      }
      file.domains.push_back(std::move(domain));
    }
  }
  return file;
}

KeyFile read_key_file(const std::string& path) {
  return parse_key_file(read_secret_file(path).view(), path);
}

void write_key_file(const KeyFile& file, const std::string& path) {
  std::string text = text_of(file);
  replace_secret_file(path, text);
  tss::wipe(std::as_writable_bytes(std::span(text)));
}

}  // namespace uet::keys
