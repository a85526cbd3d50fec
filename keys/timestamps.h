// Dates of key files, in UTC.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace uet::keys {

struct CivilTime {
  unsigned year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
};

// Seconds since 1970.
inline int64_t seconds_of(const CivilTime& t) {
  using namespace std::chrono;
  const sys_days day =
      year_month_day(year(static_cast<int>(t.year)), month(t.month), std::chrono::day(t.day));
  return int64_t{86400} * day.time_since_epoch().count() + int64_t{3600} * t.hour +
         int64_t{60} * t.minute + t.second;
}

// 2026-11-30T12:00:00Z
inline std::string text_of_time(int64_t seconds) {
  using namespace std::chrono;
  const sys_days date = floor<days>(sys_seconds(std::chrono::seconds(seconds)));
  const year_month_day ymd(date);
  const int64_t within = seconds - int64_t{86400} * date.time_since_epoch().count();
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(ymd.year()),
                static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                static_cast<int>(within / 3600), static_cast<int>(within / 60 % 60),
                static_cast<int>(within % 60));
  return text;
}

}  // namespace uet::keys
