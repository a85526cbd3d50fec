// Posts and cancellations of the user of a FabricEndpoint, and the calls that pass time and
// packets: the rest of the calls.
#pragma once

#include "sim/recording/calls.h"

#include <vector>

namespace uet::recording {

// A remote endpoint, and the context of the post.
struct Remote {
  uint32_t peer = 0;
  ses::Destination name;  // without the peer
  template <class A>
  void fields(A& a) {
    a.number(peer);
    a.id(name.pid);
    a.id(name.ri);
    a.number(name.initiator_id);
    a.flag(name.absolute);
    a.id(name.job);
    a.number(name.capabilities);
  }
};

struct Context {
  uint32_t op = 0;  // 0: null
  uint64_t user = 0;
  auto operator<=>(const Context&) const = default;
  template <class A>
  void fields(A& a) {
    a.number(op);
    a.number(user);
  }
};

struct Send {
  Instant at;
  uint32_t endpoint = 0;
  Remote to;
  Pieces memory;
  bool tagged = false;
  uint64_t tag = 0;
  uint64_t data = 0;
  uint32_t flags = 0;
  Context context;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.number(endpoint);
    to.fields(a);
    memory.fields(a);
    a.flag(tagged);
    a.number(tag);
    a.number(data);
    a.number(flags);
    context.fields(a);
  }
};

struct Rma {
  Instant at;
  uint32_t endpoint = 0;
  Remote to;
  bool read = false;
  Pieces memory;
  uint64_t remote_offset = 0;
  uint64_t key = 0;
  uint64_t data = 0;
  uint32_t flags = 0;
  Context context;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.number(endpoint);
    to.fields(a);
    a.flag(read);
    memory.fields(a);
    a.number(remote_offset);
    a.number(key);
    a.number(data);
    a.number(flags);
    context.fields(a);
  }
};

// Operands are copied by the call, so the record has their octets.
struct Atomic {
  struct Operand {
    bool is_null = false;
    uint64_t length = 0;
    Octets octets;
  };
  Instant at;
  uint32_t endpoint = 0;
  Remote to;
  ses::AtomicForm form{};
  ses::AtomicCode code;
  std::vector<Operand> operand;
  std::vector<Operand> compare;
  Pieces result;
  uint64_t remote_offset = 0;
  uint64_t key = 0;
  uint32_t flags = 0;
  Context context;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.number(endpoint);
    to.fields(a);
    a.number(form, static_cast<uint64_t>(ses::AtomicForm::compare));
    a.number(code.op);
    a.number(code.type);
    const auto each = [&](Operand& o) {
      a.flag(o.is_null);
      a.number(o.length);
      a.octets(o.octets);
    };
    a.list(operand, each);
    a.list(compare, each);
    result.fields(a);
    a.number(remote_offset);
    a.number(key);
    a.number(flags);
    context.fields(a);
  }
};

// Where receives are posted: to an endpoint, or to shared receives.
struct Queue {
  bool is_shared = false;
  uint32_t number = 0;
  template <class A>
  void fields(A& a) {
    a.flag(is_shared);
    a.number(number);
  }
};

struct Receive {
  Instant at;
  Queue queue;
  Pieces memory;
  bool tagged = false;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  bool directed = false;
  uint32_t from = 0;
  uint32_t from_initiator = 0;
  uint32_t job = 0;
  bool by_job = false;
  bool multi = false;
  uint32_t multi_min = 0;
  Context context;
  template <class A>
  void fields(A& a) {
    a.time(at);
    queue.fields(a);
    memory.fields(a);
    a.flag(tagged);
    a.number(tag);
    a.number(ignore);
    a.flag(directed);
    a.number(from);
    a.number(from_initiator);
    a.number(job);
    a.flag(by_job);
    a.flag(multi);
    a.number(multi_min);
    context.fields(a);
  }
};

struct Cancel {
  Instant at;
  Queue queue;
  uint32_t op = 0;
  template <class A>
  void fields(A& a) {
    a.time(at);
    queue.fields(a);
    a.number(op);
  }
};

struct CloseAll {
  Instant at;
  bool abort = false;
  template <class A>
  void fields(A& a) {
    a.time(at);
    a.flag(abort);
  }
};

// A call that has the time as its only argument: progress of the Engine, transmit, advance.
struct AtTime {
  Instant at;
  template <class A>
  void fields(A& a) {
    a.time(at);
  }
};

struct PathReport {
  Instant at;
  FabricAddress address;
  uint32_t mtu_bytes = 0;  // 0: not known
  template <class A>
  void fields(A& a) {
    a.time(at);
    address_fields(a, address);
    a.number(mtu_bytes);
  }
};

}  // namespace uet::recording
