// Chooses one of the three request headers for a message, and writes it. [ses.md 3]
#pragma once

#include "ses/config.h"
#include "ses/outgoing/tx_message.h"

#include "pds/client.h"
#include "wire/writer.h"

#include "base/packet.h"

#include <cstdint>

namespace uet::ses {

// The choice holds for all attempts to send the message. `capabilities` are those of the target's
// address.
wire::NextHeader choose_header(const Config& config, const TxMessage& m, uint8_t capabilities);

// Writes the header of that packet with its extensions: the same octets each time. [PDS-146]
void encode_header(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header);
// Appends its payload.
void append_payload(const TxMessage& m, const pds::PacketRef& ref, TxBatch& batch);

}  // namespace uet::ses
