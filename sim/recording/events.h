// Events inside a call: questions and answers of the FabricEndpoint (inputs), and its outputs,
// which a replay compares octet by octet.
#pragma once

#include "sim/recording/posts.h"

#include "io/packet_io.h"

#include <string>
#include <type_traits>
#include <vector>

namespace uet::recording {

inline constexpr uint64_t kEcnMax = static_cast<uint64_t>(Ecn::ce);
inline constexpr uint64_t kFateMax = static_cast<uint64_t>(TxFate::never);

// Input: datagrams that arrived.
struct Datagrams {
  struct Datagram {
    RxDatagram about;  // without the octets
    Octets octets;
  };
  Instant at;  // of the call that hands them over; in an Engine's progress its time
  std::vector<Datagram> all;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.list(all, [&](Datagram& d) {
      address_fields(a, d.about.from);
      a.id(d.about.ev);
      a.number(d.about.dscp);
      a.number(d.about.ecn, kEcnMax);
      a.time(d.about.at);
      a.number(d.about.sdi);
      a.octets(d.octets);
    });
  }
};

// Output: packets. The length and a digest of their payload are kept.
struct Packets {
  struct Packet {
    FabricAddress to;
    Entropy ev;
    uint8_t dscp = 0;
    Ecn ecn{};
    uint32_t sdi = 0;
    Octets header;
    uint32_t payload_bytes = 0;
    uint64_t payload_digest = 0;
    bool operator==(const Packet&) const = default;
  };
  std::vector<Packet> all;
  template <class A>
  void fields(A& a) {
    a.list(all, [&](Packet& p) {
      address_fields(a, p.to);
      a.id(p.ev);
      a.number(p.dscp);
      a.number(p.ecn, kEcnMax);
      a.number(p.sdi);
      a.octets(p.header);
      a.number(p.payload_bytes);
      if (p.payload_bytes != 0) a.word(p.payload_digest);
    });
  }
};
Packets packets_of(std::span<const TxPacket> batch);

// Input: what became of each of these packets.
struct Fates {
  struct Fate {
    TxFate fate{};
    uint32_t error = 0;
  };
  Instant at;
  std::vector<Fate> all;  // none: all were sent
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.list(all, [&](Fate& f) {
      a.number(f.fate, kFateMax);
      a.number(f.error, INT32_MAX);
    });
  }
};
Fates fates_of(std::span<const TxPacket> batch, Instant at);
// False: these are the fates of another number of packets.
bool set_fates(const Fates& fates, std::span<TxPacket> batch);

// Input: errors that the network reported.
struct PathErrors {
  struct Error {
    FabricAddress to;
    uint32_t error = 0;
  };
  std::vector<Error> all;
  template <class A>
  void fields(A& a) {
    a.list(all, [&](Error& e) {
      address_fields(a, e.to);
      a.number(e.error, INT32_MAX);
    });
  }
};

// Output: the address that is asked for. Input: what its route carries.
struct RouteMtu {
  FabricAddress to;
  uint32_t mtu_bytes = 0;
  template <class A>
  void fields(A& a) {
    address_fields(a, to);
    a.number(mtu_bytes);
  }
};

// Output: the sink that is asked for room. Input: its answer. Sinks count from 0, two for an
// endpoint, that of transmissions first.
struct Reserved {
  uint32_t sink = 0;
  bool answer = false;
  template <class A>
  void fields(A& a) {
    a.number(sink);
    a.flag(answer);
  }
};

struct Released {
  uint32_t sink = 0;
  template <class A>
  void fields(A& a) {
    a.number(sink);
  }
};

struct Completed {
  uint32_t sink = 0;
  ses::OpKind kind{};
  Context context;
  uint64_t bytes = 0;
  uint64_t truncated_bytes = 0;
  uint64_t buffer = 0;  // 1 and on: its offset in the memory of the post, and 1
  uint64_t tag = 0;
  uint64_t data = 0;
  bool has_data = false;
  bool multi_done = false;
  PeerId peer;
  uint32_t initiator_id = 0;
  JobId job;
  ses::Completion::Status status{};
  bool was_retained = false;
  wire::ReturnCode code{};
  pds::Failure failure;
  uint32_t local_error = 0;
  uint64_t digest = 0;  // of the octets that the post was to get
  template <class A>
  void fields(A& a) {
    a.number(sink);
    a.number(kind, static_cast<uint64_t>(ses::OpKind::remote_fetching_atomic));
    context.fields(a);
    a.number(bytes);
    a.number(truncated_bytes);
    a.number(buffer);
    a.number(tag);
    a.number(data);
    a.flag(has_data);
    a.flag(multi_done);
    a.id(peer);
    a.number(initiator_id);
    a.id(job);
    a.number(status, static_cast<uint64_t>(ses::Completion::Status::fault));
    a.flag(was_retained);
    a.number(code);
    a.number(failure.reason, static_cast<uint64_t>(pds::FailureReason::too_long));
    a.number(failure.nack);
    a.flag(failure.not_delivered);
    a.number(local_error, INT32_MAX);
    a.word(digest);
  }
};
// Without the context, the buffer and the digest.
Completed completed(uint32_t sink, const ses::Completion& c);

// Output: the end of a call.
struct Returned {
  uint32_t error = 0;  // 0: none; else Errc and 1
  uint64_t value = 0;
  Instant deadline;  // after calls that run timers; else zero
  template <class A>
  void fields(A& a) {
    a.number(error);
    a.number(value);
    a.time(deadline);
  }
};

inline uint64_t value_of(ses::Taken taken) { return static_cast<uint64_t>(taken); }
inline uint64_t value_of(uint64_t value) { return value; }
template <class Tag, class U>
uint64_t value_of(Id<Tag, U> id) {
  return id.value();
}
template <class T>
Returned returned_of(const Result<T>& result) {
  Returned out;
  if (!result.ok()) {
    out.error = static_cast<uint32_t>(result.error()) + 1;
  } else if constexpr (!std::is_void_v<T>) {
    out.value = value_of(*result);
  }
  return out;
}

// Output: resources still held when the FabricEndpoint ends.
struct Ended {
  struct Counter {
    std::string name;
    uint64_t value = 0;
  };
  uint64_t memory_digest = 0;
  std::vector<Counter> counters;
  template <class A>
  void fields(A& a) {
    a.word(memory_digest);
    a.list(counters, [&](Counter& c) {
      a.text(c.name);
      a.number(c.value);
    });
  }
};

}  // namespace uet::recording
