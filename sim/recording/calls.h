// Calls of the user of a FabricEndpoint: one record for each call, with its arguments. Objects that
// a run names by handle or address have a number here, counted from 0 in the order of its first use
// by that FabricEndpoint: peers, endpoints, shared receives, blocks of memory, contexts of posts.
#pragma once

#include "sim/recording/codec.h"

#include "ses/ses.h"

#include "base/packet.h"

#include <string>
#include <vector>

namespace uet::recording {

inline constexpr uint64_t kModeMax = static_cast<uint64_t>(pds::Mode::uud);

template <class Archive>
void address_fields(Archive& a, FabricAddress& address) {
  for (uint8_t& octet : address.ip) a.number(octet);
  a.number(address.family);
  a.number(address.port);
  a.number(address.scope_id);
}

// Memory that a call names: octets of a block.
struct Piece {
  static constexpr uint32_t kNowhere = UINT32_MAX;  // no octets, and a null pointer
  uint32_t block = kNowhere;
  uint64_t offset = 0;
  uint64_t length = 0;
  template <class A>
  void fields(A& a) {
    a.number(block);
    a.number(offset);
    a.number(length);
  }
};

struct Pieces {
  std::vector<Piece> all;
  template <class A>
  void fields(A& a) {
    a.list(all, [&](Piece& p) { p.fields(a); });
  }
};

struct Create {
  struct Setting {
    std::string name;
    int64_t value = 0;
  };
  FabricAddress address;
  uint64_t seed = 0;
  std::vector<Setting> settings;
  template <class A>
  void fields(A& a) {
    address_fields(a, address);
    a.word(seed);
    a.list(settings, [&](Setting& s) {
      a.text(s.name);
      a.number(s.value);
    });
  }
};

// From here on an Engine drives the FabricEndpoint.
struct UseEngine {
  template <class A>
  void fields(A&) {}
};

// Memory of the application, with its contents at the first use.
struct Block {
  uint32_t number = 0;
  uint8_t alignment = 0;  // of its address, modulo 16
  uint64_t length = 0;
  Octets content;  // one octet: all are so
  template <class A>
  void fields(A& a) {
    a.number(number);
    a.number(alignment, 15);
    a.number(length);
    a.octets(content);
  }
};

// The application has written to memory before it posted it again.
struct Content {
  Piece piece;
  Octets octets;
  template <class A>
  void fields(A& a) {
    piece.fields(a);
    a.octets(octets);
  }
};

// A completion sink without its functions.
struct Sink {
  bool reserves = false;
  bool releases = false;
  bool carries_data = true;
  bool all_remote = false;
  template <class A>
  void fields(A& a) {
    a.flag(reserves);
    a.flag(releases);
    a.flag(carries_data);
    a.flag(all_remote);
  }
};

struct OpenShared {
  uint32_t rx_size = 0;
  template <class A>
  void fields(A& a) {
    a.number(rx_size);
  }
};

struct OpenEndpoint {
  ses::EndpointName name;
  pds::Mode mode{};
  TrafficClass tc;
  uint32_t tx_size = 0;
  uint32_t rx_size = 0;
  uint32_t shared = 0;  // 1 and on: the number of the shared receives, and 1
  bool reject_truncated = false;
  Sink tx;
  Sink rx;
  template <class A>
  void fields(A& a) {
    a.id(name.job);
    a.id(name.pid);
    a.id(name.ri);
    a.number(name.initiator_id);
    a.flag(name.absolute);
    a.number(mode, kModeMax);
    a.id(tc);
    a.number(tx_size);
    a.number(rx_size);
    a.number(shared);
    a.flag(reject_truncated);
    tx.fields(a);
    rx.fields(a);
  }
};

struct CloseEndpoint {
  Instant at;
  uint32_t endpoint = 0;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.number(endpoint);
  }
};

struct FindPeer {
  Instant at;
  FabricAddress address;
  template <class A>
  void fields(A& a) {
    a.time(at);
    address_fields(a, address);
  }
};

// A reference to a peer, as an entry of an address vector or without one.
struct KeepPeer {
  uint32_t peer = 0;
  bool is_listed = false;
  template <class A>
  void fields(A& a) {
    a.number(peer);
    a.flag(is_listed);
  }
};

struct AddRegion {
  Pieces memory;
  uint32_t access = 0;
  bool provider_key = true;
  uint64_t key = 0;
  bool idempotent_safe = false;
  bool optimized = false;
  uint32_t job = 0;
  uint16_t ri = 0;
  uint64_t user = 0;
  template <class A>
  void fields(A& a) {
    memory.fields(a);
    a.number(access);
    a.flag(provider_key);
    a.number(key);
    a.flag(idempotent_safe);
    a.flag(optimized);
    a.number(job);
    a.number(ri);
    a.number(user);
  }
};

}  // namespace uet::recording
