// Reports of remote accesses.
#include "ses/incoming/remote_report.h"

namespace uet::ses {

void report_remote(const Endpoint& ep, const MemoryRegions& memory, const Request& q, OpKind kind,
                   RegionId region, const RxMessage* m) {
  const bool has_data = kind != OpKind::remote_read && (m != nullptr ? m->has_data : q.has_data);
  if (ep.rx.complete == nullptr || !(has_data || ep.rx.all_remote)) return;
  if (memory.exposed(region) != 0) return;  // the source of a rendezvous: no access to report
  if (!q.has_pdc()) return;                 // packets, not messages [LF-097]
  Completion c;
  c.kind = kind;
  c.context.user = memory.user(region);
  c.bytes = q.request_length;
  c.has_data = has_data;
  if (has_data) c.data = m != nullptr ? m->header_data : q.header_data;
  c.peer = q.peer;
  c.initiator_id = q.initiator;
  c.job = q.common.job_id;
  ep.rx.complete(ep.rx.owner, c);
}

}  // namespace uet::ses
