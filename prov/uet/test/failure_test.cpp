// Errors for a user when the peer, the machine or a setting is at fault: a precise error in a
// bounded time.
#include "prov/uet/test/roles.h"

#include <arpa/inet.h>

namespace uet::prov::test {
namespace {

using FailureTest = RolesTest;

// --- Peers that never come back ------------------------------------------------------------------

// [LF-095] Every kind of operation ends in an error that names the silent peer, within the
// configured time; the endpoint then closes in a bounded time.
TEST_F(FailureTest, SilentPeerFailsOperationsAfterThePeerTimeout) {
  const pid_t target = start(0, {}, [](const Line& line) {
    const Target silent;
    silent.introduce(line);
    pause();  // stopped, then killed
  });
  const pid_t asker = start(1, {{"FI_UET_PEER_TIMEOUT", "2000000"}}, [](const Line& line) {
    auto node = std::make_unique<Node>();
    const Remote peer(*node, line);
    const std::vector<uint8_t> mine = pattern(kBytes, 1);
    std::vector<uint8_t> back(kBytes);
    // The connection exists before its peer falls silent.
    EXPECT_EQ(fi_write(node->ep, mine.data(), 8, nullptr, peer.addr, peer.base, peer.key, nullptr),
              0);
    EXPECT_EQ(await(node->tx_cq).err, 0);
    line.tell(1);
    line.hear_value();
    int contexts[3] = {};
    const auto begin = Clock::now();
    EXPECT_EQ(fi_write(node->ep, mine.data(), kBytes, nullptr, peer.addr, peer.base, peer.key,
                       &contexts[0]),
              0);
    EXPECT_EQ(fi_read(node->ep, back.data(), kBytes, nullptr, peer.addr, peer.base, peer.key,
                      &contexts[1]),
              0);
    EXPECT_EQ(fi_send(node->ep, mine.data(), kBytes, nullptr, peer.addr, &contexts[2]), 0);
    for (int i = 0; i < 3; ++i) {
      const Done done = await(node->tx_cq);
      EXPECT_EQ(done.err, FI_ETIMEDOUT) << done.text;
      EXPECT_NE(done.text.find("127.0.0.1"), std::string::npos) << done.text;
      ASSERT_GE(done.context, &contexts[0]);
      ASSERT_LE(done.context, &contexts[2]);
      ++*static_cast<int*>(done.context);
    }
    for (const int reported : contexts) EXPECT_EQ(reported, 1) << "each operation once";
    EXPECT_GE(Clock::now() - begin, milliseconds(1900)) << "given up too early";
    EXPECT_EQ(back, std::vector<uint8_t>(kBytes)) << "a failed read wrote to the local buffer";
    node.reset();
  });
  ends_[0].hear_value();  // what the asker reported: they have met
  stop(target);
  ends_[0].tell(1);
  finish(asker);
  kill_and_reap(target);
}

// An address that never answered, not even with ICMP: a socket that is never read.
TEST_F(FailureTest, AddressThatNeverAnswersFailsOperationsAfterThePeerTimeout) {
  const int deaf = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(4793);
  at.sin_addr.s_addr = htonl(0x7F00'3101);  // 127.0.49.1
  ASSERT_EQ(bind(deaf, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  const pid_t asker = start(1, {{"FI_UET_PEER_TIMEOUT", "2000000"}}, [](const Line&) {
    NodeOptions options;
    options.tx_op_flags = FI_TRANSMIT_COMPLETE;
    Node node(options);
    fi_addr_t peer = FI_ADDR_UNSPEC;
    EXPECT_EQ(fi_av_insertsvc(node.av, "127.0.49.1", "7", &peer, 0, nullptr), 1);
    const uint8_t octet = 1;
    EXPECT_EQ(fi_send(node.ep, &octet, 1, nullptr, peer, nullptr), 0);
    const Done done = await(node.tx_cq);
    EXPECT_EQ(done.err, FI_ETIMEDOUT) << done.text;
    EXPECT_NE(done.text.find("127.0.49.1"), std::string::npos) << done.text;
  });
  finish(asker);
  close(deaf);
}

// --- Settings and arguments
// -----------------------------------------------------------------------

constexpr std::pair<const char*, const char*> kWarnings = {"FI_LOG_LEVEL", "warn"};

// Text of `role` on stderr.
template <class Role>
std::string said_by(Role role) {
  ::testing::internal::CaptureStderr();
  role();
  return ::testing::internal::GetCapturedStderr();
}

fi_info* ask_for(const char* address) {
  fi_info* info = nullptr;
  fi_getinfo(FI_VERSION(1, 17), address, nullptr, address != nullptr ? FI_SOURCE : 0, nullptr,
             &info);
  return info;
}

TEST_F(FailureTest, UnknownInterfaceOffersNothingAndSaysSoOnce) {
  const pid_t asker = start(1, {{"FI_UET_IFACE", "no_such_if"}, kWarnings}, [](const Line&) {
    const std::string said = said_by([] {
      EXPECT_EQ(ask_for(nullptr), nullptr);
      EXPECT_EQ(ask_for("127.0.0.1"), nullptr);
    });
    const size_t at = said.find("FI_UET_IFACE=no_such_if");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find("FI_UET_IFACE=no_such_if", at + 1), std::string::npos) << said;
  });
  finish(asker);
}

// [decision 3, scheme 0] The error names the way out.
TEST_F(FailureTest, TakenPortInStrictModeIsAnErrorThatNamesTheRemedy) {
  const pid_t first = start(0, {}, [](const Line& line) {
    NodeOptions options;
    options.address = "127.0.47.4";
    const Node owner(options);
    line.tell(1);
    line.hear_value();
  });
  ends_[1].hear_value();
  const pid_t second = start(1, {{"FI_UET_STRICT_PORT", "1"}, kWarnings}, [](const Line&) {
    const std::string said = said_by([] {
      fi_info* info = ask_for("127.0.47.4");
      ASSERT_NE(info, nullptr);
      fid_fabric* fabric = nullptr;
      fid_domain* domain = nullptr;
      ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
      EXPECT_EQ(fi_domain(fabric, info, &domain, nullptr), -FI_EADDRNOTAVAIL);
      EXPECT_EQ(fi_close(&fabric->fid), 0);
      fi_freeinfo(info);
    });
    for (const char* word : {"127.0.47.4", "4793", "FI_UET_STRICT_PORT", "FI_UET_IFACE"}) {
      EXPECT_NE(said.find(word), std::string::npos) << word << " is not in: " << said;
    }
  });
  finish(second);
  ends_[1].tell(1);
  finish(first);
}

// [LF-013] Damaged addresses are refused, and their slots report it. Octets that happen to be a
// valid address are inserted, and sending to it does no harm.
TEST_F(FailureTest, DamagedAddressesAreRefusedOrHarmless) {
  const pid_t asker = start(1, {}, [](const Line&) {
    Node node;
    const std::vector<uint8_t> good = node.name();
    uint32_t seed = 1;
    for (size_t octet = 0; octet < good.size(); ++octet) {
      for (int bit = 0; bit < 8; ++bit) {
        std::vector<uint8_t> damaged = good;
        damaged[octet] = static_cast<uint8_t>(damaged[octet] ^ (1u << bit));
        fi_addr_t addr = 0;
        const int taken = fi_av_insert(node.av, damaged.data(), 1, &addr, 0, nullptr);
        EXPECT_EQ(addr == FI_ADDR_NOTAVAIL, taken != 1) << octet << "." << bit;
        if (taken == 1 && octet >= 16) fi_inject(node.ep, good.data(), 16, addr);
      }
    }
    for (int i = 0; i < 200; ++i) {
      const std::vector<uint8_t> noise = pattern(good.size(), ++seed);
      fi_addr_t addr = 0;
      EXPECT_EQ(fi_av_insert(node.av, noise.data(), 1, &addr, 0, nullptr), 0);
      EXPECT_EQ(addr, FI_ADDR_NOTAVAIL);
    }
    for (int i = 0; i < 1000; ++i) fi_cq_read(node.tx_cq, nullptr, 0);
  });
  finish(asker);
}

}  // namespace
}  // namespace uet::prov::test
