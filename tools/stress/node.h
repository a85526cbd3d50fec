// The libfabric objects of one process: a domain, an endpoint with what it is bound to, and one
// region that its peers write to. Any provider with reliable datagrams will do.
#pragma once

#include "tools/stress/options.h"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <functional>
#include <span>
#include <string>

namespace uet::stress {

// The entry of a completion queue for one operation.
struct Outcome {
  int err = 0;  // 0: it succeeded
  uint64_t flags = 0;
  size_t bytes = 0;
  const uint8_t* buffer = nullptr;
  uint64_t data = 0;
  uint64_t tag = 0;
  fi_addr_t from = FI_ADDR_NOTAVAIL;
  std::string text;  // of an error
};

// An operation that a queue will say something of; its address is the operation's context.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void on_done(const Outcome& outcome) = 0;
};

// Thrown by Node when an object cannot be made or closed.
struct FabricError {
  std::string what;
  int code;
};

class Node {
 public:
  // Opens everything; nothing is left open when it throws.
  Node(const Options& options, const Traits& traits, uint32_t slot, uint32_t incarnation,
       std::span<uint8_t> region);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::string name() const;
  uint64_t region_key() const { return fi_mr_key(region_); }
  uint64_t region_base() const;
  fi_addr_t insert(const std::string& name);
  void remove(fi_addr_t addr);

  fid_ep* ep() const { return ep_; }
  size_t inject_bytes() const { return info_->tx_attr->inject_size; }
  size_t iov_limit() const { return info_->tx_attr->iov_limit; }
  bool offers(uint64_t caps) const { return (info_->caps & caps) == caps; }
  bool is_ordered() const { return (info_->tx_attr->msg_order & FI_ORDER_SAS) != 0; }
  std::string provider() const { return info_->fabric_attr->prov_name; }

  // Gets entries that name no operation of this process: written data, and errors without a
  // context.
  void set_orphans(std::function<void(const Outcome&)> orphan) { orphan_ = std::move(orphan); }
  // Passes on the entries of the queues; returns how many.
  size_t poll();
  // Sleeps until a queue has something, another descriptor can be read, or the time is over.
  void wait(int other_fd, int timeout_ms);
  // Closes everything, in order. Throws when something does not want to close.
  void close();

 private:
  void choose(const Options& options, uint32_t slot);
  void open(uint64_t key, std::span<uint8_t> region);
  void open_queues();
  size_t poll(fid_cq* queue, int timeout_ms);
  void error(fid_cq* queue);

  Traits traits_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* tx_cq_ = nullptr;
  fid_cq* rx_cq_ = nullptr;  // may be tx_cq_
  fid_mr* region_ = nullptr;
  fid_ep* ep_ = nullptr;
  const uint8_t* memory_ = nullptr;
  std::function<void(const Outcome&)> orphan_;
};

}  // namespace uet::stress
