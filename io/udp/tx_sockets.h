// The sockets that the UDP backend sends from: which one carries which EV, and what each of them is
// connected to.
#pragma once

#include "io/frame/native.h"
#include "io/socket.h"

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <utility>

namespace uet::io {

class UdpTxSockets {
 public:
  static constexpr uint32_t kEntropyMax = 64;

  struct Settings {
    FabricAddress local;          // the address of the sockets, with a port each
    uint32_t entropy_values = 1;  // sockets; the EV modulo this picks one
    uint32_t send_buffer_bytes = 0;
    uint16_t first_port = 0;   // of consecutive ones for the sockets; 0: any that are free
    NativeFormat native = {};  // used: raw sockets of its protocol, without ports
  };

  // Sockets not added by adopt() are opened on first use and watched by `epoll` for errors. The
  // fallback socket carries EVs whose socket cannot be opened.
  void configure(const Settings& settings, int epoll, int fallback);
  // Uses a socket that is bound already (a block's ports). It is owned from here on.
  void adopt(uint32_t index, Fd socket) { sockets_[index] = std::move(socket); }
  // Options that every sending socket needs. False with errno.
  static bool prepare(const Fd& socket, bool ipv6, uint32_t send_buffer_bytes);
  // Drops all arrivals: for sockets that are not read. False with errno.
  static bool deafen(const Fd& socket);

  uint32_t entropy_values() const { return settings_.entropy_values; }
  FabricAddress::Family family() const { return settings_.local.family; }
  // The socket that carries an EV, as an index below entropy_values().
  uint32_t index_of(Entropy ev) const { return ev.value() % settings_.entropy_values; }
  // Empty when it is not open.
  const Fd& operator[](uint32_t index) const { return sockets_[index]; }
  // Its descriptor; opens it on first use.
  int fd_of(uint32_t index) {
    return sockets_[index] ? sockets_[index].get() : open_or_fallback(index);
  }
  // The local port that it sends from.
  uint16_t port_of(uint32_t index);
  const NativeFormat& native() const { return settings_.native; }
  // The name of a destination for these sockets, and its length.
  socklen_t name_of(const FabricAddress& to, SockAddr& out) const;

  // Whether the socket knows this destination and these marks by itself: a message need not name
  // them. Each answer holds until reconsider_favourite().
  bool favours(uint32_t index, const FabricAddress& to, uint8_t tos) {
    Favourite& favourite = favourites_[index];
    if (favourite.tos == tos && favourite.to == to) {
      favourite.misses = 0;
      return true;
    }
    ++favourite.misses;
    favourite.missed_to = to;
    favourite.missed_tos = tos;
    return false;
  }
  // A destination that was missed often enough in a row becomes the favourite. Only between
  // messages: a message built for the old favourite carries no address.
  void reconsider_favourite(uint32_t index) {
    if (favourites_[index].misses >= kMissesMax) change_favourite(index);
  }
  // From here on this socket sends short packets whatever the system says of a route. False: it
  // does so already, or cannot.
  bool insist(int fd) const;

 private:
  static constexpr uint32_t kMissesMax = 32;

  // The connected peer and the marks of a socket: messages for it need no route lookup in the
  // kernel, which saves about a tenth of a small message. All other messages still go out, in full.
  struct Favourite {
    FabricAddress to;
    uint8_t tos = 0;
    uint32_t misses = 0;  // in a row, the last of them:
    FabricAddress missed_to;
    uint8_t missed_tos = 0;
  };

  int open_or_fallback(uint32_t index);
  void change_favourite(uint32_t index);

  Settings settings_;
  int epoll_ = -1;
  int fallback_ = -1;
  uint64_t failed_ = 0;  // sockets that could not be opened
  std::array<Fd, kEntropyMax> sockets_;
  std::array<uint16_t, kEntropyMax> ports_{};  // 0: not yet asked for
  std::array<Favourite, kEntropyMax> favourites_;
};

}  // namespace uet::io
