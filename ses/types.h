// Types between a local user (the provider, the simulator, a test) and SES: destinations, posts and
// completions. No libfabric here.
#pragma once

#include "ses/atomics.h"
#include "ses/profile.h"

#include "pds/client.h"
#include "wire/code_points.h"

#include "base/packet.h"
#include "base/serial.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

inline constexpr uint64_t kMaxMessageBytes = 0xFFFF'FFFE;  // [SES-030]
inline constexpr uint32_t kInjectBytes = 8192;             // [LF-075]
// Operands of one atomic that we send: they are copied and turned to wire order.
inline constexpr uint32_t kAtomicBytesMax = 256;
inline constexpr uint32_t kAnyJob = 0xFFFF'FFFF;  // local wildcard, never on the wire [SES-005]

// The local name of an endpoint of this FEP. [SES-003]
struct EndpointName {
  JobId job;  // 1 .. 2^24-1 [SES-005]
  PidOnFep pid;
  ResourceIndex ri;           // 1 .. 4095; 0 is reserved [SES-007]
  uint32_t initiator_id = 0;  // what our requests carry [SES-123]
  bool absolute = false;      // accepts any JobID at look-up [SES-004]
};

// A remote endpoint, as an AV entry knows it.
struct Destination {
  PeerId peer;
  PidOnFep pid;
  ResourceIndex ri;
  uint32_t initiator_id = 0;
  bool absolute = false;
  JobId job{};               // job of the requests to it; 0: the endpoint's own [LF-019]
  uint8_t capabilities = 0;  // of its address: Profile, kTakesSmallHeader; 0: not stated [LF-005]
};

// Operation flags common to all posts.
enum OpFlags : uint32_t {
  kOpInject = 1u << 0,            // payload is copied before the call returns, at most kInjectBytes
  kOpDeliveryComplete = 1u << 1,  // DC [SES-048]
  kOpRemoteData = 1u << 2,        // `data` travels as header data [SES-050]
  kOpFence = 1u << 3,             // starts after all earlier operations to that peer are complete
  kOpQuiet = 1u << 4,             // no caller waits for the completion: it may come late [PDS-064]
  kOpRudi = 1u << 5,              // RMA: by RUDI where target and region allow it [SES-027]
  kOpRetain = 1u << 6,            // the payload may be copied, see Taken [LF-136]
};

// The result of a posted operation.
enum class Taken : uint8_t {
  posted,    // its memory is read until the completion
  retained,  // with kOpRetain: it was copied, so the user's memory is free
};

// Data of the posting layer, returned with the completion; SES never interprets it.
struct OpContext {
  void* op = nullptr;  // the application's context
  uint64_t user = 0;   // the provider's own bits (flags, which CQ, which counters)
};

struct SendRequest {
  Destination to;
  std::span<const IoSlice> iov;  // copied; the memory it names stays valid until the completion
  bool tagged = false;
  uint64_t tag = 0;
  uint64_t data = 0;
  uint32_t flags = 0;  // OpFlags
  OpContext context;
};

struct RmaRequest {
  Destination to;
  bool read = false;
  std::span<const IoSlice> iov;  // local side
  uint64_t remote_offset = 0;    // octets from the start of the region [LF-032]
  uint64_t key = 0;
  uint64_t data = 0;
  uint32_t flags = 0;
  OpContext context;
};

// Elements of one data type: `operand` is an array of them in host order, copied before the call
// returns. Compare forms work on one element. [SES-080, LF-050..052]
struct AtomicRequest {
  Destination to;
  AtomicForm form{};
  AtomicCode code;
  std::span<const IoSlice> operand;  // READ: null, `result` says how long
  std::span<const IoSlice> compare;  // or the mask; compare form only
  std::span<const IoSlice> result;   // old values; not with the plain form
  uint64_t remote_offset = 0;        // octets from the start of the region
  uint64_t key = 0;
  uint32_t flags = 0;  // OpFlags, without kOpRemoteData and kOpRudi
  OpContext context;
};

struct ReceiveRequest {
  std::span<const IoSlice> iov;
  bool tagged = false;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  // Directed: only this sender (FA, port and initiator ID of its AV entry). [SES-119, SES-120]
  bool directed = false;
  PeerId from;
  uint32_t from_initiator = 0;
  // Only messages of this job. A match of another job is refused [SES-117], or, by_job, left to
  // other receives, like another tag [SES-119, LF-021].
  uint32_t job = kAnyJob;
  bool by_job = false;
  // Multi-receive: used in place until fewer than `multi_min` octets remain. [LF-096]
  bool multi = false;
  uint32_t multi_min = 64;
  OpContext context;
};

enum class OpKind : uint8_t {
  send,
  tagged_send,
  write,
  read,
  atomic,
  fetching_atomic,  // both forms that return old values
  recv,
  tagged_recv,
  remote_write,  // from here on: done to this side's memory by a peer
  remote_read,
  remote_atomic,
  remote_fetching_atomic,  // both forms that return old values
};

// The end of an operation, or a message that arrived. Reported exactly once per post.
struct Completion {
  OpKind kind{};
  OpContext context;             // of the post; remote ones: op null, user of the region
  uint64_t bytes = 0;            // transferred; for receives: placed
  uint64_t truncated_bytes = 0;  // olen: octets that did not fit [SES-137]
  void* buffer = nullptr;        // multi-receive: where this message lies
  uint64_t tag = 0;
  uint64_t data = 0;
  bool has_data = false;
  bool multi_done = false;  // multi-receive: the buffer is released with this one
  // Sender, for receives and remote writes.
  PeerId peer;
  uint32_t initiator_id = 0;
  JobId job;
  // Outcome. ok() or why not.
  enum class Status : uint8_t {
    ok,
    truncated,      // receive: message longer than the buffer
    refused,        // the target answered `code` [SES 7.1]
    undeliverable,  // PDS gave up: `failure`
    cancelled,
    aborted,  // endpoint closed
    fault,    // local memory could not be read
  };
  Status status = Status::ok;
  bool was_retained = false;  // the post was answered with Taken::retained
  wire::ReturnCode code{};
  pds::Failure failure;  // with undeliverable
  int local_error = 0;   // with fault: the errno
  bool ok() const { return status == Status::ok; }
};

// Where completions go. Called from post, receive, transmit and advance; must not call back into
// SES. `reserve` books room for one inbound completion without a post of its own (remote CQ data,
// each further multi-receive message, each message to a shared receive); false refuses the packet
// with a retryable NACK. `release` gives back what was booked; there with `reserve`. [decision 11]
//
// A record with functions, not an abstract class: a question without an answer is null, so SES
// does not ask it, and recordings keep which ones are; and both sinks of an endpoint, with
// different options, may have one owner.
struct CompletionSink {
  void* owner = nullptr;
  void (*complete)(void* owner, const Completion&) = nullptr;
  bool (*reserve)(void* owner) = nullptr;
  void (*release)(void* owner) = nullptr;
  // Header data can be carried by the receive CQ's format. [SES-050, LF-093]
  bool carries_data = true;
  // Every remote write and read is reported when its last packet is served, not only the writes
  // with header data; these reports take no booked room. [LF-097]
  bool all_remote = false;
};

}  // namespace uet::ses
