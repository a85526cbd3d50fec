// Queues, matching and bookkeeping of the other provider; see peer_owner.h.
#include "prov/uet/test/peer_owner.h"

#include <algorithm>

namespace uet::prov::test {

PeerOwner::PeerOwner() {
  ops_.cq.size = sizeof ops_.cq;
  ops_.cq.write = write_op;
  ops_.cq.writeerr = writeerr_op;
  cq.fid.context = this;
  cq.owner_ops = &ops_.cq;

  ops_.srx.size = sizeof ops_.srx;
#if UET_HAVE_PEER_MATCH
  ops_.srx.get_msg = [](fid_peer_srx* fid, fi_peer_match_attr* attr, fi_peer_rx_entry** out) {
    return of(fid).get(false, attr->addr, 0, out);
  };
  ops_.srx.get_tag = [](fid_peer_srx* fid, fi_peer_match_attr* attr, fi_peer_rx_entry** out) {
    return of(fid).get(true, attr->addr, attr->tag, out);
  };
#else
  ops_.srx.get_msg = [](fid_peer_srx* fid, fi_addr_t from, size_t, fi_peer_rx_entry** out) {
    return of(fid).get(false, from, 0, out);
  };
  ops_.srx.get_tag = [](fid_peer_srx* fid, fi_addr_t from, uint64_t tag, fi_peer_rx_entry** out) {
    return of(fid).get(true, from, tag, out);
  };
#endif
  const auto queue_op = [](fi_peer_rx_entry* e) { return of(e->srx).queue(e); };
  ops_.srx.queue_msg = queue_op;
  ops_.srx.queue_tag = queue_op;
  ops_.srx.free_entry = [](fi_peer_rx_entry* e) {
    PeerOwner& owner = of(e->srx);
    owner.be_called();
    const std::lock_guard lock(owner.lock_);
    std::erase(owner.queue_, e);
    owner.free(e);
  };
#if UET_HAVE_PEER_CNTR
  ops_.srx.foreach_unspec_addr = [](fid_peer_srx* fid, fi_addr_t (*address_of)(fi_peer_rx_entry*)) {
    for (fi_peer_rx_entry* e : of(fid).queue_) {
      if (e->addr != FI_ADDR_UNSPEC) continue;
      e->addr = address_of(e);
      if (e->addr != FI_ADDR_UNSPEC) ++of(fid).seen.named;
    }
  };
  ops_.cntr.size = sizeof ops_.cntr;
  ops_.cntr.inc = [](fid_peer_cntr* fid) {
    auto& owner = *static_cast<PeerOwner*>(fid->fid.context);
    owner.be_called();
    ++owner.seen.counted;
  };
  ops_.cntr.incerr = [](fid_peer_cntr* fid) {
    auto& owner = *static_cast<PeerOwner*>(fid->fid.context);
    owner.be_called();
    ++owner.seen.counted_errors;
  };
  cntr.fid.context = this;
  cntr.owner_ops = &ops_.cntr;
#endif
  srx.ep_fid.fid.context = this;
  srx.owner_ops = &ops_.srx;
}

void PeerOwner::be_called() {
  if (!in_turn) ++seen.out_of_turn;
  ways.calls_back();
}

PeerOwner::Entry& PeerOwner::add(bool tagged, fi_addr_t from, uint64_t tag) {
  Entry& e = entries_.emplace_back();
  e.tagged = tagged;
  e.entry.srx = &srx;
  e.entry.addr = from;
  e.entry.tag = tag;
  e.entry.flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG) | ways.entry_flags;
  e.entry.owner_context = &e;
  return e;
}

void PeerOwner::give(fi_peer_rx_entry& entry, std::vector<uint8_t>& room, size_t pieces) {
  auto& e = *static_cast<Entry*>(entry.owner_context);
  const size_t step = room.size() / pieces;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t length = i + 1 == pieces ? room.size() - i * step : step;
    e.iov.push_back({room.data() + i * step, length});
  }
  entry.iov = e.iov.data();
  entry.count = e.iov.size();
  entry.context = room.data();
}

std::vector<uint8_t>& PeerOwner::post(Entry& posted, size_t bytes, size_t pieces) {
  std::unique_lock lock(lock_);
  std::vector<uint8_t>& room = rooms_.emplace_back(bytes);
  const auto match = std::find_if(queue_.begin(), queue_.end(), [&](fi_peer_rx_entry* e) {
    const auto& waiting = *static_cast<Entry*>(e->owner_context);
    return fits(posted, waiting.tagged, e->addr, e->tag);
  });
  if (match == queue_.end()) {
    give(posted.entry, room, pieces);
    posted_.push_back(&posted);
    return room;
  }
  fi_peer_rx_entry* const entry = *match;
  queue_.erase(match);
  free(&posted.entry);
  give(*entry, room, pieces);
  lock.unlock();
  const auto start = static_cast<Entry*>(entry->owner_context)->tagged ? srx.peer_ops->start_tag
                                                                       : srx.peer_ops->start_msg;
  EXPECT_EQ(start(entry), 0);
  return room;
}

std::vector<uint8_t>& PeerOwner::post(size_t bytes, fi_addr_t from) {
  return post(add(false, from, 0), bytes, 1);
}

std::vector<uint8_t>& PeerOwner::tpost(size_t bytes, uint64_t tag, uint64_t ignore) {
  Entry& posted = add(true, FI_ADDR_UNSPEC, tag);
  posted.ignore = ignore;
  return post(posted, bytes, 1);
}

std::vector<uint8_t>& PeerOwner::post_pieces(size_t bytes, size_t pieces) {
  return post(add(false, FI_ADDR_UNSPEC, 0), bytes, pieces);
}

fi_peer_rx_entry* PeerOwner::take_oldest() {
  const std::lock_guard lock(lock_);
  fi_peer_rx_entry* const entry = queue_.front();
  queue_.pop_front();
  return entry;
}

int PeerOwner::discard(fi_peer_rx_entry* entry) {
  const auto discard = static_cast<Entry*>(entry->owner_context)->tagged
                           ? srx.peer_ops->discard_tag
                           : srx.peer_ops->discard_msg;
  const int rc = discard(entry);
  if (rc == 0) drop(entry);
  return rc;
}

void PeerOwner::drop(fi_peer_rx_entry* discarded) {
  const std::lock_guard lock(lock_);
  free(discarded);
}

int PeerOwner::start(fi_peer_rx_entry* entry, std::vector<uint8_t>& room) {
  give(*entry, room);
  return srx.peer_ops->start_tag(entry);
}

uint64_t PeerOwner::oldest_data() const {
#if UET_HAVE_PEER_CNTR
  return queue_.front()->cq_data;
#else
  return 0;
#endif
}

bool PeerOwner::fits(const Entry& posted, bool tagged, fi_addr_t from, uint64_t tag) {
  return posted.tagged == tagged && ((posted.entry.tag ^ tag) & ~posted.ignore) == 0 &&
         (posted.entry.addr == FI_ADDR_UNSPEC || posted.entry.addr == from);
}

int PeerOwner::get(bool tagged, fi_addr_t from, uint64_t tag, fi_peer_rx_entry** out) {
  be_called();
  const std::lock_guard lock(lock_);
  ++seen.asked;
  if (ways.refuses_to_get != 0) return ways.refuses_to_get;
  const auto match = std::find_if(posted_.begin(), posted_.end(),
                                  [&](Entry* e) { return fits(*e, tagged, from, tag); });
  if (match == posted_.end()) {
    *out = &add(tagged, from, tag).entry;
    return -FI_ENOENT;
  }
  *out = &(*match)->entry;
  posted_.erase(match);
  return 0;
}

int PeerOwner::queue(fi_peer_rx_entry* entry) {
  be_called();
  const std::lock_guard lock(lock_);
  if (ways.refuses_to_queue != 0) return ways.refuses_to_queue;
  queue_.push_back(entry);
  return 0;
}

// Each entry is given back once. Its memory stays: another thread may still pass it to uet.
void PeerOwner::free(fi_peer_rx_entry* entry) {
  auto* const mine = static_cast<Entry*>(entry->owner_context);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [mine](const Entry& e) { return &e == mine; });
  ASSERT_NE(found, entries_.end()) << "not an entry, or free already";
  freed_.splice(freed_.end(), entries_, found);
}

ssize_t PeerOwner::write_op(fid_peer_cq* fid, void* context, uint64_t flags, size_t len, void* buf,
                            uint64_t data, uint64_t tag, fi_addr_t src) {
  auto& owner = *static_cast<PeerOwner*>(fid->fid.context);
  owner.be_called();
  if (owner.ways.refuses_to_write != 0) return owner.ways.refuses_to_write;
  Done& d = owner.done.emplace_back();
  d.context = context;
  d.flags = flags;
  d.len = len;
  d.buf = buf;
  d.data = data;
  d.tag = tag;
  d.from = src;
  return 0;
}

ssize_t PeerOwner::writeerr_op(fid_peer_cq* fid, const fi_cq_err_entry* error) {
  auto& owner = *static_cast<PeerOwner*>(fid->fid.context);
  owner.be_called();
  if (owner.ways.refuses_to_write != 0) return owner.ways.refuses_to_write;
  Done& d = owner.done.emplace_back();
  d.context = error->op_context;
  d.flags = error->flags;
  d.len = error->len;
  d.tag = error->tag;
  d.err = error->err;
  d.prov_errno = error->prov_errno;
  d.olen = error->olen;
  return 0;
}

fi_info* peer_hints() {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV | FI_PEER | FI_AV_USER_ID;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL | FI_MR_VIRT_ADDR;
  return hints;
}

PeerNode::PeerNode(PeerOwner& of, uint64_t binding, [[maybe_unused]] bool counts) : owner(of) {
  fi_info* const hints = peer_hints();
  const int rc = fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints, &info);
  fi_freeinfo(hints);
  if (rc != 0) {
    ADD_FAILURE() << "fi_getinfo: " << fi_strerror(-rc);
    std::abort();
  }
  EXPECT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
  EXPECT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
  fi_av_attr av_attr{};
  av_attr.type = FI_AV_TABLE;
  EXPECT_EQ(fi_av_open(domain, &av_attr, &av, nullptr), 0);
  fi_cq_attr cq_attr{};
  cq_attr.flags = FI_PEER;
  fi_peer_cq_context cq_context{sizeof cq_context, &owner.cq};
  EXPECT_EQ(fi_cq_open(domain, &cq_attr, &cq, &cq_context), 0);
  EXPECT_EQ(fi_endpoint(domain, info, &ep, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | binding), 0);
  EXPECT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
  fi_rx_attr rx_attr{};
  rx_attr.op_flags = FI_PEER;
  fi_peer_srx_context srx_context{sizeof srx_context, &owner.srx};
  EXPECT_EQ(fi_srx_context(domain, &rx_attr, &srx, &srx_context), 0);
  EXPECT_EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
#if UET_HAVE_PEER_CNTR
  if (counts) {
    fi_cntr_attr cntr_attr{};
    cntr_attr.flags = FI_PEER;
    fi_peer_cntr_context context{sizeof context, &owner.cntr};
    EXPECT_EQ(fi_cntr_open(domain, &cntr_attr, &cntr, &context), 0);
    EXPECT_EQ(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_RECV), 0);
  }
#endif
  EXPECT_EQ(fi_enable(ep), 0);
}

PeerNode::~PeerNode() {
  close_endpoint();
  close_srx();
  close_queues();
  EXPECT_EQ(fi_close(&av->fid), 0);
  EXPECT_EQ(fi_close(&domain->fid), 0);
  EXPECT_EQ(fi_close(&fabric->fid), 0);
  fi_freeinfo(info);
}

void PeerNode::run() {
  owner.in_turn = true;
  EXPECT_EQ(fi_cq_read(cq, nullptr, 0), 0);
  owner.in_turn = false;
}

std::vector<uint8_t> PeerNode::name() const {
  std::vector<uint8_t> bytes(256);
  size_t length = bytes.size();
  EXPECT_EQ(fi_getname(&ep->fid, bytes.data(), &length), 0);
  bytes.resize(length);
  return bytes;
}

fi_addr_t PeerNode::insert(const std::vector<uint8_t>& address, fi_addr_t user_id) {
  fi_addr_t addr = user_id;
  EXPECT_EQ(fi_av_insert(av, address.data(), 1, &addr, FI_AV_USER_ID, nullptr), 1);
  return addr;
}

void PeerNode::close_endpoint() {
  owner.in_turn = true;
  if (ep != nullptr) {
    EXPECT_EQ(fi_close(&ep->fid), 0);
  }
  owner.in_turn = false;
  ep = nullptr;
}

void PeerNode::close_queues() {
  owner.in_turn = true;
  if (cntr != nullptr) {
    EXPECT_EQ(fi_close(&cntr->fid), 0);
  }
  if (cq != nullptr) {
    EXPECT_EQ(fi_close(&cq->fid), 0);
  }
  owner.in_turn = false;
  cntr = nullptr;
  cq = nullptr;
}

void PeerNode::close_srx() {
  if (srx != nullptr) {
    EXPECT_EQ(fi_close(&srx->fid), 0);
  }
  srx = nullptr;
}

}  // namespace uet::prov::test
