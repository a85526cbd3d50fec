// Common parts of the tests of shared memory: endpoints of one host, and a ring between two of
// them.
#pragma once

#include "io/shm/shm_io.h"
#include "io/test/udp_testing.h"

#include <memory>
#include <string>

namespace uet::io {

inline std::unique_ptr<ShmIo> open_shm(const FabricAddress& local, Mover mover = Mover::calls) {
  std::unique_ptr<PacketIo> socket = open(at(local, mover));
  std::string error;
  std::unique_ptr<ShmIo> shm = ShmIo::open(socket, &error);
  EXPECT_NE(shm, nullptr) << error;
  return shm;
}

inline void send(PacketIo& io, const FabricAddress& to, const std::string& text, uint16_t ev = 0) {
  Outbox out;
  out.add(to, text, ev);
  io.send(out.packets());
  EXPECT_EQ(out.fates(), "s");
}

// Looks at the connections, as a busy application does.
inline void poll(PacketIo& io) {
  for (int i = 0; i < 200; ++i) (void)io.receive();
}

class ShmIoTest : public ::testing::Test {
 protected:
  void open_both() {
    a_ = open_shm(ipv4(1));
    b_ = open_shm(ipv4(2));
    agree(*a_, *b_);
  }
  // The first packet takes the socket; then there is a ring.
  void agree(ShmIo& from, ShmIo& to) {
    const uint64_t before = from.counters().rings_out;
    send(from, to.local_address(), "first");
    for (int i = 0; i < 100 && from.counters().rings_out == before; ++i) {
      poll(to);
      poll(from);
      ::usleep(1000);
    }
    EXPECT_EQ(from.counters().rings_out, before + 1);
  }

  std::unique_ptr<ShmIo> a_;
  std::unique_ptr<ShmIo> b_;
};

}  // namespace uet::io
