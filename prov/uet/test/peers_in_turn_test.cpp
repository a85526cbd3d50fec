// A server whose clients come and go, one after the other: resources for clients that left are
// freed, so the number of clients is unlimited. UET_CLIENTS sets another number. [PDS-247, PDS-248]
#include "prov/uet/test/node.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace uet::prov::test {
namespace {

constexpr uint32_t kPlaces = 64;  // of a domain
uint32_t clients() {
  const char* const wanted = std::getenv("UET_CLIENTS");
  return wanted != nullptr ? static_cast<uint32_t>(std::atoi(wanted)) : 1200;
}

class PeersInTurnTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("FI_UET_MAX_PDCS", std::to_string(kPlaces).c_str(), 1);
    setenv("FI_UET_IO", "udp", 1);
  }
  // One message from a to b; this thread drives both.
  static void send(Node& a, Node& b, fi_addr_t to_b, uint32_t value) {
    uint32_t got = 0;
    ASSERT_EQ(fi_recv(b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep, &value, sizeof value, nullptr, to_b, nullptr), 0);
    await(b.rx_cq, a.tx_cq);
    await(a.tx_cq, b.rx_cq);
    EXPECT_EQ(got, value);
  }

 private:
  // A good entry of `cq`; the other end is driven meanwhile.
  static void await(fid_cq* cq, fid_cq* other) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    Done done;
    while (!read_one(cq, done)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing came";
      fi_cq_read(other, nullptr, 0);
    }
    ASSERT_EQ(done.err, 0) << done.text;
  }
};

// The server knows each client by an address of its vector, and answers it.
TEST_F(PeersInTurnTest, AServerOutlivesMoreClientsThanItHasPlaces) {
  Node server;
  const std::vector<uint8_t> name = server.name();
  fi_addr_t highest = 0;
  for (uint32_t i = 0; i < clients() && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("client " + std::to_string(i));
    Node client;
    const fi_addr_t to_server = client.insert(name);
    fi_addr_t to_client = server.insert(client.name());
    highest = std::max(highest, to_client);
    send(client, server, to_server, i);
    send(server, client, to_client, ~i);
    ASSERT_EQ(fi_av_remove(server.av, &to_client, 1, 0), 0);
  }
  EXPECT_LT(highest, 8u) << "places of the vector are used again";
}

// The server never answers by itself: its clients are known by their packets only.
TEST_F(PeersInTurnTest, APassiveServerOutlivesMoreClientsThanItHasPlaces) {
  Node server;
  const std::vector<uint8_t> name = server.name();
  for (uint32_t i = 0; i < clients() && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("client " + std::to_string(i));
    Node client;
    send(client, server, client.insert(name), i);
  }
}

}  // namespace
}  // namespace uet::prov::test
