// Registered memory, as the tests of other parts see it: there is one region, for any key. After
// create() it is the one that was added.
#include "ses/memory/memory_region.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

Result<void> MemoryRegions::create(Arena& arena, uint32_t, uint64_t) {
  return regions_.create(arena, 1);
}
Result<RegionId, wire::ReturnCode> MemoryRegions::authorize(uint64_t, const RegionUse& use) const {
  answers().use = use;
  if (!answers().is_region_good) return wire::ReturnCode::bad_mkey;
  return RegionId(answers().region);
}
Result<RegionId, wire::ReturnCode> MemoryRegions::authorize_optimized(uint16_t index,
                                                                      RegionUse use) const {
  note("optimized key " + std::to_string(index));
  return authorize(0, use);
}
bool MemoryRegions::place(RegionId, uint64_t offset, std::span<const std::byte> source) const {
  if (answers().is_region_good) {
    note("place " + std::to_string(source.size()) + " at " + std::to_string(offset));
  }
  return answers().is_region_good;
}
Result<RegionId> MemoryRegions::add(const RegionRequest& request) {
  answers().exposed = request.exposed;
  if (Region* const region = regions_.alloc()) {
    answers().region = regions_.handle(region).word();
    UET_CHECK(region->memory.assign(request.iov, long_iovs_));
  }
  return RegionId(answers().region);
}
void MemoryRegions::enable(RegionId) { ++enabled_total_; }
void MemoryRegions::remove(RegionId id) {
  if (Region* const region = find(id)) regions_.free(region);
  answers().exposed = 0;
  note("remove region");
}
uint64_t MemoryRegions::key(RegionId) const { return 1; }
uint64_t MemoryRegions::user(RegionId) const { return 99; }
uint32_t MemoryRegions::exposed(RegionId) const { return answers().exposed; }
RegionId MemoryRegions::id_of_key(uint64_t) const { return RegionId(1); }
bool MemoryRegions::is_provider_key(uint64_t) { return false; }

}  // namespace uet::ses
