// Threads that sleep on queues of one domain: a packet wakes the one whose completion it is, not
// all of them. [architecture 5]
#include "prov/uet/test/node.h"

#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

namespace uet::prov::test {
namespace {

// An endpoint of another node's domain with a separate queue.
struct Place {
  Place(Node& node, fi_wait_obj wait) {
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_TAGGED;
    attr.wait_obj = wait;
    EXPECT_EQ(fi_cq_open(node.domain, &attr, &cq, nullptr), 0);
    EXPECT_EQ(fi_endpoint(node.domain, node.info, &ep, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep, &node.av->fid, 0), 0);
    EXPECT_EQ(fi_enable(ep), 0);
  }
  ~Place() {
    EXPECT_EQ(fi_close(&ep->fid), 0);
    EXPECT_EQ(fi_close(&cq->fid), 0);
  }
  std::vector<uint8_t> name() const {
    std::vector<uint8_t> octets(128);
    size_t length = octets.size();
    EXPECT_EQ(fi_getname(&ep->fid, octets.data(), &length), 0);
    octets.resize(length);
    return octets;
  }

  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
  std::atomic<int> got{0};
  std::atomic<int> wakes{0};  // how often its thread slept, as the system counts
};

int sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<int>(usage.ru_nvcsw);
}

constexpr int kMessages = 200;
constexpr int kIdle = 4;

class HerdTest : public ::testing::TestWithParam<fi_wait_obj> {
 protected:
  // Sleeps for one entry at a time until the test stops it.
  static void serve(fid_fabric* fabric, Place& place, fi_wait_obj wait,
                    const std::atomic<bool>& is_over) {
    int fd = -1;
    if (wait == FI_WAIT_FD) {
      EXPECT_EQ(fi_control(&place.cq->fid, FI_GETWAIT, &fd), 0);
    }
    fid* fids[] = {&place.cq->fid};
    Done done;
    while (!is_over) {
      if (wait == FI_WAIT_FD) {
        pollfd waiting{fd, POLLIN, 0};
        // At most two seconds, so that it notices the end of the test.
        if (fi_trywait(fabric, fids, 1) == 0) poll(&waiting, 1, 2000);
        if (read_one(place.cq, done)) ++place.got;
      } else {
        fi_cq_tagged_entry entry;
        if (fi_cq_sread(place.cq, &entry, 1, nullptr, 2000) == 1) ++place.got;
      }
      place.wakes = sleeps();
    }
  }
};

TEST_P(HerdTest, APacketWakesOnlyItsReceiver) {
  const fi_wait_obj wait = GetParam();
  Node sender;
  Node receiver;
  std::vector<std::unique_ptr<Place>> places;
  for (int i = 0; i < 1 + kIdle; ++i) places.push_back(std::make_unique<Place>(receiver, wait));
  Place& busy = *places[0];
  const fi_addr_t to = sender.insert(busy.name());
  std::vector<uint8_t> octets(kMessages);
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(
        fi_recv(busy.ep, &octets[static_cast<size_t>(i)], 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (const auto& place : places) {
    threads.emplace_back([&] { serve(receiver.fabric, *place, wait, is_over); });
  }
  // Asleep, each of them.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  int before = 0;
  for (int i = 1; i <= kIdle; ++i) before += places[static_cast<size_t>(i)]->wakes;
  const uint8_t octet = 7;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(fi_send(sender.ep, &octet, 1, nullptr, to, nullptr), 0);
    Done done;
    while (busy.got <= i && std::chrono::steady_clock::now() < end) read_one(sender.tx_cq, done);
    ASSERT_GT(busy.got, i) << "no thread woke up";
  }
  is_over = true;
  for (std::thread& t : threads) t.join();
  int woken = -before;
  for (int i = 1; i <= kIdle; ++i) woken += places[static_cast<size_t>(i)]->wakes;
  // If each packet woke all of them, it would be 800.
  EXPECT_LT(woken, kMessages);
  EXPECT_EQ(octets, std::vector<uint8_t>(kMessages, octet));
}

INSTANTIATE_TEST_SUITE_P(Wait, HerdTest, ::testing::Values(FI_WAIT_FD, FI_WAIT_UNSPEC));

}  // namespace
}  // namespace uet::prov::test
