// The receiving half of an endpoint: posted receives, peeks at kept messages, and the completions
// of both and of remote operations. [LF-046, LF-057..059, LF-094..097]
#pragma once

#include "prov/uet/endpoint/calls.h"
#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/min_multi_receive.h"

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace uet::prov {

class Receptions {
 public:
  explicit Receptions(const EndpointState& ep) : ep_(ep) {}
  Receptions(const Receptions&) = delete;
  Receptions& operator=(const Receptions&) = delete;

  // `call.flags` is complete: the endpoint's defaults are merged. 0 or -FI_E*; with -FI_EAGAIN
  // nothing was changed.
  ssize_t receive(const MessageCall& call);
  // FI_PEEK, alone or with FI_CLAIM or FI_DISCARD, and FI_CLAIM | FI_DISCARD, on its own or its
  // shared receives: always a completion of this endpoint. Engine lock held.
  ssize_t look(ProgressEngine::Entry& entry, const MessageCall& call,
               const ses::ReceiveRequest& request);
  // The stack returns this with each message that a receive gets. `report`: success is reported
  // regardless of the CQ's binding.
  static ses::OpContext context_of(const MessageCall& call, bool report);

  MinMultiReceive& min_multi_receive() { return min_multi_; }
  // Where the stack reports what arrived.
  ses::CompletionSink sink();
  // See CompletionQueue::make_room(). Engine lock held.
  bool make_room();

 private:
  // The sender of an arrived message.
  struct Sender {
    PeerId peer;
    uint32_t initiator_id = 0;
    JobId job;
  };

  bool book(ProgressEngine::Entry& entry);
  ssize_t post(ProgressEngine::Entry& entry, const MessageCall& call,
               const ses::ReceiveRequest& request);

  // Completions. Engine lock held.
  static void on_done(void* self, const ses::Completion& completion);
  static bool on_reserve(void* self);
  static void on_release(void* self);
  void done(const ses::Completion& completion);
  void owned_done(const ses::Completion& completion);
  void remote_done(const ses::Completion& completion);
  void set_source(CompletionEntry& entry, const Sender& from) const;
  void deliver(const CompletionEntry& entry, const Sender& from);

  const EndpointState& ep_;
  MinMultiReceive min_multi_;
};

}  // namespace uet::prov
