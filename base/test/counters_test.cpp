// Tests of counter sets.
#include "base/counters.h"

#include <gtest/gtest.h>

#include <string>

namespace uet {
namespace {

enum class Fruit : uint8_t {
  apple,
  pear,
  plum,
  count_
};

const char* name(Fruit f) {
  switch (f) {
    case Fruit::apple:
      return "apple";
    case Fruit::pear:
      return "pear";
    case Fruit::plum:
      return "plum";
    case Fruit::count_:
      break;
  }
  return "unknown";
}

std::string picture(const CounterSet<Fruit>& counters) {
  std::string all;
  counters.for_each([&](const char* what, uint64_t value) {
    all += std::string(what) + "=" + std::to_string(value) + " ";
  });
  return all;
}

TEST(CountersTest, CountFromZeroByNameInTheOrderOfTheEnum) {
  CounterSet<Fruit> counters;
  EXPECT_EQ(picture(counters), "apple=0 pear=0 plum=0 ");
  counters.add(Fruit::pear);
  counters.add(Fruit::pear);
  counters.add(Fruit::plum, 40);
  EXPECT_EQ(picture(counters), "apple=0 pear=2 plum=40 ");
  EXPECT_EQ(counters[Fruit::plum], 40u);
  EXPECT_EQ(counters.total(), 42u);
}

TEST(CountersTest, AddUpAndReset) {
  CounterSet<Fruit> a;
  CounterSet<Fruit> b;
  a.add(Fruit::apple, 1);
  b.add(Fruit::apple, 2);
  b.add(Fruit::plum, 3);
  a += b;
  EXPECT_EQ(picture(a), "apple=3 pear=0 plum=3 ");
  EXPECT_EQ(picture(b), "apple=2 pear=0 plum=3 ");
  a.reset();
  EXPECT_EQ(a, CounterSet<Fruit>());
}

}  // namespace
}  // namespace uet
