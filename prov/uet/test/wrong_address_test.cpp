// Addresses without an endpoint: the first message does not complete before its peer has answered,
// whatever a stranger sends in the peer's name, and the log stays short. [LF-136]
#include "prov/uet/test/roles.h"

#include <arpa/inet.h>
#include <netinet/in.h>

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
  // A control packet that opens a PDC, from an address where no process has the port. Octets are
  // written out from wire.md 3 and 7.
  static void forge_syn(const char* from, const char* to) {
    constexpr std::array<uint8_t, 16> kSyn = {
        11 << 3, 0x04,        // type 11 (control), NOOP, flag SYN
        0,       0,           // probe_opaque
        0,       0,    3, 9,  // PSN
        0,       5,           // SPDCID
        0,       0,           // psn_offset: the first packet
        0,       0,    0, 0,  // payload
    };
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in source{}, target{};
    source.sin_family = target.sin_family = AF_INET;
    target.sin_port = htons(4793);
    ASSERT_EQ(inet_pton(AF_INET, from, &source.sin_addr), 1);
    ASSERT_EQ(inet_pton(AF_INET, to, &target.sin_addr), 1);
    ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source), 0);
    EXPECT_EQ(sendto(fd, kSyn.data(), kSyn.size(), 0, reinterpret_cast<const sockaddr*>(&target),
                     sizeof target),
              ssize_t{kSyn.size()});
    close(fd);
  }
  static size_t times_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }
};

// [LF-136, PDS-256] A packet in the peer's name opens a connection, and the first message still
// waits for an answer: its failure is that of the send.
TEST_F(WrongAddressTest, AForgedPacketDoesNotEndTheWaitOfTheFirstMessage) {
  finish(start(1, {{"FI_UET_LINGER", "0"}}, [](const Line&) {
    const uint8_t octet = 1;  // read until the endpoint is closed
    Node node(at(kOwn));
    const fi_addr_t nobody = insert(node, kNobody);
    forge_syn(kNobody, kOwn);
    const auto end = Clock::now() + kPatience;
    while (counter(node, "pdc_opened_target") == 0 && Clock::now() < end) {
      fi_cq_read(node.tx_cq, nullptr, 0);
    }
    ASSERT_EQ(counter(node, "pdc_opened_target"), 1u);
    int sent = 0;
    ASSERT_EQ(fi_send(node.ep, &octet, 1, nullptr, nobody, &sent), 0);
    const Done done = await(node.tx_cq);
    EXPECT_EQ(done.err, FI_EHOSTUNREACH) << done.text;
    EXPECT_EQ(done.context, &sent);
    EXPECT_EQ(counter(node, "tx_retained"), 0u);
  }));
}

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
