// Fuzz target: the whole-packet decoder from each start with each trailer, and the printing of its
// result. The first octet chooses start and trailer.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/print.h"

#include <cstring>

using namespace uet;

namespace {

bool within(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  wire::DecodeOptions options;
  options.start = static_cast<wire::Start>(data[0] & 3);
  options.trailer = static_cast<wire::Trailer>((data[0] >> 2) % 3);
  const auto octets = fuzz::octets_of(data + 1, size - 1);
  const wire::DecodedPacket packet = wire::decode(octets, options);

  UET_ASSERT(!packet.payload || within(*packet.payload, octets));
  UET_ASSERT(within(packet.surplus, octets));
  UET_ASSERT(within(packet.ciphertext, octets));
  UET_ASSERT(within(packet.icv, octets));
  const bool truncated =
      packet.outcome == wire::Outcome::reject && packet.error == wire::ParseError::truncated;
  UET_ASSERT(!truncated || packet.shortfall.have < packet.shortfall.need);

  char line[1024];
  char cut[16];
  const size_t length = wire::print(line, packet);
  UET_ASSERT(length < sizeof line);
  UET_ASSERT(std::strlen(line) == length);
  UET_ASSERT(wire::print(cut, packet) == length);
  UET_ASSERT(std::strlen(cut) == std::min(length, sizeof cut - 1));
  return 0;
}
