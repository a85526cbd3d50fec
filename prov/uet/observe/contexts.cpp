// Copying under the lock, writing without it.
#include "prov/uet/observe/contexts.h"

#include "prov/uet/observe/control_socket.h"
#include "prov/uet/observe/dump.h"
#include "prov/uet/observe/json.h"

#include <charconv>

namespace uet::prov {
namespace {

void put_nanoseconds(std::string& out, const char* name, Duration value) {
  put_signed(out, name, value.ns());
}

void put(std::string& out, const pds::ContextSnapshot& s) {
  put_address(out, "peer", s.peer);
  put_member(out, "tc", s.tc.value());
  put_member(out, "kind", s.is_sprayed ? "sprayed" : "single");
  put_member(out, "lane", s.lane);
  put_member(out, "algorithm", cms::name_of(s.algorithm));
  put_member(out, "window_bytes", s.window_bytes);
  put_member(out, "inflight_bytes", s.inflight_bytes);
  put_member(out, "backlog_bytes", s.backlog_bytes);
  put_member(out, "resend_bytes", s.resend_bytes);
  put_flag(out, "held_back", s.is_held_back);
  if (s.credit_bytes) put_signed(out, "credit_bytes", *s.credit_bytes);
  put_nanoseconds(out, "rtt_ns", s.rtt);
  put_nanoseconds(out, "last_rtt_ns", s.last_rtt);
  put_nanoseconds(out, "base_rtt_ns", s.base_rtt);
  put_member(out, "acks", s.acks);
  put_member(out, "marked", s.marked);
  put_member(out, "ecn_permille", s.recent_ecn_permille);
  put_member(out, "strange_evs", s.strange_evs);
  put_member(out, "evs", s.evs);
  put_member(out, "evs_resting", s.evs_resting);
  put_member(out, "evs_excluded", s.evs_excluded);
}

}  // namespace

std::optional<uint32_t> page_asked_for(std::string_view request) {
  if (request == kContextsRequest) return 0;
  if (!request.starts_with(kContextsRequest)) return std::nullopt;
  request.remove_prefix(kContextsRequest.size());
  if (!request.starts_with(' ')) return std::nullopt;
  request.remove_prefix(1);
  uint32_t from = 0;
  const auto [end, error] = std::from_chars(request.data(), request.data() + request.size(), from);
  if (error != std::errc{} || end != request.data() + request.size()) return std::nullopt;
  return from;
}

std::unique_ptr<ContextsPage> take_contexts(ProgressEngine& engine, uint32_t from) {
  auto page = std::make_unique<ContextsPage>();
  ContextsPage& p = *page;
  p.is_held = !engine.inspect(kDumpPatience, [&p, from](fep::Engine& e, Instant) {
    p.page = e.fep().pds().snapshot(p.contexts, from);
  });
  return page;
}

std::string contexts_text(const DomainStatus& status, const ContextsPage& page) {
  std::string out = "{";
  out.reserve(kDumpBytesMax);
  put_identity(out, status);
  put_flag(out, "held", page.is_held);
  if (!page.is_held) {
    put_member(out, "paths");
    out += '{';
    put_member(out, "count", page.page.count);
    put_elements(out, "listed", page.contexts, page.page.listed,
                 [&out](const pds::ContextSnapshot& path) { put(out, path); });
    if (page.page.next) put_member(out, "next", *page.page.next);
    out += '}';
  }
  out += '}';
  return out;
}

}  // namespace uet::prov
