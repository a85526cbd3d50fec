// The port to the real packet delivery sublayer.
#include "ses/pds_port.h"

#include "pds/pds.h"

namespace uet::ses {
namespace {

pds::Pds& of(void* self) { return *static_cast<pds::Pds*>(self); }

}  // namespace

PdsPort port_of(pds::Pds& pds) {
  PdsPort port;
  port.self = &pds;
  port.flow = [](void* self, PeerId peer, TrafficClass tc, pds::Mode mode, JobId job) {
    return of(self).flow(peer, tc, mode, job);
  };
  port.ready = [](void* self, pds::FlowId flow) { of(self).ready(flow); };
  port.respond = [](void* self, pds::RxToken token, const pds::Verdict& verdict, Instant now) {
    return of(self).respond(token, verdict, now);
  };
  port.send_return = [](void* self, pds::PdcHandle pdc, pds::MessageHandle message) {
    return of(self).send_return(pdc, message);
  };
  port.message_done = [](void* self, pds::PdcHandle pdc) { of(self).message_done(pdc); };
  port.want_answers = [](void* self, pds::FlowId flow, Instant now) {
    of(self).want_answers(flow, now);
  };
  port.release = [](void* self, pds::FlowId flow) { of(self).release(flow); };
  return port;
}

}  // namespace uet::ses
