// Digests do not depend on how octets are cut, and do on every octet.
#include "sim/oracles/digest.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::sim {
namespace {

uint64_t digest_of(const std::vector<std::byte>& octets, size_t cut) {
  Digest digest;
  const std::span<const std::byte> all(octets);
  digest.add(all.first(cut));
  digest.add(all.subspan(cut));
  return digest.value();
}

TEST(DigestTest, CutsDoNotMatterAndOctetsDo) {
  std::vector<std::byte> octets(29);
  for (size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i * 37);
  const uint64_t whole = digest_of(octets, 0);
  for (size_t cut = 1; cut <= octets.size(); ++cut) EXPECT_EQ(digest_of(octets, cut), whole) << cut;
  for (std::byte& octet : octets) {
    octet ^= std::byte{0x10};
    EXPECT_NE(digest_of(octets, 0), whole);
    octet ^= std::byte{0x10};
  }
  octets.push_back(std::byte{0});
  EXPECT_NE(digest_of(octets, 0), whole);
}

}  // namespace
}  // namespace uet::sim
