// Registered memory, scatter lists, the page pool and message IDs.
#include "ses/memory/memory_region.h"
#include "ses/iov.h"
#include "ses/outgoing/message_ids.h"
#include "ses/receives/unexpected_pool.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace uet::ses {
namespace {

using Octets = std::vector<std::byte>;
using wire::ReturnCode;

class MemoryRegionsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(regions_.create(arena_, 8, 5).ok()); }
  RegionRequest request() {
    RegionRequest r;
    r.iov = {&slice_, 1};
    r.access = kRemoteRead;
    return r;
  }
  ReturnCode authorize(uint64_t key, uint64_t length = 1) {
    RegionUse use;
    use.access = kRemoteRead;
    use.length = length;
    const auto got = regions_.authorize(key, use);
    return got.ok() ? ReturnCode::ok : got.error();
  }

  Arena arena_;
  MemoryRegions regions_;
  std::byte octet_{};
  IoSlice slice_{&octet_, 1};
};

// [LF-023..026, LF-029] The two key spaces are apart; reserved and vendor bits are not ignored.
TEST_F(MemoryRegionsTest, UserKeysAndProviderKeysAreApart) {
  RegionRequest r = request();
  r.provider_key = false;
  r.key = 0xABCDEF012345;
  const RegionId mine = *regions_.add(r);
  EXPECT_EQ(regions_.key(mine), 0xABCDEF012345u);
  EXPECT_EQ(authorize(r.key), ReturnCode::bad_mkey);  // not enabled [LF-035]
  regions_.enable(mine);
  EXPECT_EQ(authorize(r.key), ReturnCode::ok);
  EXPECT_EQ(authorize(r.key | 1ull << 48), ReturnCode::bad_mkey);
  EXPECT_EQ(authorize(r.key | 1ull << 49), ReturnCode::bad_mkey);
  EXPECT_EQ(authorize(r.key | 1ull << 56), ReturnCode::bad_mkey);
  EXPECT_EQ(authorize(r.key | 1ull << 62), ReturnCode::bad_mkey);
  EXPECT_EQ(regions_.add(r).error(), Errc::exists);
  const RegionId theirs = *regions_.add(request());
  EXPECT_EQ(regions_.key(theirs) >> 48, 1u);
  EXPECT_EQ(regions_.size(), 2u);
  regions_.remove(mine);
  r.key = 0xABCDEF012345;
  EXPECT_TRUE(regions_.add(r).ok());
}

// [LF-150] Any number is a key: a number that the format cannot hold travels as a hash, and a key
// that looks like a provider key is found as well.
TEST_F(MemoryRegionsTest, UserKeysMayBeAnyNumber) {
  const RegionId provider = *regions_.add(request());
  regions_.enable(provider);
  const uint64_t keys[] = {
      0,
      1ull << 48,                        // as a provider key without a nonce
      regions_.key(provider) ^ 1 << 23,  // as a provider key with another nonce
      0x00AB'0000'0000'0001,             // vendor bits
      1ull << 62 | 7,                    // optimized, with index 7
      1ull << 62,                        // index 0, which the provider never gives
      1ull << 62 | 0x1000,               // no index
      1ull << 56,
      0x0123'4567'89AB'CDEF,
      0xFFFF'FFFF'FFFF'FFFF,
  };
  for (const uint64_t key : keys) {
    RegionRequest r = request();
    r.provider_key = false;
    r.key = key;
    EXPECT_EQ(authorize(wire_key(key)), ReturnCode::bad_mkey) << key;
    const Result<RegionId> id = regions_.add(r);
    ASSERT_TRUE(id.ok()) << key;
    regions_.enable(*id);
    EXPECT_EQ(regions_.key(*id), wire_key(key)) << key;
    EXPECT_TRUE(has_key_format(regions_.key(*id))) << "reserved bits are 0 on the wire";
    EXPECT_EQ(authorize(wire_key(key)), ReturnCode::ok) << key;
    EXPECT_EQ(regions_.add(r).error(), Errc::exists) << key;
    regions_.remove(*id);
    EXPECT_EQ(authorize(wire_key(key)), ReturnCode::bad_mkey) << key;
  }
  EXPECT_EQ(authorize(regions_.key(provider)), ReturnCode::ok);
}

// [LF-027] Bit 63 of a key says that an access may be repeated, in keys of the application, too.
TEST_F(MemoryRegionsTest, TheKeySaysThatReplaysAreSafe) {
  RegionRequest r = request();
  r.provider_key = false;
  r.key = 7;
  r.idempotent_safe = true;
  EXPECT_EQ(regions_.key(*regions_.add(r)), uint64_t{1} << 63 | 7);
  EXPECT_EQ(regions_.add(r).error(), Errc::exists);
  r.provider_key = true;
  EXPECT_EQ(regions_.key(*regions_.add(r)) >> 63, 1u);
  r.idempotent_safe = false;
  EXPECT_EQ(regions_.key(*regions_.add(r)) >> 63, 0u);
}

// [LF-150] Every uet must hash alike: numbers worked out by hand of the rule in
// libfabric-mapping.md.
TEST_F(MemoryRegionsTest, TheHashOfAKeyIsFixed) {
  EXPECT_EQ(wire_key(0x0123'4567'89AB'CDEF), 0x00B2'58E4'EBB5'112Cu);
  EXPECT_EQ(wire_key(0xFFFF'FFFF'FFFF'FFFF), 0x00B6'55FC'F2CB'BD7Bu);
  EXPECT_EQ(wire_key(0x8000'0000'0000'0007), 0x8000'0000'0000'0007u) << "idempotent-safe";
}

// [LF-151] With virtual addresses the first octet has the number of its address.
TEST_F(MemoryRegionsTest, OffsetsMayBeginAtABase) {
  RegionRequest r = request();
  r.base = 0x7FFF'0000'1000;
  const RegionId id = *regions_.add(r);
  regions_.enable(id);
  RegionUse use;
  use.access = kRemoteRead;
  const auto at = [&](uint64_t offset, uint64_t length) {
    use.offset = offset;
    use.length = length;
    return regions_.authorize(regions_.key(id), use).ok();
  };
  EXPECT_TRUE(at(r.base, 1));
  EXPECT_TRUE(at(r.base + 1, 0));
  EXPECT_FALSE(at(r.base, 2));
  EXPECT_FALSE(at(r.base - 1, 1));
  EXPECT_FALSE(at(r.base + 2, 0));
  EXPECT_FALSE(at(0, 1));
  const std::byte value{0x5A};
  EXPECT_TRUE(regions_.place(id, r.base, {&value, 1}));
  EXPECT_EQ(octet_, value);
  EXPECT_FALSE(regions_.place(id, 0, {&value, 1}));
}

// [T-21] Keys of the same slot differ, and an old one opens nothing.
TEST_F(MemoryRegionsTest, ProviderKeysAreNeverReused) {
  std::set<uint64_t> keys;
  for (int i = 0; i < 1000; ++i) {
    const RegionId id = *regions_.add(request());
    regions_.enable(id);
    const uint64_t key = regions_.key(id);
    EXPECT_EQ(authorize(key), ReturnCode::ok);
    EXPECT_EQ(authorize(key ^ 1ull << 40), ReturnCode::bad_mkey);
    regions_.remove(id);
    EXPECT_EQ(authorize(key), ReturnCode::bad_mkey);
    EXPECT_FALSE(regions_.place(id, 0, {&octet_, 1}));
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000u);
}

// [LF-028] No optimized key left: an ordinary one.
TEST_F(MemoryRegionsTest, OptimizedKeysAreTwelveBits) {
  RegionRequest r = request();
  r.optimized = true;
  r.idempotent_safe = true;
  const RegionId id = *regions_.add(r);
  regions_.enable(id);
  const uint64_t key = regions_.key(id);
  EXPECT_EQ(key >> 62, 3u);
  EXPECT_LT(key & ~(3ull << 62), 4096u);
  EXPECT_EQ(authorize(key), ReturnCode::ok);
  const RegionUse use{.access = kRemoteRead, .job = JobId(1), .ri = ResourceIndex(9)};
  EXPECT_TRUE(regions_.authorize_optimized(uint16_t(key & 0xFFF), use).ok());
  EXPECT_FALSE(regions_.authorize_optimized(0xFFFF, use).ok());
  regions_.remove(id);
  EXPECT_FALSE(regions_.authorize_optimized(uint16_t(key & 0xFFF), use).ok());
}

TEST_F(MemoryRegionsTest, AFullTableSaysAgain) {
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(regions_.add(request()).ok());
  EXPECT_EQ(regions_.add(request()).error(), Errc::again);
}

// Slices above 4 GiB count in 64 bits; a sum beyond 64 bits is refused.
TEST_F(MemoryRegionsTest, LongSlicesAreBoundedInSixtyFourBits) {
  const IoSlice huge{&octet_, UINT64_MAX - 1};
  RegionRequest r = request();
  r.iov = {&huge, 1};
  const RegionId id = *regions_.add(r);
  regions_.enable(id);
  RegionUse use;
  use.access = kRemoteRead;
  use.offset = UINT64_MAX - 5;
  use.length = 4;
  EXPECT_TRUE(regions_.authorize(regions_.key(id), use).ok());
  use.length = 5;
  EXPECT_EQ(regions_.authorize(regions_.key(id), use).error(), ReturnCode::bad_addr);
  const IoSlice two[] = {huge, huge};
  r.iov = two;
  EXPECT_EQ(regions_.add(r).error(), Errc::too_long);
}

TEST(IovTest, ScatterFindsItsPlaceInAnyOrder) {
  Arena arena;
  LongIovs pool;
  ASSERT_TRUE(pool.create(arena, 2).ok());
  Rng rng(9);
  for (int round = 0; round < 50; ++round) {
    const uint64_t count = 1 + rng.below(64);
    std::vector<Octets> pieces;
    std::vector<IoSlice> slices;
    size_t total = 0;
    for (uint64_t i = 0; i < count; ++i) {
      pieces.emplace_back(rng.below(20));
      total += pieces.back().size();
    }
    for (const Octets& p : pieces) slices.push_back({p.data(), p.size()});
    Iov iov;
    ASSERT_TRUE(iov.assign(slices, pool).ok());
    EXPECT_EQ(iov.bytes(), total);
    Octets flat(total);
    for (int i = 0; i < 100; ++i) {
      const uint64_t offset = rng.below(total + 1);
      Octets data(rng.below(total - offset + 1));
      for (std::byte& b : data) b = std::byte(rng.u32());
      iov.scatter(offset, data);
      std::copy(data.begin(), data.end(), flat.begin() + static_cast<ptrdiff_t>(offset));
    }
    Octets joined;
    for (const Octets& p : pieces) joined.insert(joined.end(), p.begin(), p.end());
    EXPECT_EQ(joined, flat);
    iov.release(pool);
  }
  EXPECT_EQ(pool.size(), 0u);
}

// [SES-126, SES-189] A page is taken when an octet for it comes, whatever the length; everything is
// given back, any size up to the whole pool.
TEST(UnexpectedPoolTest, PagesAreTakenAsOctetsArriveAndComeBack) {
  Arena arena;
  UnexpectedPool pool;
  ASSERT_TRUE(pool.create(arena, 2100 * UnexpectedPool::kPageBytes).ok());
  Rng rng(4);
  for (const uint64_t pages : {1u, 4u, 5u, 1024u, 1025u, 2000u}) {
    const uint64_t bytes = pages * UnexpectedPool::kPageBytes - 3;
    PageList list = UnexpectedPool::list_of(bytes);
    EXPECT_EQ(pool.free_pages(), 2100u);
    Octets data(bytes);
    for (std::byte& b : data) b = std::byte(rng.u32());
    // Backwards, in pieces that cross pages.
    for (uint64_t end = bytes; end != 0;) {
      const uint64_t begin = end > 5000 ? end - 5000 : 0;
      const uint32_t missing = pool.missing(list, begin, end - begin);
      const uint32_t held = list.held;
      pool.write(list, begin, std::span(data).subspan(begin, end - begin));
      EXPECT_EQ(list.held, held + missing);
      EXPECT_EQ(pool.missing(list, begin, end - begin), 0u);
      end = begin;
    }
    EXPECT_EQ(list.held, UnexpectedPool::whole(bytes));
    EXPECT_EQ(pool.free_pages(), 2100u - list.held);
    Octets back;
    pool.read(list, 0, bytes, [&](std::span<const std::byte> piece) {
      back.insert(back.end(), piece.begin(), piece.end());
    });
    EXPECT_EQ(back, data);
    pool.release(list);
    EXPECT_EQ(pool.free_pages(), 2100u);
  }
}

// [SES-189] The first and the last octet of 4 GiB take a page each, and the pages that say where.
TEST(UnexpectedPoolTest, AClaimedLengthTakesNoPage) {
  Arena arena;
  UnexpectedPool pool;
  ASSERT_TRUE(pool.create(arena, 8 * UnexpectedPool::kPageBytes).ok());
  PageList list = UnexpectedPool::list_of(0xFFFF'FFFE);
  EXPECT_EQ(pool.missing(list, 0, 1), 3u);
  const std::byte first{7}, last{9};
  pool.write(list, 0, {&first, 1});
  EXPECT_EQ(pool.missing(list, 0xFFFF'FFFD, 1), 2u);
  pool.write(list, 0xFFFF'FFFD, {&last, 1});
  EXPECT_EQ(pool.free_pages(), 3u);
  pool.read(list, 0xFFFF'FFFD, 1, [&](auto piece) { EXPECT_EQ(piece[0], last); });
  pool.release(list);
  EXPECT_EQ(pool.free_pages(), 8u);
}

// If no octets are kept, payload takes pages as usual, and all of it is written to one page, which
// holds no page numbers.
TEST(UnexpectedPoolTest, PayloadWithoutOctetsTakesPlacesOnly) {
  Arena arena;
  UnexpectedPool pool;
  ASSERT_TRUE(pool.create(arena, 16 * UnexpectedPool::kPageBytes, /*keeps_octets=*/false).ok());
  const Octets data(6 * UnexpectedPool::kPageBytes, std::byte{7});
  PageList list = UnexpectedPool::list_of(data.size());
  pool.write(list, 0, data);
  EXPECT_EQ(pool.free_pages(), 9u) << "six of payload, one of page numbers";
  std::set<const std::byte*> places;
  uint64_t length = 0;
  pool.read(list, 0, data.size(), [&](std::span<const std::byte> piece) {
    places.insert(piece.data());
    length += piece.size();
  });
  EXPECT_EQ(length, data.size());
  EXPECT_EQ(places.size(), 1u);
  pool.release(list);
  EXPECT_EQ(pool.free_pages(), 16u);
}

// [SES-010, SES-033] 1 to 65534, each once, the longest unused first.
TEST(MessageIdsTest, IdsAreUniqueAndReusedLate) {
  Arena arena;
  MessageIds ids;
  ASSERT_TRUE(ids.create(arena).ok());
  for (uint32_t i = 1; i <= 65534; ++i) {
    EXPECT_EQ(ids.take(i).value(), i);
  }
  EXPECT_TRUE(ids.exhausted());
  EXPECT_EQ(ids.take(1), MessageId(0));
  EXPECT_EQ(ids.holder(MessageId(500)), 500u);
  EXPECT_EQ(ids.holder(MessageId(0)), 0u);
  EXPECT_EQ(ids.holder(MessageId(65535)), 0u);
  ids.give_back(MessageId(500));
  ids.give_back(MessageId(3));
  EXPECT_EQ(ids.holder(MessageId(500)), 0u);
  EXPECT_EQ(ids.take(9), MessageId(500));
  EXPECT_EQ(ids.take(9), MessageId(3));
}

// [T-58] The ID of a message that ended, well or not, is reused only after all other IDs: a late
// packet for it finds no message.
TEST(MessageIdsTest, AnIdIsReusedAfterAllOtherIds) {
  Arena arena;
  MessageIds ids;
  ASSERT_TRUE(ids.create(arena).ok());
  const MessageId ended = ids.take(1);
  ids.give_back(ended);
  for (uint32_t i = 1; i < MessageIds::kCount; ++i) {
    const MessageId id = ids.take(1);
    ASSERT_NE(id, ended);
    EXPECT_EQ(ids.holder(ended), 0u);
    ids.give_back(id);
  }
  EXPECT_EQ(ids.take(1), ended);
}

}  // namespace
}  // namespace uet::ses
