// One line of text for a packet or a header, for logs, test failures and the tools.
#pragma once

#include "wire/packet.h"

#include <span>

namespace uet::wire {

// Renders the packet into the buffer, always terminated, cut if it does not fit. Returns the
// length of the whole line without the terminator, as snprintf does. Fields that are 0 or belong
// to another form of the header are left out; a rejected packet ends in its cause.
//   RUD_REQ syn ar psn=16 clear=15 spdcid=1 start=16 | STANDARD WRITE som eom msg=7 ... | 8 octets
size_t print(std::span<char> out, const DecodedPacket& packet);

// The same for octets that still have to be decoded.
size_t print(std::span<char> out, std::span<const std::byte> octets, const DecodeOptions& options);

// Appends one header, without separators.
void print(Text& text, const PdsHeader& header);
void print(Text& text, const SesHeader& header);
void print(Text& text, const SesExtension& header);

}  // namespace uet::wire
