// The congestion contexts of a domain as the text that `uet_ctl paths` and `uet_ctl record` get, a
// page at a time: bounded in size, however many peers there are. docs/howto/uet_ctl.md lists the
// members.
#pragma once

#include "prov/uet/observe/status.h"
#include "prov/uet/progress/progress.h"

#include "pds/snapshot.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace uet::prov {

// Contexts of a page at most; with all numbers as wide as can be it fits an answer of 200,000
// octets.
inline constexpr uint32_t kContextsOfPage = 256;

// Big; not for the stack of a thread.
struct ContextsPage {
  bool is_held = false;  // a thread kept the lock for too long: the rest is empty
  std::array<pds::ContextSnapshot, kContextsOfPage> contexts;
  pds::ContextPage page;
};

// Index at which the requested page begins: 0 for kContextsRequest alone, N with " N" behind it.
// Nothing: another request.
std::optional<uint32_t> page_asked_for(std::string_view request);

// Waits for the lock for a limited time.
std::unique_ptr<ContextsPage> take_contexts(ProgressEngine& engine, uint32_t from);

std::string contexts_text(const DomainStatus& status, const ContextsPage& page);

}  // namespace uet::prov
