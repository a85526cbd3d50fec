// One end of a conversation through the libfabric API, for tests: a fabric, a domain, an endpoint
// and its bound objects. Independent of the provider's internals.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace uet::prov::test {

// How long a test waits for what must come before it says that nothing came. No machine is so slow:
// it says so of a hang before ctest's TIMEOUT does. How long a thing took is judged by no test.
inline constexpr std::chrono::seconds kPatience{150};

struct NodeOptions {
  fi_ep_type type = FI_EP_RDM;
  uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_MULTI_RECV | FI_SOURCE | FI_DIRECTED_RECV;
  uint64_t order = 0;
  uint64_t tx_op_flags = 0;
  uint64_t rx_op_flags = 0;
  fi_cq_format format = FI_CQ_FORMAT_TAGGED;
  fi_wait_obj wait = FI_WAIT_NONE;
  size_t cq_size = 0;
  size_t tx_size = 0;
  size_t rx_size = 0;
  uint64_t tag_format = 0;   // in place of what fi_getinfo answered; 0: that
  uint32_t api_version = 0;  // of the fabric, as an application states it; 0: 1.17
  int mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL | FI_MR_VIRT_ADDR;  // offered
  uint32_t domain_job = 0;  // authorization keys; 0: none
  uint32_t endpoint_job = 0;
  std::vector<uint32_t> av_jobs;  // keys of the address vector, which libfabric 1.20 has
  uint32_t ask_version = 0;       // of fi_getinfo; 0: 1.17, and 1.20 with av_jobs
  bool is_enabled = true;         // at once
  bool selective = false;
  bool threshold = false;  // FI_CQ_COND_THRESHOLD
  bool counters = false;
  bool shares_receives = false;  // by Node::srx, to which the endpoint is bound
  size_t srx_size = 0;
  const char* address = "127.0.0.1";  // of the domain
  const char* service = nullptr;      // of this node, or of `peer`
  const char* peer = nullptr;         // node argument of fi_getinfo; null: `address` is the source
};

// The fields of an entry for a test, in any CQ format.
struct Done {
  void* context = nullptr;
  uint64_t flags = 0;
  size_t len = 0;
  void* buf = nullptr;
  uint64_t data = 0;
  uint64_t tag = 0;
  fi_addr_t from = FI_ADDR_NOTAVAIL;
  int err = 0;  // 0: a good entry
  int prov_errno = 0;
  size_t olen = 0;
  std::string text;
};

class Node {
 public:
  // Opens everything and enables the endpoint; any failure fails the test.
  explicit Node(const NodeOptions& options = {});
  // In the order that libfabric asks for; each must succeed.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::vector<uint8_t> name() const;
  fi_addr_t insert(const std::vector<uint8_t>& address);
  // Registers `bytes` octets and returns the key.
  // The same under a key of the address vector.
  fi_addr_t insert(const std::vector<uint8_t>& address, fi_addr_t key);
  fi_addr_t insert_key(uint32_t job);
  fid_mr* registered(void* memory, size_t bytes, uint64_t access, uint64_t requested_key);
  void close_endpoint();

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  std::vector<fi_addr_t> keys;  // of NodeOptions::av_jobs
  fid_cq* tx_cq = nullptr;
  fid_cq* rx_cq = nullptr;
  fid_cntr* tx_counter = nullptr;  // sends, writes and reads
  fid_cntr* rx_counter = nullptr;
  fid_ep* srx = nullptr;  // with NodeOptions::shares_receives
  fid_ep* ep = nullptr;

 private:
  void insert_keys(const std::vector<uint32_t>& jobs);
  void open_counters();
  void open_srx(size_t size);
};

// A counter of a domain by its name; nothing for an unknown name.
std::optional<uint64_t> find_counter(fid_domain* domain, const std::string& name);
std::optional<uint64_t> find_counter(const Node& node, const std::string& name);
// The same; an unknown name fails the test.
uint64_t counter(const Node& node, const std::string& name);

// Reads one entry or error entry; false: none is there.
bool read_one(fid_cq* cq, Done& done);

// Two nodes of one process that know each other.
class PairTest : public ::testing::Test {
 protected:
  void open(const NodeOptions& a_options = {}, const NodeOptions& b_options = {});
  void TearDown() override;

  // Runs both engines until `done` says so; false after `limit`.
  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit = kPatience);
  // The next entry of `cq`, running both engines; fails the test when none comes.
  Done next(fid_cq* cq, std::chrono::milliseconds limit = kPatience);
  // Nothing arrives on `cq` for a while.
  bool stays_empty(fid_cq* cq, std::chrono::milliseconds span = std::chrono::milliseconds(50));

  // Writes all of `data` to the start of b's region, and awaits the completion.
  void write_region(fid_mr* region, const std::vector<uint8_t>& data);
  // Fills `data` from the start of b's region, and awaits the completion.
  void read_region(fid_mr* region, std::vector<uint8_t>& data);

  // Octets that live until both nodes are closed. The buffer of an operation that a test does not
  // await must not be one of its locals: the engine uses it until TearDown.
  std::vector<uint8_t>& kept(std::vector<uint8_t> octets) {
    return kept_.emplace_back(std::move(octets));
  }
  uint8_t* kept(uint8_t octet) { return kept(std::vector<uint8_t>{octet}).data(); }

  std::unique_ptr<Node> a;
  std::unique_ptr<Node> b;
  fi_addr_t to_a = FI_ADDR_UNSPEC;  // as b knows a
  fi_addr_t to_b = FI_ADDR_UNSPEC;

 private:
  std::deque<std::vector<uint8_t>> kept_;
};

// Octets that differ from place to place, and by seed.
std::vector<uint8_t> pattern(size_t bytes, uint32_t seed);

}  // namespace uet::prov::test
