// Opens libfabric objects for one process, and reads its completion queues.
#include "tools/stress/node.h"

#include <poll.h>
#include <sched.h>

#include <cstring>

namespace uet::stress {
namespace {

void check(ssize_t code, const char* what) {
  if (code == 0) return;
  throw FabricError{std::string(what) + ": " + fi_strerror(static_cast<int>(-code)),
                    static_cast<int>(-code)};
}

template <class T>
void shut(T*& object, const char* what) {
  if (object == nullptr) return;
  T* const closing = object;
  object = nullptr;
  check(fi_close(&closing->fid), what);
}

// Optional features of a provider, tried in this order.
constexpr uint64_t kNeeded = FI_MSG | FI_TAGGED | FI_RMA;
constexpr uint64_t kWanted[] = {
    FI_ATOMIC | FI_FENCE | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV,
    FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV,
    FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV,
    FI_DIRECTED_RECV | FI_MULTI_RECV,
    FI_MULTI_RECV,
    0,
};

}  // namespace

Node::Node(const Options& options, const Traits& traits, uint32_t slot, uint32_t incarnation,
           std::span<uint8_t> region)
    : traits_(traits), memory_(region.data()) {
  choose(options, slot);
  open(uint64_t{incarnation} * 256 + slot + 1, region);
}

Node::~Node() {
  try {
    close();
  } catch (const FabricError&) {  // the process is about to end in any case
  }
}

void Node::choose(const Options& options, uint32_t slot) {
  fi_info* hints = fi_allocinfo();
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup(options.provider.c_str());
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED;
  // The key of an earlier process must not reach the memory of a restarted one.
  if (!options.same_name) hints->domain_attr->mr_mode |= FI_MR_PROV_KEY;
  if (traits_.auto_progress) hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  hints->domain_attr->cq_data_size = sizeof(uint64_t);
  const uint64_t order = traits_.ordered ? FI_ORDER_SAS : 0;
  hints->tx_attr->msg_order = order;
  hints->rx_attr->msg_order = order;
  const std::string address = "127.0.47." + std::to_string(1 + slot % options.hosts);
  const bool fixed_port = options.same_name && options.provider != "uet";
  const std::string service = std::to_string(47100 + slot);
  int code = -FI_ENODATA;
  for (const uint64_t wanted : kWanted) {
    hints->caps = kNeeded | wanted;
    code = fi_getinfo(FI_VERSION(1, 17), address.c_str(), fixed_port ? service.c_str() : nullptr,
                      FI_SOURCE, hints, &info_);
    if (code == 0) break;
  }
  fi_freeinfo(hints);
  check(code, "fi_getinfo");
}

void Node::open(uint64_t key, std::span<uint8_t> region) {
  check(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
  check(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
  fi_av_attr av{};
  av.type = FI_AV_MAP;
  check(fi_av_open(domain_, &av, &av_, nullptr), "fi_av_open");
  open_queues();
  check(fi_endpoint(domain_, info_, &ep_, nullptr), "fi_endpoint");
  check(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind to the address vector");
  if (tx_cq_ == rx_cq_) {
    check(fi_ep_bind(ep_, &tx_cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind to the queue");
  } else {
    check(fi_ep_bind(ep_, &tx_cq_->fid, FI_TRANSMIT), "fi_ep_bind to the transmit queue");
    check(fi_ep_bind(ep_, &rx_cq_->fid, FI_RECV), "fi_ep_bind to the receive queue");
  }
  check(fi_mr_reg(domain_, region.data(), region.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, key,
                  0, &region_, nullptr),
        "fi_mr_reg");
  check(fi_enable(ep_), "fi_enable");
}

void Node::open_queues() {
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.size = traits_.queue_size;
  if (traits_.waiting == Waiting::fd) attr.wait_obj = FI_WAIT_FD;
  if (traits_.waiting == Waiting::sread) attr.wait_obj = FI_WAIT_UNSPEC;
  check(fi_cq_open(domain_, &attr, &tx_cq_, nullptr), "fi_cq_open");
  if (traits_.one_queue) {
    rx_cq_ = tx_cq_;
  } else {
    check(fi_cq_open(domain_, &attr, &rx_cq_, nullptr), "fi_cq_open");
  }
}

std::string Node::name() const {
  size_t bytes = 0;
  fi_getname(&ep_->fid, nullptr, &bytes);
  std::string name(bytes, '\0');
  check(fi_getname(&ep_->fid, name.data(), &bytes), "fi_getname");
  return name;
}

uint64_t Node::region_base() const {
  const bool is_virtual = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  return is_virtual ? reinterpret_cast<uint64_t>(memory_) : 0;
}

fi_addr_t Node::insert(const std::string& name) {
  fi_addr_t addr = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(av_, name.data(), 1, &addr, 0, nullptr);
  if (inserted != 1) throw FabricError{"fi_av_insert returned " + std::to_string(inserted), 0};
  return addr;
}

void Node::remove(fi_addr_t addr) {
  if (av_ != nullptr) check(fi_av_remove(av_, &addr, 1, 0), "fi_av_remove");
}

size_t Node::poll() {
  const size_t got = poll(tx_cq_, 0);
  return rx_cq_ == tx_cq_ ? got : got + poll(rx_cq_, 0);
}

size_t Node::poll(fid_cq* queue, int timeout_ms) {
  fi_cq_tagged_entry entries[16];
  fi_addr_t from[16];
  for (fi_addr_t& addr : from) addr = FI_ADDR_NOTAVAIL;
  const ssize_t got = timeout_ms == 0
                          ? fi_cq_readfrom(queue, entries, 16, from)
                          : fi_cq_sreadfrom(queue, entries, 16, from, nullptr, timeout_ms);
  if (got == -FI_EAGAIN || got == -FI_ECANCELED || got == -FI_EINTR) return 0;
  if (got == -FI_EAVAIL) {
    error(queue);
    return 1;
  }
  if (got < 0) check(got, "fi_cq_read");
  for (ssize_t i = 0; i < got; ++i) {
    const fi_cq_tagged_entry& entry = entries[i];
    Outcome outcome;
    outcome.flags = entry.flags;
    outcome.bytes = entry.len;
    outcome.buffer = static_cast<const uint8_t*>(entry.buf);
    outcome.data = entry.data;
    outcome.tag = entry.tag;
    if (offers(FI_SOURCE)) outcome.from = from[i];
    // Written data comes without an operation of this side.
    if (entry.op_context == nullptr || (entry.flags & FI_REMOTE_WRITE) != 0) {
      orphan_(outcome);
    } else {
      static_cast<Pending*>(entry.op_context)->on_done(outcome);
    }
  }
  return static_cast<size_t>(got);
}

void Node::error(fid_cq* queue) {
  fi_cq_err_entry entry{};
  const ssize_t got = fi_cq_readerr(queue, &entry, 0);
  if (got == -FI_EAGAIN) return;
  if (got < 0) check(got, "fi_cq_readerr");
  Outcome outcome;
  outcome.err = entry.err;
  outcome.flags = entry.flags;
  outcome.bytes = entry.len;
  outcome.data = entry.data;
  outcome.tag = entry.tag;
  char text[256] = "";
  fi_cq_strerror(queue, entry.prov_errno, entry.err_data, text, sizeof text);
  outcome.text = std::string(fi_strerror(entry.err)) + " (" + text + ")";
  if (entry.op_context == nullptr) {
    orphan_(outcome);
  } else {
    static_cast<Pending*>(entry.op_context)->on_done(outcome);
  }
}

void Node::wait(int other_fd, int timeout_ms) {
  if (traits_.waiting == Waiting::poll) {
    sched_yield();
    return;
  }
  if (traits_.waiting == Waiting::sread) {
    poll(tx_cq_, timeout_ms);
    return;
  }
  fid* fids[2] = {&tx_cq_->fid, &rx_cq_->fid};
  const int count = tx_cq_ == rx_cq_ ? 1 : 2;
  if (fi_trywait(fabric_, fids, count) != 0) return;
  pollfd fds[3] = {{other_fd, POLLIN, 0}, {}, {}};
  for (int i = 0; i < count; ++i) {
    if (fi_control(fids[i], FI_GETWAIT, &fds[i + 1].fd) != 0) return;
    fds[i + 1].events = POLLIN;
  }
  (void)::poll(fds, static_cast<nfds_t>(count) + 1, timeout_ms);
}

void Node::close() {
  shut(ep_, "fi_close of the endpoint");
  shut(region_, "fi_close of the region");
  if (rx_cq_ == tx_cq_) rx_cq_ = nullptr;
  shut(rx_cq_, "fi_close of the receive queue");
  shut(tx_cq_, "fi_close of the queue");
  shut(av_, "fi_close of the address vector");
  shut(domain_, "fi_close of the domain");
  shut(fabric_, "fi_close of the fabric");
  if (info_ != nullptr) fi_freeinfo(info_);
  info_ = nullptr;
}

}  // namespace uet::stress
