// After fork the child has the parent's descriptors, locks and sequence numbers: every call that
// would use them is refused there, whichever locks the parent's threads held, and the parent
// continues. [decision 14]
#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

namespace uet::prov::test {
namespace {

struct Call {
  const char* name;
  std::function<int64_t()> make;
};

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    NodeOptions options;
    options.wait = FI_WAIT_FD;
    options.counters = true;
    node_ = std::make_unique<Node>(options);
    other_ = std::make_unique<Node>(options);
    to_other_ = node_->insert(other_->name());
    to_node_ = other_->insert(node_->name());
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_FD;
    attr.flags = FI_WRITE;
    ASSERT_EQ(fi_eq_open(node_->fabric, &attr, &eq_, nullptr), 0);
    ASSERT_EQ(fi_srx_context(node_->domain, node_->info->rx_attr, &srx_, nullptr), 0);
    ASSERT_EQ(fi_endpoint(node_->domain, node_->info, &unbound_, nullptr), 0);
    region_ = node_->registered(memory_, sizeof memory_, FI_SEND | FI_REMOTE_WRITE, 9);
  }
  void TearDown() override {
    EXPECT_EQ(fi_close(&region_->fid), 0);
    EXPECT_EQ(fi_close(&unbound_->fid), 0);
    EXPECT_EQ(fi_close(&srx_->fid), 0);
    EXPECT_EQ(fi_close(&eq_->fid), 0);
  }

  std::vector<Call> posts();
  std::vector<Call> looks();
  std::vector<Call> setup();
  std::vector<Call> closes();

  // In a child: the name of the first call that was not refused is its last word. A call that never
  // comes back ends with SIGALRM.
  static int refused(const std::vector<Call>& calls) {
    alarm(30);
    int wrong = 0;
    for (const Call& call : calls) {
      const int64_t got = call.make();
      if (got == -FI_EOPBADSTATE) continue;
      fprintf(stderr, "%s gave %lld\n", call.name, static_cast<long long>(got));
      ++wrong;
    }
    return wrong;
  }
  void expect_refused(const std::vector<Call>& calls) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(refused(calls));
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  std::unique_ptr<Node> node_;
  std::unique_ptr<Node> other_;
  fi_addr_t to_other_ = 0;
  fi_addr_t to_node_ = 0;
  fid_eq* eq_ = nullptr;
  fid_ep* srx_ = nullptr;
  fid_ep* unbound_ = nullptr;
  fid_mr* region_ = nullptr;
  uint8_t memory_[64] = {};
  // Buffers of calls that are not refused.
  struct Answers {
    int number = 0;
    size_t length = sizeof memory_;
    uint32_t event = 0;
    fi_cq_err_entry cq_error{};
    fi_eq_err_entry eq_error{};
  } out_;
  iovec iov_{memory_, 8};
};

std::vector<Call> ForkTest::posts() {
  fid_ep* const ep = node_->ep;
  const fi_addr_t to = to_other_;
  static fi_msg msg{&iov_, nullptr, 1, to, nullptr, 0};
  static fi_msg_tagged tagged{&iov_, nullptr, 1, to, 1, 0, nullptr, 0};
  static fi_rma_iov remote{0, 8, 1};
  static fi_msg_rma rma{&iov_, nullptr, 1, to, &remote, 1, nullptr, 0};
  uint8_t* const m = memory_;
  return {
      {"fi_send", [=] { return fi_send(ep, m, 8, nullptr, to, nullptr); }},
      {"fi_sendv", [=, this] { return fi_sendv(ep, &iov_, nullptr, 1, to, nullptr); }},
      {"fi_sendmsg", [=] { return fi_sendmsg(ep, &msg, 0); }},
      {"fi_senddata", [=] { return fi_senddata(ep, m, 8, nullptr, 1, to, nullptr); }},
      {"fi_inject", [=] { return fi_inject(ep, m, 8, to); }},
      {"fi_injectdata", [=] { return fi_injectdata(ep, m, 8, 1, to); }},
      {"fi_recv", [=] { return fi_recv(ep, m, 8, nullptr, to, nullptr); }},
      {"fi_recvv", [=, this] { return fi_recvv(ep, &iov_, nullptr, 1, to, nullptr); }},
      {"fi_recvmsg", [=] { return fi_recvmsg(ep, &msg, 0); }},
      {"fi_tsend", [=] { return fi_tsend(ep, m, 8, nullptr, to, 1, nullptr); }},
      {"fi_tsendmsg", [=] { return fi_tsendmsg(ep, &tagged, 0); }},
      {"fi_tinject", [=] { return fi_tinject(ep, m, 8, to, 1); }},
      {"fi_trecv", [=] { return fi_trecv(ep, m, 8, nullptr, to, 1, 0, nullptr); }},
      {"fi_trecvmsg", [=] { return fi_trecvmsg(ep, &tagged, 0); }},
      {"fi_read", [=] { return fi_read(ep, m, 8, nullptr, to, 0, 1, nullptr); }},
      {"fi_readmsg", [=] { return fi_readmsg(ep, &rma, 0); }},
      {"fi_write", [=] { return fi_write(ep, m, 8, nullptr, to, 0, 1, nullptr); }},
      {"fi_writemsg", [=] { return fi_writemsg(ep, &rma, 0); }},
      {"fi_inject_write", [=] { return fi_inject_write(ep, m, 8, to, 0, 1); }},
      {"fi_atomic",
       [=] { return fi_atomic(ep, m, 1, nullptr, to, 0, 1, FI_UINT64, FI_SUM, nullptr); }},
      {"fi_fetch_atomic",
       [=] {
         return fi_fetch_atomic(ep, m, 1, nullptr, m, nullptr, to, 0, 1, FI_UINT64, FI_SUM,
                                nullptr);
       }},
      {"fi_cancel", [=] { return fi_cancel(&ep->fid, m); }},
      {"fi_recv of the shared context",
       [=, this] { return fi_recv(srx_, m, 8, nullptr, FI_ADDR_UNSPEC, nullptr); }},
      {"fi_trecv of the shared context",
       [=, this] { return fi_trecv(srx_, m, 8, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr); }},
      {"fi_cancel of the shared context", [=, this] { return fi_cancel(&srx_->fid, m); }},
      {"fi_rx_size_left", [=] { return fi_rx_size_left(ep); }},
      {"fi_tx_size_left", [=] { return fi_tx_size_left(ep); }},
  };
}

std::vector<Call> ForkTest::looks() {
  fid_cq* const cq = node_->rx_cq;
  static fid* waits[1];  // locks of this test, not of the first one
  static fid* counter_waits[1];
  static fid* event_waits[1];
  waits[0] = &node_->rx_cq->fid;
  counter_waits[0] = &node_->rx_counter->fid;
  event_waits[0] = &eq_->fid;
  static fi_addr_t from;
  fid_cntr* const cntr = node_->rx_counter;
  return {
      {"fi_cq_read", [=, this] { return fi_cq_read(cq, memory_, 1); }},
      {"fi_cq_readfrom", [=, this] { return fi_cq_readfrom(cq, memory_, 1, &from); }},
      {"fi_cq_readerr", [=, this] { return fi_cq_readerr(cq, &out_.cq_error, 0); }},
      {"fi_cq_sread", [=, this] { return fi_cq_sread(cq, memory_, 1, nullptr, -1); }},
      {"fi_cq_sreadfrom",
       [=, this] { return fi_cq_sreadfrom(cq, memory_, 1, &from, nullptr, -1); }},
      {"fi_cq_signal", [=] { return fi_cq_signal(cq); }},
      {"FI_GETWAIT of a queue",
       [=, this] { return fi_control(&cq->fid, FI_GETWAIT, &out_.number); }},
      {"fi_trywait", [this] { return fi_trywait(node_->fabric, waits, 1); }},
      {"fi_trywait of a counter", [this] { return fi_trywait(node_->fabric, counter_waits, 1); }},
      {"fi_trywait of events", [this] { return fi_trywait(node_->fabric, event_waits, 1); }},
      {"fi_cntr_add", [=] { return fi_cntr_add(cntr, 1); }},
      {"fi_cntr_set", [=] { return fi_cntr_set(cntr, 1); }},
      {"fi_cntr_adderr", [=] { return fi_cntr_adderr(cntr, 1); }},
      {"fi_cntr_seterr", [=] { return fi_cntr_seterr(cntr, 1); }},
      {"fi_cntr_wait", [=] { return fi_cntr_wait(cntr, 1000, -1); }},
      {"fi_eq_read", [this] { return fi_eq_read(eq_, &out_.event, memory_, sizeof memory_, 0); }},
      {"fi_eq_sread",
       [this] { return fi_eq_sread(eq_, &out_.event, memory_, sizeof memory_, -1, 0); }},
      {"fi_eq_readerr", [this] { return fi_eq_readerr(eq_, &out_.eq_error, 0); }},
      {"fi_eq_write", [this] { return fi_eq_write(eq_, FI_NOTIFY, memory_, 8, 0); }},
  };
}

std::vector<Call> ForkTest::setup() {
  fid_domain* const domain = node_->domain;
  static fid_av* av;
  static fid_cq* cq;
  static fid_ep* ep;
  static fid_cntr* cntr;
  static fid_mr* mr;
  static std::vector<uint8_t> name = other_->name();
  static fi_addr_t addr = to_other_;
  return {
      {"fi_av_open",
       [=] {
         fi_av_attr attr{};
         return fi_av_open(domain, &attr, &av, nullptr);
       }},
      {"fi_cq_open",
       [=] {
         fi_cq_attr attr{};
         return fi_cq_open(domain, &attr, &cq, nullptr);
       }},
      {"fi_cntr_open",
       [=] {
         fi_cntr_attr attr{};
         return fi_cntr_open(domain, &attr, &cntr, nullptr);
       }},
      {"fi_endpoint", [=, this] { return fi_endpoint(domain, node_->info, &ep, nullptr); }},
      {"fi_srx_context",
       [=, this] { return fi_srx_context(domain, node_->info->rx_attr, &ep, nullptr); }},
      {"fi_mr_reg",
       [=, this] { return fi_mr_reg(domain, memory_, 8, FI_REMOTE_READ, 0, 3, 0, &mr, nullptr); }},
      {"fi_domain_bind", [=, this] { return fi_domain_bind(domain, &eq_->fid, 0); }},
      {"fi_ep_bind", [this] { return fi_ep_bind(unbound_, &node_->av->fid, 0); }},
      {"fi_enable", [this] { return fi_enable(unbound_); }},
      {"fi_setname", [this] { return fi_setname(&unbound_->fid, name.data(), name.size()); }},
      {"fi_mr_enable", [this] { return fi_mr_enable(region_); }},
      {"fi_mr_bind",
       [this] { return fi_mr_bind(region_, &node_->rx_counter->fid, FI_REMOTE_WRITE); }},
      {"fi_av_insert",
       [this] { return fi_av_insert(node_->av, name.data(), 1, &addr, 0, nullptr); }},
      {"fi_av_insertsvc",
       [this] { return fi_av_insertsvc(node_->av, "127.0.0.1", "9", &addr, 0, nullptr); }},
      {"fi_av_remove", [this] { return fi_av_remove(node_->av, &addr, 1, 0); }},
      {"fi_av_lookup", [this] { return fi_av_lookup(node_->av, addr, memory_, &out_.length); }},
      {"fi_av_bind", [this] { return fi_av_bind(node_->av, &eq_->fid, 0); }},
  };
}

std::vector<Call> ForkTest::closes() {
  std::vector<Call> calls;
  const auto close = [&](const char* name, fid* object) {
    calls.push_back({name, [object] { return fi_close(object); }});
  };
  close("fi_close of a region", &region_->fid);
  close("fi_close of an endpoint", &node_->ep->fid);
  close("fi_close of an endpoint that was not enabled", &unbound_->fid);
  close("fi_close of a shared context", &srx_->fid);
  close("fi_close of a queue", &node_->rx_cq->fid);
  close("fi_close of a counter", &node_->rx_counter->fid);
  close("fi_close of a vector", &node_->av->fid);
  close("fi_close of an event queue", &eq_->fid);
  close("fi_close of a domain", &node_->domain->fid);
  return calls;
}

TEST_F(ForkTest, PostsAreRefused) { expect_refused(posts()); }
TEST_F(ForkTest, LooksAtQueuesAreRefused) { expect_refused(looks()); }
TEST_F(ForkTest, SettingUpIsRefused) { expect_refused(setup()); }
TEST_F(ForkTest, ClosingIsRefused) { expect_refused(closes()); }

// These calls return no error.
TEST_F(ForkTest, CountersKeepTheirValues) {
  ASSERT_EQ(fi_cntr_set(node_->rx_counter, 41), 0);
  ASSERT_EQ(fi_cntr_seterr(node_->rx_counter, 3), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    const bool same =
        fi_cntr_read(node_->rx_counter) == 41 && fi_cntr_readerr(node_->rx_counter) == 3;
    _exit(same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Messages go round in two threads all the while, so that a fork may find any lock held; each child
// makes every call, and not one message is lost or comes twice.
TEST_F(ForkTest, ForksInTheMidstOfTrafficDisturbNothing) {
  std::vector<Call> calls = posts();
  for (std::vector<Call>& more : std::vector{looks(), setup(), closes()}) {
    calls.insert(calls.end(), more.begin(), more.end());
  }
  std::atomic<bool> is_over{false};
  std::atomic<bool> client_is_done{false};  // until then it may wait for a reply
  std::atomic<uint32_t> rounds{0};
  std::atomic<uint32_t> wrong{0};
  const auto play = [&](Node& own, fi_addr_t peer, bool serves) {
    uint32_t sent = 0;
    uint32_t got = 0;
    Done done;
    for (uint32_t i = 0; !is_over || serves; ++i) {
      wrong += fi_recv(own.ep, &got, sizeof got, nullptr, peer, nullptr) != 0;
      sent = i;
      if (!serves) wrong += fi_send(own.ep, &sent, sizeof sent, nullptr, peer, nullptr) != 0;
      while (!read_one(own.rx_cq, done)) {
        if (serves && client_is_done) return;
      }
      wrong += done.err != 0 || done.len != sizeof got || got != i;
      if (serves) wrong += fi_send(own.ep, &sent, sizeof sent, nullptr, peer, nullptr) != 0;
      while (!read_one(own.tx_cq, done)) {
      }
      wrong += done.err != 0;
      rounds = i;
    }
  };
  std::thread server([&] { play(*other_, to_node_, true); });
  std::thread client([&] { play(*node_, to_other_, false); });
  for (int i = 0; i < 10; ++i) {
    const uint32_t before = rounds;
    while (rounds < before + 5) std::this_thread::yield();
    expect_refused(calls);
  }
  const uint32_t before = rounds;
  while (rounds < before + 5) std::this_thread::yield();
  is_over = true;
  client.join();
  client_is_done = true;
  server.join();
  EXPECT_EQ(wrong, 0u);
}

// A child may open a new domain, at the same address. (ThreadSanitizer allows no thread in a child
// of a process with threads.)
#ifndef __SANITIZE_THREAD__
TEST_F(ForkTest, AChildOpensItsOwn) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    fid_domain* domain = nullptr;
    int wrong = fi_domain(node_->fabric, node_->info, &domain, nullptr) != 0;
    if (wrong == 0) wrong = fi_close(&domain->fid) != 0;
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace uet::prov::test
