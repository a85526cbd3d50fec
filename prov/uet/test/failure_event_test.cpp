// Events for an application when the network under its domain fails: an error entry on the event
// queues bound to the domain and to its endpoints, once for each failure.
#include "prov/uet/test/roles.h"

#include <sched.h>
#include <cerrno>
#include <cstdlib>

namespace uet::prov::test {
namespace {

// Longer than the helper takes to look again, and again.
constexpr int kTwoLooksMs = 2500;
constexpr int kPatienceMs = 10'000;

struct Queue {
  explicit Queue(fid_fabric* fabric) {
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    EXPECT_EQ(fi_eq_open(fabric, &attr, &eq, nullptr), 0);
  }
  ~Queue() { EXPECT_EQ(fi_close(&eq->fid), 0); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Waits for something to happen; -FI_EAVAIL is an error entry, -FI_EAGAIN nothing.
  ssize_t wait(int limit_ms) const {
    uint32_t event = 0;
    fi_eq_entry entry{};
    return fi_eq_sread(eq, &event, &entry, sizeof entry, limit_ms, 0);
  }
  fi_eq_err_entry error() const {
    fi_eq_err_entry entry{};
    EXPECT_EQ(fi_eq_readerr(eq, &entry, 0), ssize_t(sizeof entry));
    return entry;
  }

  fid_eq* eq = nullptr;
};

struct Network {
  explicit Network(const char* address) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_RDM;
    EXPECT_EQ(fi_getinfo(FI_VERSION(1, 17), address, nullptr, FI_SOURCE, hints, &info), 0);
    fi_freeinfo(hints);
    EXPECT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
  }
  ~Network() {
    EXPECT_EQ(fi_close(&fabric->fid), 0);
    fi_freeinfo(info);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
};

// A domain with an endpoint; closed before the queues that are bound to them.
struct Site {
  explicit Site(const Network& network) {
    EXPECT_EQ(fi_domain(network.fabric, network.info, &domain, this), 0);
    EXPECT_EQ(fi_endpoint(domain, network.info, &ep, &ep), 0);
  }
  ~Site() {
    if (ep != nullptr) {
      EXPECT_EQ(fi_close(&ep->fid), 0);
    }
    EXPECT_EQ(fi_close(&domain->fid), 0);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  fid_domain* domain = nullptr;
  fid_ep* ep = nullptr;
};

class FailureEventTest : public RolesTest {
 protected:
  // Runs `role` in a process whose network fails after that time.
  template <class Role>
  void run(const char* fault, Role role) {
    finish(start(0, {{"FI_UET_FAULT", fault}}, role));
  }
};

TEST_F(FailureEventTest, DomainAndEndpointGetAnEvent) {
  run("fail=100ms", [](const Line&) {
    const Network network("127.0.0.1");
    Queue of_domain(network.fabric), of_endpoint(network.fabric);
    Site site(network);
    ASSERT_EQ(fi_domain_bind(site.domain, &of_domain.eq->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(site.ep, &of_endpoint.eq->fid, 0), 0);

    ASSERT_EQ(of_domain.wait(kPatienceMs), -FI_EAVAIL);
    fi_eq_err_entry entry = of_domain.error();
    EXPECT_EQ(entry.fid, &site.domain->fid);
    EXPECT_EQ(entry.context, &site);
    EXPECT_EQ(entry.err, FI_EIO);
    EXPECT_EQ(entry.prov_errno, EIO);
    EXPECT_EQ(entry.err_data_size, 0u);
    char text[100] = {};
    fi_eq_strerror(of_domain.eq, entry.prov_errno, nullptr, text, sizeof text);
    EXPECT_STREQ(text, fi_strerror(FI_EIO));

    ASSERT_EQ(of_endpoint.wait(kPatienceMs), -FI_EAVAIL);
    entry = of_endpoint.error();
    EXPECT_EQ(entry.fid, &site.ep->fid);
    EXPECT_EQ(entry.context, &site.ep);
    EXPECT_EQ(entry.err, FI_EIO);

    // Still broken, but already reported.
    EXPECT_EQ(of_domain.wait(kTwoLooksMs), -FI_EAGAIN);
    EXPECT_EQ(of_endpoint.wait(0), -FI_EAGAIN);
  });
}

TEST_F(FailureEventTest, AQueueBoundLaterGetsTheEventAtOnce) {
  run("fail=0s", [](const Line&) {
    const Network network("127.0.0.1");
    Queue first(network.fabric), late(network.fabric);
    Site site(network);
    ASSERT_EQ(fi_domain_bind(site.domain, &first.eq->fid, 0), 0);
    ASSERT_EQ(first.wait(kPatienceMs), -FI_EAVAIL);
    ASSERT_EQ(fi_ep_bind(site.ep, &late.eq->fid, 0), 0);
    ASSERT_EQ(late.wait(0), -FI_EAVAIL);
    EXPECT_EQ(late.error().fid, &site.ep->fid);
  });
}

// A closed endpoint gets no event, and its queue can be closed.
TEST_F(FailureEventTest, AClosedEndpointIsNotNamed) {
  run("fail=3s", [](const Line&) {
    const Network network("127.0.0.1");
    Queue of_domain(network.fabric), shared(network.fabric);
    Site site(network);
    ASSERT_EQ(fi_ep_bind(site.ep, &shared.eq->fid, 0), 0);
    ASSERT_EQ(fi_domain_bind(site.domain, &of_domain.eq->fid, 0), 0);
    ASSERT_EQ(fi_close(&site.ep->fid), 0);
    site.ep = nullptr;
    ASSERT_EQ(of_domain.wait(kPatienceMs), -FI_EAVAIL);
    EXPECT_EQ(shared.wait(0), -FI_EAGAIN);
  });
}

// A registration queue is for registrations only.
TEST_F(FailureEventTest, TheQueueOfRegistrationsGetsNoEvent) {
  run("fail=0s", [](const Line&) {
    const Network network("127.0.0.1");
    Queue of_domain(network.fabric), of_regions(network.fabric);
    Site site(network);
    ASSERT_EQ(fi_domain_bind(site.domain, &of_regions.eq->fid, 1ULL << 59), 0);  // FI_REG_MR
    ASSERT_EQ(fi_domain_bind(site.domain, &of_domain.eq->fid, 0), 0);
    ASSERT_EQ(of_domain.wait(kPatienceMs), -FI_EAVAIL);
    EXPECT_EQ(of_regions.wait(0), -FI_EAGAIN);
  });
}

int shell(const char* command) { return std::system(command); }

constexpr char kMakeInterface[] =
    "ip link set lo up && ip link add uet0 type veth peer name uet1 && "
    "ip addr add 10.47.94.1/24 dev uet0 && ip link set uet1 up && ip link set uet0 up";

// A real interface, in a network namespace that ends with the process.
class InterfaceFailureTest : public RolesTest {
 protected:
  void SetUp() override {
    RolesTest::SetUp();
    const pid_t pid = fork();
    if (pid == 0) {
      const bool able = unshare(CLONE_NEWNET) == 0 &&
                        shell((std::string("(") + kMakeInterface + ") 2>/dev/null").c_str()) == 0;
      _exit(able ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    if (status != 0) GTEST_SKIP() << "no network namespace may be made here";
  }

  // Breaks the interface by `command` and returns the event of the domain's queue; then, if
  // `repair` is given, repairs it, breaks it again and expects another event.
  void run(const std::string& command, const std::string& repair, int expected) {
    finish(start(0, {}, [&](const Line&) {
      ASSERT_EQ(unshare(CLONE_NEWNET), 0);
      ASSERT_EQ(shell(kMakeInterface), 0);
      const Network network("10.47.94.1");
      Queue queue(network.fabric);
      Site site(network);
      ASSERT_EQ(fi_domain_bind(site.domain, &queue.eq->fid, 0), 0);
      EXPECT_EQ(queue.wait(kTwoLooksMs), -FI_EAGAIN) << "nothing is wrong";
      ASSERT_EQ(shell(command.c_str()), 0);
      ASSERT_EQ(queue.wait(kPatienceMs), -FI_EAVAIL);
      EXPECT_EQ(queue.error().err, expected);
      if (!repair.empty()) {
        ASSERT_EQ(shell(repair.c_str()), 0);
        EXPECT_EQ(queue.wait(kTwoLooksMs), -FI_EAGAIN);
        ASSERT_EQ(shell(command.c_str()), 0);
        ASSERT_EQ(queue.wait(kPatienceMs), -FI_EAVAIL);
        EXPECT_EQ(queue.error().err, expected);
      }
    }));
  }
};

TEST_F(InterfaceFailureTest, GoneInterface) { run("ip link del uet0", "", FI_ENODEV); }

TEST_F(InterfaceFailureTest, InterfaceThatIsDown) {
  run("ip link set uet0 down", "ip link set uet0 up", FI_ENETDOWN);
}

TEST_F(InterfaceFailureTest, LostAddress) {
  run("ip addr del 10.47.94.1/24 dev uet0", "ip addr add 10.47.94.1/24 dev uet0", FI_EADDRNOTAVAIL);
}

}  // namespace
}  // namespace uet::prov::test
