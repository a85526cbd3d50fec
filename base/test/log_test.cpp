// Tests of log formatting and filtering.
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace uet {
namespace {

using Lines = std::vector<std::pair<LogLevel, std::string>>;

LogSink sink_into(Lines& lines, LogLevel level) {
  return {[](void* context, LogLevel at, const char* message) {
            static_cast<Lines*>(context)->emplace_back(at, message);
          },
          &lines, level};
}

TEST(LogTest, FormatsLikePrintf) {
  Lines lines;
  log(sink_into(lines, LogLevel::info), LogLevel::warn, "%s %d of %u", "packet", -1, 2u);
  EXPECT_EQ(lines, (Lines{{LogLevel::warn, "packet -1 of 2"}}));
}

TEST(LogTest, DropsLinesAboveTheLevelOfTheSink) {
  Lines lines;
  const LogSink sink = sink_into(lines, LogLevel::info);
  log(sink, LogLevel::debug, "no");
  log(sink, LogLevel::info, "yes");
  EXPECT_EQ(lines, (Lines{{LogLevel::info, "yes"}}));
  EXPECT_FALSE(is_logged(sink, LogLevel::trace));
  EXPECT_TRUE(is_logged(sink, LogLevel::error));
}

TEST(LogTest, ASinkWithoutAFunctionTakesNothing) {
  const LogSink none;
  EXPECT_FALSE(is_logged(none, LogLevel::error));
  log(none, LogLevel::error, "%d", 1);
}

TEST(LogTest, LongLinesAreCutVisibly) {
  Lines lines;
  const LogSink sink = sink_into(lines, LogLevel::trace);
  log(sink, LogLevel::trace, "%s", std::string(511, 'x').c_str());
  log(sink, LogLevel::trace, "%s", std::string(512, 'x').c_str());
  EXPECT_EQ(lines[0].second, std::string(511, 'x'));
  EXPECT_EQ(lines[1].second, std::string(508, 'x') + "...");
}

TEST(LogTest, LevelsHaveNames) {
  EXPECT_STREQ(name(LogLevel::error), "error");
  EXPECT_STREQ(name(LogLevel::warn), "warn");
  EXPECT_STREQ(name(LogLevel::info), "info");
  EXPECT_STREQ(name(LogLevel::debug), "debug");
  EXPECT_STREQ(name(LogLevel::trace), "trace");
  EXPECT_STREQ(name(static_cast<LogLevel>(99)), "unknown level");
}

}  // namespace
}  // namespace uet
