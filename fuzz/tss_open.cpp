// Fuzz target: a packet is sealed at one end, changed, and opened at the other. The octets choose
// mode, sizes and changes, or are the packet themselves. An opened packet is exactly one that was
// sealed for this route; a refused one leaves no plaintext and no state. [TSS-143]
#include "fuzz/stack/program.h"
#include "fuzz/target.h"

#include "tss/opener.h"
#include "tss/sealer.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace uet;
using namespace uet::tss;

namespace {

constexpr uint32_t kSdi = 7;
constexpr uint32_t kSsi = 0x0A0B0C0D;
using Octets = std::vector<std::byte>;

struct Choice {
  Mode mode = Mode::cluster;
  bool use_ssi = false;
  bool is_v6 = false;
  bool is_native = false;
  uint8_t clear_bytes = 0;
  bool checks_all_replays = false;
};

Choice choice_of(fuzz::Program& program) {
  const uint8_t bits = program.u8();
  Choice c;
  c.mode = (bits & 1) != 0 ? Mode::direct : Mode::cluster;
  c.use_ssi = (bits & 2) != 0;
  c.is_v6 = (bits & 4) != 0 && (c.use_ssi || c.mode == Mode::cluster);
  c.is_native = (bits & 8) != 0;
  c.checks_all_replays = (bits & 16) != 0;
  if ((bits & 32) != 0) c.clear_bytes = static_cast<uint8_t>(12 + program.below(53));
  return c;
}

wire::IpAddress address(bool is_v6, uint8_t last) {
  if (!is_v6) return wire::IpAddress::v4(0x0A000000U + last);
  return wire::IpAddress::v6({0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last});
}

// One end with the key of the domain.
struct End {
  explicit End(const Choice& choice) : secrets(2) {
    DomainsConfig config;
    config.domains = 1;
    config.ready_keys = 4;
    config.sources = 2;
    config.replay_packets = 64;
    config.members = 1;
    UET_ASSERT(domains.create(arena, config, secrets, 1).ok());
    DomainTerms terms;
    terms.sdi = kSdi;
    terms.mode = choice.mode;
    terms.use_ssi = choice.use_ssi;
    terms.ssi = kSsi;
    terms.checks_all_replays = choice.checks_all_replays;
    const auto family = choice.is_v6 ? wire::IpFamily::v6 : wire::IpFamily::v4;
    const auto added = domains.add(terms, family);
    UET_ASSERT(added.ok());
    Key key;
    key.sdi = kSdi;
    key.mode = choice.mode;
    key.secret.fill(std::byte{0x11});
    key.clear_bytes = choice.clear_bytes;
    UET_ASSERT(domains.install(key, Instant::zero()).ok());
    UET_ASSERT((*added)->transmit_with(false, Instant::zero()).ok());
    (*added)->grant(false, 0, 1000);
  }

  Arena arena;
  std::vector<KeySecret> secrets;
  Domains domains;
  Sealer sealer{domains};
  Opener opener{domains};
};

// Bits, octets, cuts and additions; the route, too.
void change(fuzz::Program& program, Octets& packet, Route& route) {
  switch (program.below(8)) {
    case 0:
    case 1:
      if (!packet.empty()) packet[program.below(65536) % packet.size()] ^= std::byte{program.u8()};
      break;
    case 2:
      packet.resize(program.below(static_cast<uint32_t>(packet.size()) + 1));
      break;
    case 3:
      packet.resize(packet.size() + program.u8());
      break;
    case 4:
      route.source.octets[program.below(route.source.size())] ^= program.u8();
      break;
    case 5:
      std::swap(route.source, route.destination);
      break;
    case 6:
      route.entropy ^= program.u16();
      break;
    default:
      (route.carriage == Carriage::udp ? route.destination_port : route.reserved) ^= program.u16();
  }
}

bool is_same(const Route& a, const Route& b) {
  const auto x = a.transport(100), y = b.transport(100);
  return a.source == b.source && a.destination == b.destination && x.octets == y.octets;
}

// The sealed packet, and its route.
struct Sealed {
  Octets content, packet;
  Route route;
};

void open(End& end, const Octets& octets, const Route& route, const std::vector<Sealed>& sealed) {
  Octets packet = octets;
  const uint32_t keys = end.domains.keys().size();
  const uint32_t sources = end.domains.sources().size();
  const auto opened = end.opener.unseal(packet, route, Instant::zero());
  const auto origin = std::ranges::find_if(
      sealed, [&](const Sealed& s) { return s.packet == octets && is_same(s.route, route); });
  if (opened.ok()) {
    UET_ASSERT(origin != sealed.end());
    UET_ASSERT(std::ranges::equal(opened->content, origin->content));
    return;
  }
  if (opened.error() == Refusal::replayed) return;
  UET_ASSERT(origin == sealed.end());
  UET_ASSERT(end.domains.keys().size() == keys && end.domains.sources().size() == sources);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Program program({data, size});
  const Choice choice = choice_of(program);
  const auto ends = std::make_unique<std::pair<End, End>>(choice, choice);
  auto& [a, b] = *ends;
  std::vector<Sealed> sealed;
  while (!program.ended() && sealed.size() < 8) {
    Sealed one;
    one.content.resize(program.below(400));
    for (std::byte& octet : one.content) octet = std::byte{program.u8()};
    one.route = {.source = address(choice.is_v6, 1 + program.u8() % 4),
                 .destination = address(choice.is_v6, 9),
                 .carriage = choice.is_native ? Carriage::native : Carriage::udp,
                 .entropy = 0x4242,
                 .destination_port = uint16_t{4793}};
    open(b, one.content, one.route, sealed);  // unchanged: not sealed at all
    one.packet.resize(one.content.size() + kSealBytesMax);
    const size_t cut = program.below(static_cast<uint32_t>(one.content.size()) + 1);
    const IoSlice rest[] = {{one.content.data() + cut, one.content.size() - cut}};
    ClearPacket packet{.header = std::span(one.content).first(cut),
                       .payload = rest,
                       .sdi = kSdi,
                       .route = one.route,
                       .client_ssi = {},
                       .room = one.packet};
    UET_ASSERT(a.sealer.seal(packet, Instant::zero()));
    one.packet.resize(packet.sealed_bytes);
    sealed.push_back(one);
    for (uint32_t changes = program.below(6); changes > 0; --changes) {
      Octets changed = one.packet;
      Route route = one.route;
      change(program, changed, route);
      open(b, changed, route, sealed);
      std::array<std::byte, 48> trimmed{};
      (void)b.opener.peek_trimmed(changed, route, trimmed, Instant::zero());
    }
    open(b, one.packet, one.route, sealed);
  }
  return 0;
}
