// Makes records of packets, fates and completions from the types of the stack and its backends.
#include "sim/recording/events.h"

namespace uet::recording {

Packets packets_of(std::span<const TxPacket> batch) {
  Packets out;
  for (const TxPacket& p : batch) {
    Packets::Packet& packet = out.all.emplace_back();
    packet.to = p.to;
    packet.ev = p.ev;
    packet.dscp = p.dscp;
    packet.ecn = p.ecn;
    packet.sdi = p.sdi;
    packet.header.assign(p.header, p.header + p.header_bytes);
    packet.payload_bytes = p.payload_bytes;
    if (p.payload_bytes != 0) packet.payload_digest = kDigestStart;
    for (uint32_t i = 0; i < p.slice_count; ++i) {
      packet.payload_digest = digest({p.slices[i].data, p.slices[i].length}, packet.payload_digest);
    }
  }
  return out;
}

Fates fates_of(std::span<const TxPacket> batch, Instant at) {
  Fates out;
  out.at = at;
  bool is_any_not_sent = false;
  for (const TxPacket& p : batch) is_any_not_sent |= p.fate != TxFate::sent;
  if (!is_any_not_sent) return out;
  for (const TxPacket& p : batch) out.all.push_back({p.fate, static_cast<uint32_t>(p.error)});
  return out;
}

bool set_fates(const Fates& fates, std::span<TxPacket> batch) {
  if (!fates.all.empty() && fates.all.size() != batch.size()) return false;
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].fate = fates.all.empty() ? TxFate::sent : fates.all[i].fate;
    batch[i].error = fates.all.empty() ? 0 : static_cast<int>(fates.all[i].error);
  }
  return true;
}

Completed completed(uint32_t sink, const ses::Completion& c) {
  Completed out;
  out.sink = sink;
  out.kind = c.kind;
  out.bytes = c.bytes;
  out.truncated_bytes = c.truncated_bytes;
  out.tag = c.tag;
  out.data = c.data;
  out.has_data = c.has_data;
  out.multi_done = c.multi_done;
  out.peer = c.peer;
  out.initiator_id = c.initiator_id;
  out.job = c.job;
  out.status = c.status;
  out.was_retained = c.was_retained;
  out.code = c.code;
  out.failure = c.failure;
  out.local_error = static_cast<uint32_t>(c.local_error);
  return out;
}

}  // namespace uet::recording
