// Which unreachable peers get a line in the log. [LF-136]
#include "prov/uet/endpoint/unreachable_log.h"

#include <gtest/gtest.h>

#include <optional>

namespace uet::prov {
namespace {

constexpr Instant kStart = Instant::from_ns(1'000'000'000);
constexpr Duration kStep = Duration::milliseconds(1);

// The number of lines for `peers` peers that fail in turn, from `begin` on, a failure each
// millisecond.
uint32_t lines_of(UnreachableLog& log, uint32_t peers, uint32_t failures, Instant begin) {
  uint32_t lines = 0;
  for (uint32_t i = 0; i < failures; ++i) {
    if (log.admit(PeerId(i % peers), begin + kStep * int64_t{i})) ++lines;
  }
  return lines;
}

// [LF-136] Few addresses get a line each, however often and in whatever turn they fail.
TEST(UnreachableLogTest, AFewPeersGetALineEach) {
  for (const uint32_t peers : {1u, 2u, 3u, UnreachableLog::kLines}) {
    UnreachableLog log;
    EXPECT_EQ(lines_of(log, peers, 200'000, kStart), peers) << "in 200 s";
  }
}

// [LF-136] The lines a minute are limited, however many addresses fail.
TEST(UnreachableLogTest, ManyPeersGetAFewLinesAMinute) {
  for (const uint32_t peers : {UnreachableLog::kLines + 1, 1000u}) {
    UnreachableLog log;
    EXPECT_EQ(lines_of(log, peers, 59'999, kStart), UnreachableLog::kLines);
    EXPECT_LE(lines_of(log, peers, 60'000, kStart + UnreachableLog::kTime),
              UnreachableLog::kLines + 1);
  }
}

// [LF-136] The next line says how many failures had none, once.
TEST(UnreachableLogTest, WhatWasLeftOutIsCounted) {
  UnreachableLog log;
  for (uint32_t i = 0; i < UnreachableLog::kLines; ++i) {
    EXPECT_EQ(log.admit(PeerId(i), kStart), std::optional<uint64_t>(0));
  }
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(log.admit(PeerId(100 + i), kStart + kStep), std::nullopt);
  }
  EXPECT_EQ(log.admit(PeerId(0), kStart + kStep), std::nullopt) << "it has its line";
  const Instant later = kStart + UnreachableLog::kTime;
  EXPECT_EQ(log.admit(PeerId(100), later), std::optional<uint64_t>(5));
  EXPECT_EQ(log.admit(PeerId(101), later), std::optional<uint64_t>(0));
}

}  // namespace
}  // namespace uet::prov
