// Registered memory, as the tests of other parts see it: there is one region, for any key.
#include "ses/memory/memory_region.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

Result<RegionId, wire::ReturnCode> MemoryRegions::authorize(uint64_t, const RegionUse&) const {
  if (!answers().is_region_good) return wire::ReturnCode::bad_mkey;
  return RegionId(1);
}
Result<RegionId, wire::ReturnCode> MemoryRegions::authorize_optimized(uint16_t,
                                                                      RegionUse use) const {
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
  return RegionId(1);
}
void MemoryRegions::enable(RegionId) { ++enabled_total_; }
void MemoryRegions::remove(RegionId) {
  answers().exposed = 0;
  note("remove region");
}
uint64_t MemoryRegions::key(RegionId) const { return 1; }
uint64_t MemoryRegions::user(RegionId) const { return 0; }
uint32_t MemoryRegions::exposed(RegionId) const { return answers().exposed; }
RegionId MemoryRegions::id_of_key(uint64_t) const { return RegionId(1); }
bool MemoryRegions::is_provider_key(uint64_t) { return false; }

}  // namespace uet::ses
