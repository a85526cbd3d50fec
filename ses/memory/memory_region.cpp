// Registered memory: creates keys, finds regions by key, checks requests.
#include "ses/memory/memory_region.h"

#include <algorithm>

namespace uet::ses {
namespace {

constexpr uint64_t kProviderKey = uint64_t{1} << 48;  // a vendor bit [LF-025, LF-026]
constexpr uint64_t kRkeyMask = kProviderKey - 1;
constexpr uint64_t kHashedKey = uint64_t{1} << 49;  // a vendor bit [LF-150]
constexpr unsigned kNonceShift = 22;                // above the slot index
constexpr uint64_t kNonceMask = (uint64_t{1} << (48 - kNonceShift)) - 1;

}  // namespace

// 54 bits of hash: all bits of the RKEY and the vendor bits 50 to 55. Every uet must hash alike.
uint64_t hashed_key(uint64_t key) {
  constexpr uint64_t kVendorHash = uint64_t{0x3F} << 50;
  uint64_t h = key;
  h = (h ^ h >> 30) * 0xBF58'476D'1CE4'E5B9;  // the finaliser of SplitMix64
  h = (h ^ h >> 27) * 0x94D0'49BB'1331'11EB;
  h ^= h >> 31;
  return kHashedKey | (h & kRkeyMask) | (h >> 8 & kVendorHash);
}

Result<void> MemoryRegions::create(Arena& arena, uint32_t capacity, uint64_t seed) {
  rng_ = Rng(seed, 2);
  // Freed slots are used again as late as possible: a handle that a return message still holds
  // then names nothing for a long time.
  UET_CHECK(regions_.create(arena, capacity, Reuse::late));
  UET_CHECK(long_iovs_.create(arena, std::max<uint32_t>(capacity / 16, 64)));
  UET_CHECK(user_keys_.create(arena, capacity, rng_.u64()));
  optimized_ = arena.make_span<uint32_t>(kOptimizedCount);
  by_slot_ = arena.make_span<uint32_t>(capacity);
  if (optimized_.empty() || by_slot_.empty()) return Errc::no_memory;
  return {};
}

// A key with the optimized format names its index, so that it works in a small header, too.
// [LF-028, LF-150]
Result<void> MemoryRegions::take_user_key(Region& region, RegionId id,
                                          const RegionRequest& request) {
  const uint64_t key = wire_key(request.key) & ~kIdempotentSafe;
  const uint64_t index = key ^ kOptimizedKey;
  if (index < kOptimizedCount) {
    if (optimized_[index] != 0) return Errc::exists;
    optimized_[index] = id.value();
    region.is_optimized = true;
    region.optimized_index = static_cast<uint16_t>(index);
  } else {
    const auto inserted = user_keys_.insert(key, id.value());
    if (!inserted.ok()) return inserted.error();
    region.is_user_key = true;
  }
  region.key = (request.idempotent_safe ? kIdempotentSafe : 0) | key;
  return {};
}

Result<void> MemoryRegions::give_key(Region& region, RegionId id, const RegionRequest& request) {
  const uint64_t safe = request.idempotent_safe ? kIdempotentSafe : 0;
  if (!request.provider_key) return take_user_key(region, id, request);
  for (uint32_t tried = 1; request.optimized && tried < kOptimizedCount; ++tried) {
    const uint32_t index = optimized_next_;
    optimized_next_ = optimized_next_ + 1 == kOptimizedCount ? 1 : optimized_next_ + 1;
    if (optimized_[index] != 0) continue;
    optimized_[index] = id.value();
    region.is_optimized = true;
    region.optimized_index = static_cast<uint16_t>(index);
    region.key = safe | kOptimizedKey | index;
    return {};
  }
  // Random, so that a key that leaked or was guessed from another one opens nothing.
  // [security.md]
  const uint64_t slot = Handle<Region>::from_word(id.value()).index();
  region.key = safe | kProviderKey | (rng_.u64() & kNonceMask) << kNonceShift | slot;
  return {};
}

Result<RegionId> MemoryRegions::add(const RegionRequest& request) {
  Region* region = regions_.alloc();
  if (region == nullptr) return Errc::again;
  const RegionId id(regions_.handle(region).word());
  const Result<void> done = region->memory.assign(request.iov, long_iovs_);
  if (!done.ok()) {
    regions_.free(region);
    return done.error();
  }
  const Result<void> keyed = give_key(*region, id, request);
  if (!keyed.ok()) {
    region->memory.release(long_iovs_);
    regions_.free(region);
    return keyed.error();
  }
  by_slot_[regions_.handle(region).index()] = id.value();
  region->base = request.base;
  region->user = request.user;
  region->access = request.access;
  region->job = request.job;
  region->jobs = request.jobs;
  region->is_directed = request.directed;
  region->from = request.from;
  region->from_initiator = request.from_initiator;
  region->ri = request.ri;
  region->idempotent_safe = request.idempotent_safe;
  region->exposed = request.exposed;
  // The source of a rendezvous is enabled at once: no disabled index waits for it.
  region->is_enabled = request.exposed != 0;
  return id;
}

void MemoryRegions::enable(RegionId id) {
  Region* region = find(id);
  UET_ASSERT(region != nullptr);
  region->is_enabled = true;
  ++enabled_total_;
}

void MemoryRegions::remove(RegionId id) {
  Region* region = find(id);
  UET_ASSERT(region != nullptr);
  if (region->is_user_key) user_keys_.erase(region->key & ~kIdempotentSafe);
  if (region->is_optimized) optimized_[region->optimized_index] = 0;
  region->memory.release(long_iovs_);
  regions_.free(region);
}

uint64_t MemoryRegions::key(RegionId id) const {
  const Region* region = find(id);
  UET_ASSERT(region != nullptr);
  return region->key;
}

uint64_t MemoryRegions::user(RegionId id) const {
  const Region* region = find(id);
  return region == nullptr ? 0 : region->user;
}

uint32_t MemoryRegions::exposed(RegionId id) const {
  const Region* region = find(id);
  return region == nullptr ? 0 : region->exposed;
}

bool MemoryRegions::is_provider_key(uint64_t key) {
  return (key & (kOptimizedKey | kProviderKey)) == kProviderKey;
}

RegionId MemoryRegions::id_of_key(uint64_t key) const {
  const uint64_t plain = key & ~kIdempotentSafe;
  const uint64_t index = plain ^ kOptimizedKey;
  if (index < kOptimizedCount) return RegionId(optimized_[index]);
  if (is_provider_key(plain)) {
    // The slot names the region; the whole key, nonce included, must agree.
    const uint64_t slot = plain & Handle<Region>::kIndexMask;
    const RegionId id(slot < by_slot_.size() ? by_slot_[slot] : 0);
    const Region* region = find(id);
    if (region != nullptr && (region->key & ~kIdempotentSafe) == plain) return id;
  }
  // An application may have chosen a key in the format of this provider's own keys.
  const uint32_t* id = user_keys_.find(plain);
  return RegionId(id == nullptr ? 0 : *id);
}

// A region restricted to another job, index or initiator does not exist for this request. [LF-037,
// LF-019]
bool MemoryRegions::Region::is_for(const RegionUse& use) const {
  return (job == kAnyJob || job == use.job.value()) && (ri == 0 || ri == use.ri.value()) &&
         (jobs.empty() || std::find(jobs.begin(), jobs.end(), use.job) != jobs.end()) &&
         (!is_directed || (from == use.peer && from_initiator == use.initiator));
}

Result<RegionId, wire::ReturnCode> MemoryRegions::check(RegionId id, const RegionUse& use) const {
  const Region* region = find(id);
  if (region == nullptr || !region->is_enabled || !region->is_for(use)) {
    return wire::ReturnCode::bad_mkey;  // [SES-116, SES-175]
  }
  // The region has no rights: PERM_VIOLATION; it lacks this one: OP_VIOLATION. [SES-083]
  if (region->access == 0) return wire::ReturnCode::perm_violation;
  if ((region->access & use.access) != use.access) return wire::ReturnCode::op_violation;
  if (use.replayable && !region->idempotent_safe) return wire::ReturnCode::op_violation;
  if (!region->covers(use.offset, use.length)) return wire::ReturnCode::bad_addr;  // [SES-176]
  return id;
}

Result<RegionId, wire::ReturnCode> MemoryRegions::authorize(uint64_t key,
                                                            const RegionUse& use) const {
  return check(id_of_key(key), use);
}

Result<RegionId, wire::ReturnCode> MemoryRegions::authorize_optimized(uint16_t index,
                                                                      RegionUse use) const {
  // The RI field carries the key here, so a restriction to an RI cannot be met. [SES-008]
  use.ri = ResourceIndex(0);
  return check(RegionId(index < kOptimizedCount ? optimized_[index] : 0), use);
}

bool MemoryRegions::place(RegionId id, uint64_t offset, std::span<const std::byte> source) const {
  const Region* region = find(id);
  if (region == nullptr || !region->covers(offset, source.size())) return false;
  region->memory.scatter(offset - region->base, source);
  return true;
}

}  // namespace uet::ses
