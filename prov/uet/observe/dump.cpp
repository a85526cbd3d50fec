// Copying under the lock, writing without it.
#include "prov/uet/observe/dump.h"

#include "prov/uet/observe/json.h"

namespace uet::prov {
namespace {

const char* kind_name(ses::OpKind kind) {
  switch (kind) {
    case ses::OpKind::send:
      return "send";
    case ses::OpKind::tagged_send:
      return "tagged_send";
    case ses::OpKind::write:
      return "write";
    case ses::OpKind::read:
      return "read";
    case ses::OpKind::atomic:
      return "atomic";
    case ses::OpKind::fetching_atomic:
      return "fetching_atomic";
    case ses::OpKind::recv:
    case ses::OpKind::tagged_recv:
    case ses::OpKind::remote_write:
    case ses::OpKind::remote_read:
    case ses::OpKind::remote_atomic:
    case ses::OpKind::remote_fetching_atomic:
      break;  // these are no operations of an initiator
  }
  return "?";
}

const char* mode_name(pds::Mode mode) {
  switch (mode) {
    case pds::Mode::rud:
      return "rud";
    case pds::Mode::rod:
      return "rod";
    case pds::Mode::rudi:
      return "rudi";
    case pds::Mode::uud:
      return "uud";
  }
  return "?";
}

void put_context(std::string& out, const void* context) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx",
           static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(context)));
  put_member(out, "context", text);
}

void put(std::string& out, const pds::PdcSnapshot& s) {
  put_member(out, "id", s.id.value());
  put_member(out, "peer_id", s.peer_id.value());
  put_address(out, "peer", s.peer);
  put_member(out, "role", s.is_initiator ? "initiator" : "target");
  put_member(out, "state", pds::name(s.state));
  put_member(out, "mode", mode_name(s.mode));
  put_member(out, "tc", s.tc.value());
  put_flag(out, "close_asked", s.close_asked);
  put_flag(out, "has_message", s.has_message);
  put_member(out, "tx_base", s.tx_base.value());
  put_member(out, "tx_next", s.tx_next.value());
  put_member(out, "lost", s.lost);
  put_member(out, "mp_range", s.mp_range);
  put_member(out, "window_bytes", s.window_bytes);
  put_member(out, "inflight_bytes", s.inflight_bytes);
  put_span(out, "oldest_us", s.oldest_age);
  put_member(out, "oldest_resends", s.oldest_resends);
  put_member(out, "oldest_nacks", s.oldest_nacks);
  put_member(out, "rx_cack", s.rx_cack.value());
  put_member(out, "rx_max", s.rx_max.value());
  put_member(out, "out_of_order", s.out_of_order);
  put_member(out, "stored", s.stored);
  put_member(out, "verdicts", s.verdicts);
  put_span(out, "round_trip_us", s.round_trip);
  put_span(out, "silent_us", s.silent);
  put_span(out, "waiting_us", s.waiting);
  put_span(out, "refused_us", s.refused);
  put_span(out, "timer_us", s.timer);
}

void put(std::string& out, const ses::OperationSnapshot& s) {
  put_member(out, "endpoint", s.endpoint.value());
  put_address(out, "peer", s.peer);
  put_member(out, "peer_pid", s.peer_pid.value());
  put_member(out, "peer_ri", s.peer_ri.value());
  put_member(out, "kind", kind_name(s.kind));
  put_member(out, "state", s.state);
  put_context(out, s.context);
  put_member(out, "tag", s.tag);
  put_member(out, "bytes", s.bytes);
  put_member(out, "message_id", s.message_id);
  put_member(out, "message_start", s.message_start);
  put_member(out, "message_bytes", s.message_bytes);
  put_member(out, "packets_sent", s.pulled_packets);
  put_member(out, "packets_done", s.done_packets);
  put_member(out, "retries", s.retries);
  put_span(out, "refused_us", s.refused);
  put_span(out, "timer_us", s.timer);
}

void put(std::string& out, const ses::ReceiveSnapshot& s) {
  put_member(out, "endpoint", s.endpoint.value());
  put_address(out, "from", s.from);
  put_flag(out, "tagged", s.tagged);
  put_flag(out, "multi", s.multi);
  put_flag(out, "matched", s.is_matched);
  put_context(out, s.context);
  put_member(out, "tag", s.tag);
  put_member(out, "ignore", s.ignore);
  put_member(out, "bytes", s.bytes);
}

void put(std::string& out, const ses::KeptSnapshot& s) {
  put_member(out, "endpoint", s.endpoint.value());
  put_address(out, "peer", s.peer);
  put_member(out, "initiator", s.initiator);
  put_flag(out, "tagged", s.tagged);
  put_flag(out, "complete", s.is_complete);
  put_member(out, "tag", s.tag);
  put_member(out, "bytes", s.bytes);
}

void put(std::string& out, const ses::ArrivingSnapshot& s) {
  put_address(out, "peer", s.peer);
  put_member(out, "message_id", s.message_id);
  put_member(out, "bytes", s.bytes);
  put_member(out, "arrived", s.arrived);
  put_span(out, "silent_us", s.silent);
}

// "name": {"count": all of them, "listed": [...]}
template <class Entries>
void put_list(std::string& out, const char* name, uint32_t count, const Entries& entries,
              uint32_t listed) {
  put_member(out, name);
  out += '{';
  put_member(out, "count", count);
  put_elements(out, "listed", entries, listed, [&out](const auto& entry) { put(out, entry); });
  out += '}';
}

void put_stack(std::string& out, const Dump& dump) {
  put_flag(out, "blocked", dump.is_blocked);
  put_flag(out, "backlog", dump.has_backlog);
  put_span(out, "timer_us", dump.deadline);
  put_member(out, "peers", dump.peers);
  put_member(out, "endpoints", dump.ses.endpoint_count);
  put_member(out, "inflight_bytes", dump.usage.inflight_bytes);
  put_member(out, "stored_responses", dump.usage.stored_responses);
  put_member(out, "reordered_packets", dump.usage.reordered_packets);
  put_member(out, "return_messages", dump.usage.return_messages);
  put_member(out, "rudi_packets", dump.usage.rudi_packets);
  put_member(out, "kept_pages", dump.ses.kept_pages);
  put_member(out, "kept_pages_max", dump.ses.kept_pages_max);
  put_member(out, "disabled_indices", dump.ses.disabled_indices);
  put_list(out, "pdcs", dump.usage.pdcs, dump.pdcs, dump.pdcs_listed);
  const ses::Snapshot& s = dump.ses;
  put_list(out, "operations", s.operation_count, dump.operations, s.operation_count);
  put_list(out, "receives", s.receive_count, dump.receives, s.receive_count);
  put_list(out, "kept", s.kept_count, dump.kept, s.kept_count);
  put_list(out, "arriving", s.arriving_count, dump.arriving, s.arriving_count);
}

}  // namespace

std::unique_ptr<Dump> take_dump(ProgressEngine& engine) {
  auto dump = std::make_unique<Dump>();
  Dump& d = *dump;
  d.is_held = !engine.inspect(kDumpPatience, [&d](fep::Engine& e, Instant now) {
    fep::FabricEndpoint& fep = e.fep();
    d.pdcs_listed = fep.pds().snapshot(d.pdcs, now);
    d.usage = fep.pds().usage();
    d.ses.operations = d.operations;
    d.ses.receives = d.receives;
    d.ses.kept = d.kept;
    d.ses.arriving = d.arriving;
    fep.ses().snapshot(d.ses, now);
    d.peers = fep.peers().size();
    d.is_blocked = e.is_blocked();
    d.has_backlog = e.has_backlog();
    if (!e.next_deadline().is_never()) d.deadline = e.next_deadline() - now;
  });
  return dump;
}

std::string dump_text(const DomainStatus& status, const Dump& dump) {
  std::string out = "{";
  out.reserve(kDumpBytesMax);
  put_identity(out, status);
  put_flag(out, "held", dump.is_held);
  if (!dump.is_held) put_stack(out, dump);
  out += '}';
  return out;
}

}  // namespace uet::prov
