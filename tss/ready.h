// How a key becomes ready for a packet: what Sealer and Opener have in common.
#pragma once

#include "tss/domains.h"

namespace uet::tss {

// The name of the key that a packet with this header is sealed with. `owner`: the source in mode
// cluster, the client in mode server. [TSS-029..031]
ReadyName ready_name(const KeySlot& slot, const wire::TssHeader& header,
                     const wire::IpAddress& owner);

// Makes that key in the draft of the cache. False: the cipher library failed.
[[nodiscard]] bool make_draft(KeyCache& keys, const KeySlot& slot, const ReadyName& name,
                              const wire::TssHeader& header, const wire::IpAddress& owner);

// The nonce of a packet, masked. [TSS-018]
Nonce nonce_of(const ReadyKey& key, const wire::TssHeader& header, const wire::IpAddress& source);

}  // namespace uet::tss
