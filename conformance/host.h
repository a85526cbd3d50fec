// The interface of a host under test: a host with one fabric endpoint. The tester sends packets to
// it as its peers, reads its packets, and calls its upper layer. in_process.h implements it; a host
// across a network can be another implementation.
#pragma once

#include "wire/code_points.h"

#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uet::conformance {

using Octets = std::vector<std::byte>;

// A datagram to the host under test or from it: what follows the UDP header, and its surroundings.
struct Datagram {
  Octets octets;
  FabricAddress peer;  // the other end: the sender to the host, or the receiver
  uint16_t ev = 0;     // entropy value: the UDP source port
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  uint32_t sdi = 0;      // secure domain: in process only
  Duration arrived_ago;  // how long ago its time stamp is: in process only
  Instant at;            // when it was seen; set by the host
};

// One setting of the host: a name of docs/configuration.md without FI_UET_, or a profile.
struct Setting {
  std::string name;
  int64_t value = 0;
};

enum class Profile : uint8_t {
  soft,
  spec,
  refprov
};

enum class OwnMode : uint8_t {
  rud,
  rod,
  rudi,
  uud
};

// An endpoint of the host's upper layer.
struct EndpointSpec {
  std::string name;
  uint32_t job = 1;
  uint16_t pid = 1;
  uint16_t ri = 1;
  uint32_t initiator = 0;
  OwnMode mode = OwnMode::rud;
  bool is_absolute = false;
  bool rejects_truncated = false;
  bool reports_remote = false;  // every remote write and read, not only those with header data
  uint32_t room = UINT32_MAX;   // unread completions without a posted operation that it accepts
};

struct HostSpec {
  FabricAddress address;
  Profile profile = Profile::soft;
  std::vector<Setting> settings;
  std::vector<EndpointSpec> endpoints;
  uint64_t seed = 1;
};

enum class Verb : uint8_t {
  send,
  tagged,
  write,
  read,
  atomic,
  receive,
  region,
};

// A call of the upper layer. The verb decides which members are used.
struct Call {
  Verb verb{};
  std::string name;     // of the operation, receive or region, unique in the case
  size_t endpoint = 0;  // index
  FabricAddress to;     // of the peer
  uint16_t pid = 1;     // of the peer's endpoint
  uint16_t ri = 1;
  uint32_t initiator = 0;
  uint32_t job = 0;          // 0: the endpoint's own
  uint8_t capabilities = 0;  // of the peer's address
  Octets octets;             // that are sent, written, or operands
  Octets compare;            // operand of compare forms
  uint64_t length = 0;       // octets of a receive, region or read
  uint64_t key = 0;          // of the peer's memory, or wanted for a region
  bool has_key = false;
  uint64_t offset = 0;  // in the peer's memory
  uint64_t tag = 0;
  uint64_t ignore = 0;
  bool is_tagged = false;    // receive
  bool is_directed = false;  // receive: only from `to` and `initiator`
  bool is_multi = false;     // receive
  uint32_t multi_min = 64;
  uint64_t data = 0;
  bool has_data = false;
  bool is_delivery_complete = false;
  bool is_fence = false;
  bool is_quiet = false;
  bool is_rudi = false;
  bool is_fetch = false;    // atomic: old values are wanted
  bool is_compare = false;  // atomic
  wire::AtomicOpcode op{};
  wire::AtomicDatatype type{};
  bool can_read = true;  // region
  bool can_write = true;
  bool can_atomic = false;
  bool is_idempotent = false;
};

// The end of a call, or something that a peer did: kinds and words as the case language has them.
struct Event {
  std::string name;    // of the call; empty: nothing that was posted
  std::string kind;    // "send", "recv", "remote_write", ...
  std::string status;  // "ok", "refused", ...
  std::string code;    // return code with "refused", NACK code or reason with "undeliverable"
  uint64_t bytes = 0;
  uint64_t truncated = 0;
  uint64_t tag = 0;
  uint64_t data = 0;
  bool has_data = false;
  uint32_t initiator = 0;
  uint32_t job = 0;
  Octets octets;  // received, read or fetched: the contents of the buffer
};

class Host {
 public:
  virtual ~Host() = default;

  virtual Instant now() const = 0;
  // The host handles the datagram at once.
  virtual void send(const Datagram& datagram) = 0;
  // Lets time pass until packets or events come, or until then. Arrivals are appended.
  virtual void wait(Instant until, std::vector<Datagram>& packets, std::vector<Event>& events) = 0;
  // Makes a call. Returns the error of the upper layer when it did not accept it: "again",
  // "invalid", ...
  virtual std::string call(const Call& call) = 0;
  // The key of a region.
  virtual uint64_t key(const std::string& region) const = 0;
  // The contents of the buffer of a receive, a read or a region.
  virtual const Octets* content(const std::string& name) const = 0;
  // False: there was nothing to cancel.
  virtual bool cancel(const std::string& name) = 0;
  virtual void close_endpoint(size_t endpoint) = 0;

  // In process only. A host that cannot do these says so by is_in_process().
  virtual bool is_in_process() const = 0;
  virtual std::optional<uint64_t> counter(std::string_view name) const = 0;
  virtual void report_unreachable(const FabricAddress& peer) = 0;
  virtual void report_too_long(const FabricAddress& peer, uint32_t mtu_bytes) = 0;
  virtual void close_all(bool abort) = 0;
  virtual bool is_idle() const = 0;
};

}  // namespace uet::conformance
