// Opening, closing and driving test nodes.
#include "prov/uet/test/node.h"

#include "prov/uet/api/compat.h"
#include "prov/uet/api/fi_ext_uet.h"

#include <cstdlib>
#include <memory>
#include <utility>

namespace uet::prov::test {
namespace {

void expect_closed(fid* object) {
  if (object != nullptr) {
    EXPECT_EQ(fi_close(object), 0);
  }
}

// The local address as a hint, as fabtests' option -s gives it.
void set_source(const char* ip, fi_info& hints) {
  fi_info* own = nullptr;
  ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), ip, nullptr, FI_SOURCE, &hints, &own), 0);
  std::swap(hints.src_addr, own->src_addr);
  std::swap(hints.src_addrlen, own->src_addrlen);
  fi_freeinfo(own);
}

// An authorization key with that JobID. [LF-017]
void set_key(uint8_t*& key, size_t& size, uint32_t job) {
  if (job == 0) return;
  key = static_cast<uint8_t*>(std::malloc(sizeof job));
  std::memcpy(key, &job, sizeof job);
  size = sizeof job;
}

}  // namespace

Node::Node(const NodeOptions& options) {
  fi_info* hints = fi_allocinfo();
  hints->caps = options.caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = options.type;
  hints->domain_attr->mr_mode = options.mr_mode;
  hints->tx_attr->msg_order = options.order;
  hints->rx_attr->msg_order = options.order;
  hints->tx_attr->op_flags = options.tx_op_flags;
  hints->rx_attr->op_flags = options.rx_op_flags;
  hints->tx_attr->size = options.tx_size;
  hints->rx_attr->size = options.rx_size;
  if (options.shares_receives) hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  set_key(hints->domain_attr->auth_key, hints->domain_attr->auth_key_size, options.domain_job);
  if (!options.av_jobs.empty()) hints->domain_attr->auth_key_size = SIZE_MAX;  // FI_AV_AUTH_KEY
  set_key(hints->ep_attr->auth_key, hints->ep_attr->auth_key_size, options.endpoint_job);
  if (options.peer != nullptr) set_source(options.address, *hints);
  const char* const node = options.peer != nullptr ? options.peer : options.address;
  const uint64_t flags = options.peer != nullptr ? 0 : FI_SOURCE;
  const uint32_t version = options.ask_version != 0  ? options.ask_version
                           : options.av_jobs.empty() ? FI_VERSION(1, 17)
                                                     : FI_VERSION(1, 20);
  const int rc = fi_getinfo(version, node, options.service, flags, hints, &info);
  fi_freeinfo(hints);
  if (rc != 0) {
    ADD_FAILURE() << "fi_getinfo: " << fi_strerror(-rc);
    std::abort();  // whatever follows would look like a crash
  }
  EXPECT_STREQ(info->fabric_attr->prov_name, "uet") << "set FI_PROVIDER_PATH to the build";
  if (options.tag_format != 0) info->ep_attr->mem_tag_format = options.tag_format;
  if (options.api_version != 0) info->fabric_attr->api_version = options.api_version;
  EXPECT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
  EXPECT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
  fi_av_attr av_attr{};
  av_attr.type = FI_AV_TABLE;
  EXPECT_EQ(fi_av_open(domain, &av_attr, &av, nullptr), 0);
  insert_keys(options.av_jobs);
  fi_cq_attr cq_attr{};
  cq_attr.format = options.format;
  cq_attr.wait_obj = options.wait;
  if (options.threshold) cq_attr.wait_cond = FI_CQ_COND_THRESHOLD;
  cq_attr.size = options.cq_size;
  EXPECT_EQ(fi_cq_open(domain, &cq_attr, &tx_cq, nullptr), 0);
  EXPECT_EQ(fi_cq_open(domain, &cq_attr, &rx_cq, nullptr), 0);
  EXPECT_EQ(fi_endpoint(domain, info, &ep, nullptr), 0);
  if (options.shares_receives) open_srx(options.srx_size);
  const uint64_t selective = options.selective ? FI_SELECTIVE_COMPLETION : 0;
  EXPECT_EQ(fi_ep_bind(ep, &tx_cq->fid, FI_TRANSMIT | selective), 0);
  EXPECT_EQ(fi_ep_bind(ep, &rx_cq->fid, FI_RECV | selective), 0);
  EXPECT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
  if (options.counters) open_counters();
  if (options.is_enabled) {
    EXPECT_EQ(fi_enable(ep), 0);
  }
}

void Node::open_counters() {
  fi_cntr_attr attr{};
  EXPECT_EQ(fi_cntr_open(domain, &attr, &tx_counter, nullptr), 0);
  EXPECT_EQ(fi_cntr_open(domain, &attr, &rx_counter, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(ep, &tx_counter->fid, FI_SEND | FI_WRITE | FI_READ), 0);
  EXPECT_EQ(fi_ep_bind(ep, &rx_counter->fid, FI_RECV), 0);
}

void Node::open_srx(size_t size) {
  fi_rx_attr attr = *info->rx_attr;
  if (size != 0) attr.size = size;
  EXPECT_EQ(fi_srx_context(domain, &attr, &srx, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
}

void Node::insert_keys(const std::vector<uint32_t>& jobs) {
  for (const uint32_t job : jobs) keys.push_back(insert_key(job));
}

fi_addr_t Node::insert_key([[maybe_unused]] uint32_t job) {
  fi_addr_t key = FI_ADDR_NOTAVAIL;
#if UET_HAVE_AV_AUTH_KEY
  EXPECT_EQ(fi_av_insert_auth_key(av, &job, sizeof job, &key, 0), 0);
#endif
  return key;
}

Node::~Node() {
  close_endpoint();
  if (srx != nullptr) expect_closed(&srx->fid);
  if (tx_counter != nullptr) expect_closed(&tx_counter->fid);
  if (rx_counter != nullptr) expect_closed(&rx_counter->fid);
  expect_closed(&tx_cq->fid);
  expect_closed(&rx_cq->fid);
  expect_closed(&av->fid);
  expect_closed(&domain->fid);
  expect_closed(&fabric->fid);
  fi_freeinfo(info);
}

void Node::close_endpoint() {
  if (ep != nullptr) expect_closed(&ep->fid);
  ep = nullptr;
}

std::vector<uint8_t> Node::name() const {
  std::vector<uint8_t> bytes(256);
  size_t length = bytes.size();
  EXPECT_EQ(fi_getname(&ep->fid, bytes.data(), &length), 0);
  bytes.resize(length);
  return bytes;
}

fi_addr_t Node::insert(const std::vector<uint8_t>& address) {
  fi_addr_t addr = FI_ADDR_NOTAVAIL;
  EXPECT_EQ(fi_av_insert(av, address.data(), 1, &addr, 0, nullptr), 1);
  return addr;
}

fi_addr_t Node::insert(const std::vector<uint8_t>& address, fi_addr_t key) {
  fi_addr_t addr = key;
  constexpr uint64_t kAuthKey = 1ULL << 57;  // FI_AUTH_KEY
  EXPECT_EQ(fi_av_insert(av, address.data(), 1, &addr, kAuthKey, nullptr), 1);
  return addr;
}

fid_mr* Node::registered(void* memory, size_t bytes, uint64_t access, uint64_t requested_key) {
  fid_mr* mr = nullptr;
  EXPECT_EQ(fi_mr_reg(domain, memory, bytes, access, 0, requested_key, 0, &mr, nullptr), 0);
  return mr;
}

std::optional<uint64_t> find_counter(fid_domain* domain, const std::string& name) {
  void* ops = nullptr;
  EXPECT_EQ(fi_open_ops(&domain->fid, FI_UET_COUNTERS, 0, &ops, nullptr), 0);
  auto* const counters = static_cast<fi_uet_ops_counters*>(ops);
  size_t count = 0;
  EXPECT_EQ(counters->read(&domain->fid, nullptr, &count), -FI_ETOOSMALL);
  std::vector<fi_uet_counter> all(count);
  EXPECT_EQ(counters->read(&domain->fid, all.data(), &count), 0);
  for (const fi_uet_counter& c : all) {
    if (name == c.name) return c.value;
  }
  return std::nullopt;
}

std::optional<uint64_t> find_counter(const Node& node, const std::string& name) {
  return find_counter(node.domain, name);
}

uint64_t counter(const Node& node, const std::string& name) {
  const std::optional<uint64_t> found = find_counter(node, name);
  EXPECT_TRUE(found.has_value()) << name << " is not counted";
  return found.value_or(0);
}

bool read_one(fid_cq* cq, Done& done) {
  fi_cq_tagged_entry entry{};
  done = Done{};
  const ssize_t got = fi_cq_readfrom(cq, &entry, 1, &done.from);
  if (got == -FI_EAGAIN) return false;
  if (got == 1) {
    done.context = entry.op_context;
    done.flags = entry.flags;
    done.len = entry.len;
    done.buf = entry.buf;
    done.data = entry.data;
    done.tag = entry.tag;
    return true;
  }
  EXPECT_EQ(got, -FI_EAVAIL);
  fi_cq_err_entry error{};
  char err_data[128];
  error.err_data = err_data;
  error.err_data_size = sizeof(err_data);
  EXPECT_EQ(fi_cq_readerr(cq, &error, 0), 1);
  done.context = error.op_context;
  done.flags = error.flags;
  done.len = error.len;
  done.buf = error.buf;
  done.data = error.data;
  done.tag = error.tag;
  done.err = error.err;
  done.prov_errno = error.prov_errno;
  done.olen = error.olen;
  char text[256];
  done.text = fi_cq_strerror(cq, error.prov_errno, error.err_data_size > 0 ? err_data : nullptr,
                             text, sizeof(text));
  return true;
}

void PairTest::open(const NodeOptions& a_options, const NodeOptions& b_options) {
  a = std::make_unique<Node>(a_options);
  b = std::make_unique<Node>(b_options);
  to_b = a->insert(b->name());
  to_a = b->insert(a->name());
}

void PairTest::TearDown() {
  a.reset();
  b.reset();
}

bool PairTest::run_until(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    fi_cq_read(a->rx_cq, nullptr, 0);
    fi_cq_read(b->rx_cq, nullptr, 0);
  }
  return true;
}

Done PairTest::next(fid_cq* cq, std::chrono::milliseconds limit) {
  Done done;
  EXPECT_TRUE(run_until([&] { return read_one(cq, done); }, limit)) << "no completion came";
  return done;
}

void PairTest::write_region(fid_mr* region, const std::vector<uint8_t>& data) {
  ASSERT_EQ(fi_write(a->ep, data.data(), data.size(), nullptr, to_b, 0, fi_mr_key(region), this),
            0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
}

void PairTest::read_region(fid_mr* region, std::vector<uint8_t>& data) {
  ASSERT_EQ(fi_read(a->ep, data.data(), data.size(), nullptr, to_b, 0, fi_mr_key(region), this), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
}

bool PairTest::stays_empty(fid_cq* cq, std::chrono::milliseconds span) {
  Done done;
  return !run_until([&] { return read_one(cq, done); }, span);
}

std::vector<uint8_t> pattern(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> out(bytes);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& octet : out) {
    state = state * 1664525u + 1013904223u;
    octet = static_cast<uint8_t>(state >> 24);
  }
  return out;
}

}  // namespace uet::prov::test
