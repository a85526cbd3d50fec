// The last word of the suite: every counter has moved in some test. Asked only when all tests ran.
#include "pds/test/coverage.h"

#include <gtest/gtest.h>

namespace uet::pds::test {
namespace {

class Coverage : public ::testing::Environment {
 public:
  void TearDown() override {
    const auto* unit = ::testing::UnitTest::GetInstance();
    if (unit->test_to_run_count() != unit->total_test_count()) return;
    for (size_t i = 0; i < Counters::kCount; ++i) {
      const auto c = static_cast<Count>(i);
      EXPECT_GT(taken()[c], 0u) << name(c) << " was never counted";
    }
  }
};

const auto* const kCoverage = ::testing::AddGlobalTestEnvironment(new Coverage);

}  // namespace
}  // namespace uet::pds::test
