// The packet-socket backend between two hosts, with itself and with the UDP backend: which packets
// leave as frames, how packets arrive, and what is refused. See frame_testing.h for when it is
// skipped.
#include "io/test/frame_testing.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <string>
#include <vector>

namespace uet::io {
namespace {

class FrameIoFamilyTest : public FrameIoTest, public ::testing::WithParamInterface<bool> {};

TEST_P(FrameIoFamilyTest, FewPacketsGoAsFramesAndArriveThroughTheRing) {
  const auto a = open_frames(here(0, GetParam()));
  const auto b = open_frames(here(1, GetParam()));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  expect_frames_with_marks(*a, *b);
}

INSTANTIATE_TEST_SUITE_P(Families, FrameIoFamilyTest, ::testing::Bool());

// [WIRE-007] A frame and a datagram of one EV take the same path through the network.
TEST_F(FrameIoTest, FramesLeaveFromThePortOfTheirSocket) {
  const auto a = open_frames(here(0));
  const auto b = open(here(1));
  ASSERT_TRUE(a && b);
  expect_frames_from_the_ports_of_sockets(*a, *b);
}

// The first packet to a peer takes the IP stack and those behind it are frames, but none overtakes.
TEST_F(FrameIoTest, ABatchKeepsItsOrder) {
  const auto b = open_frames(here(1));
  const auto udp = open(here(0));
  ASSERT_TRUE(udp && b);
  send_text(*udp, b->local_address(), "so that the kernel knows the neighbour");
  ASSERT_EQ(receive(*b, 1).size(), 1u);
  const auto a = open_frames(here(0));
  ASSERT_TRUE(a);
  Outbox out;
  for (const char* text : {"first", "second", "third"}) out.add(b->local_address(), text);
  a->send(out.packets());
  EXPECT_EQ(a->tx_counters().frames, 1u) << "the second and the shorter third";
  const std::vector<Got> got = receive(*b, 3);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].text + " " + got[1].text + " " + got[2].text, "first second third");
}

// [WIRE-007] Consecutive equal packets, perhaps with a shorter last one, are one super-packet.
TEST_P(FrameIoFamilyTest, PacketsAlikeAreOneFrame) {
  const auto a = open_frames(here(0, GetParam()));
  const auto b = open_frames(here(1, GetParam()));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const auto frames_for = [&](const std::vector<std::pair<size_t, uint16_t>>& packets) {
    const uint64_t before = a->tx_counters().frames;
    Outbox out;
    std::vector<std::string> want;
    for (const auto& [bytes, ev] : packets) {
      want.emplace_back(bytes, static_cast<char>('a' + want.size()));
      out.add(b->local_address(), want.back(), ev, 11, Ecn::ect1);
    }
    a->send(out.packets());
    EXPECT_EQ(out.fates(), std::string(packets.size(), 's'));
    const std::vector<Got> got = receive(*b, want.size());
    EXPECT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].text == want[i]) << i;
      EXPECT_EQ(got[i].dscp, 11);
      EXPECT_EQ(got[i].ecn, Ecn::ect1);
    }
    EXPECT_EQ(b->rx_counters().malformed, 0u);
    return a->tx_counters().frames - before;
  };
  EXPECT_EQ(frames_for({{8192, 3}, {8192, 3}, {8192, 3}, {8192, 3}}), 1u);
  EXPECT_EQ(frames_for({{8192, 3}, {8192, 3}, {100, 3}}), 1u);
  EXPECT_EQ(frames_for({{8192, 3}, {100, 3}, {100, 3}}), 2u) << "behind a shorter one";
  EXPECT_EQ(frames_for({{100, 3}, {8192, 3}}), 2u) << "a longer one";
  EXPECT_EQ(frames_for({{8192, 3}, {8192, 4}}), 2u) << "another entropy value";
  EXPECT_EQ(b->rx_counters().long_frames, 2u);
}

// A super-packet that the device cannot cut is cut by the kernel, with the checksums of all.
TEST_P(FrameIoFamilyTest, AnInterfaceWithoutOffloadsSendsSuperPackets) {
  const auto a = open_frames(here(0, GetParam()));
  const auto b = open_frames(here(1, GetParam()));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const auto set_offloads = [](uint32_t on) {
    TwoHosts::enter(0);
    const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ethtool_value value{ETHTOOL_STXCSUM, on};  // cutting goes with it
    ifreq request{};
    std::snprintf(request.ifr_name, sizeof request.ifr_name, "eth-uet");
    request.ifr_data = reinterpret_cast<char*>(&value);
    ASSERT_EQ(::ioctl(any.get(), SIOCETHTOOL, &request), 0);
  };
  set_offloads(0);
  const uint64_t frames = b->rx_counters().frames;
  Outbox out;
  for (const char c : {'a', 'b', 'c'}) out.add(b->local_address(), std::string(8000, c), 3);
  a->send(out.packets());
  EXPECT_EQ(out.fates(), "sss");
  const std::vector<Got> got = receive(*b, 3);
  set_offloads(1);
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(got[i].text == std::string(8000, "abc"[i])) << i;
  EXPECT_EQ(b->rx_counters().frames, frames + 3);
  EXPECT_EQ(b->rx_counters().malformed, 0u);
}

// Processes of one host: packets that cannot go as frames go to the IP stack together.
TEST_F(FrameIoTest, PacketsForTheStackGoTogether) {
  const auto a = open_frames(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const auto system_calls = [&] {
    uint64_t calls = 0;
    a->report_counters([&](const char* name, uint64_t value) {
      if (std::string(name) == "udp_tx_system_calls") calls = value;
    });
    return calls;
  };
  const uint64_t calls_before = system_calls();
  const uint64_t frames_before = a->tx_counters().frames;
  Outbox out;
  out.add(a->local_address(), "first of two of one length");
  out.add(a->local_address(), "other of two of one length");
  out.add(b->local_address(), "a frame");
  out.add(a->local_address(), "the third");
  a->send(out.packets());
  EXPECT_EQ(out.fates(), "ssss");
  EXPECT_EQ(a->tx_counters().frames, frames_before + 1);
  EXPECT_EQ(system_calls(), calls_before + 2);
  const std::vector<Got> got = receive(*a, 3);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].text, "first of two of one length");
  EXPECT_EQ(got[1].text, "other of two of one length");
  EXPECT_EQ(got[2].text, "the third");
  EXPECT_EQ(receive(*b, 1).size(), 1u);
}

// Streams in both directions between the two backends: transmitted by GSO, received as
// super-packets that are longer than a slot.
TEST_F(FrameIoTest, StreamsArriveWholeAndInOrder) {
  const auto frames = open_frames(here(0));
  const auto udp = open(here(1));
  const auto more_frames = open_frames(here(1));
  ASSERT_TRUE(frames && udp && more_frames);
  const std::pair<PacketIo*, PacketIo*> ways[] = {
      {frames.get(), udp.get()}, {udp.get(), frames.get()}, {frames.get(), more_frames.get()}};
  for (const auto& [from, to] : ways) {
    Outbox out;
    std::vector<std::string> want;
    for (int i = 0; i < 60; ++i) {
      want.push_back(std::string(i == 29 || i == 59 ? 777 : 4160, static_cast<char>('0' + i)));
      out.add(to->local_address(), want.back(), 5);
    }
    from->send(out.packets());
    EXPECT_EQ(out.fates(), std::string(60, 's'));
    const std::vector<Got> got = receive(*to, want.size());
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].text == want[i]) << i;
  }
  EXPECT_EQ(more_frames->rx_counters().long_frames, 4u);  // 15 segments each
  EXPECT_EQ(more_frames->rx_counters().datagrams, 60u);
}

// The ring lends its memory until the next receive(), and wakes no thread once it is empty.
TEST_F(FrameIoTest, WaitFdIsNotReadableAfterAllIsRead) {
  const auto a = open_frames(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  pollfd waiting{b->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  Outbox out;
  out.add(b->local_address(), "something to wake for");
  a->send(out.packets());
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  EXPECT_EQ(b->receive().size(), 1u);
  EXPECT_EQ(b->receive().size(), 0u);
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

// Frames to another port or address are not taken.
TEST_F(FrameIoTest, OnlyOurAddressAndPortAreTaken) {
  const auto a = open(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  Outbox out;
  FabricAddress other = b->local_address();
  other.port = 4794;
  out.add(other, "another port of this host");
  out.add(b->local_address(), "for us, this one");
  a->send(out.packets());
  const std::vector<Got> got = receive(*b, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "for us, this one");
  EXPECT_EQ(b->rx_counters().frames, 1u);
}

TEST_F(FrameIoTest, AMissingReceiverIsAPathError) {
  const auto a = open_frames(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  expect_path_error_of_a_closed_port(*a, *b);
}

// Memory that is gone is an error of its packet, not the end of the process.
TEST_F(FrameIoTest, PayloadThatIsGoneIsRefusedAsByUdp) {
  const auto a = open_frames(here(0));
  const auto b = open_frames(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  void* const gone = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  Outbox out;
  out.add(b->local_address(), "it will not be sent");
  const IoSlice slice{static_cast<std::byte*>(gone), 100};
  out.packets()[0].slices = &slice;
  out.packets()[0].payload_bytes = 100;
  a->send(out.packets());
  EXPECT_EQ(out.fates(), "n");
  EXPECT_EQ(out.packets()[0].error, EFAULT);
  EXPECT_EQ(a->tx_counters().frames, 1u);
  ::munmap(gone, 4096);
}

// If the system's default buffer size is requested, the ring has its default size.
TEST_F(FrameIoTest, TheSystemsBufferSizeLeavesARing) {
  const auto a = open_frames(here(0));
  UdpOptions system = here(1);
  system.receive_buffer_bytes = 0;
  const auto b = open_frames(system);
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (int i = 0; i < 100; ++i) {
    Outbox out;
    out.add(b->local_address(), "number " + std::to_string(i));
    a->send(out.packets());
  }
  EXPECT_EQ(receive(*b, 100).size(), 100u);
  EXPECT_EQ(counters_of(*b)["frame_rx_dropped"], 0u);
}

TEST_F(FrameIoTest, ForeignFamiliesAreRefusedAsByUdp) {
  const auto a = open_frames(here(0));
  ASSERT_TRUE(a);
  expect_ipv6_refused(*a);
}

TEST_F(FrameIoTest, TheDocumentNamesEveryCounter) {
  const auto a = open_frames(here(0));
  ASSERT_TRUE(a);
  expect_documented_counters(*a);
}

TEST_F(FrameIoTest, WithoutThePrivilegeTheErrorNamesIt) {
  // This thread only, and only the effective set: it is raised again below.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  ASSERT_EQ(::syscall(SYS_capget, &header, data), 0);
  const uint32_t effective = data[0].effective;
  data[0].effective &= ~(1u << CAP_NET_RAW);
  ASSERT_EQ(::syscall(SYS_capset, &header, data), 0);
  std::string error;
  EXPECT_EQ(FrameIo::open(here(0), &error), nullptr);
  data[0].effective = effective;
  ASSERT_EQ(::syscall(SYS_capset, &header, data), 0);
  EXPECT_NE(error.find("CAP_NET_RAW"), error.npos) << error;
  EXPECT_NE(error.find("FI_UET_IO=udp"), error.npos) << error;
}

}  // namespace
}  // namespace uet::io
