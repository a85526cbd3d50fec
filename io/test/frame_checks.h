// Common checks of packet sockets and AF_XDP. Backend is FrameIo or XdpIo; hosts and tests are in
// frame_testing.h and xdp_testing.h.
#pragma once

#include "io/test/udp_testing.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace uet::io {

inline std::string send_text(PacketIo& from, const FabricAddress& to, std::string text,
                             uint16_t ev = 3) {
  Outbox out;
  out.add(to, std::move(text), ev);
  from.send(out.packets());
  return out.fates();
}

inline std::map<std::string, uint64_t> counters_of(const PacketIo& io) {
  std::map<std::string, uint64_t> out;
  io.report_counters([&](const char* name, uint64_t value) { out[name] = value; });
  return out;
}

// Packets to a stranger go through the IP stack, until that knows the way. Exactly one frame has
// left afterwards, and no packet is under way.
template <class Backend>
void introduce(Backend& from, PacketIo& to) {
  const uint64_t before = from.tx_counters().frames;
  for (int i = 0; i < 100 && from.tx_counters().frames == before; ++i) {
    send_text(from, to.local_address(), "hello, you there");
    ASSERT_EQ(receive(to, 1).size(), 1u);
    ::usleep(6000);  // the next question may be asked
  }
  ASSERT_EQ(from.tx_counters().frames, before + 1);
  ASSERT_TRUE(to.receive().empty());
}

// Marks, ports and octets are those of the UDP backend. `from` and `to` have exchanged a packet
// before.
template <class Backend>
void expect_frames_with_marks(Backend& from, Backend& to) {
  const uint64_t sent_before = from.tx_counters().frames;
  const uint64_t got_before = to.rx_counters().frames;
  Outbox out;
  out.add(to.local_address(), "four octets of header", 3, 11, Ecn::ect1);
  out.add(to.local_address(), std::string(1901, 'y'), 4, 46, Ecn::ce);
  from.send(out.packets());
  EXPECT_EQ(out.fates(), "ss");
  EXPECT_EQ(from.tx_counters().frames, sent_before + 2);
  const std::vector<Got> got = receive(to, 2);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].text, "four octets of header");
  EXPECT_EQ(got[0].dscp, 11);
  EXPECT_EQ(got[0].ecn, Ecn::ect1);
  EXPECT_EQ(got[1].text, std::string(1901, 'y'));
  EXPECT_EQ(got[1].dscp, 46);
  EXPECT_EQ(got[1].ecn, Ecn::ce);
  EXPECT_EQ(ip_text(got[0].from), ip_text(from.local_address()));
  EXPECT_EQ(to.rx_counters().frames, got_before + 2);
  EXPECT_EQ(to.rx_counters().malformed, 0u);
}

// A frame and a datagram of one EV take the same path through the network. `from` has sent no frame
// yet. [WIRE-007]
template <class Backend>
void expect_frames_from_the_ports_of_sockets(Backend& from, PacketIo& to) {
  std::map<uint16_t, uint16_t> stack_port;
  Outbox by_stack;  // more than a few
  for (uint16_t ev = 0; ev < 8; ++ev) by_stack.add(to.local_address(), "stack", ev);
  from.send(by_stack.packets());
  for (const Got& got : receive(to, 8))
    stack_port[static_cast<uint16_t>(stack_port.size())] = got.from.port;
  ASSERT_EQ(stack_port.size(), 8u);
  introduce(from, to);
  for (uint16_t ev = 0; ev < 8; ++ev) {
    send_text(from, to.local_address(), "frame", ev);
    const std::vector<Got> got = receive(to, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].from.port, stack_port[ev]) << ev;
  }
  EXPECT_EQ(from.tx_counters().frames, 9u);
}

// ICMP answers to frames reach the UDP socket whose port they carry. `from` and `to` have exchanged
// a packet before.
template <class Backend>
void expect_path_error_of_a_closed_port(Backend& from, const PacketIo& to) {
  const uint64_t before = from.tx_counters().frames;
  FabricAddress closed = to.local_address();
  closed.port = 4797;  // the same host: its next hop is known
  send_text(from, closed, "is anybody there");
  EXPECT_EQ(from.tx_counters().frames, before + 1);
  const std::vector<PathError> errors = errors_within_a_second(from);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].to, closed);
  EXPECT_EQ(errors[0].error, ECONNREFUSED);
}

// `from` has an IPv4 address.
template <class Backend>
void expect_ipv6_refused(Backend& from) {
  Outbox out;
  out.add(ipv6(), "another family");
  from.send(out.packets());
  EXPECT_EQ(out.fates(), "n");
  EXPECT_EQ(out.packets()[0].error, EAFNOSUPPORT);
  EXPECT_EQ(from.tx_counters().frames, 0u);
}

// Every counter has a line in the document.
inline void expect_documented_counters(const PacketIo& io) {
  std::ifstream in(UET_SOURCE_DIR "/docs/counters.md");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::map<std::string, uint64_t> counters = counters_of(io);
  EXPECT_FALSE(counters.empty());
  for (const auto& [name, value] : counters) {
    EXPECT_NE(text.find("`" + name + "`"), text.npos) << name;
  }
}

}  // namespace uet::io
