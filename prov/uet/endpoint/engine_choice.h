// Chooses the engine that an endpoint runs in, and keeps the queues and counters that it uses
// there. [LF-145, decision 27]
#pragma once

#include "prov/uet/completion/wait.h"
#include "prov/uet/domain/engines.h"

#include <vector>

namespace uet::prov {

class EngineChoice {
 public:
  explicit EngineChoice(DomainEngines& engines) : engines_(engines) {}

  // `objects`: of the queues and counters that the endpoint is bound to, each once. The engine that
  // serves them, if one has endpoints already; else the one with the fewest. `needs_first`: no
  // other than the first engine will do. From here on that engine serves the objects. Called again
  // with more objects, it keeps its choice. Null: two objects have different engines.
  DomainEngine* choose(const std::vector<WaitObject*>& objects, bool needs_first);
  // The endpoint ends.
  void release();

 private:
  DomainEngine* engine_of(const WaitObject& object) const;
  DomainEngine* wanted(const std::vector<WaitObject*>& objects) const;

  DomainEngines& engines_;
  DomainEngine* at_ = nullptr;        // once chosen
  std::vector<WaitObject*> staying_;  // what stays there for the endpoint
};

}  // namespace uet::prov
