// How a fid leads to its object, for every kind of object that libfabric sees. [LF-127]
#include "prov/uet/address/av.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/memory/mr.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace uet::prov {
namespace {

// [LF-127] Standard layout with the specific fid first, and in that the general one: a pointer to
// any of the three is a pointer to all.
template <class Owner>
constexpr bool leads_back() {
  using Link = typename Owner::Link;
  using Fid = decltype(Link::fid);
  return std::is_standard_layout_v<Link> && offsetof(Link, fid) == 0 &&
         std::is_standard_layout_v<Fid> && offsetof(Fid, fid) == 0;
}
static_assert(leads_back<Fabric>());
static_assert(leads_back<Domain>());
static_assert(leads_back<Endpoint>());
static_assert(leads_back<CompletionQueue>());
static_assert(leads_back<EventQueue>());
static_assert(leads_back<AddressVector>());
static_assert(leads_back<Counter>());
static_assert(leads_back<MemoryRegion>());

TEST(LayoutTest, AFidLeadsToItsObject) {
  struct Thing {
    using Link = FidLink<fid_cq, Thing>;
    Link link;
    int value = 0;
  };
  Thing thing;
  thing.value = 42;
  thing.link.owner = &thing;
  EXPECT_EQ(&object_of<Thing>(&thing.link.fid), &thing);
  EXPECT_EQ(&object_of<Thing>(&thing.link.fid.fid), &thing);
}

}  // namespace
}  // namespace uet::prov
