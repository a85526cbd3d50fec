// A pair of nodes that is misused row by row, for tests of the answers to wrong calls. Objects that
// a row opens are closed after it, and the pair must still communicate afterwards.
#pragma once

#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace uet::prov::test {

// A copy of a node's fi_info, to be spoilt.
class InfoOf {
 public:
  explicit InfoOf(const Node& node) : info_(fi_dupinfo(node.info)) {}
  ~InfoOf() { fi_freeinfo(info_); }
  InfoOf(const InfoOf&) = delete;
  InfoOf& operator=(const InfoOf&) = delete;
  fi_info* get() const { return info_; }
  fi_info* operator->() const { return info_; }
  fi_info& operator*() const { return *info_; }

 private:
  fi_info* info_;
};

// Objects for the rows. Those below the nodes are made on first use.
struct Pair {
  Node* a = nullptr;
  Node* b = nullptr;
  fi_addr_t to_b = FI_ADDR_UNSPEC;
  std::vector<uint8_t> b_name;
  uint8_t octets[8193] = {};  // one more than inject_size

  // For objects that a row opens.
  fid_ep* ep = nullptr;
  fid_cq* cq = nullptr;
  fid_cntr* cntr = nullptr;
  fid_eq* eq = nullptr;
  fid_av* av = nullptr;
  fid_mr* mr = nullptr;
  fid_mr* other_mr = nullptr;
  fid_domain* domain = nullptr;
  fi_addr_t addr = 0;

  // An endpoint to which nothing is bound.
  fid_ep* bare() {
    if (ep == nullptr) {
      EXPECT_EQ(fi_endpoint(a->domain, a->info, &ep, nullptr), 0);
    }
    return ep;
  }
  fid_cntr* counter(fi_wait_obj wait) {
    fi_cntr_attr attr{};
    attr.wait_obj = wait;
    EXPECT_EQ(fi_cntr_open(a->domain, &attr, &cntr, nullptr), 0);
    return cntr;
  }
  fid_cntr* waiting_counter() { return counter(FI_WAIT_UNSPEC); }
  fid_cntr* silent_counter() { return counter(FI_WAIT_NONE); }
  fid_eq* event_queue() {
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_NONE;
    EXPECT_EQ(fi_eq_open(a->fabric, &attr, &eq, nullptr), 0);
    return eq;
  }
  fid_av* event_av() {
    fi_av_attr attr{};
    attr.type = FI_AV_TABLE;
    attr.flags = FI_EVENT;
    EXPECT_EQ(fi_av_open(a->domain, &attr, &av, nullptr), 0);
    return av;
  }
  // A domain whose regions have application keys.
  fid_domain* keyed_domain() {
    const InfoOf info(*a);
    info->domain_attr->mr_mode &= ~FI_MR_PROV_KEY;
    EXPECT_EQ(fi_domain(a->fabric, info.get(), &domain, nullptr), 0);
    return domain;
  }
  // The endpoint of `a` already has the name that `info` asks for.
  void take_name(fi_info& info) const {
    std::vector<uint8_t> name = a->name();
    std::free(info.src_addr);
    info.src_addr = std::malloc(name.size());
    std::memcpy(info.src_addr, name.data(), name.size());
    info.src_addrlen = name.size();
  }

  void close_all() {
    close(ep), close(cq), close(cntr), close(eq), close(av), close(mr), close(other_mr),
        close(domain);
  }

 private:
  template <class Fid>
  static void close(Fid*& fid) {
    if (fid == nullptr) return;
    EXPECT_EQ(fi_close(&fid->fid), 0);
    fid = nullptr;
  }
};

struct Misuse {
  const char* what;
  int wanted;
  int (*call)(Pair&);
};

class MisuseTest : public PairTest {
 protected:
  void SetUp() override {
    NodeOptions options;
    options.counters = true;
    open(options, options);
    pair_.a = a.get();
    pair_.b = b.get();
    pair_.to_b = to_b;
    pair_.b_name = b->name();
  }

  void expect_refusals(std::span<const Misuse> table) {
    for (const Misuse& row : table) {
      const int got = row.call(pair_);
      EXPECT_EQ(got, row.wanted) << row.what << ": " << fi_strerror(-got) << ", not "
                                 << fi_strerror(-row.wanted);
      pair_.close_all();
    }
    expect_talk();
  }

  void expect_talk() {
    char room[8] = {};
    ASSERT_EQ(fi_recv(b->ep, room, sizeof room, nullptr, FI_ADDR_UNSPEC, room), 0);
    ASSERT_EQ(fi_send(a->ep, "talk", 5, nullptr, to_b, this), 0);
    const Done sent = next(a->tx_cq);
    EXPECT_EQ(sent.context, this) << "nothing that was refused completes";
    EXPECT_EQ(sent.err, 0);
    EXPECT_EQ(next(b->rx_cq).context, room);
    EXPECT_STREQ(room, "talk");
    EXPECT_TRUE(stays_empty(a->tx_cq));
  }

  Pair pair_;
};

}  // namespace uet::prov::test
