// [ABI-045] Which thread watches the socket of an engine: Sleepers alone, then a wait object that
// ends while another thread's sleep is still announced. [architecture 5]
#include "prov/uet/completion/sleepers.h"

#include "prov/uet/api/log.h"
#include "prov/uet/completion/wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

namespace uet::prov {

// The plugin has it; log lines name it.
fi_provider& provider() {
  static fi_provider none{};
  return none;
}

namespace {

using Way = Sleepers::Way;

template <class Body>
void elsewhere(Body body) {
  std::thread(body).join();
}

TEST(SleepersTest, TheFirstThreadWatchesForAllSleepers) {
  Sleepers sleepers;
  EXPECT_TRUE(sleepers.begin_watch(true, Way::asleep));
  elsewhere([&] { EXPECT_FALSE(sleepers.begin_watch(true, Way::asleep)); });
  EXPECT_FALSE(sleepers.are_served());
  EXPECT_TRUE(sleepers.end_watch(true, Way::asleep)) << "the helper takes over";
  EXPECT_TRUE(sleepers.are_served());
}

TEST(SleepersTest, WithoutAHelperEachThreadWatches) {
  Sleepers sleepers;
  EXPECT_TRUE(sleepers.begin_watch(false, Way::asleep));
  elsewhere([&] { EXPECT_TRUE(sleepers.begin_watch(false, Way::asleep)); });
}

// A thread that has armed a descriptor may be busy elsewhere: one that sleeps watches by itself.
TEST(SleepersTest, AThreadThatSleepsDoesNotRelyOnAnArmedDescriptor) {
  Sleepers sleepers;
  elsewhere([&] { EXPECT_TRUE(sleepers.begin_watch(true, Way::armed)); });
  EXPECT_TRUE(sleepers.begin_watch(true, Way::asleep));
  elsewhere([&] { EXPECT_FALSE(sleepers.begin_watch(true, Way::asleep)); });
  EXPECT_FALSE(sleepers.are_served());
  EXPECT_TRUE(sleepers.end_watch(true, Way::asleep)) << "only the armed one is left to watch";
  EXPECT_TRUE(sleepers.are_served());
}

TEST(SleepersTest, ArmedDescriptorsWakeOneThread) {
  Sleepers sleepers;
  EXPECT_TRUE(sleepers.begin_watch(true, Way::armed));
  elsewhere([&] { EXPECT_FALSE(sleepers.begin_watch(true, Way::armed)); });
  EXPECT_FALSE(sleepers.are_served());
}

// A backend without packets.
class NoPackets final : public io::PacketIo {
 public:
  io::IoCaps caps() const override { return {.max_datagram_bytes = 9000}; }
  FabricAddress local_address() const override { return {}; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& packet : packets) packet.fate = TxFate::sent;
  }
  std::span<RxDatagram> receive() override { return {}; }
  int wait_fd() const override { return -1; }
};

// [ABI-045] A thread may close a queue that another one has armed.
TEST(WaitObjectTest, OneThatEndsIsWatchedByNoThread) {
  FabricAddress local;
  local = FabricAddress::v4(0x7F000001);
  auto fep = fep::FabricEndpoint::create(fep::Config{}, local, 1);
  ASSERT_TRUE(fep.ok());
  auto created = ProgressEngine::create(
      std::make_unique<fep::Engine>(std::move(*fep), std::make_unique<NoPackets>()), {});
  ASSERT_TRUE(created.ok());
  ProgressEngine& engine = **created;
  WaitObject object;
  ASSERT_EQ(object.open(FI_WAIT_FD, engine), 0);
  elsewhere([&] {
    ProgressEngine::Entry entry(engine);
    EXPECT_EQ(object.trywait(entry, {nullptr, [](void*) { return false; }}), 0);
  });
  const ProgressEngine::Entry entry(engine);
  object.disarm();
  EXPECT_FALSE(engine.sleepers().begin_watch(true, Way::armed)) << "the other thread sleeps on";
  engine.sleepers().end_watch(false, Way::armed);
  object.retire();
  EXPECT_TRUE(engine.sleepers().begin_watch(true, Way::armed));
  engine.sleepers().end_watch(true, Way::armed);
}

}  // namespace
}  // namespace uet::prov
