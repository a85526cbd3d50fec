// An attacker recorded packets of two processes and sends them again, whole or changed, from a
// plain UDP socket with the right address and port: nothing is delivered, each packet moves its
// counter, and peers with the key continue.
#include "prov/uet/test/rollover_roles.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

namespace uet::prov::test {
namespace {

constexpr const char* kTargetAt = "127.0.50.2";
constexpr const char* kWriterAt = "127.0.50.3";
constexpr const char* kOtherAt = "127.0.50.4";
constexpr size_t kMessageBytes = 64;

// Counters of the target, in the order in which it sends them.
enum Counted : size_t {
  opened,
  forged,
  invalid,
  no_key,
  errored,
  clear,
  counted_
};
constexpr std::array<const char*, counted_> kNames = {
    "tss_in_auth_pkts",  "tss_in_auth_fail_pkts", "tss_in_invalid",
    "tss_in_invalid_sa", "tss_in_errored_pkts",   "tss_in_rx_encryption_bypass_pkts"};
using Counts = std::array<uint64_t, counted_>;

NodeOptions at(const char* address) {
  NodeOptions options;
  options.address = address;
  return options;
}

class SecuredAttackTest : public SecuredRolesTest {
 protected:
  // Receives one message, then reports its counters as often as requested, then receives another
  // one.
  static void be_target(const Line& line) {
    Node node(at(kTargetAt));
    std::vector<uint8_t> got(kMessageBytes);
    ASSERT_EQ(fi_recv(node.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    line.tell(node.name());
    EXPECT_EQ(await(node.rx_cq).err, 0);
    EXPECT_EQ(got, pattern(kMessageBytes, 1));
    await_attacks(line, node);
  }
  // The target again, after a restart.
  static void be_target_again(const Line& line) {
    Node node(at(kTargetAt));
    line.tell(node.name());
    await_attacks(line, node);
  }
  static void await_attacks(const Line& line, Node& node) {
    std::vector<uint8_t> next(kMessageBytes);
    ASSERT_EQ(fi_recv(node.ep, next.data(), next.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    Done done;
    while (line.hear_value() != 0) {
      ASSERT_FALSE(read_one(node.rx_cq, done)) << "a recorded message was delivered";
      for (const char* const name : kNames) line.tell(counter(node, name));
    }
    EXPECT_EQ(await(node.rx_cq).err, 0);
    EXPECT_EQ(next, pattern(kMessageBytes, 2));
    line.tell(1);
    line.hear_value();
  }
  static void send_one(const char* from, uint32_t seed, const std::vector<uint8_t>& to) {
    Node node(at(from));
    const std::vector<uint8_t> mine = pattern(kMessageBytes, seed);
    ASSERT_EQ(fi_send(node.ep, mine.data(), mine.size(), nullptr, node.insert(to), nullptr), 0);
    const Done done = await(node.tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
  }

  void SetUp() override {
    SecuredRolesTest::SetUp();
    target_ = start(0, same_name(), be_target);
    name_ = line().hear();
    finish(start(1, secured({{"FI_UET_PCAP", kept(path("writer.pcapng"))}}),
                 [this](const Line&) { send_one(kWriterAt, 1, name_); }));
    for (const Captured& c : read_capture(path("writer.pcapng"))) {
      (c.destination[3] == 2 ? there_ : back_).push_back(c);
    }
    ASSERT_FALSE(there_.empty());
    ASSERT_FALSE(back_.empty());
    const auto longest = std::max_element(
        there_.begin(), there_.end(),
        [](const Captured& a, const Captured& b) { return a.payload.size() < b.payload.size(); });
    message_ = *longest;
    ASSERT_GT(message_.payload.size(), kMessageBytes);
    before_ = counts();
  }
  // Peers with the key keep working.
  void TearDown() override {
    if (!HasFailure()) {
      line().tell(uint64_t{0});
      finish(start(1, secured(), [this](const Line&) { send_one(kOtherAt, 2, name_); }));
      EXPECT_EQ(line().hear_value(), 1u);
      line().tell(1);
      finish(target_);
    }
    SecuredRolesTest::TearDown();
  }
  const Line& line() const { return ends_[1]; }
  Settings same_name() {
    return secured({{"FI_UET_PID_ON_FEP", "77"}, {"FI_UET_INITIATOR_ID", "7777"}});
  }

  // A datagram from that address and port.
  void send(const std::vector<uint8_t>& octets, const Captured& as, const char* from = kWriterAt,
            uint16_t port = 0, int tos = 0) {
    if (port == 0) port = as.source_port;
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in source{}, to{};
    source.sin_family = to.sin_family = AF_INET;
    source.sin_port = htons(port);
    inet_pton(AF_INET, from, &source.sin_addr);
    to.sin_port = htons(there_.front().destination_port);
    inet_pton(AF_INET, kTargetAt, &to.sin_addr);
    ASSERT_EQ(::setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos), 0);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&source), sizeof source), 0);
    ASSERT_EQ(
        ::sendto(fd, octets.data(), octets.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
        static_cast<ssize_t>(octets.size()));
    ::close(fd);
    ++sent_;
  }
  Counts counts() {
    Counts all{};
    line().tell(1);
    for (uint64_t& one : all) one = line().hear_value();
    return all;
  }
  // The counts since the last call, when all sent packets are counted.
  Counts news() {
    const auto end = Clock::now() + kPatience;
    Counts now{}, news{};
    uint64_t total = 0;
    do {
      now = counts();
      total = 0;
      for (size_t i = 0; i < counted_; ++i) total += news[i] = now[i] - before_[i];
    } while (total < sent_ && Clock::now() < end);
    EXPECT_EQ(total, sent_);
    before_ = now;
    sent_ = 0;
    return news;
  }

  pid_t target_ = 0;
  std::vector<uint8_t> name_;
  std::vector<Captured> there_, back_;  // packets that the writer sent and received
  Captured message_;
  Counts before_{};
  uint64_t sent_ = 0;
};

// [TSS-021, TSS-083..090, TSS-096..098, TSS-102, TSS-108] In the first octet are type, SP and AN.
TEST_F(SecuredAttackTest, NoOctetCanBeChanged) {
  for (size_t offset = 0; offset < message_.payload.size(); ++offset) {
    std::vector<uint8_t> octets = message_.payload;
    octets[offset] ^= 0x40;
    send(octets, message_);
  }
  const uint64_t rest = message_.payload.size() - 4;
  EXPECT_EQ(news(), (Counts{0, rest, 0, 0, 3, 1})) << "an octet of the type, three of the SDI";
  for (const int bit : {0x04, 0x02, 0x01}) {  // SP, reserved, AN
    std::vector<uint8_t> octets = message_.payload;
    octets[0] = static_cast<uint8_t>(octets[0] ^ bit);
    send(octets, message_);
  }
  EXPECT_EQ(news(), (Counts{0, 1, 1, 1, 0, 0}));
}

// [TSS-027, TSS-083, T-43] Shorter by up to all octets.
TEST_F(SecuredAttackTest, NoOctetCanBeCutOff) {
  const size_t size = message_.payload.size();
  for (size_t left = 0; left < size; ++left) {
    send({message_.payload.begin(), message_.payload.begin() + static_cast<ptrdiff_t>(left)},
         message_);
  }
  EXPECT_EQ(news(), (Counts{0, size - 28, 0, 0, 27, 1})) << "header and ICV have 28 octets";
}

// [TSS-021, TSS-022] From another address or port; packets of the target, sent to it.
TEST_F(SecuredAttackTest, AddressesAndPortsCannotBeChanged) {
  send(message_.payload, message_, kOtherAt);
  send(message_.payload, message_, kWriterAt, 40404);
  EXPECT_EQ(news(), (Counts{0, 2, 0, 0, 0, 0}));
  for (const Captured& c : back_) send(c.payload, c, kTargetAt, 40404);
  EXPECT_EQ(news(), (Counts{0, back_.size(), 0, 0, 0, 0}));
}

// [TSS-021, TSS-082] Marks of the network may change.
TEST_F(SecuredAttackTest, MarksAreNotAuthenticated) {
  for (const int tos : {0x03, 0xB8, 0x01}) send(message_.payload, message_, kWriterAt, 0, tos);
  EXPECT_EQ(news(), (Counts{3, 0, 0, 0, 0, 0}));
}

// [TSS-060, TSS-066, T-12, T-13] Authentic packets that come again open and deliver nothing.
TEST_F(SecuredAttackTest, ARecordingDeliversNothing) {
  for (int times = 0; times < 10; ++times) {
    for (const Captured& c : there_) send(c.payload, c);
    EXPECT_EQ(news(), (Counts{there_.size(), 0, 0, 0, 0, 0}));
  }
}

// [TSS-059, TSS-061, TSS-064, T-13] A restarted target has forgotten its peers, and has the same
// key. Its process has the same name, or a recorded message would find no endpoint.
TEST_F(SecuredAttackTest, ARecordingDeliversNothingToTheNextLifeOfATarget) {
  kill_and_reap(target_);
  target_ = start(0, same_name(), be_target_again);
  name_ = line().hear();
  before_ = counts();
  for (int times = 0; times < 3; ++times) {
    for (const Captured& c : there_) send(c.payload, c);
    EXPECT_EQ(news(), (Counts{there_.size(), 0, 0, 0, 0, 0}));
  }
}

// [TSS-048, TSS-086, TSS-098] What was recorded under a key that is retired is not even opened.
TEST_F(SecuredAttackTest, ARetiredKeyOpensNothing) {
  write_keys("keys", domain_text(key_text(1, '2'), "transmit = 1\n"));
  const auto end = Clock::now() + kPatience;
  Counts all{};
  do {
    send(message_.payload, message_);
    const Counts more = news();
    for (size_t i = 0; i < counted_; ++i) all[i] += more[i];
  } while (all[no_key] == 0 && Clock::now() < end);
  EXPECT_EQ(all[forged] + all[invalid] + all[errored] + all[clear], 0u);
  for (const Captured& c : there_) send(c.payload, c);
  EXPECT_EQ(news(), (Counts{0, 0, 0, there_.size(), 0, 0}));
}

// [TSS-045..048, TSS-050]
TEST_F(SecuredRolloverTest, TheKeyIsReplacedUnderLoad) {
  // Both ends have read the file before the next step, on a busy machine, too.
  const milliseconds step(setting("UET_ROLLOVER_MS", 1350) / 3);
  const pid_t a = start(0, secured(), [](const Line& line) { talk(line, true); });
  const pid_t b = start(1, secured(), [](const Line& line) { talk(line, false); });
  for (int i = 0; i < setting("UET_ROLLOVERS", 3); ++i) {
    for (const std::string& text : rollover(i)) {
      std::this_thread::sleep_for(step);
      write_keys("keys", text);
    }
  }
  end_talk();
  finish(a);
  finish(b);
}

}  // namespace
}  // namespace uet::prov::test
