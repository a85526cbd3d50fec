// Values with units: every documented form, and refused ones.
#include "prov/uet/settings/values.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace uet::prov {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr Word kWords[] = {{"soft", 7}, {"spec", 9}};

Setting row_of(Kind kind, const char* unit, int64_t min, int64_t max) {
  Setting row;
  row.kind = kind;
  row.unit = unit;
  row.min = min;
  row.max = max;
  return row;
}

std::optional<int64_t> number(int64_t value) { return value; }

TEST(ValuesTest, TimesTakeUnitsAndAPlainNumberCountsTheRowsUnit) {
  const Setting row = row_of(Kind::time, "us", 0, kMax);
  EXPECT_EQ(parse_value(row, "250us"), number(250));
  EXPECT_EQ(parse_value(row, "3ms"), number(3'000));
  EXPECT_EQ(parse_value(row, "60s"), number(60'000'000));
  EXPECT_EQ(parse_value(row, "2min"), number(120'000'000));
  EXPECT_EQ(parse_value(row, "1h"), number(3'600'000'000));
  EXPECT_EQ(parse_value(row, "60000000"), number(60'000'000));
  EXPECT_EQ(parse_value(row, "0x10"), number(16));
  EXPECT_EQ(parse_value(row, "0"), number(0));
  const Setting in_ms = row_of(Kind::time, "ms", 0, kMax);
  EXPECT_EQ(parse_value(in_ms, "5000"), number(5'000'000));
  EXPECT_EQ(parse_value(in_ms, "250us"), number(250));
  EXPECT_EQ(parse_value(in_ms, "5s"), number(5'000'000));
}

TEST(ValuesTest, OctetsTakePowersOf1024) {
  const Setting row = row_of(Kind::octets, "octets", 0, kMax);
  EXPECT_EQ(parse_value(row, "65536"), number(65'536));
  EXPECT_EQ(parse_value(row, "64KiB"), number(65'536));
  EXPECT_EQ(parse_value(row, "64k"), number(65'536));
  EXPECT_EQ(parse_value(row, "64K"), number(65'536));
  EXPECT_EQ(parse_value(row, "1MiB"), number(1'048'576));
  EXPECT_EQ(parse_value(row, "1M"), number(1'048'576));
  EXPECT_EQ(parse_value(row, "2GiB"), number(2'147'483'648));
  EXPECT_EQ(parse_value(row, "2G"), number(2'147'483'648));
  EXPECT_EQ(parse_value(row, "1TiB"), number(1'099'511'627'776));
  EXPECT_EQ(parse_value(row, "1T"), number(1'099'511'627'776));
  EXPECT_EQ(parse_value(row, "0x1000"), number(4'096));
}

TEST(ValuesTest, CountsAndShares) {
  const Setting count = row_of(Kind::count, "packets", 1, 2048);
  EXPECT_EQ(parse_value(count, "64"), number(64));
  EXPECT_EQ(parse_value(count, "0x40"), number(64));
  const Setting share = row_of(Kind::share, "MAX_PDCS", 0, 50);
  EXPECT_EQ(parse_value(share, "12"), number(12));
  EXPECT_EQ(parse_value(share, "12%"), number(12));
}

TEST(ValuesTest, FlagsAndWords) {
  const Setting flag = row_of(Kind::flag, "", 0, 1);
  for (const char* const text : {"1", "yes", "on", "true", "0x1"}) {
    EXPECT_EQ(parse_value(flag, text), number(1)) << text;
  }
  for (const char* const text : {"0", "no", "off", "false"}) {
    EXPECT_EQ(parse_value(flag, text), number(0)) << text;
  }
  for (const char* const text : {"2", "-1", "Yes", "maybe", ""}) {
    EXPECT_EQ(parse_value(flag, text), std::nullopt) << text;
  }
  Setting choice = row_of(Kind::choice, "", 0, 0);
  choice.words = kWords;
  EXPECT_EQ(parse_value(choice, "spec"), number(9));
  for (const char* const text : {"9", "SPEC", "spec ", ""}) {
    EXPECT_EQ(parse_value(choice, text), std::nullopt) << text;
  }
}

TEST(ValuesTest, TheEndsOfARangeBelongToIt) {
  const Setting row = row_of(Kind::time, "us", 1'000, 60'000'000);
  EXPECT_EQ(parse_value(row, "1ms"), number(1'000));
  EXPECT_EQ(parse_value(row, "999us"), std::nullopt);
  EXPECT_EQ(parse_value(row, "1min"), number(60'000'000));
  EXPECT_EQ(parse_value(row, "60000001us"), std::nullopt);
  EXPECT_EQ(parse_value(row, "2min"), std::nullopt);
  Setting buffer = row_of(Kind::octets, "octets", 65'536, 1 << 30);
  EXPECT_EQ(parse_value(buffer, "0"), std::nullopt);
  buffer.grid = Grid::zero_too;
  EXPECT_EQ(parse_value(buffer, "0"), number(0));
  EXPECT_EQ(parse_value(buffer, "1"), std::nullopt);
  Setting power = row_of(Kind::octets, "octets", 1'024, 8'192);
  power.grid = Grid::powers_of_two;
  EXPECT_EQ(parse_value(power, "4k"), number(4'096));
  EXPECT_EQ(parse_value(power, "3k"), std::nullopt);
  EXPECT_EQ(parse_value(power, "0"), std::nullopt);
}

TEST(ValuesTest, OverflowingValuesAreRefused) {
  const Setting time = row_of(Kind::time, "us", 0, kMax);
  EXPECT_EQ(parse_value(time, "9223372036854775807"), number(kMax));
  EXPECT_EQ(parse_value(time, "9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_value(time, "9223372036854775807ms"), std::nullopt);
  EXPECT_EQ(parse_value(time, "2562047788h"), number(2'562'047'788 * 3'600'000'000));
  EXPECT_EQ(parse_value(time, "2562047789h"), std::nullopt);
  const Setting in_ms = row_of(Kind::time, "ms", 0, kMax);
  EXPECT_EQ(parse_value(in_ms, "9223372036854775807"), std::nullopt);
  const Setting octets = row_of(Kind::octets, "octets", 0, kMax);
  EXPECT_EQ(parse_value(octets, "8388607TiB"), number(int64_t{8'388'607} << 40));
  EXPECT_EQ(parse_value(octets, "8388608TiB"), std::nullopt);
  EXPECT_EQ(parse_value(octets, "99999999999999999999"), std::nullopt);
}

TEST(ValuesTest, GarbageIsRefused) {
  const Setting time = row_of(Kind::time, "us", 0, kMax);
  for (const char* const text :
       {"", " 1", "1 ", "1 ms", "+1", "-1", "ms", "1ns", "1m", "1sec", "1S", "1.5s", "1,5s", "1ms2",
        "0x", "0x1ms", "many", "1KiB", "1%"}) {
    EXPECT_EQ(parse_value(time, text), std::nullopt) << text;
  }
  const Setting octets = row_of(Kind::octets, "octets", 0, kMax);
  for (const char* const text : {"64kB", "64KB", "64kib", "64m", "64B", "64s", "KiB", "0x10k"}) {
    EXPECT_EQ(parse_value(octets, text), std::nullopt) << text;
  }
  const Setting count = row_of(Kind::count, "packets", 0, kMax);
  for (const char* const text : {"64k", "64%", "1s", "64packets", "-0x1"}) {
    EXPECT_EQ(parse_value(count, text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_value(row_of(Kind::share, "", 0, 100), "5%%"), std::nullopt);
}

TEST(ValuesTest, PrintsTheGreatestUnitThatDividesANumber) {
  const Setting time = row_of(Kind::time, "us", 0, kMax);
  EXPECT_EQ(print_value(time, 0), "0");
  EXPECT_EQ(print_value(time, 250), "250us");
  EXPECT_EQ(print_value(time, 1'500), "1500us");
  EXPECT_EQ(print_value(time, 5'000'000), "5s");
  EXPECT_EQ(print_value(time, 60'000'000), "1min");
  EXPECT_EQ(print_value(time, 86'400'000'000), "24h");
  const Setting octets = row_of(Kind::octets, "octets", 0, kMax);
  EXPECT_EQ(print_value(octets, 1), "1");
  EXPECT_EQ(print_value(octets, 65'536), "64KiB");
  EXPECT_EQ(print_value(octets, 67'108'864), "64MiB");
  EXPECT_EQ(print_value(octets, 4'294'967'295), "4294967295");
  EXPECT_EQ(print_value(row_of(Kind::share, "", 0, 100), 12), "12%");
  EXPECT_EQ(print_value(row_of(Kind::count, "packets", 0, 100), 12), "12");
}

TEST(ValuesTest, PrintedValuesAreReadBack) {
  const Setting rows[] = {row_of(Kind::time, "us", 0, kMax), row_of(Kind::time, "ms", 0, kMax),
                          row_of(Kind::octets, "octets", 0, kMax),
                          row_of(Kind::count, "packets", 0, kMax),
                          row_of(Kind::share, "", 0, kMax)};
  for (const Setting& row : rows) {
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{999}, int64_t{1'000},
                                int64_t{1'024}, int64_t{61'000'000}, int64_t{1} << 40, kMax}) {
      EXPECT_EQ(parse_value(row, print_value(row, value)), number(value)) << value;
    }
  }
}

}  // namespace
}  // namespace uet::prov
