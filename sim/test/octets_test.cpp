// The octets of an operation, by blocks and one by one.
#include "sim/octets.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

TEST(OctetsTest, BlocksEqualTheirSingleOctets) {
  for (const uint32_t id : {0u, 1u, 77u, 20'000u}) {
    for (const size_t bytes : {0, 1, 255, 256, 257, 5000, 70'000}) {
      std::vector<std::byte> memory(bytes);
      fill(memory, id);
      for (size_t at = 0; at < bytes; ++at) {
        ASSERT_EQ(memory[at], octet(id, at)) << id << ", " << at;
      }
      EXPECT_TRUE(holds(memory.data(), bytes, id));
      for (size_t at = 0; at < bytes; at += 1 + bytes / 10) {
        memory[at] ^= std::byte{1};
        EXPECT_FALSE(holds(memory.data(), bytes, id)) << at;
        memory[at] ^= std::byte{1};
      }
    }
  }
}

TEST(OctetsTest, ANonZeroOctetIsFoundAnywhere) {
  std::vector<std::byte> memory(300);
  EXPECT_TRUE(is_zero(memory.data(), 0));
  EXPECT_TRUE(is_zero(memory.data(), memory.size()));
  for (const size_t at : {0, 1, 150, 299}) {
    memory[at] = std::byte{1};
    EXPECT_FALSE(is_zero(memory.data(), memory.size())) << at;
    memory[at] = std::byte{0};
  }
}

}  // namespace
}  // namespace uet::sim
