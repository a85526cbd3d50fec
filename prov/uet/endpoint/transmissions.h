// The operations that an endpoint sends: how each is planned and posted, which are in flight, and
// how each one ends. [LF-041..056, LF-093..097]
#pragma once

#include "prov/uet/endpoint/calls.h"
#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/op_groups.h"
#include "prov/uet/endpoint/unreachable_log.h"

#include "base/result.h"

#include <sys/types.h>
#include <cstdint>

namespace uet::prov {

class Transmissions {
 public:
  explicit Transmissions(const EndpointState& ep) : ep_(ep), groups_(ep.as.tx_size) {}
  Transmissions(const Transmissions&) = delete;
  Transmissions& operator=(const Transmissions&) = delete;

  // Posts. `call.flags` is complete: the endpoint's defaults are merged. 0 or -FI_E*; with
  // -FI_EAGAIN nothing was changed.
  ssize_t send(const MessageCall& call);   // msg.cpp
  ssize_t rma(const RmaCall& call);        // rma.cpp
  ssize_t atomic(const AtomicCall& call);  // atomic.cpp

  // UET messages in flight. Engine lock held.
  uint32_t open() const { return open_; }
  // Operations in flight that were reported to the application as done. Engine lock held.
  uint32_t unreported() const { return unreported_; }
  // The stack reports ended operations here.
  ses::CompletionSink sink() { return {this, &on_done, nullptr, nullptr, true}; }

 private:
  // How an operation is posted and reported, from its FI_* flags.
  struct Plan {
    uint32_t ses_flags = 0;  // ses::OpFlags
    uint32_t slots = 0;      // of the CQ
    uint64_t user = 0;       // UserBits
    uint64_t bytes = 0;      // of the message
  };

  ssize_t make_plan(uint64_t flags, uint64_t bytes, bool is_message, Plan& plan) const;
  bool may_retain(uint64_t flags, bool is_message) const;
  static bool waits_for_none(const ProgressEngine::Entry& entry, const Plan& plan);
  bool waits_for_first_answer(uint64_t flags, const ses::Destination& to) const;
  ssize_t reject(ssize_t error);
  ssize_t refuse_address(fi_addr_t addr) const;
  ssize_t refuse(ProgressEngine::Entry& entry, const Plan& plan, fi_addr_t addr, Errc why);
  void begin(const Plan& plan, fi_addr_t addr);
  void report_retained(const Plan& plan, void* op_context, uint64_t flags);
  template <class Call, class Post>  // post_tx.h
  ssize_t post_tx(const Call& call, const Plan& plan, uint64_t cq_flags, Post post);
  Result<ses::Taken> hand_over(ProgressEngine::Entry& entry, const ses::SendRequest& request);
  template <class PostPart>  // post_tx.h
  Result<ses::Taken> post_parts(ProgressEngine::Entry& entry, uint32_t count, ses::OpKind kind,
                                const ses::OpContext& context, PostPart post_part);

  // Completions, in transmissions.cpp. Engine lock held.
  static void on_done(void* self, const ses::Completion& completion);
  void done(const ses::Completion& completion);
  void part_done(const ses::Completion& completion);
  void retained_done(const ses::Completion& completion);
  void warn_of_unreachable(fi_addr_t addr, const ses::Destination& to,
                           const ses::Completion& completion);
  void finish(ses::OpKind kind, uint64_t user, void* op_context, const CompletionError* error);

  const EndpointState& ep_;
  uint32_t unreported_ = 0;  // operations in flight that the application believes done
  uint32_t open_ = 0;
  UnreachableLog unreachable_;
  OpGroups groups_;
};

}  // namespace uet::prov
