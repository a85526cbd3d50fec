// Quantities with units, read and written.
#include "sim/traffic/quantity.h"

#include "sim/traffic/traffic.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

TEST(QuantityTest, UnitsAreRead) {
  EXPECT_EQ(parse_quantity("70B", Unit::count), 70e9);
  EXPECT_EQ(parse_quantity("1.5T", Unit::count), 1.5e12);
  EXPECT_EQ(parse_quantity("16 GiB", Unit::bytes), 16.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_quantity("2MB", Unit::bytes), 2e6);
  EXPECT_EQ(parse_quantity("4096", Unit::bytes), 4096);
  EXPECT_EQ(parse_quantity("400Gbps", Unit::gbps), 400);
  EXPECT_EQ(parse_quantity("50GB/s", Unit::gbps), 400);
  EXPECT_EQ(parse_quantity("1.6Tbps", Unit::gbps), 1600);
  EXPECT_EQ(parse_quantity("430ZFLOP", Unit::flop), 430e21);
  EXPECT_EQ(parse_quantity("430ZFLOPs", Unit::flop), 430e21);
  EXPECT_EQ(parse_quantity("1e24", Unit::flop), 1e24);
  EXPECT_EQ(parse_quantity("624TFLOPS", Unit::tflops), 624);
  EXPECT_EQ(parse_quantity("2PFLOPS", Unit::tflops), 2000);
  EXPECT_EQ(parse_quantity("1week", Unit::time), 604'800);
  EXPECT_EQ(parse_quantity("2us", Unit::time), 2e-6);
  EXPECT_EQ(parse_quantity("30%", Unit::share), 0.3);
  EXPECT_EQ(parse_quantity("0.3", Unit::share), 0.3);
}

TEST(QuantityTest, ATextThatIsNoQuantityIsAnErrorWithExamples) {
  const auto error = [](const char* text, Unit unit) -> std::string {
    try {
      parse_quantity(text, unit);
    } catch (const TrafficError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("400GBps", Unit::gbps), "'400GBps' is not a rate, such as 400Gbps or 50GB/s");
  EXPECT_EQ(error("", Unit::bytes), "'' is not bytes, such as 4096, 2MB or 16GiB");
  EXPECT_EQ(error("-1", Unit::count), "'-1' is not a number, such as 512, 70B or 15T");
  EXPECT_EQ(error("1e999", Unit::flop), "'1e999' is not work, such as 430ZFLOP");
  EXPECT_EQ(error("nan", Unit::share), "'nan' is not a share, such as 0.3 or 30%");
  EXPECT_EQ(error("3 fortnights", Unit::time),
            "'3 fortnights' is not a time, such as 2us, 3h or 2weeks");
  EXPECT_EQ(error("9", Unit::tflops), "no error");
}

TEST(QuantityTest, TheUnitThatFitsIsWritten) {
  EXPECT_EQ(quantity_text(70e9, Unit::count), "70B");
  EXPECT_EQ(quantity_text(512, Unit::count), "512");
  EXPECT_EQ(quantity_text(1.5 * 1024 * 1024, Unit::bytes), "1.50 MiB");
  EXPECT_EQ(quantity_text(400, Unit::gbps), "400 Gbps");
  EXPECT_EQ(quantity_text(1600, Unit::gbps), "1.60 Tbps");
  EXPECT_EQ(quantity_text(430e21, Unit::flop), "430 ZFLOP");
  EXPECT_EQ(quantity_text(0.0123, Unit::time), "12.3 ms");
  EXPECT_EQ(quantity_text(604'800, Unit::time), "7 d");
  EXPECT_EQ(quantity_text(0, Unit::bytes), "0 B");
}

}  // namespace
}  // namespace uet::sim
