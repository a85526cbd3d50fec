// Names of keys, and their derivation.
#include "tss/ready.h"

namespace uet::tss {

ReadyName ready_name(const KeySlot& slot, const wire::TssHeader& header,
                     const wire::IpAddress& owner) {
  ReadyName name{.serial = slot.serial};
  if (!is_derived(slot.key.mode)) return name;
  name.epoch = header.epoch();
  name.rekey = rekey_of(slot.key, header.counter());
  name.owner = is_of_address(slot.key, header, owner.family) ? Identity::of(owner)
                                                             : Identity::of(header.ssi);
  return name;
}

bool make_draft(KeyCache& keys, const KeySlot& slot, const ReadyName& name,
                const wire::TssHeader& header, const wire::IpAddress& owner) {
  ReadyKey& draft = keys.draft();
  draft.name = name;
  if (!is_derived(slot.key.mode)) {
    draft.iv_mask = slot.secret->iv_mask;  // zero in mode direct
    return draft.aead.set_key(slot.secret->secret);
  }
  KeyMaterial made;
  if (!slot.kdf.derive(slot.key, header, owner, made)) return false;
  std::copy(made.iv_mask().begin(), made.iv_mask().end(), draft.iv_mask.begin());
  return draft.aead.set_key(made.sdk());
}

Nonce nonce_of(const ReadyKey& key, const wire::TssHeader& header, const wire::IpAddress& source) {
  Nonce nonce = raw_nonce(header, source);
  apply_mask(nonce, key.iv_mask);
  return nonce;
}

}  // namespace uet::tss
