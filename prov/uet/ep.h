// Endpoint (FI_EP_RDM): a UET endpoint name, what is bound to it, and the posting calls. An alias
// shares everything with its origin but the operation flags. [LF-001, LF-041..060, LF-093..099]
#pragma once

#include "prov/uet/compat.h"
#include "prov/uet/cq.h"
#include "prov/uet/progress.h"

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

// A message call in one shape, whatever variant it came by.
struct MessageCall {
  const struct iovec* iov = nullptr;
  size_t count = 0;
  fi_addr_t addr = FI_ADDR_UNSPEC;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  uint64_t data = 0;
  void* context = nullptr;
  uint64_t flags = 0;  // FI_*
  bool tagged = false;
};

struct RmaCall {
  const struct iovec* iov = nullptr;
  size_t count = 0;
  const struct fi_rma_iov* remote = nullptr;
  size_t remote_count = 0;
  fi_addr_t addr = FI_ADDR_UNSPEC;
  uint64_t data = 0;
  void* context = nullptr;
  uint64_t flags = 0;
  bool read = false;
};

// What an endpoint shares with its aliases.
class EndpointCore {
 public:
  EndpointCore(Domain& domain, const struct fi_info& info, void* context);
  ~EndpointCore();
  EndpointCore(const EndpointCore&) = delete;
  EndpointCore& operator=(const EndpointCore&) = delete;

  int bind(struct fid* fid, uint64_t flags);
  int enable();
  // Ends everything in flight without completions; afterwards no buffer is touched. [PDS-182]
  void shut_down();
  ssize_t cancel(void* op_context);
  int get_option(int level, int name, void* value, size_t* length);
  int set_option(int level, int name, const void* value, size_t length);
  int get_name(void* address, size_t* length);
  int set_name(const void* address, size_t length);
  ssize_t rx_size_left();
  ssize_t tx_size_left();

  // Posts; `call.flags` complete (defaults already merged). 0 or -FI_E*.
  ssize_t send(const MessageCall& call);
  ssize_t receive(const MessageCall& call);
  ssize_t rma(const RmaCall& call);

  Domain& domain() { return domain_; }
  // Set once enabled; for MR bindings (FI_MR_ENDPOINT).
  ses::EndpointId id() const { return id_; }
  const ses::EndpointName& name() const { return name_; }
  bool tx_selective() const { return tx_selective_; }
  bool rx_selective() const { return rx_selective_; }

  uint32_t users = 1;  // the endpoint and its aliases

 private:
  // Operations whose several UET messages make one completion. [LF-047]
  struct Group {
    void* op_context = nullptr;
    uint64_t bytes = 0;
    uint64_t flags = 0;  // user bits of the operation
    uint32_t open = 0;   // messages that have not ended
    uint32_t next_free = 0;
    ses::Completion failure;  // the first, if any
    bool failed = false;
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

  int bind_cq(struct fid* fid, uint64_t flags);
  int bind_counter(struct fid* fid, uint64_t flags);
  int check_ready(uint64_t capability) const;
  ssize_t post_group(ProgressEngine::Entry&, const RmaCall&, ses::RmaRequest&);
  ssize_t peek(ProgressEngine::Entry&, const MessageCall&, ses::ReceiveRequest&);
  ssize_t claim(ProgressEngine::Entry&, const MessageCall&, ses::ReceiveRequest&);
  ssize_t undo(ProgressEngine::Entry&, CompletionQueue*, uint32_t slots, Errc why);
  static void on_tx(void* core, const ses::Completion& completion);
  static void on_rx(void* core, const ses::Completion& completion);
  static bool on_reserve(void* core);
  void tx_done(const ses::Completion& completion);
  void rx_done(const ses::Completion& completion);
  void finish_tx(const ses::Completion& completion, uint64_t user, void* op_context);
  void count(CounterSlot slot, bool ok);
  void report_error(CompletionQueue&, CompletionEntry&, const ses::Completion&);

  // Hot.
  Domain& domain_;
  ProgressEngine& engine_;
  AddressVector* av_ = nullptr;
  CompletionQueue* tx_cq_ = nullptr;
  CompletionQueue* rx_cq_ = nullptr;
  ses::EndpointId id_;
  uint64_t caps_;
  bool enabled_ = false;
  bool closing_ = false;
  bool tx_selective_ = false;
  bool rx_selective_ = false;
  uint32_t min_multi_recv_ = 64;  // [LF-096]
  uint32_t unreported_ = 0;       // sends in flight that the application believes done
  uint32_t tx_open_ = 0;          // operations in flight, for *_size_left
  uint32_t rx_open_ = 0;
  uint32_t tx_size_;
  uint32_t rx_size_;
  std::array<Counter*, kCounterSlots> counters_{};
  std::vector<Group> groups_;
  uint32_t free_group_ = 0;
  // Cold.
  EventQueue* eq_ = nullptr;
  ses::EndpointName name_;
  uint32_t addr_format_;
  uint8_t dscp_ = 0;
  bool ordered_;
};

class Endpoint {
 public:
  // The domain's endpoint operation.
  static int open(Domain& domain, struct fi_info* info, struct fid_ep** ep, void* context);
  static Endpoint& from(struct fid_ep* ep) { return *reinterpret_cast<Endpoint*>(ep); }
  static Endpoint& from(struct fid* fid) { return *reinterpret_cast<Endpoint*>(fid); }

  EndpointCore& core() { return *core_; }
  // Flags of a call without a flags argument.
  uint64_t tx_flags() const { return tx_flags_; }
  uint64_t rx_flags() const { return rx_flags_; }

  int control(int command, void* arg);
  int close();

 private:
  Endpoint(EndpointCore& core, uint64_t tx_flags, uint64_t rx_flags, void* context);
  int alias(struct fi_alias& request);
  int set_flags(uint64_t flags);

  struct fid_ep fid_;
  EndpointCore* core_;
  uint64_t tx_flags_;
  uint64_t rx_flags_;
};

// The operation tables, one per file.
extern struct fi_ops_msg message_ops;    // msg.cpp
extern struct fi_ops_tagged tagged_ops;  // tagged.cpp
extern struct fi_ops_rma rma_ops;        // rma.cpp

}  // namespace uet::prov
