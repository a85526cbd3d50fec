// Compares domain by domain, key by key.
#include "keys/changes.h"

namespace uet::keys {

namespace {

// Everything except the keys and the choice of the key in use. The writer shows every field.
std::string terms_of(const DomainEntry& domain) {
  KeyFile one;
  one.domains.push_back(domain);
  one.domains.front().keys.clear();
  one.domains.front().transmit = false;
  return text_of(one);
}

void compare_keys(const DomainEntry& before, const DomainEntry& after, std::vector<Change>& out) {
  const uint32_t sdi = after.terms.sdi;
  for (const bool an : {false, true}) {
    const KeyEntry* const old_key = before.key(an);
    const KeyEntry* const new_key = after.key(an);
    if (old_key != nullptr && new_key != nullptr && old_key->key == new_key->key) {
      if (old_key->expires != new_key->expires) {
        out.push_back({ChangeKind::expiry_changed, sdi, an});
      }
      if (old_key->epoch != new_key->epoch || old_key->epoch_floor != new_key->epoch_floor) {
        out.push_back({ChangeKind::epochs_changed, sdi, an});
      }
      continue;
    }
    if (old_key != nullptr) out.push_back({ChangeKind::key_removed, sdi, an});
    if (new_key != nullptr) out.push_back({ChangeKind::key_added, sdi, an});
  }
}

void add_all(const DomainEntry& domain, std::vector<Change>& out) {
  out.push_back({ChangeKind::domain_added, domain.terms.sdi});
  for (const KeyEntry& key : domain.keys) {
    out.push_back({ChangeKind::key_added, domain.terms.sdi, key.key.an});
  }
  out.push_back({ChangeKind::transmit, domain.terms.sdi, domain.transmit});
}

}  // namespace

std::vector<Change> changes(const KeyFile& before, const KeyFile& after) {
  std::vector<Change> out;
  for (const DomainEntry& old_one : before.domains) {
    if (after.domain(old_one.terms.sdi) == nullptr) {
      out.push_back({ChangeKind::domain_removed, old_one.terms.sdi});
    }
  }
  for (const DomainEntry& domain : after.domains) {
    const DomainEntry* const old_one = before.domain(domain.terms.sdi);
    if (old_one == nullptr) {
      add_all(domain, out);
      continue;
    }
    if (terms_of(*old_one) != terms_of(domain)) {
      out.push_back({ChangeKind::terms_changed, domain.terms.sdi});
    }
    const size_t without = out.size();
    compare_keys(*old_one, domain, out);
    const bool has_other_tx =
        out.size() != without && domain.key(domain.transmit) != nullptr &&
        (old_one->key(domain.transmit) == nullptr ||
         !(old_one->key(domain.transmit)->key == domain.key(domain.transmit)->key));
    if (old_one->transmit != domain.transmit || has_other_tx) {
      out.push_back({ChangeKind::transmit, domain.terms.sdi, domain.transmit});
    }
  }
  return out;
}

}  // namespace uet::keys
