// The engine lock and the helper thread, over a backend that only counts. Real time: awaited events
// may come late, and no duration is checked.
#include "prov/uet/progress/progress.h"

#include "prov/uet/progress/absence.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace uet::prov {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using namespace uet::literals;

// A network on which nothing happens until poke() makes the socket readable.
class QuietIo final : public io::PacketIo {
 public:
  QuietIo() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~QuietIo() override { ::close(fd_); }
  QuietIo(const QuietIo&) = delete;
  QuietIo& operator=(const QuietIo&) = delete;

  void poke() { EXPECT_EQ(eventfd_write(fd_, 1), 0); }
  uint64_t receives() const { return receives_.load(); }
  uint64_t sent() const { return sent_.load(); }
  uint64_t pokes_seen() const { return pokes_seen_.load(); }
  int policy() const { return policy_.load(); }  // of the thread that received last

  io::IoCaps caps() const override { return {.max_datagram_bytes = 9000}; }
  FabricAddress local_address() const override { return {}; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& packet : packets) packet.fate = TxFate::sent;
    sent_.fetch_add(packets.size());
  }
  std::span<RxDatagram> receive() override {
    policy_.store(sched_getscheduler(0));
    receives_.fetch_add(1);
    eventfd_t value = 0;
    if (eventfd_read(fd_, &value) == 0) pokes_seen_.fetch_add(value);
    return {};
  }
  int wait_fd() const override { return fd_; }

 private:
  int fd_;
  std::atomic<int> policy_{-1};
  std::atomic<uint64_t> receives_{0};
  std::atomic<uint64_t> sent_{0};
  std::atomic<uint64_t> pokes_seen_{0};
};

class ProgressTest : public ::testing::Test {
 protected:
  void create(const ProgressEngine::Options& options) {
    FabricAddress local;
    local = FabricAddress::v4(0x7F000001);
    auto fep = fep::FabricEndpoint::create(fep::Config{}, local, 1);
    ASSERT_TRUE(fep.ok());
    auto io = std::make_unique<QuietIo>();
    io_ = io.get();
    auto created = ProgressEngine::create(
        std::make_unique<fep::Engine>(std::move(*fep), std::move(io)), options);
    ASSERT_TRUE(created.ok());
    engine_ = std::move(*created);
  }

  // Enters the engine once; returns the time.
  Clock::time_point visit() {
    const ProgressEngine::Entry entry(*engine_);
    return Clock::now();
  }
  // Visits the engine all the time for `span`; returns how long this thread was kept from it, in
  // absences of a quarter of a millisecond or more.
  std::chrono::microseconds poll_for(milliseconds span) {
    std::chrono::microseconds away{0};
    auto last = Clock::now();
    for (const auto end = last + span; last < end;) {
      const auto gap = std::chrono::duration_cast<std::chrono::microseconds>(visit() - last);
      if (gap > std::chrono::microseconds(250)) away += gap;
      last += gap;
    }
    return away;
  }
  void open_endpoint() {
    FabricAddress to;
    to = FabricAddress::v4(0x7F000002);
    ses::CompletionSink sink;
    sink.complete = [](void*, const ses::Completion&) {};
    sink.reserve = [](void*) { return true; };
    ProgressEngine::Entry entry(*engine_);
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    endpoint_ = *entry.ses().open_endpoint(name, {}, sink, sink);
    peer_ = *entry.fep().peers().find_or_add(to, entry.now());
  }
  // A short message, as a call of the application would.
  void post() {
    static constexpr std::byte kOctets[8]{};
    const IoSlice slice{kOctets, sizeof kOctets};
    ses::SendRequest request;
    request.to = {peer_, PidOnFep(1), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    ProgressEngine::Entry entry(*engine_);
    EXPECT_TRUE(entry.ses().send(endpoint_, request, entry.now()).ok());
    entry.post(FlushPolicy::Operation{sizeof kOctets, entry.ses().sends_open(endpoint_), false});
  }
  // A new engine whose application posts in runs, until a post waits: its message has not left.
  void create_with_post_that_waits() {
    for (int tries = 0; tries < 100; ++tries) {  // a loaded machine interrupts runs
      create({});
      open_endpoint();
      poll_for(milliseconds(5));  // the helper has begun to watch
      for (int run = 0; run < 300; ++run) {
        for (int i = 0; i < 16; ++i) {  // nothing to send, so that no window fills
          ProgressEngine::Entry entry(*engine_);
          entry.post(FlushPolicy::Operation{8, 1000, false});
        }
        ProgressEngine::Entry entry(*engine_);
        entry.poll();
      }
      for (int i = 0; i < 3; ++i) post();
      if (io_->sent() < 3) return;
    }
    FAIL() << "no post ever waits";
  }
  static bool eventually(const std::function<bool()>& holds) {
    for (const auto end = Clock::now() + std::chrono::seconds(150); Clock::now() < end;) {
      if (holds()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  ses::EndpointId endpoint_;
  PeerId peer_;
  QuietIo* io_ = nullptr;
  std::unique_ptr<ProgressEngine> engine_;
};

TEST(EngineLockTest, OneThreadAtATime) {
  EngineLock lock(true);
  int inside = 0;
  int visits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        lock.lock();
        EXPECT_EQ(++inside, 1);
        ++visits;
        --inside;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(visits, 80000);
}

TEST(EngineLockTest, TryLockFailsWhileAThreadIsInside) {
  EngineLock lock(true);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// [architecture 5] The helper takes over when no visit comes, and then sleeps until an event.
TEST_F(ProgressTest, HelperRunsAnAbandonedEngineOnceAndSleeps) {
  create({});
  ASSERT_TRUE(engine_->helper().is_running());
  EXPECT_TRUE(eventually([&] { return engine_->helper_rounds() > 0; }));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(engine_->helper_rounds(), 10u) << "nothing happened, yet it ran again and again";
}

TEST_F(ProgressTest, HelperServesTheSocketOfAnIdleApplication) {
  create({});
  for (uint64_t pokes = 1; pokes <= 3; ++pokes) {
    std::this_thread::sleep_for(milliseconds(5));
    io_->poke();
    EXPECT_TRUE(eventually([&] { return io_->pokes_seen() == pokes; })) << pokes;
  }
}

// The helper sets SCHED_BATCH for itself, and does not change the application's threads.
TEST_F(ProgressTest, HelperInterruptsNoThreadThatComputes) {
  const int own = sched_getscheduler(0);
  create({});
  EXPECT_TRUE(eventually([&] { return engine_->helper_rounds() > 0; }));
  EXPECT_EQ(io_->policy(), own == SCHED_OTHER ? SCHED_BATCH : own);
  EXPECT_EQ(sched_getscheduler(0), own);
}

// While the application comes by, neither time nor packets make the helper run the engine, or wake
// up: only where this thread itself was kept away may it have thought so.
TEST_F(ProgressTest, HelperKeepsOutWhileTheApplicationPolls) {
  create({});
  std::atomic<bool> stop{false};
  std::thread network([&] {
    while (!stop.load()) {
      io_->poke();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  const uint64_t away = static_cast<uint64_t>(poll_for(milliseconds(400)).count());
  stop.store(true);
  network.join();
  // Some 8000 packets came. A few turns to begin with. While this thread is kept away the helper
  // runs for each packet; and is woken by one more, and tries again, when the thread is back.
  EXPECT_LE(engine_->helper().turns(), 6 + away / 25);
  EXPECT_LE(engine_->helper_rounds(), 3 + away / 40);
}

// How long after the last visit the helper takes over.
TEST_F(ProgressTest, HelperLeavesASteadyApplicationMoreTime) {
  // Nothing where it had taken over before, because this thread was kept away.
  const auto takes_over_after = [&](bool is_steady, Duration peers_wait) {
    engine_.reset();  // takes long, and the next test's helper would find no visits
    create({.peers_wait = peers_wait});
    for (const auto end = Clock::now() + milliseconds(5); visit() < end;) {
      if (!is_steady) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const uint64_t rounds = engine_->helper_rounds();
    const auto begin = Clock::now();
    while (engine_->helper_rounds() == rounds) {
      if (Clock::now() > begin + milliseconds(50)) return std::optional<Clock::duration>();
      std::this_thread::yield();
    }
    return std::optional<Clock::duration>(Clock::now() - begin);
  };
  const auto sooner_than_steady = std::chrono::nanoseconds((kSteadyAbsence - kSteadyPutOff).ns());
  const auto is_short = [&](const std::optional<Clock::duration>& d) {
    return d && *d < sooner_than_steady;
  };
  // A loaded machine makes a measurement longer, or stops this thread: the test repeats until it
  // has seen all results. The last one needs peers that resend soon.
  bool was_long = false;
  bool was_short = false;
  bool was_short_for_peers = false;
  while (!(was_long && was_short && was_short_for_peers)) {
    const auto steady = takes_over_after(true, 5_ms);
    was_long = was_long || (steady && !is_short(steady));
    was_short = was_short || is_short(takes_over_after(false, 5_ms));
    was_short_for_peers = was_short_for_peers || is_short(takes_over_after(true, 4_ms));
  }
}

TEST_F(ProgressTest, WithoutHelperNoOtherThreadRunsTheEngine) {
  create({.locking = false, .helper = false});
  EXPECT_FALSE(engine_->helper().is_running());
  io_->poke();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(io_->receives(), 0u);
  {
    ProgressEngine::Entry entry(*engine_);
    entry.poll();
  }
  EXPECT_EQ(io_->pokes_seen(), 1u);
}

// [LF-081] Auto progress does not wait for the application to be away.
TEST_F(ProgressTest, AutoProgressServesTheSocketAtOnce) {
  create({.auto_progress = true});
  std::atomic<bool> stop{false};
  std::thread application([&] {
    while (!stop.load()) {
      ProgressEngine::Entry entry(*engine_);
    }
  });
  io_->poke();
  EXPECT_TRUE(eventually([&] { return io_->pokes_seen() == 1; }));
  stop.store(true);
  application.join();
}

// Its limit is a day: it returns because there is nothing to wait for.
TEST_F(ProgressTest, DrainOfAnIdleEngineReturnsAtOnce) {
  create({});
  engine_->drain(Duration::seconds(86400));
  EXPECT_EQ(io_->sent(), 0u);
}

// A tool gets its turn between visits, and gives up after a time if a thread never leaves.
TEST_F(ProgressTest, ALookFromOutsideWaitsForItsTurnWithinALimit) {
  create({});
  int looks = 0;
  const auto look = [&looks](fep::Engine&, Instant) { ++looks; };
  EXPECT_TRUE(engine_->inspect(Duration::zero(), look));
  EXPECT_EQ(looks, 1);
  std::atomic<bool> is_inside = false, may_leave = false;
  std::thread sitter([&] {
    const ProgressEngine::Entry entry(*engine_);
    is_inside = true;
    while (!may_leave) std::this_thread::sleep_for(milliseconds(1));
  });
  ASSERT_TRUE(eventually([&] { return is_inside.load(); }));
  EXPECT_FALSE(engine_->inspect(Duration::milliseconds(20), look));
  EXPECT_EQ(looks, 1);
  std::thread patient([&] { EXPECT_TRUE(engine_->inspect(Duration::seconds(60), look)); });
  may_leave = true;
  patient.join();
  sitter.join();
  EXPECT_EQ(looks, 2);
}

// Posts in a row wait for each other, but not beyond a look for completions; beyond one that finds
// an earlier completion they wait for 20 us at most. [decision 9]
TEST_F(ProgressTest, EveryPollSendsWaitingPosts) {
  using Look = void (*)(ProgressEngine::Entry&);
  const Look looks[] = {
      [](ProgressEngine::Entry& e) { e.poll([] { return true; }); },
      [](ProgressEngine::Entry& e) { e.poll([] { return true; }, Find::stays); },
      [](ProgressEngine::Entry& e) {
        bool came = false;
        e.poll([&came] { return std::exchange(came, true); });
      },
      [](ProgressEngine::Entry& e) { e.poll([] { return false; }); },
      [](ProgressEngine::Entry& e) { e.poll(); },
  };
  for (size_t i = 0; i < std::size(looks); ++i) {
    ASSERT_NO_FATAL_FAILURE(create_with_post_that_waits());
    if (i == 0) std::this_thread::sleep_for(milliseconds(1));
    {
      ProgressEngine::Entry entry(*engine_);
      looks[i](entry);
    }
    EXPECT_GE(io_->sent(), 3u) << "look " << i;
  }
}

// The last posts of an application that goes away: the helper sends them. [decision 9]
TEST_F(ProgressTest, HelperSendsPostsThatWait) {
  ASSERT_NO_FATAL_FAILURE(create_with_post_that_waits());
  EXPECT_TRUE(eventually([this] { return io_->sent() >= 3; }));
}

// Visits that neither post nor look keep the helper away, but not what waits.
TEST_F(ProgressTest, AnyVisitsSendPostsThatWait) {
  ASSERT_NO_FATAL_FAILURE(create_with_post_that_waits());
  const uint64_t rounds = engine_->helper_rounds();
  while (io_->sent() < 3 && engine_->helper_rounds() == rounds) visit();
  EXPECT_GE(io_->sent(), 3u);
}

TEST_F(ProgressTest, WithoutHelperNoPostWaits) {
  create({.locking = false, .helper = false});
  open_endpoint();
  for (int run = 0; run < 10; ++run) {
    for (int i = 0; i < 16; ++i) {
      const uint64_t sent = io_->sent();
      post();
      EXPECT_GT(io_->sent(), sent);
    }
    ProgressEngine::Entry entry(*engine_);
    entry.poll();
  }
}

}  // namespace
}  // namespace uet::prov
