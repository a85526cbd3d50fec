// The BPF program that hands the packets for one address and port to AF_XDP sockets, and passes
// everything else on to the kernel. It stays on the interface as long as a descriptor of this
// process is open: the kernel takes it off however the process ends. [decision 26, LF-144]
#pragma once

#include "io/host/interfaces.h"
#include "io/socket.h"

#include "base/packet.h"

#include <cstdint>
#include <string>

namespace uet::io {

// Written by the program before each frame that it hands over. [PDS-141]
struct XdpStamp {
  static constexpr uint64_t kThere = 0x7565'7420'7374'616d;
  uint64_t at_ns = 0;  // CLOCK_MONOTONIC
  uint64_t there = 0;  // kThere: at_ns is of this frame; the reader takes it away
};
static_assert(sizeof(XdpStamp) == 16);

class XdpProgram {
 public:
  // Where on the way of a frame the program runs.
  enum class Place : uint8_t {
    driver,   // in the driver, before the kernel has made a packet buffer
    generic,  // behind it; there neighbours on this host may have joined packets (GSO)
  };

  // On failure both are false, and `error` is a sentence that names the remedy.
  // A program for packets to the interface's own Ethernet address and to the address of `local`: of
  // this IP protocol, or, with 0, of UDP to the port of `local`.
  bool load(const FabricAddress& local, uint8_t ip_protocol, const Interface& interface,
            std::string& error);
  // Runs it on arriving packets: in the driver, or else after the driver. While no socket has been
  // named all packets pass.
  bool attach(const Interface& interface, std::string& error);
  // Only there.
  bool attach_at(Place place, const Interface& interface, std::string& error);
  // Packets of this receive queue go to this AF_XDP socket. False with errno.
  bool hand_to(uint32_t queue, const Fd& socket);
  Place place() const { return place_; }

  static constexpr uint32_t kQueuesMax = 64;

 private:
  bool make(const FabricAddress& local, uint8_t ip_protocol, const Interface& interface);
  bool link(const Interface& interface);

  Fd sockets_;  // by receive queue: a BPF map
  Fd program_;
  Fd link_;
  Place place_ = Place::driver;
};

}  // namespace uet::io
