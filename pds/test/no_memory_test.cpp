// Requests of peers when the system has no memory left: they are refused, and the process does not
// end.
#include "pds/pdc/pdc_table.h"

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace uet::pds {
namespace {

#ifndef UET_GUARDS  // a limit on addresses does not work in a program with its own memory checker

constexpr Psn kStart{1000};

// A child process: its memory has an end, and its exit status says which line was wrong.
#define UET_MUST(condition) \
  if (!(condition)) std::exit(__LINE__ % 200 + 1)

class NoMemoryTest : public ::testing::Test {
 protected:
  // The system gives no more, and the arena has none left over.
  void use_up() {
    limit_addresses(true);
    for (size_t bytes = size_t{1} << 24; bytes >= 8; bytes /= 2) {
      while (arena_.allocate(bytes, 8) != nullptr) {
      }
    }
  }
  // The same, but there is room for small arrays, and for `large_bytes` octets of large ones.
  void use_up_but(size_t large_bytes) {
    use_up();
    limit_addresses(false);
    UET_MUST(arena_.allocate(8, 8) != nullptr);
    const size_t before = arena_.reserved_bytes();
    UET_MUST(arena_.allocate(Arena::kLargeBytes, 8) != nullptr);
    const size_t block_bytes = arena_.reserved_bytes() - before;
    UET_MUST(block_bytes > 2 * Arena::kLargeBytes + large_bytes);
    limit_addresses(true);
    const size_t rest = block_bytes - Arena::kLargeBytes - large_bytes;
    UET_MUST(arena_.allocate(rest, 8) != nullptr);
  }
  static void limit_addresses(bool is_used_up) {
    rlimit addresses{};
    UET_MUST(getrlimit(RLIMIT_AS, &addresses) == 0);
    addresses.rlim_cur = is_used_up ? 0 : addresses.rlim_max;
    UET_MUST(setrlimit(RLIMIT_AS, &addresses) == 0);
  }
  void create(uint32_t pdcs, uint32_t tombstones) {
    UET_MUST(table_.create(arena_, {pdcs, pdcs, tombstones}, random_).ok());
  }
  // Null: it has no place where it could be found.
  Pdc* target(uint16_t peer_id) {
    Pdc* const pdc = table_.allocate(false, random_);
    UET_MUST(pdc != nullptr);
    pdc->peer = PeerId(1);
    pdc->peer_id = Pdcid(peer_id);
    pdc->tx.start(kStart);
    pdc->start.begin_at(kStart);
    if (table_.bind_peer(*pdc)) return pdc;
    table_.free(*pdc);
    return nullptr;
  }

  Arena arena_;
  SeededRandom random_{42};
  PdcTable table_;
};

// [PDS-018, PDS-047] A PDC that no copy of its SYN would find is not opened.
TEST_F(NoMemoryTest, APdcThatCannotBeFoundIsNotOpened) {
  const auto child = [&] {
    create(4096, 8);
    use_up();
    uint16_t opened = 0;
    while (opened < 4096 && target(static_cast<uint16_t>(opened + 1)) != nullptr) ++opened;
    UET_MUST(opened >= 64 && opened < 4096);
    UET_MUST(table_.size() == opened);
    table_.free(*table_.find_peer(PeerId(1), Pdcid(1)));
    UET_MUST(target(opened) != nullptr);
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

// [PDS-176] A PDC that closes is free, with or without a tombstone.
TEST_F(NoMemoryTest, APdcWithoutATombstoneIsFree) {
  const auto child = [&] {
    create(1024, 1024);
    for (uint16_t i = 1; i <= 1024; ++i) UET_MUST(target(i) != nullptr);
    use_up();
    uint32_t graves = 0;
    for (uint16_t i = 1; i <= 1024; ++i) {
      Pdc* const pdc = table_.find_peer(PeerId(1), Pdcid(i));
      const Pdcid id = pdc->id;
      table_.bury(*pdc, Instant::from_ns(1));
      const bool is_there = table_.find_tombstone(PeerId(1), Pdcid(i), kStart) != nullptr;
      UET_MUST(is_there == (table_.find_tombstone(id) != nullptr));
      graves += is_there;
    }
    UET_MUST(table_.size() == 0);
    UET_MUST(graves >= 64 && graves < 1024);
    table_.expire_tombstones(Instant::from_ns(2));
    UET_MUST(target(1) != nullptr);
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

// [PDS-176] A tombstone is found by the PDCID of either end, or by neither: also where there is
// memory for one of the two tables and not for both.
TEST_F(NoMemoryTest, NoTombstoneIsFoundInOneTableOnly) {
  for (size_t bytes = 0; bytes <= 16384; bytes += 2048) {
    const auto child = [&] {
      create(256, 256);
      for (uint16_t i = 1; i <= 256; ++i) UET_MUST(target(i) != nullptr);
      use_up_but(bytes);
      for (uint16_t i = 1; i <= 256; ++i) {
        Pdc* const pdc = table_.find_peer(PeerId(1), Pdcid(i));
        const Pdcid id = pdc->id;
        table_.bury(*pdc, Instant::from_ns(1));
        const bool is_there = table_.find_tombstone(PeerId(1), Pdcid(i), kStart) != nullptr;
        UET_MUST(is_there == (table_.find_tombstone(id) != nullptr));
      }
      std::exit(0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "") << bytes << " octets are left";
  }
}

#endif

}  // namespace
}  // namespace uet::pds
