// What one host has to do: by time, then by number.
#include "sim/agenda.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

using Lane = Agenda::Lane;

Instant at(int64_t ns) { return Instant::from_ns(ns); }

TEST(Agenda, WhatIsDueComesByNumber) {
  Agenda agenda;
  agenda.add(Lane::send, 7, at(10));
  agenda.add(Lane::send, 3, at(20));
  agenda.add(Lane::send, 5, at(30));
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 0u);
  agenda.advance(at(20));
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 3u);
  EXPECT_EQ(agenda.first_due(Lane::send, 3), 7u);
  EXPECT_EQ(agenda.first_due(Lane::send, 7), 0u);
  ASSERT_NE(agenda.first_later(), nullptr);
  EXPECT_EQ(agenda.first_later()->id, 5u);
}

TEST(Agenda, LanesAreApart) {
  Agenda agenda;
  agenda.add_due(Lane::receive, 1);
  agenda.add_due(Lane::send, 2);
  agenda.finish(Lane::send, 1);
  EXPECT_EQ(agenda.first_due(Lane::receive, 0), 1u);
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 2u);
  EXPECT_EQ(agenda.first_due(Lane::other, 0), 0u);
  agenda.finish(Lane::receive, 1);
  EXPECT_EQ(agenda.first_due(Lane::receive, 0), 0u);
}

TEST(Agenda, SaysWhetherATaskIsDue) {
  Agenda agenda;
  EXPECT_FALSE(agenda.has_due(at(10)));
  agenda.add(Lane::send, 7, at(10));
  EXPECT_FALSE(agenda.has_due(at(9)));
  EXPECT_TRUE(agenda.has_due(at(10)));
  agenda.advance(at(10));
  EXPECT_TRUE(agenda.has_due(at(9))) << "until it is finished";
  agenda.finish(Lane::send, 7);
  EXPECT_FALSE(agenda.has_due(at(10)));
  agenda.add_next_time(Lane::other, 8, at(50));
  EXPECT_TRUE(agenda.has_due(at(10))) << "the next advance() looks at it";
  agenda.advance(at(10));
  EXPECT_FALSE(agenda.has_due(at(49)));
}

TEST(Agenda, ATaskForNextTimeIsNotSeenBefore) {
  Agenda agenda;
  agenda.add_next_time(Lane::other, 4, at(10));
  EXPECT_EQ(agenda.first_later(), nullptr);
  agenda.advance(at(5));
  ASSERT_NE(agenda.first_later(), nullptr);
  EXPECT_EQ(agenda.first_later()->at, at(10));
  agenda.advance(at(10));
  EXPECT_EQ(agenda.first_due(Lane::other, 0), 4u);
  EXPECT_EQ(agenda.first_later(), nullptr);
}

}  // namespace
}  // namespace uet::sim
