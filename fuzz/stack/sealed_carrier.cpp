// Seals, opens, and changes sealed packets.
#include "fuzz/stack/sealed_carrier.h"

#include "fuzz/stack/node.h"

#include <algorithm>
#include <utility>

namespace uet::fuzz {

namespace {

constexpr uint32_t kPeers = 8;  // with separate keys; there are more in a flood
constexpr uint32_t kSdi = 7;    // of sim::SecuredHost
constexpr uint64_t kInsiderCounters = uint64_t{1} << 40;  // far from the nodes' counters
constexpr uint64_t kCutDscps = uint64_t{1} << 16 | uint64_t{1} << 18;

// All packets that arrive move exactly one of these.
uint64_t arrived(const tss::Counts& counts) {
  uint64_t sum = 0;
  for (const tss::Count one :
       {tss::Count::in_auth_pkts, tss::Count::in_auth_fail_pkts, tss::Count::in_invalid,
        tss::Count::in_invalid_sa, tss::Count::in_late_pkts, tss::Count::in_errored_pkts,
        tss::Count::in_rx_encryption_bypass_pkts, tss::Count::in_replay, tss::Count::in_trim_unauth,
        tss::Count::key_derive_throttled}) {
    sum += counts[one];
  }
  return sum;
}

std::array<uint8_t, 6> key_of(const FabricAddress& a) {
  return {a.ip[0],
          a.ip[1],
          a.ip[2],
          a.ip[3],
          static_cast<uint8_t>(a.port >> 8),
          static_cast<uint8_t>(a.port & 0xFF)};
}

}  // namespace

// Holds packets to send, and received ones.
class SealedCarrier::Card final : public io::PacketIo {
 public:
  explicit Card(const FabricAddress& at) : at_(at) {}
  io::IoCaps caps() const override { return {.max_datagram_bytes = 9000}; }
  FabricAddress local_address() const override { return at_; }
  uint16_t source_port(Entropy) override { return at_.port; }
  void send(std::span<TxPacket> packets) override {
    UET_ASSERT(packets.size() == 1);
    sent = sim::Datagram::copy(packets[0], at_, {});
    packets[0].fate = TxFate::sent;
  }
  std::span<RxDatagram> receive() override { return std::exchange(arriving, {}); }
  int wait_fd() const override { return -1; }

  sim::Datagram sent;
  std::span<RxDatagram> arriving;

 private:
  FabricAddress at_;
};

SealedCarrier::~SealedCarrier() = default;

void SealedCarrier::prepare(fep::Config& config) const {
  config.pds.has_domains = true;
  config.pds.seal_bytes = tss::kSealBytesMax;
}

SealedCarrier::End SealedCarrier::make_end(const FabricAddress& at, uint64_t counter) {
  End end;
  end.host = std::make_unique<sim::SecuredHost>(at, counter, /*seed=*/1, now_, kPeers);
  auto card = std::make_unique<Card>(at);
  end.card = card.get();
  end.io = end.host->around(std::move(card), kCutDscps);
  return end;
}

// The counters of the end that was here before were used.
const tss::JobTable* SealedCarrier::begin(uint32_t node) {
  End& end = nodes_[node];
  const uint64_t counter = end.host ? end.host->counter() : 0;
  end = make_end(address_of_node(node), counter);
  return &end.host->jobs();
}

sim::Datagram SealedCarrier::seal(End& end, TxPacket& packet) {
  end.io->send({&packet, 1});
  UET_ASSERT(packet.fate == TxFate::sent);
  return std::exchange(end.card->sent, {});
}

// [TSS-002, TSS-076] All that an end sends has its domain.
void SealedCarrier::send(uint32_t node, TxPacket& packet, sim::Datagram& datagram) {
  UET_ASSERT(packet.sdi == kSdi);
  sim::Datagram sealed = seal(nodes_[node], packet);
  sealed.left_at = datagram.left_at;
  sealed.sdi = 0;
  const Sealed what{std::move(datagram.octets), datagram.from, datagram.to};
  const bool is_new = sealed_.emplace(sealed.octets, what).second;
  UET_ASSERT(is_new);  // [TSS-039] no nonce twice
  recorded_.push_back(sealed);
  datagram = std::move(sealed);
}

// [TSS-083..094, TSS-108] One counter moves, and a refused packet is gone.
bool SealedCarrier::receive(sim::Datagram& datagram) {
  const auto node = datagram.to == address_of_node(0)   ? 0u
                    : datagram.to == address_of_node(1) ? 1u
                                                        : kNodes;
  if (node == kNodes) return false;
  End& end = nodes_[node];
  const tss::Counts before = end.host->counts();
  const std::vector<std::byte> octets = datagram.octets;
  RxDatagram arriving = datagram.arriving(now_());
  arriving.sdi = 0;
  end.card->arriving = {&arriving, 1};
  const std::span<RxDatagram> opened = end.io->receive();
  const tss::Counts after = end.host->counts();
  UET_ASSERT(arrived(after) == arrived(before) + 1);
  const bool is_seen = opened.size() == 1;
  const bool is_cut = (kCutDscps >> datagram.dscp & 1) != 0;
  const bool is_opened = is_seen && !is_cut;
  UET_ASSERT(after[tss::Count::in_auth_pkts] ==
             before[tss::Count::in_auth_pkts] + (is_opened ? 1 : 0));
  if (!is_seen) return false;
  UET_ASSERT(opened[0].sdi == (is_cut ? kSdi | wire::kUnverifiedSdi : kSdi));
  datagram.sdi = opened[0].sdi;
  datagram.octets.assign(opened[0].bytes.begin(), opened[0].bytes.end());
  if (!has_insider_ && is_opened) check(octets, datagram);
  return true;
}

// [TSS-021, TSS-090] Without keys packets can neither be made nor changed.
void SealedCarrier::check(const std::vector<std::byte>& octets, const sim::Datagram& opened) const {
  const auto origin = sealed_.find(octets);
  UET_ASSERT(origin != sealed_.end());
  const Sealed& sealed = origin->second;
  UET_ASSERT(sealed.content == opened.octets);
  UET_ASSERT(sealed.from == opened.from && sealed.to == opened.to);
}

void SealedCarrier::forge(sim::Datagram& datagram) {
  if (!has_insider_) return;
  auto [at, is_new] = insider_.try_emplace(key_of(datagram.from));
  if (is_new) at->second = make_end(datagram.from, kInsiderCounters);
  TxPacket packet;
  packet.header = datagram.octets.data();
  packet.header_bytes = static_cast<uint16_t>(datagram.octets.size());
  packet.to = datagram.to;
  packet.ev = datagram.ev;
  packet.dscp = datagram.dscp;
  packet.ecn = datagram.ecn;
  packet.sdi = kSdi;
  sim::Datagram sealed = seal(at->second, packet);
  sealed.left_at = datagram.left_at;
  sealed.sdi = 0;
  datagram = std::move(sealed);
}

bool SealedCarrier::replay(Program& program, sim::Datagram& datagram) {
  if (recorded_.empty()) return false;
  const auto count = static_cast<uint32_t>(recorded_.size());
  // Mostly one of the last.
  const uint8_t drawn = program.u8();
  const uint32_t back = drawn < 0xC0 ? drawn : program.below(65536);
  datagram = recorded_[count - 1 - back % count];
  datagram.left_at = now_();
  alter(program, datagram);
  return true;
}

// Half of them arrive unchanged.
void SealedCarrier::alter(Program& program, sim::Datagram& datagram) {
  const uint8_t how = program.u8();
  const auto size = static_cast<uint32_t>(datagram.octets.size());
  switch (how % 16) {
    case 0:
    case 1:
    case 2:  // anywhere; mostly in the headers
      for (uint32_t n = 1 + (how >> 6); n > 0; --n) {
        const uint32_t at =
            program.flag() ? program.below(std::min(size, 64u)) : program.below(size);
        datagram.octets[at] ^= std::byte{program.u8()};
      }
      break;
    case 3:
      datagram.octets.resize(program.below(size + 1));
      break;
    case 4:
      datagram.octets.resize(size + 1 + program.u8());
      break;
    case 5:  // as a switch marks trimmed packets [PDS-130]
      datagram.dscp = program.flag() ? 16 : 18;
      if (program.flag()) datagram.octets.resize(std::min(size, 12 + program.below(64)));
      break;
    case 6:
      datagram.ecn = Ecn::ce;
      break;
    case 7:
      std::swap(datagram.from, datagram.to);
      break;
    case 8:
      datagram.from.port = static_cast<uint16_t>(datagram.from.port ^ (1u << program.u8() % 16));
      break;
    case 9:
      datagram.from.ip[program.u8() % 4] ^= program.u8();
      break;
    default:
      break;
  }
}

}  // namespace uet::fuzz
