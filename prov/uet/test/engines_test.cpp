// [LF-145] A domain with several engines: endpoints that share nothing run in different ones, and
// addresses and regions are the same in all. [decision 27]
#include "prov/uet/test/node.h"

#include <poll.h>
#include <cstdlib>

#include <array>
#include <atomic>
#include <thread>

namespace uet::prov::test {
namespace {

// Another endpoint of a node's domain, with a separate queue unless one is given.
class Second {
 public:
  explicit Second(const Node& node, fid_cq* shared = nullptr) : is_shared_(shared != nullptr) {
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_TAGGED;
    cq = shared;
    if (cq == nullptr) {
      EXPECT_EQ(fi_cq_open(node.domain, &attr, &cq, nullptr), 0);
    }
    EXPECT_EQ(fi_endpoint(node.domain, node.info, &ep, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep, &node.av->fid, 0), 0);
  }
  ~Second() {
    EXPECT_EQ(fi_close(&ep->fid), 0);
    if (is_shared_) return;
    EXPECT_EQ(fi_close(&cq->fid), 0);
  }
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;

  int enable() { return fi_enable(ep); }

  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;

 private:
  const bool is_shared_;
};

std::vector<uint8_t> name_of(fid_ep* ep) {
  std::vector<uint8_t> bytes(256);
  size_t length = bytes.size();
  EXPECT_EQ(fi_getname(&ep->fid, bytes.data(), &length), 0);
  bytes.resize(length);
  return bytes;
}

// Host and port in the text of an address: fi_addr_uet://127.0.0.1:PORT/...
std::string place_of(const Node& node, fid_ep* ep) {
  std::array<char, 256> text{};
  size_t length = text.size();
  fi_av_straddr(node.av, name_of(ep).data(), text.data(), &length);
  const std::string whole(text.data());
  const size_t host = whole.find("127.0.0.1");
  EXPECT_NE(host, std::string::npos) << whole;
  return host == std::string::npos ? whole : whole.substr(host, whole.find('/', host) - host);
}

class EnginesTest : public PairTest {
 protected:
  EnginesTest() { setenv("FI_UET_ENGINES", "2", 1); }
  ~EnginesTest() override { unsetenv("FI_UET_ENGINES"); }

  // One message of that endpoint of `a` to node `b`; returns its octet as b gets it.
  uint8_t send_one(fid_ep* ep, fid_cq* cq, fi_addr_t to, uint8_t octet) {
    uint8_t* const got = kept(uint8_t{0});
    const uint8_t* const sent = kept(octet);
    EXPECT_EQ(fi_recv(b->ep, got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(fi_send(ep, sent, 1, nullptr, to, nullptr), 0);
    Done sent_done;
    Done received;
    bool is_sent = false;
    bool is_received = false;
    EXPECT_TRUE(run_until([&] {
      is_sent = is_sent || read_one(cq, sent_done);
      is_received = is_received || read_one(b->rx_cq, received);
      return is_sent && is_received;
    }));
    EXPECT_EQ(sent_done.err, 0) << sent_done.text;
    source = received.from;
    return *got;
  }

  fi_addr_t source = FI_ADDR_NOTAVAIL;  // of the last message
};

TEST_F(EnginesTest, EndpointsThatShareNothingHaveAnAddressEach) {
  open();
  Second other(*a);
  ASSERT_EQ(other.enable(), 0);
  EXPECT_NE(place_of(*a, other.ep), place_of(*a, a->ep));
  const fi_addr_t from_first = b->insert(a->name());
  const fi_addr_t from_other = b->insert(name_of(other.ep));
  EXPECT_EQ(send_one(other.ep, other.cq, to_b, 7), 7);
  EXPECT_EQ(source, from_other);
  EXPECT_EQ(send_one(a->ep, a->tx_cq, to_b, 9), 9);
  EXPECT_TRUE(source == from_first || source == to_a);
}

TEST_F(EnginesTest, EndpointsThatShareAQueueShareTheEngine) {
  open();
  Second other(*a, a->rx_cq);
  ASSERT_EQ(other.enable(), 0);
  EXPECT_EQ(place_of(*a, other.ep), place_of(*a, a->ep));
  EXPECT_EQ(send_one(other.ep, other.cq, to_b, 3), 3);
}

TEST_F(EnginesTest, ThirdEndpointGoesWhereTheFewestAre) {
  open();
  Second second(*a);
  ASSERT_EQ(second.enable(), 0);
  Second third(*a, second.cq);
  ASSERT_EQ(third.enable(), 0);
  Second fourth(*a);
  ASSERT_EQ(fourth.enable(), 0);
  EXPECT_EQ(place_of(*a, third.ep), place_of(*a, second.ep));
  EXPECT_EQ(place_of(*a, fourth.ep), place_of(*a, a->ep));
}

TEST_F(EnginesTest, QueuesOfTwoEnginesDoNotGoTogether) {
  open();
  Second second(*a);
  ASSERT_EQ(second.enable(), 0);
  fid_ep* both = nullptr;
  ASSERT_EQ(fi_endpoint(a->domain, a->info, &both, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(both, &a->tx_cq->fid, FI_TRANSMIT), 0);
  ASSERT_EQ(fi_ep_bind(both, &second.cq->fid, FI_RECV), 0);
  ASSERT_EQ(fi_ep_bind(both, &a->av->fid, 0), 0);
  EXPECT_EQ(fi_enable(both), -FI_EINVAL);
  EXPECT_EQ(fi_close(&both->fid), 0);
}

TEST_F(EnginesTest, NameIsTheSameBeforeAndAfterEnabling) {
  open();
  Second other(*a);
  const std::vector<uint8_t> before = name_of(other.ep);
  ASSERT_EQ(other.enable(), 0);
  EXPECT_EQ(name_of(other.ep), before);
}

TEST_F(EnginesTest, RegionHasOneKeyInAllEngines) {
  open();
  Second other(*a);
  ASSERT_EQ(other.enable(), 0);
  std::vector<uint8_t>& memory = kept(std::vector<uint8_t>(64));
  fid_mr* const region = a->registered(memory.data(), memory.size(), FI_REMOTE_WRITE, 0);
  const fi_addr_t to_other = b->insert(name_of(other.ep));
  const uint64_t key = fi_mr_key(region);
  uint8_t octet = 1;
  for (const fi_addr_t to : {to_a, to_other}) {
    uint8_t* const source_octet = kept(octet);
    ASSERT_EQ(fi_write(b->ep, source_octet, 1, nullptr, to, octet, key, nullptr), 0);
    Done done;
    EXPECT_TRUE(run_until([&] {
      Done none;
      read_one(other.cq, none);
      return read_one(b->tx_cq, done);
    }));
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(memory[octet], octet);
    ++octet;
  }
  EXPECT_EQ(fi_close(&region->fid), 0);
  // The key is gone in both.
  for (const fi_addr_t to : {to_a, to_other}) {
    ASSERT_EQ(fi_write(b->ep, kept(uint8_t{5}), 1, nullptr, to, 0, key, nullptr), 0);
    Done done;
    EXPECT_TRUE(run_until([&] { return read_one(b->tx_cq, done); }));
    EXPECT_NE(done.err, 0);
  }
}

TEST_F(EnginesTest, RemovedAddressIsGoneInAllEngines) {
  open();
  Second other(*a);
  ASSERT_EQ(other.enable(), 0);
  EXPECT_EQ(send_one(other.ep, other.cq, to_b, 1), 1);
  EXPECT_EQ(send_one(a->ep, a->tx_cq, to_b, 2), 2);
  fi_addr_t gone = to_b;
  ASSERT_EQ(fi_av_remove(a->av, &gone, 1, 0), 0);
  const uint8_t octet = 0;
  EXPECT_EQ(fi_send(a->ep, &octet, 1, nullptr, gone, nullptr), -FI_EADDRNOTAVAIL);
  EXPECT_EQ(fi_send(other.ep, &octet, 1, nullptr, gone, nullptr), -FI_EADDRNOTAVAIL);
  to_b = a->insert(b->name());
  EXPECT_EQ(send_one(other.ep, other.cq, to_b, 3), 3);
}

TEST_F(EnginesTest, CountersAreSums) {
  open();
  Second other(*a);
  ASSERT_EQ(other.enable(), 0);
  const uint64_t before = counter(*a, "tx_requests");
  EXPECT_EQ(send_one(other.ep, other.cq, to_b, 1), 1);
  EXPECT_EQ(send_one(a->ep, a->tx_cq, to_b, 2), 2);
  EXPECT_GE(counter(*a, "tx_requests"), before + 2);
}

TEST_F(EnginesTest, DescriptorWakesUpForTheEngineThatFillsTheQueue) {
  open();
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.wait_obj = FI_WAIT_FD;
  fid_cq* cq = nullptr;
  ASSERT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), 0);
  int descriptor = -1;
  ASSERT_EQ(fi_control(&cq->fid, FI_GETWAIT, &descriptor), 0);
  {
    Second other(*a, cq);
    ASSERT_EQ(other.enable(), 0);
    ASSERT_NE(place_of(*a, other.ep), place_of(*a, a->ep));
    const fi_addr_t to_other = b->insert(name_of(other.ep));
    uint8_t got = 0;
    ASSERT_EQ(fi_recv(other.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    fid* waited[] = {&cq->fid};
    ASSERT_EQ(fi_trywait(a->fabric, waited, 1), 0);
    std::thread sender([&] { ASSERT_EQ(fi_inject(b->ep, kept(uint8_t{4}), 1, to_other), 0); });
    pollfd asleep{descriptor, POLLIN, 0};
    Done done;
    for (bool is_read = false; !is_read;) {
      ASSERT_EQ(poll(&asleep, 1, static_cast<int>(kPatience.count()) * 1000), 1);
      is_read = read_one(cq, done);
      if (!is_read && fi_trywait(a->fabric, waited, 1) != 0) is_read = read_one(cq, done);
    }
    sender.join();
    EXPECT_EQ(done.err, 0);
    EXPECT_EQ(got, 4);
  }
  EXPECT_EQ(fi_close(&cq->fid), 0);
}

// Each thread has its endpoint, queue and peer; registrations and insertions go on meanwhile.
TEST_F(EnginesTest, ThreadsDoNotDisturbEachOther) {
  open();
  Second a2(*a);
  Second b2(*b);
  ASSERT_EQ(a2.enable(), 0);
  ASSERT_EQ(b2.enable(), 0);
  ASSERT_NE(place_of(*a, a2.ep), place_of(*a, a->ep));
  const fi_addr_t to_b2 = a->insert(name_of(b2.ep));
  constexpr int kRounds = 300;
  std::atomic<int> failures{0};
  const auto play = [&](fid_ep* from, fid_cq* tx, fid_ep* at, fid_cq* rx, fi_addr_t to) {
    for (int i = 0; i < kRounds; ++i) {
      uint8_t got = 0;
      const auto sent = static_cast<uint8_t>(i);
      if (fi_recv(at, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr) != 0) ++failures;
      if (fi_send(from, &sent, 1, nullptr, to, nullptr) != 0) ++failures;
      Done done;
      while (!read_one(tx, done)) {
      }
      if (done.err != 0) ++failures;
      while (!read_one(rx, done)) {
      }
      if (done.err != 0 || got != sent) ++failures;
    }
  };
  std::thread one(play, a->ep, a->tx_cq, b->ep, b->rx_cq, to_b);
  std::thread two(play, a2.ep, a2.cq, b2.ep, b2.cq, to_b2);
  std::vector<uint8_t> memory(64);
  for (int i = 0; i < 50; ++i) {
    fid_mr* const region = a->registered(memory.data(), memory.size(), FI_REMOTE_WRITE, 0);
    fi_addr_t more = a->insert(b->name());
    EXPECT_EQ(fi_av_remove(a->av, &more, 1, 0), 0);
    EXPECT_EQ(fi_close(&region->fid), 0);
  }
  one.join();
  two.join();
  EXPECT_EQ(failures, 0);
}

// Objects that need a single engine: the counters of regions, and other providers' objects.
class OneEngineTest : public EnginesTest, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(OneEngineTest, CapabilitiesKeepADomainAtOneEngine) {
  NodeOptions options;
  options.caps |= GetParam();
  open(options, options);
  Second other(*a);
  ASSERT_EQ(other.enable(), 0);
  EXPECT_EQ(place_of(*a, other.ep), place_of(*a, a->ep));
}
INSTANTIATE_TEST_SUITE_P(Capabilities, OneEngineTest, ::testing::Values(FI_RMA_EVENT, FI_PEER));

}  // namespace
}  // namespace uet::prov::test
