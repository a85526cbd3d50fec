// How two endpoints of one host find each other and agree on a ring: Unix sockets with abstract
// names, which belong to a network namespace as addresses do. An open connection stands for a ring
// from the connecting side to the accepting one, wakes that side, and ends with either process.
#pragma once

#include "io/socket.h"

#include "base/packet.h"

#include <cstdint>

namespace uet::io {

// Result of a look at a connection.
enum class ShmNews : uint8_t {
  nothing,
  hello,    // a sender has passed its ring
  welcome,  // the receiver has taken it
  closed,   // the other side is gone, has refused, or sent no known message
};

// The listening side. Connections of other users are closed at once.
class ShmDoor {
 public:
  // False with errno: another endpoint has the name (EADDRINUSE), or there is no descriptor.
  // ip_protocol: see IoCaps. Endpoints of an address with UDP and without are two.
  bool open(const FabricAddress& local, uint8_t ip_protocol = 0);
  int fd() const { return socket_.get(); }
  // The next connection. False: none waits. An empty `connection`: it was of another user, and is
  // closed.
  bool accept(Fd& connection);

 private:
  Fd socket_;
};

// Connects to the endpoint with that address of this host. Empty with errno: ECONNREFUSED when
// no process shares memory there, EPERM when one of another user does, EAGAIN when it is busy.
Fd connect_to_door(const FabricAddress& to, uint8_t ip_protocol = 0);

// Sends the sender's address and the descriptor of the ring. False with errno.
bool send_hello(const Fd& connection, const FabricAddress& from, const Fd& ring);
// The receiver has mapped the ring.
bool send_welcome(const Fd& connection);
// The receiver sleeps. When this fails it is awake, or gone.
void ring_bell(const Fd& connection);

// Reads the messages of the other side, until none are left or one has news. Bells are dropped, 64
// in a call. With `hello`: the sender, and the descriptor.
ShmNews read_connection(const Fd& connection, FabricAddress& from, Fd& ring);

}  // namespace uet::io
