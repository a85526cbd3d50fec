// [LF-142] Two endpoints of one host: their packets go through shared memory where they may,
// through the socket where not, and nothing else changes. [decision 21]
#include "io/fault/faulty.h"
#include "io/tap/pcap_tap.h"
#include "io/test/mapped_rings.h"
#include "io/test/shm_testing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

namespace uet::io {
namespace {

using test::mapped_rings;

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST_F(ShmIoTest, AfterTheFirstPacketAllGoThroughTheRingAndLookTheSame) {
  a_ = open_shm(ipv4(1));
  b_ = open_shm(ipv4(2));
  send(*a_, b_->local_address(), "by socket", 5);
  const std::vector<Got> first = receive(*b_, 1);
  ASSERT_EQ(first.size(), 1u);
  for (int i = 0; i < 20; ++i) {
    poll(*b_);
    poll(*a_);
  }
  ASSERT_EQ(a_->counters().rings_out, 1u);
  EXPECT_EQ(a_->counters().tx_packets, 0u);

  const std::string big(8000, 'b');
  Outbox out;
  out.add(b_->local_address(), "short", 5, 10, Ecn::ect1);
  out.add(b_->local_address(), big, 6);
  a_->send(out.packets());
  EXPECT_EQ(out.fates(), "ss");
  const std::vector<Got> got = receive(*b_, 2);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].text, "short");
  EXPECT_EQ(got[0].dscp, 10);
  EXPECT_EQ(got[0].ecn, Ecn::ect1);
  EXPECT_EQ(got[1].text, big);
  EXPECT_EQ(a_->counters().tx_packets, 2u);
  EXPECT_EQ(b_->counters().rx_packets, 2u);
  EXPECT_EQ(got[0].from.ip, first[0].from.ip);
}

// [WIRE-121] A process with a block of ports is known by its port.
TEST_F(ShmIoTest, TheSourcePortTellsTheSender) {
  a_ = open_shm(ipv4(1));
  const std::unique_ptr<ShmIo> later = open_shm(ipv4(1));  // 4793 is taken
  const FabricAddress block = later->local_address();
  ASSERT_NE(block.port, kUetPort);
  agree(*later, *a_);
  send(*later, a_->local_address(), "x", 21);
  const std::vector<Got> got = receive(*a_, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(later->counters().tx_packets, 1u);
  EXPECT_EQ(got[0].from.port, block.port + 5);  // 21 modulo 16
  EXPECT_EQ(got[0].ev, Entropy(got[0].from.port));
}

TEST_F(ShmIoTest, OtherPeersAreReachedThroughTheSocket) {
  open_both();
  const std::unique_ptr<UdpIo> plain = open(at(ipv4(3)));
  Outbox out;
  out.add(plain->local_address(), "1");
  out.add(plain->local_address(), "2");
  out.add(b_->local_address(), "3");
  out.add(plain->local_address(), "4");
  a_->send(out.packets());
  EXPECT_EQ(out.fates(), "ssss");
  EXPECT_EQ(receive(*plain, 3).size(), 3u);
  const std::vector<Got> got = receive(*b_, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "3");
  EXPECT_EQ(a_->counters().tx_packets, 1u);
}

TEST_F(ShmIoTest, SocketAndRingAreBothHeard) {
  open_both();
  const std::unique_ptr<UdpIo> plain = open(at(ipv4(3)));
  for (int i = 0; i < 300; ++i) {
    send(*a_, b_->local_address(), "ring");
    if (i % 10 == 0) send(*plain, b_->local_address(), "socket");
    poll(*b_);
  }
  EXPECT_EQ(b_->counters().rx_packets, 300u);
  uint64_t by_socket = 0;
  b_->report_counters([&](const char* name, uint64_t value) {
    if (std::string(name) == "udp_rx_datagrams") by_socket = value;
  });
  EXPECT_EQ(by_socket, 31u);  // with the first packet of a_
}

TEST_F(ShmIoTest, OnlyASleeperIsWoken) {
  open_both();
  send(*a_, b_->local_address(), "awake");
  EXPECT_EQ(a_->counters().tx_bells, 0u);
  EXPECT_EQ(receive(*b_, 1).size(), 1u);

  b_->on_sleep(true);
  pollfd waiting{b_->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 20), 0);
  send(*a_, b_->local_address(), "wake up");
  EXPECT_EQ(a_->counters().tx_bells, 1u);
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  b_->on_sleep(false);
  EXPECT_EQ(receive(*b_, 1).size(), 1u);
  // The bell is not heard again.
  b_->on_sleep(true);
  EXPECT_EQ(::poll(&waiting, 1, 20), 0);
  b_->on_sleep(false);
}

TEST_F(ShmIoTest, PacketsAlreadyInTheRingWakeASleeper) {
  open_both();
  send(*a_, b_->local_address(), "early");
  b_->on_sleep(true);
  pollfd waiting{b_->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  // Another thread takes the packet while this one sleeps on: later ones wake it again.
  EXPECT_EQ(receive(*b_, 1).size(), 1u);
  (void)b_->receive();
  EXPECT_EQ(::poll(&waiting, 1, 20), 0);
  send(*a_, b_->local_address(), "later");
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  b_->on_sleep(false);
}

TEST_F(ShmIoTest, APeerThatEndsLeavesNothingAndOneThatComesBackIsFoundAgain) {
  const size_t before = open_descriptors();
  a_ = open_shm(ipv4(1));
  const size_t alone = open_descriptors();
  b_ = open_shm(ipv4(2));
  agree(*a_, *b_);
  const FabricAddress to = b_->local_address();
  send(*a_, to, "in the ring");
  b_.reset();
  poll(*a_);
  EXPECT_EQ(a_->departures(), 0u);
  EXPECT_EQ(mapped_rings(), 0u);
  EXPECT_LE(open_descriptors(), alone + 1);  // a socket of the entropy value that was used
  send(*a_, to, "to a closed port");
  const std::vector<PathError> errors = errors_within_a_second(*a_);
  EXPECT_FALSE(errors.empty());

  b_ = open_shm(ipv4(2));
  ::usleep(20'000);  // the last try failed just now
  agree(*a_, *b_);
  send(*a_, to, "anew");
  (void)receive(*b_, 1);
  EXPECT_EQ(a_->counters().tx_packets, 2u);
  a_.reset();
  b_.reset();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(mapped_rings(), 0u);
}

TEST_F(ShmIoTest, PacketsOfAPeerThatEndedAreStillRead) {
  open_both();
  for (int i = 0; i < 100; ++i) send(*a_, b_->local_address(), std::string(300, 'x'));
  a_.reset();
  b_->on_sleep(true);  // sees that the peer is gone
  b_->on_sleep(false);
  EXPECT_EQ(receive(*b_, 100).size(), 100u);
  poll(*b_);
  EXPECT_EQ(mapped_rings(), 0u);
}

TEST_F(ShmIoTest, RoomIsReportedWhenTheRingComesAndWhenItGoes) {
  open_both();
  std::span<const PathError> news = a_->path_errors();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].to, b_->local_address());
  EXPECT_EQ(news[0].error, 0);
  EXPECT_EQ(news[0].room_bytes, 256u * 1024);
  EXPECT_TRUE(a_->path_errors().empty());
  b_.reset();
  poll(*a_);
  news = a_->path_errors();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].room_bytes, 0u);
}

TEST_F(ShmIoTest, AConnectionThatSaysNonsenseIsClosed) {
  b_ = open_shm(ipv4(2));
  const Fd stranger = connect_to_door(b_->local_address());
  ASSERT_TRUE(stranger);
  EXPECT_EQ(::send(stranger.get(), "nonsense", 8, 0), 8);
  poll(*b_);
  char octet = 0;
  EXPECT_EQ(::recv(stranger.get(), &octet, 1, MSG_DONTWAIT), 0);
  // Memory that could shrink.
  const Fd other = connect_to_door(b_->local_address());
  Fd plain(::memfd_create("plain", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(plain.get(), kShmRingBytes), 0);
  ASSERT_TRUE(send_hello(other, ipv4(1), plain));
  poll(*b_);
  EXPECT_EQ(::recv(other.get(), &octet, 1, MSG_DONTWAIT), 0);
  EXPECT_EQ(b_->counters().rings_in, 0u);
}

TEST_F(ShmIoTest, ASenderNamesAnAddressThatAnEndpointCanHave) {
  b_ = open_shm(ipv4(2));
  FabricAddress no_family = ipv4(1);
  no_family.family = static_cast<FabricAddress::Family>(9);
  FabricAddress no_port = ipv4(1);
  no_port.port = 0;
  FabricAddress longer = ipv4(1);
  longer.ip[15] = 1;
  for (const FabricAddress& from : {no_family, no_port, longer}) {
    const Fd connection = connect_to_door(b_->local_address());
    Fd descriptor;
    const ShmMemory memory = ShmMemory::make(descriptor);
    ASSERT_TRUE(send_hello(connection, from, descriptor));
    poll(*b_);
    char octet = 0;
    EXPECT_EQ(::recv(connection.get(), &octet, 1, MSG_DONTWAIT), 0) << "is closed";
  }
  EXPECT_EQ(b_->counters().rings_in, 0u);
}

// epoll reports them once only.
TEST_F(ShmIoTest, ACrowdOfNewcomersIsLetInAFewAtATime) {
  for (const bool sleeps : {false, true}) {
    SCOPED_TRACE(sleeps);
    b_.reset();
    b_ = open_shm(ipv4(2));
    if (sleeps) b_->on_sleep(true);
    std::vector<Fd> silent;
    for (int i = 0; i < 50; ++i) silent.push_back(connect_to_door(b_->local_address()));
    const Fd connection = connect_to_door(b_->local_address());
    Fd descriptor;
    const ShmMemory memory = ShmMemory::make(descriptor);
    ASSERT_TRUE(send_hello(connection, ipv4(1), descriptor));
    pollfd waiting{b_->wait_fd(), POLLIN, 0};
    int looks = 0;
    for (; b_->counters().rings_in == 0 && looks < 1000; ++looks) {
      ASSERT_TRUE(!sleeps || ::poll(&waiting, 1, 0) == 1) << "asleep after look " << looks;
      (void)b_->receive();
    }
    EXPECT_EQ(b_->counters().rings_in, 1u);
    EXPECT_GE(looks, 4) << "51 connections, 16 in a look";
    EXPECT_TRUE(!sleeps || looks <= 8) << looks;
  }
}

TEST_F(ShmIoTest, ARingThatHoldsNonsenseIsDroppedAndReported) {
  b_ = open_shm(ipv4(2));
  static int told;
  told = 0;
  b_->tell_of_broken_rings([](const FabricAddress& peer, bool is_ours) {
    told += peer == ipv4(1) && !is_ours ? 1 : 100;
  });
  const Fd connection = connect_to_door(b_->local_address());
  Fd descriptor;
  const ShmMemory memory = ShmMemory::make(descriptor);
  ASSERT_TRUE(send_hello(connection, ipv4(1), descriptor));
  poll(*b_);
  ASSERT_EQ(b_->counters().rings_in, 1u);
  auto* const cell = reinterpret_cast<uint32_t*>(memory.get() + kShmHeadBytes);
  cell[2] = UINT32_MAX;  // octets
  cell[0] = 1;           // it is there
  poll(*b_);
  EXPECT_EQ(b_->counters().rings_broken, 1u);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(b_->counters().rx_packets, 0u);
}

TEST_F(ShmIoTest, AReaderThatClaimsNonsenseSendsTheTrafficToTheSocket) {
  open_both();
  // The reader's word lies at the beginning of the ring, the only mapping besides that of b_.
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:uet-ring") == std::string::npos) continue;
    *reinterpret_cast<uint32_t*>(std::stoull(line, nullptr, 16)) = 1'000'000;
  }
  for (uint32_t i = 0; i <= kShmCells; ++i) send(*a_, b_->local_address(), "x");
  EXPECT_EQ(a_->counters().rings_broken, 1u);
  EXPECT_EQ(a_->counters().tx_packets, uint64_t{kShmCells});
  EXPECT_EQ(a_->departures(), 0u);
}

TEST_F(ShmIoTest, CaptureAndFaultsWorkAbove) {
  open_both();
  std::string error;
  const auto plan = parse_fault_plan("loss=1", &error);
  ASSERT_TRUE(plan.has_value()) << error;
  const FabricAddress to = b_->local_address();
  ShmIo& shm = *a_;
  auto lossy = std::make_unique<FaultyIo>(std::move(a_), *plan, 1);
  send(*lossy, to, "lost");
  EXPECT_EQ(shm.counters().tx_packets, 0u);

  std::unique_ptr<PacketIo> inner = std::move(b_);
  char name[] = "/tmp/uet_shm_XXXXXX";
  const Fd file(::mkstemp(name));
  const auto tap = PcapTap::open(inner, name, {"lo", ""}, &error);
  ASSERT_NE(tap, nullptr) << error;
  a_ = open_shm(ipv4(3));
  for (int i = 0; i < 50; ++i) {
    send(*a_, to, "socket");
    poll(*tap);
    poll(*a_);
  }
  ASSERT_EQ(a_->counters().rings_out, 1u);
  send(*a_, to, "through the ring");
  poll(*tap);
  tap->flush();
  std::ifstream in(name, std::ios::binary);
  const std::string octets((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(octets.find("through the ring"), std::string::npos);
  ::unlink(name);
}

// Runs `child` in another process, and kills it at the end.
class Child {
 public:
  explicit Child(const std::function<void()>& child) : pid_(::fork()) {
    if (pid_ != 0) return;
    child();
    ::_exit(0);
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

TEST_F(ShmIoTest, AKilledPeerLeavesNothing) {
  const FabricAddress to = ipv4(2);
  Child child([&] {
    const std::unique_ptr<ShmIo> io = open_shm(to);
    for (;;) (void)io->receive();
  });
  a_ = open_shm(ipv4(1));
  Outbox out;
  for (int i = 0; i < 8; ++i) out.add(to, std::string(8000, 'x'));
  for (int i = 0; i < 3000 && a_->counters().tx_packets < 200; ++i) {
    a_->send(out.packets());
    poll(*a_);
    ::usleep(1000);
  }
  EXPECT_GE(a_->counters().tx_packets, 200u);
  child.kill();
  a_->send(out.packets());  // it is not known yet
  a_->on_sleep(true);
  pollfd waiting{a_->wait_fd(), POLLIN, 0};
  EXPECT_EQ(a_->departures(), 0u);
  a_->on_sleep(false);
  EXPECT_EQ(mapped_rings(), 0u);
  const uint64_t before = a_->counters().tx_packets;
  a_->send(out.packets());
  EXPECT_EQ(a_->counters().tx_packets, before);
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);  // no process is there
}

TEST_F(ShmIoTest, AnotherUserIsReachedThroughTheSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const FabricAddress from = ipv4(1);  // depends on the process
  const FabricAddress to = ipv4(2);
  Child child([&] {
    if (::setresuid(12345, 12345, 12345) != 0) ::_exit(1);
    const std::unique_ptr<ShmIo> io = open_shm(to);
    const std::vector<Got> got = receive(*io, 1);
    for (;;) {
      if (!got.empty()) send(*io, from, "answer");
      (void)io->receive();
      ::usleep(1000);
    }
  });
  a_ = open_shm(from);
  bool is_answered = false;
  for (int i = 0; i < 3000 && !is_answered; ++i) {
    send(*a_, to, "hello");
    for (int k = 0; k < 200; ++k) is_answered |= !a_->receive().empty();
    ::usleep(1000);
  }
  EXPECT_TRUE(is_answered);
  EXPECT_GT(a_->counters().refused, 0u);
  EXPECT_EQ(a_->counters().tx_packets, 0u);
  EXPECT_EQ(a_->counters().rx_packets, 0u);
  EXPECT_EQ(a_->counters().rings_in, 0u);
}

TEST_F(ShmIoTest, ManyPeersAreBounded) {
  a_ = open_shm(ipv4(1));
  std::vector<std::unique_ptr<ShmIo>> peers;
  for (uint8_t i = 2; i < 142; ++i) peers.push_back(open_shm(ipv4(i)));
  for (int round = 0; round < 3; ++round) {
    for (const auto& peer : peers) send(*a_, peer->local_address(), "x");
    for (const auto& peer : peers) poll(*peer);
    poll(*a_);
  }
  EXPECT_EQ(a_->departures(), ShmDepartures::kRingsMax);
  uint64_t got = 0;
  for (const auto& peer : peers) got += peer->counters().rx_packets;
  EXPECT_EQ(got, a_->counters().tx_packets);
}

TEST_F(ShmIoTest, ATakenNameLeavesTheSocket) {
  std::unique_ptr<PacketIo> socket = open(at(ipv4(1)));
  ShmDoor squatter;
  ASSERT_TRUE(squatter.open(socket->local_address()));
  std::string error;
  EXPECT_EQ(ShmIo::open(socket, &error), nullptr);
  EXPECT_NE(socket, nullptr);
  EXPECT_NE(error, "");
}

}  // namespace
}  // namespace uet::io
