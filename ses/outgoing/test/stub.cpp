// Posting operations and their ends, as the tests of other parts see them.
#include "ses/outgoing/outgoing.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

Operations::Operations(Resources& res, const Endpoints& endpoints, Flows& flows, SendOrder& order,
                       Exposures& exposures, Deferrals& deferrals)
    : res_(res),
      endpoints_(endpoints),
      flows_(flows),
      order_(order),
      exposures_(exposures),
      deferrals_(deferrals),
      users_max_(0),
      payloads_(res, endpoints) {}

Outgoing::Outgoing(Resources& res, const Endpoints& endpoints, MemoryRegions& memory)
    : res_(res),
      flows_(res),
      remotes_(res, flows_),
      order_(res, remotes_),
      exposures_(res, memory),
      deferrals_(res),
      operations_(res, endpoints, flows_, order_, exposures_, deferrals_),
      settling_(res, operations_, order_, exposures_),
      posting_(res, remotes_, order_, operations_, exposures_, deferrals_) {}

Result<void> Posting::read_rest(Endpoint&, const RestRequest& request) {
  if (!answers().may_post) return Errc::again;
  uint64_t bytes = 0;
  for (const IoSlice& slice : request.iov) bytes += slice.length;
  note("read " + std::to_string(bytes) + " at " + std::to_string(request.offset));
  answers().posted.push_back(request.pull);
  return {};
}
Result<void> Posting::send_restart(Endpoint&, const Restart& restart, uint32_t deferred) {
  if (!answers().may_post) return Errc::again;
  note("send_restart " + std::to_string(restart.tokens.initiator));
  answers().posted.push_back(deferred);
  return {};
}

bool Outgoing::restart(const Restart& order) {
  note("restart " + std::to_string(order.tokens.initiator));
  return answers().knows_restart;
}
void Settling::look_at_exposed(TxMessage&) { note("look_at_exposed"); }

}  // namespace uet::ses
