// The counters of fi_ext_uet.h, read from a domain and from an endpoint after known traffic.
#include "prov/uet/api/fi_ext_uet.h"
#include "prov/uet/test/node.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

extern "C" int64_t uet_test_read_from_c(fid* fid, const char* name);  // fi_ext_uet_c.c

namespace uet::prov::test {
namespace {

fi_uet_ops_counters* counters_of(fid* object) {
  void* ops = nullptr;
  EXPECT_EQ(fi_open_ops(object, FI_UET_COUNTERS, 0, &ops, nullptr), 0);
  return static_cast<fi_uet_ops_counters*>(ops);
}

std::vector<fi_uet_counter> read_all(fid* object) {
  fi_uet_ops_counters* const ops = counters_of(object);
  size_t count = 0;
  EXPECT_EQ(ops->read(object, nullptr, &count), -FI_ETOOSMALL);
  std::vector<fi_uet_counter> counters(count);
  EXPECT_EQ(ops->read(object, counters.data(), &count), 0);
  EXPECT_EQ(count, counters.size());
  return counters;
}

std::map<std::string, uint64_t> values(fid* object) {
  std::map<std::string, uint64_t> out;
  for (const fi_uet_counter& counter : read_all(object)) out[counter.name] = counter.value;
  return out;
}

// The names in the first column of the tables of docs/counters.md; "`a`, `b`" are two. The test of
// the packet-socket backend checks its counters.
std::multiset<std::string> documented() {
  std::ifstream in(UET_SOURCE_DIR "/docs/counters.md");
  std::multiset<std::string> out;
  const std::regex name("`([a-z0-9_]+)`");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string column = line.substr(0, line.find(" |", 2));
    for (std::sregex_iterator at(column.begin(), column.end(), name), end; at != end; ++at) {
      const std::string counter = (*at)[1];
      // Loopback, which this test runs over, has neither packet sockets nor AF_XDP.
      const bool is_elsewhere = counter.rfind("frame_", 0) == 0 || counter.rfind("xdp_", 0) == 0;
      if (!is_elsewhere) out.insert(counter);
    }
  }
  return out;
}

class CountersTest : public PairTest {
 protected:
  // Five octets from a to b, with all that follows on the wire.
  void exchange() {
    static constexpr char kText[] = "five";
    char got[8] = {};
    ASSERT_EQ(fi_recv(b->ep, got, sizeof got, nullptr, to_a, nullptr), 0);
    ASSERT_EQ(fi_send(a->ep, kText, sizeof kText, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(next(b->rx_cq).len, sizeof kText);
    EXPECT_EQ(next(a->tx_cq).err, 0);
  }
};

TEST_F(CountersTest, CountersShowSentAndReceivedPackets) {
  open();
  EXPECT_EQ(values(&a->domain->fid)["tx_messages"], 0u);
  exchange();
  // The send was over when it was copied; its answer may still be on the way.
  std::map<std::string, uint64_t> of_a = values(&a->domain->fid);
  for (int i = 0; i < 2000 && of_a["tx_completed"] == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    of_a = values(&a->domain->fid);
  }
  std::map<std::string, uint64_t> of_b = values(&b->ep->fid);
  EXPECT_EQ(of_a["tx_messages"], 1u);
  EXPECT_EQ(of_a["tx_completed"], 1u);
  // On a loaded machine the packet may have gone again before its answer was looked at.
  EXPECT_EQ(of_a["tx_payload_bytes"], 5u * of_a["tx_requests"]);
  EXPECT_EQ(of_a["pdc_opened_initiator"], 1u);
  EXPECT_EQ(of_b["rx_expected"], 1u);
  EXPECT_EQ(of_b["rx_payload_bytes"], 44u + 5u);  // with the SES header
  EXPECT_EQ(of_b["pdc_opened_target"], 1u);
  EXPECT_GE(of_b["udp_rx_datagrams"], 1u);
  EXPECT_GE(of_a["udp_tx_packets"], 1u);
}

TEST_F(CountersTest, AnEndpointShowsItsDomain) {
  open();
  exchange();
  const std::vector<fi_uet_counter> domain = read_all(&a->domain->fid);
  const std::vector<fi_uet_counter> endpoint = read_all(&a->ep->fid);
  ASSERT_EQ(domain.size(), endpoint.size());
  for (size_t i = 0; i < domain.size(); ++i) EXPECT_STREQ(domain[i].name, endpoint[i].name) << i;
  EXPECT_EQ(values(&a->ep->fid)["tx_messages"], 1u);
  EXPECT_EQ(values(&b->ep->fid)["tx_messages"], 0u);
}

// Invalid packets are counted, and the counters can be queried.
TEST_F(CountersTest, ADroppedPacketIsSeen) {
  NodeOptions options;
  options.address = "127.0.47.41";
  open(options);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4793);
  to.sin_addr.s_addr = inet_addr("127.0.47.41");
  const auto* const address = reinterpret_cast<const sockaddr*>(&to);
  const uint8_t one_octet[] = {0x18};
  const uint8_t type_31[12] = {0xF8};  // the type is the first five bits [PDS-V4]
  ASSERT_EQ(sendto(fd, one_octet, sizeof one_octet, 0, address, sizeof to), 1);
  ASSERT_EQ(sendto(fd, type_31, sizeof type_31, 0, address, sizeof to), 12);
  close(fd);
  EXPECT_TRUE(run_until([&] {
    std::map<std::string, uint64_t> now = values(&a->domain->fid);
    return now["drop_too_short"] == 1 && now["drop_type_reserved"] == 1;
  }));
}

class FullQueueTest : public CountersTest {
 protected:
  FullQueueTest() { setenv("FI_UET_SHM", "off", 1); }  // each round of the engine asks the socket
  ~FullQueueTest() override { unsetenv("FI_UET_SHM"); }
};

// [LF-081] The application reads its completions next: until then a refused post looks for packets
// every 50 us at most, and does not end a run of posts that leave together.
TEST_F(FullQueueTest, PostsWithoutRoomDoNotReceiveWhileCompletionsAreUnread) {
  NodeOptions options;
  options.tx_size = 16;
  options.cq_size = 16;
  open(options);
  exchange();
  uint64_t octets = 0;
  const auto refused = [&] {
    const ssize_t rc = fi_send(a->ep, &octets, sizeof octets, nullptr, to_b, nullptr);
    EXPECT_TRUE(rc == 0 || rc == -FI_EAGAIN) << rc;
    return rc != 0;
  };
  // All that was sent is acknowledged, and still there is no room: the queue is full.
  EXPECT_TRUE(run_until([&] {
    while (!refused()) {
    }
    return values(&a->domain->fid)["tx_completed"] == values(&a->domain->fid)["tx_messages"];
  }));
  const uint64_t before = values(&a->domain->fid)["udp_rx_system_calls"];
  const auto begin = std::chrono::steady_clock::now();
  int count = 0;
  for (int posts = 0; posts < 2'000; ++posts) count += refused();
  EXPECT_GT(count, 1'900);
  const auto most = (std::chrono::steady_clock::now() - begin) / std::chrono::microseconds(50) + 20;
  EXPECT_LT(values(&a->domain->fid)["udp_rx_system_calls"] - before, static_cast<uint64_t>(most));
}

// fi_control shows the same counters as the operations do.
TEST_F(CountersTest, ControlShowsTheSame) {
  open();
  exchange();
  for (fid* object : {&a->domain->fid, &a->ep->fid}) {
    const std::vector<fi_uet_counter> all = read_all(object);
    fi_uet_counter_list list{sizeof list, nullptr, 0};
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, &list), -FI_ETOOSMALL);
    ASSERT_EQ(list.count, all.size());
    std::vector<fi_uet_counter> counters(list.count + 1, {"untouched", 7});
    list.counters = counters.data();
    list.count = counters.size();
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, &list), 0);
    ASSERT_EQ(list.count, all.size());
    uint64_t sent = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_STREQ(counters[i].name, all[i].name);
      if (std::string(counters[i].name) == "tx_messages") sent = counters[i].value;
    }
    EXPECT_EQ(sent, 1u);
    EXPECT_STREQ(counters.back().name, "untouched");
  }
}

TEST_F(CountersTest, WrongControlCallsAreRefused) {
  open();
  fi_uet_counter one{"untouched", 7};
  for (fid* object : {&a->domain->fid, &a->ep->fid}) {
    fi_uet_counter_list list{sizeof list, &one, 1};
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, &list), -FI_ETOOSMALL);
    EXPECT_GT(list.count, 1u);
    list.size = sizeof list - 1;
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, &list), -FI_EINVAL);
    list = {sizeof list, nullptr, 10'000};
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, &list), -FI_EINVAL);
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_control(object, FI_UET_GET_COUNTERS + 1, &list), -FI_ENOSYS);
  }
  fi_uet_counter_list list{sizeof list, &one, 1};
  EXPECT_EQ(fi_control(&a->tx_cq->fid, FI_UET_GET_COUNTERS, &list), -FI_ENOSYS);
  EXPECT_EQ(fi_control(&a->av->fid, FI_UET_GET_COUNTERS, &list), -FI_ENOSYS);
  EXPECT_STREQ(one.name, "untouched");
  EXPECT_EQ(one.value, 7u);
}

TEST_F(CountersTest, CProgramsReadThem) {
  open();
  exchange();
  EXPECT_EQ(uet_test_read_from_c(&a->domain->fid, "tx_messages"), 1);
  EXPECT_EQ(uet_test_read_from_c(&a->domain->fid, "no_such_counter"), -FI_ENODATA);
}

TEST_F(CountersTest, WrongCallsAreRefused) {
  open();
  void* none = nullptr;
  EXPECT_EQ(fi_open_ops(&a->domain->fid, "other", 0, &none, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_open_ops(&a->domain->fid, FI_UET_COUNTERS, 1, &none, nullptr), -FI_EBADFLAGS);
  EXPECT_EQ(fi_open_ops(&a->tx_cq->fid, FI_UET_COUNTERS, 0, &none, nullptr), -FI_ENOSYS);
  EXPECT_EQ(none, nullptr);

  fi_uet_ops_counters* const ops = counters_of(&a->domain->fid);
  EXPECT_GE(ops->size, sizeof(fi_uet_ops_counters));
  size_t count = 1;
  fi_uet_counter one{"untouched", 7};
  EXPECT_EQ(ops->read(&a->domain->fid, &one, &count), -FI_ETOOSMALL);
  EXPECT_STREQ(one.name, "untouched");
  EXPECT_EQ(one.value, 7u);
  EXPECT_EQ(ops->read(&a->domain->fid, nullptr, &count), -FI_EINVAL);
  EXPECT_EQ(ops->read(&a->domain->fid, &one, nullptr), -FI_EINVAL);
  EXPECT_EQ(ops->read(&a->rx_cq->fid, &one, &count), -FI_EINVAL);
  EXPECT_EQ(ops->read(nullptr, &one, &count), -FI_EINVAL);
}

// Every counter has one line in the document, and the document names no other. FI_UET_FAULT is set
// for this test, so that the counters of fault plans are there, too.
TEST_F(CountersTest, TheDocumentNamesEachOnce) {
  open();
  std::multiset<std::string> counted;
  for (const fi_uet_counter& counter : read_all(&a->domain->fid)) counted.insert(counter.name);
  const std::multiset<std::string> written = documented();
  for (const std::string& name : counted) {
    EXPECT_EQ(counted.count(name), 1u) << name << " is the name of two counters";
    EXPECT_EQ(written.count(name), 1u) << name << ": lines in docs/counters.md";
  }
  for (const std::string& name : written) {
    EXPECT_EQ(counted.count(name), 1u) << name << " is in docs/counters.md only";
  }
}

}  // namespace
}  // namespace uet::prov::test
