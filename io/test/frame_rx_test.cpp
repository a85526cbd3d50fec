// The two rings of the packet-socket backend between two hosts. See frame_testing.h for when it is
// skipped.
#include "io/host/interfaces.h"
#include "io/test/frame_testing.h"

#include <linux/if_packet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace uet::io {
namespace {

using FrameRxTest = FrameIoTest;

// Two rings are read as one: frames of both come in the order in which they were sent.
TEST_F(FrameRxTest, ShortAndLongFramesKeepTheirOrder) {
  const auto a = open_frames(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const uint64_t frames = b->rx_counters().frames;
  std::vector<std::string> want;
  const auto send = [&](int count, size_t bytes) {
    Outbox out;
    for (int i = 0; i < count; ++i) {
      want.emplace_back(bytes, static_cast<char>('a' + want.size() % 26));
      out.add(b->local_address(), want.back(), 5);
    }
    a->send(out.packets());
    EXPECT_EQ(out.fates(), std::string(static_cast<size_t>(count), 's'));
  };
  for (int round = 0; round < 5; ++round) {
    send(7, 8000);  // a super-packet
    send(1, 100);
    send(1, 8000);  // single packets
    send(1, 8000);
    send(7, 4000 + static_cast<size_t>(round));
  }
  const std::vector<Got> got = receive(*b, want.size());
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].text == want[i]) << i;
  EXPECT_EQ(b->rx_counters().long_frames, 10u);
  EXPECT_EQ(b->rx_counters().frames, frames + 25);
}

// The frame that is being cut stays lent until its last datagram is, and the ring goes around.
TEST_F(FrameRxTest, AFrameIsKeptWhileItIsCut) {
  const auto a = open(here(0));
  UdpOptions small = here(1);
  small.receive_buffer_bytes = 1 << 16;
  const auto b = open_frames(small);
  ASSERT_TRUE(a && b);
  const auto send_frame = [&](char c) {  // a super-packet of fifteen
    Outbox out;
    for (int i = 0; i < 15; ++i) out.add(b->local_address(), std::string(4160, c), 5);
    a->send(out.packets());
  };
  uint64_t dropped = 0;
  const auto wait_for_drops = [&](uint64_t count) {  // earlier packets are in the ring then
    dropped += count;
    for (int i = 0; i < 400 && counters_of(*b)["frame_rx_dropped"] < dropped; ++i) ::usleep(5000);
    EXPECT_EQ(counters_of(*b)["frame_rx_dropped"], dropped);
  };
  constexpr uint32_t kSlots = 7;
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i <= kSlots; ++i) send_frame(static_cast<char>('a' + i));
    wait_for_drops(1);
    ASSERT_EQ(b->receive().size(), 64u);  // four frames and the beginning of the fifth
    const std::span<const RxDatagram> rest = b->receive();
    ASSERT_EQ(rest.size(), 15u * kSlots - 64);
    for (uint32_t i = 0; i < kSlots; ++i) send_frame('z');
    wait_for_drops(3);  // there was room for four
    for (size_t i = 0; i < rest.size(); ++i) {
      const std::string want(4160, static_cast<char>('a' + (64 + i) / 15));
      EXPECT_TRUE(std::memcmp(rest[i].bytes.data(), want.data(), want.size()) == 0) << i;
    }
    EXPECT_EQ(receive(*b, 60).size(), 60u);
    ASSERT_TRUE(b->receive().empty());  // gives back all
  }
}

// Addresses that no neighbour has, or that are ours, and headers with a wrong checksum: the IP
// stack would not take them. [WIRE-010]
TEST_F(FrameRxTest, PacketsThatTheIpStackRefusesAreDropped) {
  const auto b = open_frames(here(1));
  ASSERT_TRUE(b);
  const std::vector<Interface> there = list_interfaces();
  const Interface* const target = find_interface(there, host_address(1, false));
  ASSERT_NE(target, nullptr);
  TwoHosts::enter(0);
  const std::vector<Interface> ours = list_interfaces();
  const Interface* const from = find_interface(ours, host_address(0, false));
  ASSERT_NE(from, nullptr);
  const Fd wire(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_ifindex = static_cast<int>(from->index);
  const auto send_from = [&](std::array<uint8_t, 4> source, uint8_t damage = 0) {
    FabricAddress address = host_address(0, false);
    std::copy(source.begin(), source.end(), address.ip.begin());
    address.port = 5000;
    std::array<std::byte, kEthernetHeader + kIpv4Header + kUdpHeader + 16> frame{};
    std::memcpy(frame.data(), target->mac.data(), 6);
    std::memcpy(frame.data() + 6, from->mac.data(), 6);
    frame[12] = std::byte{8};
    put_udp_headers(frame.data() + kEthernetHeader, address, b->local_address(), 0, 16);
    frame[kEthernetHeader + 10] ^= std::byte{damage};  // the checksum of the IP header
    ASSERT_EQ(::sendto(wire.get(), frame.data(), frame.size(), 0,
                       reinterpret_cast<const sockaddr*>(&name), sizeof name),
              static_cast<ssize_t>(frame.size()));
  };
  send_from({127, 0, 0, 1});
  send_from({0, 0, 0, 0});
  send_from({224, 0, 0, 1});
  send_from({255, 255, 255, 255});
  send_from({10, 47, 94, 2});  // its own
  send_from({10, 47, 94, 7}, 1);
  send_from({10, 47, 94, 7});  // a neighbour
  const std::vector<Got> got = receive(*b, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(ip_text(got[0].from), "10.47.94.7");
  EXPECT_EQ(b->rx_counters().martian, 5u);
  EXPECT_EQ(b->rx_counters().malformed, 1u);
}

// Short segments that the kernel joined fit a slot, and are cut there.
TEST_F(FrameRxTest, JoinedSegmentsAreCutInTheRing) {
  const auto a = open(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  Outbox out;
  for (int i = 0; i < 20; ++i)
    out.add(b->local_address(), std::string(70, static_cast<char>('a' + i)));
  a->send(out.packets());
  const std::vector<Got> got = receive(*b, 20);
  ASSERT_EQ(got.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(got[i].text, std::string(70, static_cast<char>('a' + i)));
  EXPECT_EQ(b->rx_counters().frames, 1u);
  EXPECT_EQ(b->rx_counters().long_frames, 0u);
}

// A receiver that does not look loses packets, and counts them; then it continues.
TEST_F(FrameRxTest, AFullRingDropsAndCounts) {
  const auto a = open_frames(here(0));
  UdpOptions small = here(1);
  small.receive_buffer_bytes = 1 << 16;  // 32 slots
  const auto b = open_frames(small);
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (int i = 0; i < 50; ++i) {
    Outbox out;
    out.add(b->local_address(), "number " + std::to_string(i));
    a->send(out.packets());
    EXPECT_EQ(out.fates(), "s");
  }
  const std::vector<Got> got = receive(*b, 50);
  const uint64_t dropped = counters_of(*b)["frame_rx_dropped"];
  EXPECT_EQ(got.size() + dropped, 50u);
  EXPECT_GE(dropped, 17u);
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0].text, "number 0");
  EXPECT_EQ(counters_of(*b)["frame_rx_dropped"], dropped) << "asking again must not count again";
  for (int round = 0; round < 100; ++round) {  // around the ring, three times
    Outbox out;
    out.add(b->local_address(), "round " + std::to_string(round));
    a->send(out.packets());
    const std::vector<Got> one = receive(*b, 1);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].text, "round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace uet::io
