// The UDP backend over loopback, IPv4 and IPv6: octets and marks arrive, EVs become source ports,
// each refusal has the right fate. Every test uses different loopback addresses.
#include "io/test/udp_testing.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace uet::io {
namespace {

class UdpTest : public EachMoverTest {};

INSTANTIATE_TEST_SUITE_P(Each, UdpTest, ::testing::Values(Mover::calls, Mover::ring), name_of);

// Properties with UDP and without.
class EachCarriageTest : public EachMoverTest {};

INSTANTIATE_TEST_SUITE_P(Each, EachCarriageTest,
                         ::testing::Values(Mover::calls, Mover::ring, Mover::native), name_of);

struct Way {
  bool v6;
  bool gso;
  bool gro;
};
class UdpWayTest : public ::testing::TestWithParam<std::tuple<Way, Mover>> {
 protected:
  void SetUp() override {
    if (mover() == Mover::ring && !why_no_ring().empty()) GTEST_SKIP() << why_no_ring();
  }
  static Way way() { return std::get<0>(GetParam()); }
  static Mover mover() { return std::get<1>(GetParam()); }
};

// A burst to one peer, sizes as UET makes them: full packets and a shorter last one, twice.
TEST_P(UdpWayTest, BurstsArriveWholeAndInOrder) {
  UdpOptions a = at(way().v6 ? ipv6() : ipv4(1), mover());
  UdpOptions b = at(way().v6 ? ipv6() : ipv4(2), mover());
  a.gso = b.gso = way().gso;
  a.gro = b.gro = way().gro;
  const auto sender = open(a);
  const auto receiver = open(b);
  ASSERT_TRUE(sender && receiver);

  Outbox out;
  std::vector<std::string> want;
  for (int i = 0; i < 60; ++i) {
    const size_t length = i == 29 || i == 59 ? 777 : 4160;
    want.push_back(std::string(length, static_cast<char>('0' + i)));
    out.add(receiver->local_address(), want.back(), 5);
  }
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), std::string(60, 's'));

  const std::vector<Got> got = receive(*receiver, want.size());
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].text == want[i]) << i;
  EXPECT_EQ(receiver->rx_counters().datagrams, 60u);
  EXPECT_EQ(sender->tx_counters().packets, 60u);
  if (way().gso) {
    // 15 x 4160 fill a super-packet: two each for both halves.
    EXPECT_EQ(sender->tx_counters().messages, 4u);
    EXPECT_EQ(sender->tx_counters().system_calls, 1u);
    EXPECT_EQ(sender->tx_counters().split_runs, 0u);
    if (way().gro) {
      EXPECT_EQ(receiver->rx_counters().messages, 4u);
    }
  } else {
    EXPECT_EQ(sender->tx_counters().messages, 60u);
  }
}

std::string name_of_way(const ::testing::TestParamInfo<std::tuple<Way, Mover>>& param) {
  const Way way = std::get<0>(param.param);
  return std::string(std::get<1>(param.param) == Mover::ring ? "Ring" : "Calls") +
         (way.v6 ? "Ipv6" : "Ipv4") + (way.gso ? "Gso" : "") + (way.gro ? "Gro" : "");
}

INSTANTIATE_TEST_SUITE_P(
    All, UdpWayTest,
    ::testing::Combine(::testing::Values(Way{false, true, true}, Way{false, true, false},
                                         Way{false, false, true}, Way{false, false, false},
                                         Way{true, true, true}, Way{true, false, false}),
                       ::testing::Values(Mover::calls, Mover::ring)),
    name_of_way);

// [WIRE-007] The EV picks the source port: equal EVs share one, different ones differ.
TEST_P(UdpTest, EachEvHasASeparateSourcePort) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  Outbox out;
  for (uint16_t ev = 0; ev < 28; ++ev) out.add(receiver->local_address(), "x", ev);
  sender->send(out.packets());
  const std::vector<Got> got = receive(*receiver, 28);
  ASSERT_EQ(got.size(), 28u);
  std::set<uint16_t> ports;
  std::map<uint16_t, int> uses;
  for (const Got& g : got) {
    EXPECT_EQ(g.ev.value(), g.from.port);
    EXPECT_EQ(g.from.ip, ipv4(1).ip);
    EXPECT_NE(g.from.port, kUetPort);
    ports.insert(g.from.port);
    ++uses[g.from.port];
  }
  EXPECT_EQ(ports.size(), 7u);
  for (const auto& [port, count] : uses) EXPECT_EQ(count, 4) << port;
  EXPECT_EQ(sender->caps().entropy_values, 7u);
}

// [WIRE-015, WIRE-016] Marks go out per packet and come back as they arrived.
TEST_P(EachCarriageTest, DscpAndEcnTravel) {
  for (const FabricAddress& local : {ipv4(1), ipv6()}) {
    const bool is_v4 = local.family == FabricAddress::Family::ipv4;
    const auto sender = open(at(local));
    // An address without ports has one.
    const auto other = is_native() && !is_v4 ? nullptr : open(at(is_v4 ? ipv4(2) : local));
    UdpIo* const receiver = other == nullptr ? sender.get() : other.get();
    Outbox out;
    const FabricAddress to = receiver->local_address();
    out.add(to, "a", 0, 46, Ecn::not_ect);
    out.add(to, "b", 0, 8, Ecn::ect0);
    out.add(to, "c", 0, 8, Ecn::ect1);
    out.add(to, "d", 0, 63, Ecn::ce);
    sender->send(out.packets());
    std::string picture;
    for (const Got& g : receive(*receiver, 4)) {
      picture += g.text + " " + std::to_string(g.dscp) + "/" +
                 std::to_string(static_cast<int>(g.ecn)) + " ";
    }
    EXPECT_EQ(picture, "a 46/0 b 8/2 c 8/1 d 63/3 ");
  }
}

// [PDS-141, PDS-241] A datagram arrives when the kernel gets it, not when it is read.
TEST_P(EachCarriageTest, ArrivalIsNotTheTimeOfReading) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  // The clocks are read one by one, and on a loaded host much time may pass between two readings:
  // then the datagram is sent once more. A time of reading would be late each time.
  bool is_seen = false;
  for (int attempt = 0; !is_seen && attempt < 20; ++attempt) {
    Outbox out;
    out.add(receiver->local_address(), "x", 1);
    const Instant sent = monotonic_now();
    sender->send(out.packets());
    pollfd arrival{receiver->wait_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&arrival, 1, 10'000), 1) << "the datagram has not come";
    const Instant there = monotonic_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::span<RxDatagram> got;
    for (int i = 0; got.empty() && i < 1000; ++i) got = receiver->receive();
    ASSERT_EQ(got.size(), 1u);
    const Duration slack = Duration::milliseconds(1);
    is_seen = got[0].at >= sent - slack && got[0].at <= there + slack;
  }
  EXPECT_TRUE(is_seen);
}

// Interleaved destinations are joined into runs, and each destination keeps its order.
TEST_P(UdpTest, InterleavedPeersStillShareSuperPackets) {
  const auto sender = open(at(ipv4(1)));
  const auto left = open(at(ipv4(2)));
  const auto right = open(at(ipv4(3)));
  Outbox out;
  for (char c = 'a'; c <= 'j'; ++c) {
    out.add(left->local_address(), std::string(1000, c));
    out.add(right->local_address(), std::string(c == 'c' ? 500 : 1000, c));
  }
  sender->send(out.packets());
  for (UdpIo* io : {left.get(), right.get()}) {
    std::string order;
    for (const Got& g : receive(*io, 10)) order += g.text[0];
    EXPECT_EQ(order, "abcdefghij");
  }
  // One run to the left; two to the right, because the short packet ends the first.
  EXPECT_EQ(sender->tx_counters().messages, 3u);
  EXPECT_EQ(sender->tx_counters().system_calls, 1u);
}

// The peer waits for a message, and two sockets send parts of it. The ACK after it leaves last,
// although the first socket sends it.
TEST_P(UdpTest, PayloadOfAllSocketsLeavesBeforeAcks) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  Outbox out;
  for (const char part : {'a', 'b', 'c', 'd'}) {
    out.add(receiver->local_address(), std::string(1000, part), part < 'c' ? 0 : 1);
  }
  out.add(receiver->local_address(), std::string(64, 'k'), 0);
  out.drop_payload();
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "sssss");
  std::string order;
  for (const Got& g : receive(*receiver, 5)) order += g.text[0];
  EXPECT_EQ(order, "abcdk");
}

// A packet with other marks must not overtake earlier ones either.
TEST_P(EachCarriageTest, OrderHoldsAcrossMarks) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  Outbox out;
  for (int i = 0; i < 9; ++i) {
    out.add(receiver->local_address(), std::string(100, static_cast<char>('a' + i)), 1,
            i % 3 == 0 ? 46 : 8);
  }
  sender->send(out.packets());
  std::string order;
  for (const Got& g : receive(*receiver, 9)) order += g.text[0];
  EXPECT_EQ(order, "abcdefghi");
}

// [LF-132] Left to a peer, 4793 stays free; strict processes still take it.
TEST_P(UdpTest, ThePortThatIsThePeersIsLeft) {
  UdpOptions client = at(ipv4(1));
  client.leave_uet_port = true;
  const auto first = open(client);
  EXPECT_EQ(first->local_address().port % UdpIo::kBlockPorts, 0);
  EXPECT_NE(first->local_address().port, kUetPort);
  EXPECT_EQ(open(at(ipv4(1)))->local_address().port, kUetPort);
  client.strict_port = true;
  EXPECT_EQ(open(client)->local_address().port, kUetPort);
  client.strict_port = false;
  client.port_first = client.port_last = 20000;  // no whole block: better 4793 than nothing
  EXPECT_EQ(open(client)->local_address().port, kUetPort);
}

TEST_P(UdpTest, AnUnusedPortIsReportedWithItsAddress) {
  FabricAddress block = ipv4(1);
  block.port = 18000;
  for (const FabricAddress& local : {ipv4(1), ipv6(), block}) {
    const auto io = open(at(local));
    FabricAddress gone = local;
    gone.port = 9;
    Outbox out;
    out.add(gone, "x", 3);
    io->send(out.packets());
    EXPECT_EQ(out.fates(), "s");
    const std::vector<PathError> errors = errors_within_a_second(*io);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].to, gone);
    EXPECT_EQ(errors[0].error, ECONNREFUSED);
    // Read to the end: the descriptor is quiet again.
    pollfd waiting{io->wait_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  }
}

// An ICMP answer to an earlier packet must not cost a packet that goes elsewhere.
TEST_P(EachCarriageTest, APendingErrorIsNotThePacketsFault) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  FabricAddress gone = ipv4(3);
  Outbox out;
  for (int i = 0; i < 5; ++i) {
    out.add(receiver->local_address(), std::string(1, static_cast<char>('a' + i)), 3);
    out.add(gone, "lost", 3);
  }
  sender->send(out.packets());
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), std::string(10, 's'));
  std::string order;
  for (const Got& g : receive(*receiver, 10)) order += g.text;
  EXPECT_EQ(order, "abcdeabcde");
  // A raw socket only reports it in its error queue.
  EXPECT_EQ(sender->tx_counters().retries > 0, !is_native());
}

// A socket connects itself to the peer that it serves most. This must not be visible outside.
TEST_P(EachCarriageTest, ChangingTheMainPeerChangesNeitherDestinationNorMarks) {
  const auto sender = open(at(ipv4(1)));
  const auto left = open(at(ipv4(2)));
  const auto right = open(at(ipv4(3)));
  std::string want_left, want_right, got_left, got_right;
  // Phases long enough for the socket to settle on left, on right, on other marks, on none.
  for (int i = 0; i < 400; ++i) {
    const bool to_left = i < 100 || (i >= 300 && i % 2 == 0);
    const uint8_t dscp = i >= 200 && i < 300 ? 46 : 8;
    const std::string text = std::to_string(i);
    Outbox out;
    out.add((to_left ? left : right)->local_address(), text, 0, dscp);
    // And in the same call one to the other side, every now and then.
    if (i % 33 == 0) out.add((to_left ? right : left)->local_address(), "o" + text, 0, dscp);
    sender->send(out.packets());
    for (char fate : out.fates()) EXPECT_EQ(fate, 's');
    const std::string marked = text + "/" + std::to_string(dscp) + " ";
    (to_left ? want_left : want_right) += marked;
    if (i % 33 == 0) (to_left ? want_right : want_left) += "o" + marked;
    for (const Got& g : receive(*left, to_left || i % 33 == 0 ? 1 : 0)) {
      got_left += g.text + "/" + std::to_string(g.dscp) + " ";
    }
    for (const Got& g : receive(*right, !to_left || i % 33 == 0 ? 1 : 0)) {
      got_right += g.text + "/" + std::to_string(g.dscp) + " ";
    }
    ASSERT_EQ(got_left, want_left) << i;
    ASSERT_EQ(got_right, want_right) << i;
  }
}

// No EFAULT blocks the others: only the packet with the bad memory stays behind.
TEST_P(UdpTest, BadMemoryCostsItsOwnPacketOnly) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  void* hole = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  Outbox out;
  for (char c = 'a'; c <= 'f'; ++c) out.add(receiver->local_address(), std::string(100, c));
  const IoSlice bad{static_cast<std::byte*>(hole), 50};
  out.packets()[2].slices = &bad;
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "ssnsss");
  EXPECT_EQ(out.packets()[2].error, EFAULT);
  EXPECT_EQ(sender->tx_counters().split_runs, 1u);
  EXPECT_TRUE(sender->caps().burst_bytes > 0) << "GSO is not to blame";
  std::string order;
  for (const Got& g : receive(*receiver, 5)) order += g.text[0];
  EXPECT_EQ(order, "abdef");
  ::munmap(hole, 4096);
}

TEST_P(UdpTest, TooLongAndForeignPacketsAreRefusedAlone) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  Outbox out;
  out.add(receiver->local_address(), std::string(65508, 'x'));  // one octet too many for IPv4
  out.add(ipv6(), "family");
  out.add(receiver->local_address(), std::string(65507, 'y'));
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "nns");
  EXPECT_EQ(out.packets()[0].error, EMSGSIZE);
  EXPECT_EQ(out.packets()[1].error, EAFNOSUPPORT);
  const std::vector<Got> got = receive(*receiver, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, std::string(65507, 'y'));
}

TEST_P(UdpTest, CapsFollowTheMtu) {
  EXPECT_EQ(open(at(ipv4(1)))->caps().max_datagram_bytes, 65507u);  // loopback: 65536
  EXPECT_EQ(open(at(ipv6()))->caps().max_datagram_bytes, 65536u - 48);
  UdpOptions ethernet = at(ipv4(1));
  ethernet.mtu_bytes = 1500;
  EXPECT_EQ(open(ethernet)->caps().max_datagram_bytes, 1472u);
  ethernet.mtu_bytes = 28;
  std::string error;
  EXPECT_EQ(UdpIo::open(ethernet, &error), nullptr);
  EXPECT_NE(error.find("MTU of 28"), std::string::npos);
}

TEST_P(EachCarriageTest, TheReceiveBufferHasTheGrantedSize) {
  UdpOptions small = at(ipv4(1));
  small.receive_buffer_bytes = 100'000;
  EXPECT_EQ(open(small)->caps().receive_buffer_bytes, 100'000u);
  UdpOptions stock = at(ipv4(1));
  stock.receive_buffer_bytes = 0;
  const Fd plain = open_udp_socket(ipv4(1));
  EXPECT_EQ(static_cast<int>(open(stock)->caps().receive_buffer_bytes),
            get_option(plain, SOL_SOCKET, SO_RCVBUF, 0) / 2);
}

// A socket without checksums refuses GSO as a device without offload does: the packets must leave
// all the same, and the next burst does not try again.
TEST_P(UdpTest, GsoThatTheSystemCannotDoIsGivenUp) {
  UdpOptions options = at(ipv4(1));
  options.entropy_values = 1;
  const auto sender = open(options);
  const auto receiver = open(at(ipv4(2)));
  Outbox first;
  first.add(receiver->local_address(), "opens the socket");
  sender->send(first.packets());
  // The transmit socket is the one of this address whose port is not 4793.
  int found = 0;
  for (int fd = 3; fd < 256; ++fd) {
    SockAddr name{};
    socklen_t length = sizeof name;
    if (::getsockname(fd, &name.any, &length) != 0) continue;
    const FabricAddress local = from_sockaddr(name);
    if (local.ip != ipv4(1).ip || local.port == kUetPort) continue;
    const int off = 1;
    ASSERT_EQ(::setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &off, sizeof off), 0);
    ++found;
  }
  ASSERT_EQ(found, 1);

  Outbox out;
  for (char c = 'a'; c <= 'e'; ++c) out.add(receiver->local_address(), std::string(10, c));
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "sssss");
  EXPECT_EQ(sender->tx_counters().gso_disabled, 1u);
  EXPECT_EQ(sender->caps().burst_bytes, 0u);
  sender->send(out.packets());
  EXPECT_EQ(sender->tx_counters().split_runs, 1u);
  EXPECT_EQ(receive(*receiver, 11).size(), 11u);
}

TEST_P(EachCarriageTest, TheWaitDescriptorIsReadableWhilePacketsWait) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  pollfd waiting{receiver->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  Outbox out;
  out.add(receiver->local_address(), "x");
  sender->send(out.packets());
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);  // level-triggered
  EXPECT_EQ(receiver->receive().size(), 1u);
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST_P(UdpTest, EmptyDatagramsAndStraysDoNoHarm) {
  const auto sender = open(at(ipv4(1)));
  const auto receiver = open(at(ipv4(2)));
  Outbox out;
  out.add(receiver->local_address(), "");
  out.add(receiver->local_address(), "");
  out.add(receiver->local_address(), "x");
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "sss");
  std::vector<Got> got = receive(*receiver, 3);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].text + "|" + got[1].text + "|" + got[2].text, "||x");

  // A packet to a transmit socket is dropped there and wakes no thread.
  Outbox stray;
  stray.add(got[2].from, "stray");
  receiver->send(stray.packets());
  pollfd waiting{sender->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 20), 0);
  EXPECT_TRUE(sender->receive().empty());
}

}  // namespace
}  // namespace uet::io
