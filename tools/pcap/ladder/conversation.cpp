// Two tables find a PDC: by its receiver's address, port and identifier, and by its sender's.
#include "tools/pcap/ladder/conversation.h"

#include "tools/pcap/packet_unseal.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace uet::tools::ladder {

namespace {

using wire::DecodedPacket;
using wire::IpAddress;

// The fields of a packet about its PDC.
struct Names {
  IpAddress from, to;
  uint16_t port = 0;         // of the receiver; 0: native IP
  uint16_t answer_port = 0;  // where the sender receives, when it says so [WIRE-121]
  Pdcid spdcid, dpdcid;      // dpdcid 0 with syn
  std::optional<Psn> start_psn, told_psn;
  bool rod = false;
};

struct End {
  uint32_t pdc;
  uint8_t way;  // in which its owner sends
};

void take(Names& n, const wire::Request& h, uint16_t source_port) {
  n.spdcid = h.spdcid;
  n.dpdcid = h.dpdcid;
  n.rod = wire::is_rod(h.type);
  if (h.syn) n.start_psn = h.start_psn();
  if (h.private_mark) n.answer_port = source_port & 0xFFF0U;
}
void take(Names& n, const wire::Control& h, uint16_t source_port) {
  n.spdcid = h.spdcid;
  n.dpdcid = h.dpdcid;
  n.rod = h.isrod;
  if (h.syn) n.start_psn = h.start_psn();
  if (h.private_mark) n.answer_port = source_port & 0xFFF0U;
}
void take(Names& n, const wire::Ack& h, uint16_t) {
  n.spdcid = h.spdcid;
  n.dpdcid = h.dpdcid;
}
void take(Names& n, const wire::AckCc& h, uint16_t port) { take(n, h.ack, port); }
void take(Names& n, const wire::AckCcx& h, uint16_t port) { take(n, h.ack, port); }
void take(Names& n, const wire::Nack& h, uint16_t) {
  if (h.nt) return;  // of RUDI
  if (h.nack_code == wire::NackCode::new_start_psn) n.told_psn = Psn(h.payload);
  n.spdcid = h.spdcid;
  n.dpdcid = h.dpdcid;
}
void take(Names& n, const wire::NackCcx& h, uint16_t port) { take(n, h.nack, port); }
template <class Other>
void take(Names&, const Other&, uint16_t) {}

// Nothing for packets without a PDC, and for packets that are hardly UET.
std::optional<Names> names_of(const DecodedPacket& packet) {
  Names n;
  const auto addresses = [&](const auto& h) {
    if constexpr (requires { h.src; }) {
      n.from = h.src;
      n.to = h.dst;
    }
  };
  std::visit(addresses, packet.ip);
  if (packet.ip.index() == 0 || packet.pds.index() == 0) return std::nullopt;
  if (packet.udp) {
    n.port = packet.udp->dport;
    n.answer_port = wire::kUdpPort;
  }
  const bool ours = !packet.udp || packet.udp->dport == wire::kUdpPort;
  if (!ours && packet.outcome != wire::Outcome::accept && !packet.trimmed) return std::nullopt;
  const uint16_t source_port = packet.udp ? packet.udp->sport : uint16_t{0};
  std::visit([&](const auto& h) { take(n, h, source_port); }, packet.pds);
  if (n.spdcid == Pdcid{} && n.dpdcid == Pdcid{}) return std::nullopt;
  return n;
}

class Table {
 public:
  // The PDC of the packet, found or made.
  End of(const Names& n) {
    const End end = n.start_psn ? of_syn(n) : of_other(n);
    learn(n, end);
    return end;
  }
  std::vector<Conversation> conversations;

 private:
  using Receiver = std::tuple<IpAddress, uint16_t, Pdcid>;
  using Sender = std::tuple<IpAddress, IpAddress, uint16_t, Pdcid>;

  static Sender sender_of(const Names& n) { return {n.from, n.to, n.port, n.spdcid}; }

  // A SYN belongs to the PDC that its sender opened with the same identifier and start, or with the
  // start that its target asked for. [PDS-046, PDS-051]
  End of_syn(const Names& n) {
    const auto known = senders_.find(sender_of(n));
    if (known != senders_.end() && known->second.way == 0) {
      const Conversation& c = conversations[known->second.pdc];
      if (c.start_psn == n.start_psn || c.told_psn == n.start_psn) return known->second;
    }
    const End made = make(n);
    conversations[made.pdc].start_psn = n.start_psn;
    receivers_[{n.from, n.answer_port, n.spdcid}] = made;
    return made;
  }

  End of_other(const Names& n) {
    const auto receiver = receivers_.find({n.to, n.port, n.dpdcid});
    if (receiver != receivers_.end()) {
      const End end{receiver->second.pdc, static_cast<uint8_t>(receiver->second.way ^ 1U)};
      if (fits(end, n)) return end;
    }
    const auto sender = senders_.find(sender_of(n));
    if (sender != senders_.end() && fits(sender->second, n)) return sender->second;
    return make(n);
  }

  bool fits(End end, const Names& n) const {
    const Conversation& c = conversations[end.pdc];
    const auto same = [](Pdcid known, Pdcid said) {
      return known == Pdcid{} || said == Pdcid{} || known == said;
    };
    return c.address[end.way] == n.from && same(c.pdcid[end.way], n.spdcid) &&
           same(c.pdcid[end.way ^ 1U], n.dpdcid);
  }

  End make(const Names& n) {
    Conversation made;
    made.address[0] = n.from;
    made.address[1] = n.to;
    made.rod = n.rod;
    conversations.push_back(std::move(made));
    return {static_cast<uint32_t>(conversations.size() - 1), 0};
  }

  void learn(const Names& n, End end) {
    Conversation& c = conversations[end.pdc];
    const auto back = static_cast<uint8_t>(end.way ^ 1U);
    if (n.told_psn) c.told_psn = n.told_psn;
    if (n.spdcid != Pdcid{}) {
      c.pdcid[end.way] = n.spdcid;
      senders_[sender_of(n)] = end;
    }
    if (n.dpdcid != Pdcid{}) {
      c.pdcid[back] = n.dpdcid;
      receivers_[{n.to, n.port, n.dpdcid}] = {end.pdc, back};
    }
  }

  std::map<Receiver, End> receivers_;
  std::map<Sender, End> senders_;
};

}  // namespace

Decoder::Decoder(wire::Trailer trailer) {
  how_.udp_port = 0;
  how_.trailer = trailer;
}

DecodedPacket Decoder::operator()(const Captured& packet) {
  constexpr size_t kFrameMax = 70000;
  how_.start = packet.link_type == kLinkRawIp ? wire::Start::ip : wire::Start::ethernet;
  if (packet.on_wire_octets <= packet.octets.size()) {
    DecodedPacket decoded = wire::decode(packet.octets, how_);
    if (!packet.opened.empty()) show_content(decoded, packet.opened);
    return decoded;
  }
  room_ = packet.octets;
  room_.resize(std::min<size_t>(packet.on_wire_octets, kFrameMax));
  return wire::decode(room_, how_);
}

uint32_t open_sealed(std::span<Captured> packets, PacketKeys& keys) {
  uint32_t closed = 0;
  Decoder decode(wire::Trailer::none);
  for (Captured& packet : packets) {
    const DecodedPacket decoded = decode(packet);
    if (!decoded.tss) continue;
    const bool is_whole = packet.on_wire_octets <= packet.octets.size();
    const bool opens = is_whole && unseal(keys, decoded, packet.opened) == Opening::opened;
    if (!opens) ++closed;
  }
  return closed;
}

std::vector<Conversation> conversations_of(std::span<const Captured> packets,
                                           wire::Trailer trailer) {
  Table table;
  Decoder decode(trailer);
  for (uint32_t index = 0; index < packets.size(); ++index) {
    const std::optional<Names> names = names_of(decode(packets[index]));
    if (!names) continue;
    const End end = table.of(*names);
    table.conversations[end.pdc].members.push_back({index, end.way});
  }
  return std::move(table.conversations);
}

std::string text_of(const wire::IpAddress& address) {
  char room[64];
  wire::Text text(room);
  wire::print(text, address);
  return room;
}

}  // namespace uet::tools::ladder
