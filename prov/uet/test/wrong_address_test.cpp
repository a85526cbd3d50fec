// Addresses at which there is no endpoint: the log stays short. [LF-136]
#include "prov/uet/test/roles.h"

#include <array>
#include <string>

namespace uet::prov::test {
namespace {

constexpr const char* kOwn = "127.0.47.30";
constexpr const char* kNobody = "127.0.47.31";
constexpr const char* kNobodyElse = "127.0.47.32";

class WrongAddressTest : public RolesTest {
 protected:
  static fi_addr_t insert(const Node& node, const char* address) {
    fi_addr_t addr = FI_ADDR_UNSPEC;
    EXPECT_EQ(fi_av_insertsvc(node.av, address, "7", &addr, 0, nullptr), 1);
    return addr;
  }
  static NodeOptions at(const char* address) {
    NodeOptions options;
    options.address = address;
    return options;
  }
  static size_t times_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }
};

// [LF-136] An application that tries two such addresses in turn gets one line for each.
TEST_F(WrongAddressTest, TwoDeadAddressesInTurnDoNotFillTheLog) {
  finish(start(1, {{"FI_UET_LINGER", "0"}, {"FI_LOG_LEVEL", "warn"}}, [](const Line&) {
    const uint8_t octet = 1;  // read until the endpoint is closed
    ::testing::internal::CaptureStderr();
    {
      Node node(at(kOwn));
      const std::array<fi_addr_t, 2> dead = {insert(node, kNobody), insert(node, kNobodyElse)};
      for (int i = 0; i < 2; ++i) {
        for (const fi_addr_t addr : dead) {
          ASSERT_EQ(fi_send(node.ep, &octet, 1, nullptr, addr, nullptr), 0);
        }
        for (size_t n = 0; n < dead.size(); ++n) {
          EXPECT_EQ(await(node.tx_cq).err, FI_EHOSTUNREACH);
        }
      }
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    for (const char* const address : {kNobody, kNobodyElse}) {
      EXPECT_EQ(times_of(said, std::string("reports ") + address), 1u) << said;
    }
  }));
}

}  // namespace
}  // namespace uet::prov::test
