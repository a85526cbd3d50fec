// The order of the last use of PDCs, and when a peer was heard. [PDS-181]
#include "pds/pdc/idle_list.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

using IdleListPartTest = AllParts;

constexpr Duration kLong = Duration::milliseconds(10);

// [PDS-181] Each role has a list, whose first PDC was idle for longest.
TEST_F(IdleListPartTest, TheLongestIdlePdcComesFirst) {
  Pdc& one = target();
  Pdc& other = target();
  Pdc& initiates = initiator();
  for (Pdc* const pdc : {&one, &other, &initiates}) idle_.add(*pdc);
  EXPECT_EQ(idle_.of(false).front(), &one);
  EXPECT_EQ(idle_.of(true).front(), &initiates);
  idle_.touch(one, kNow + kLong);
  EXPECT_EQ(idle_.of(false).front(), &other);
  EXPECT_EQ(one.last_active, kNow + kLong);
}

}  // namespace
}  // namespace uet::pds::part
