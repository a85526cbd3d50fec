// Endpoint (FI_EP_RDM, FI_EP_DGRAM): a UET endpoint name, what is bound to it, and the posting
// calls. An alias shares everything with its origin but the operation flags. [LF-001, LF-041..060,
// LF-093..099]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/endpoint/calls.h"
#include "prov/uet/progress/progress.h"
#include "prov/uet/settings/settings.h"

#include "ses/ses.h"
#include "ses/types.h"

#include <array>
#include <cstdint>
#include <vector>

namespace uet::prov {

class AddressVector;
class Counter;
class Domain;
class EventQueue;
class SharedReceives;
class Slices;

// Entries of a queue that asks for so many; 0: the usual number. [LF-076]
uint32_t endpoint_queue_size(size_t asked);
// What a domain answers when it has as many endpoints as ep_cnt says; logs what to do. [LF-158]
int no_endpoint_left();

// What an endpoint shares with its aliases: everything but the operation flags.
class EndpointCore {
 public:
  // Takes the name. The name's claim belongs to this object from here on.
  EndpointCore(Domain& domain, const struct fi_info& info, const ses::EndpointName& name);
  ~EndpointCore();
  EndpointCore(const EndpointCore&) = delete;
  EndpointCore& operator=(const EndpointCore&) = delete;

  // Set-up, in ep_core.cpp.
  int bind(const struct fid& endpoint, struct fid* fid, uint64_t flags);
  int enable();
  // Ends everything in flight without completions; afterwards no buffer is touched. [PDS-182]
  void shut_down();
  int get_option(int level, int name, void* value, size_t* length);
  int set_option(int level, int name, const void* value, size_t length);
  int get_name(void* address, size_t* length);
  int set_name(const void* address, size_t length);
  ssize_t rx_size_left();
  ssize_t tx_size_left();

  // Posts. `call.flags` is complete: the endpoint's defaults are merged. 0 or -FI_E*; with
  // -FI_EAGAIN nothing was changed.
  ssize_t send(const MessageCall& call);     // msg.cpp
  ssize_t receive(const MessageCall& call);  // msg.cpp
  ssize_t rma(const RmaCall& call);          // rma.cpp
  ssize_t atomic(const AtomicCall& call);    // atomic.cpp
  ssize_t cancel(void* op_context);          // msg.cpp
  // FI_PEEK, alone or with FI_CLAIM or FI_DISCARD, and FI_CLAIM | FI_DISCARD, of its own receives
  // or of those it shares: always a completion of this endpoint. Engine lock held.
  ssize_t look(ProgressEngine::Entry& entry, const MessageCall& call,
               const ses::ReceiveRequest& request);
  // What the stack hands back with each message that a receive gets. `report`: success is reported
  // whatever the CQ's binding says.
  static ses::OpContext receive_context(const MessageCall& call, bool report);

  Domain& domain() { return domain_; }
  bool enabled() const { return enabled_; }
  // Set once enabled; for MR bindings (FI_MR_ENDPOINT).
  ses::EndpointId id() const { return id_; }
  const ses::EndpointName& name() const { return name_; }
  const AddressVector* av() const { return av_; }

  uint32_t users = 1;  // the endpoint and its aliases

 private:
  // An operation whose several UET messages make one completion. [LF-047]
  struct Group {
    void* op_context = nullptr;
    uint64_t user = 0;   // of the operation
    uint64_t bytes = 0;  // transferred so far
    uint32_t open = 0;   // messages that have not ended
    uint32_t next_free = 0;
    bool failed = false;
    CompletionError error;  // of the first message that failed
  };
  enum CounterSlot : uint32_t {
    kSendCounter,
    kRecvCounter,
    kReadCounter,
    kWriteCounter,
    kRemoteReadCounter,
    kRemoteWriteCounter,
    kCounterSlots
  };
  // What a post remembers in OpContext::user: flags above, an index (AV entry or group) below.
  enum UserBits : uint64_t {
    kReport = 1ULL << 32,      // success makes a CQ entry
    kUnreported = 1ULL << 33,  // the application believes it done already
    kGrouped = 1ULL << 34,     // the index names a group
    kMulti = 1ULL << 35,       // FI_MULTI_RECV
    kIndexMask = 0xFFFF'FFFF,
  };
  // How a transmit operation is posted and reported, from its FI_* flags.
  struct TxPlan {
    uint32_t ses_flags = 0;  // ses::OpFlags
    uint32_t slots = 0;      // of the CQ
    uint64_t user = 0;       // UserBits
    uint64_t bytes = 0;      // of the message
  };

  bool add_groups();
  int bind_cq(CompletionQueue& cq, uint64_t flags);
  int bind_counter(Counter& counter, uint64_t flags);
  int bind_av(AddressVector& av);
  int bind_shared(SharedReceives& shared);
  void unbind();

  pds::Mode delivery_mode() const;
  size_t max_message_bytes() const;
  ssize_t check_post(uint64_t capability) const;
  ssize_t reject(ssize_t error);
  ssize_t refuse_address(fi_addr_t addr) const;
  ssize_t plan_tx(uint64_t flags, uint64_t bytes, bool is_message, TxPlan& plan) const;
  bool may_retain(uint64_t flags, bool is_message) const;
  static bool waits_for_none(const ProgressEngine::Entry& entry, const TxPlan& plan);
  ssize_t refuse_tx(ProgressEngine::Entry& entry, const TxPlan& plan, fi_addr_t addr, Errc why);
  void begin_tx(const TxPlan& plan, fi_addr_t addr);
  void report_retained(const TxPlan& plan, void* op_context, uint64_t flags);
  template <class Call, class Post>  // post_tx.h
  ssize_t post_tx(const Call& call, const TxPlan& plan, uint64_t cq_flags, Post post);
  Result<ses::Taken> hand_over(ProgressEngine::Entry& entry, const ses::SendRequest& request);
  template <class PostPart>  // post_tx.h
  Result<ses::Taken> post_parts(ProgressEngine::Entry& entry, uint32_t count, ses::OpKind kind,
                                const ses::OpContext& context, PostPart post_part);
  bool book_receive(ProgressEngine::Entry& entry);
  ssize_t post_receive(ProgressEngine::Entry& entry, const MessageCall& call,
                       ses::ReceiveRequest& request);

  // Completions, in ep_completion.cpp. Engine lock held.
  static void on_tx(void* core, const ses::Completion& completion);
  static void on_rx(void* core, const ses::Completion& completion);
  static bool on_reserve(void* core);
  static void on_release(void* core);
  void tx_done(const ses::Completion& completion);
  void group_done(const ses::Completion& completion);
  void retained_done(const ses::Completion& completion);
  void finish_tx(ses::OpKind kind, uint64_t user, void* op_context, const CompletionError* error);
  void rx_done(const ses::Completion& completion);
  void remote_done(const ses::Completion& completion);
  // Who sent what has arrived.
  struct Sender {
    PeerId peer;
    uint32_t initiator_id = 0;
    JobId job;
  };
  void set_source(CompletionEntry& entry, const Sender& from) const;
  void deliver(const CompletionEntry& entry, const Sender& from);
  CompletionError error_of(const ses::Completion& completion) const;
  void count(CounterSlot slot, bool ok);

  // Hot.
  Domain& domain_;
  ProgressEngine& engine_;
  AddressVector* av_ = nullptr;
  SharedReceives* shared_ = nullptr;  // what it has instead of receives of its own
  CompletionQueue* tx_cq_ = nullptr;
  CompletionQueue* rx_cq_ = nullptr;
  uint64_t caps_;
  ses::EndpointId id_;
  bool enabled_ = false;
  bool closing_ = false;
  bool tx_selective_ = false;
  bool rx_selective_ = false;
  uint32_t min_multi_recv_ = kMinMultiReceive;  // octets [LF-096]
  uint32_t unreported_ = 0;       // operations in flight that the application believes done
  uint32_t tx_open_ = 0;          // UET messages in flight
  uint32_t tx_size_;
  uint32_t rx_size_;
  std::array<Counter*, kCounterSlots> counters_{};
  std::vector<Group> groups_;  // as many as were ever in use at once, or more
  uint32_t free_group_ = 0;
  // Cold.
  EventQueue* eq_ = nullptr;
  const struct fid* eq_owner_ = nullptr;  // the fid that it was bound to; only to be compared
  ses::EndpointName name_;
  std::vector<JobId> jobs_;           // of the address vector when it was enabled [LF-019]
  std::vector<fi_addr_t> held_keys_;  // the same as keys
  uint32_t addr_format_;
  TrafficClass tc_;
  uint64_t tag_format_;  // kTagMpi, kTagCcl or bits
  ModeChoice mode_;  // FI_UET_MODE
  bool ordered_;
  bool datagram_;  // UUD [LF-044, LF-072]
  bool shares_;    // opened with FI_SHARED_CONTEXT
};

class Endpoint {
 public:
  using Link = FidLink<struct fid_ep, Endpoint>;

  // The domain's endpoint operation.
  static int open(Domain& domain, struct fi_info* info, struct fid_ep** ep, void* context);
  static struct fi_ops* fid_ops();

  EndpointCore& core() { return core_; }
  // Flags of a call without a flags argument.
  uint64_t tx_flags() const { return tx_flags_; }
  uint64_t rx_flags() const { return rx_flags_; }
  // Of the inject calls: what the manual says they mean. Delivery levels stay as configured.
  uint64_t inject_flags() const {
    return (tx_flags_ & ~(FI_COMPLETION | FI_INJECT_COMPLETE)) | FI_INJECT | kNoCompletion;
  }
  // Of reads, which cannot be injected.
  uint64_t read_flags() const { return tx_flags_ & ~(FI_INJECT | FI_INJECT_COMPLETE); }

  int control(int command, void* arg);
  int close();

 private:
  Endpoint(EndpointCore& core, uint64_t tx_flags, uint64_t rx_flags, void* context);
  int alias(struct fi_alias& request);
  int get_flags(uint64_t& flags) const;
  int set_flags(uint64_t flags);

  Link link_;
  EndpointCore& core_;
  uint64_t tx_flags_;
  uint64_t rx_flags_;
};

// The operation tables.
extern struct fi_ops_msg message_ops;    // msg.cpp
extern struct fi_ops_tagged tagged_ops;  // tagged.cpp
extern struct fi_ops_rma rma_ops;        // rma.cpp
extern struct fi_ops_atomic atomic_ops;  // atomic.cpp

}  // namespace uet::prov
