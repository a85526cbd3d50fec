// ICMP errors report that no process has the peer's port: when they end a PDC or a RUDI packet, and
// when not because a new process has the port by now. [PDS-249]
#include "pds/test/rudi_bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

// The remote host: no process has the port until `born`, and one has it afterwards.
struct Host {
  Instant born = Instant::never();
  Duration between_errors = Duration::zero();  // it sends no more than one error in this time,
  int burst = 1;                               // except for the first ones, of this number
  Instant next_error = {};

  bool sends_error(Instant now) {
    if (burst == 0 && now < next_error) return false;
    if (burst > 0) --burst;
    next_error = now + between_errors;
    return true;
  }
};

class UnreachableTest : public ::testing::Test {
 protected:
  static constexpr Duration kStep = 1_ms;  // an error or an answer needs that long

  // Until `d` has passed or something failed. Every packet has an error or an answer, in time.
  static void run(RudiBench& b, Host& host, Duration d) {
    const Instant end = b.now + d;
    std::vector<Bench::Out> under_way;
    while (b.now < end && b.client.failures.empty()) {
      const bool is_error = !under_way.empty() && b.now < host.born && host.sends_error(b.now);
      if (is_error) b.pds->path_reports().on_unreachable(under_way[0].to, b.now);
      if (b.now >= host.born) answer_all(b, under_way);
      b.pds->advance(b.now);
      under_way = b.tx();
      b.now = b.now + kStep;
    }
  }
  static void answer_all(RudiBench& b, const std::vector<Bench::Out>& packets) {
    for (const Bench::Out& o : packets) {
      if (o.type() == wire::PdsType::rudi_request) {
        b.answer(RudiBench::id_of(o));
      } else if (o.type() == wire::PdsType::rud_request) {
        b.rx_header(b.ack(o.as<wire::Request>().psn));
      }
    }
  }
  static int64_t failed_after_ms(RudiBench& b, Host host, Duration d = 20_s) {
    const Instant begin = b.now;
    run(b, host, d);
    EXPECT_FALSE(b.client.failures.empty());
    if (b.client.failures.empty()) return -1;
    EXPECT_EQ(b.client.failures[0].reason, FailureReason::unreachable);
    return (b.now - begin).ms();
  }
};

TEST_F(UnreachableTest, APeerThatStaysGoneFailsAfterAboutTwoSeconds) {
  RudiBench b;
  b.open_initiator(1);
  const int64_t ms = failed_after_ms(b, Host{});
  EXPECT_GE(ms, 2000);
  EXPECT_LE(ms, 2500);
}

TEST_F(UnreachableTest, ARudiPacketFailsAfterTheSameTime) {
  RudiBench b;
  b.send(1, 1);
  const int64_t ms = failed_after_ms(b, Host{});
  EXPECT_GE(ms, 2000);
  EXPECT_LE(ms, 2500);
}

// Linux sends six errors at once to one address, and one in each second after them.
TEST_F(UnreachableTest, AHostThatSendsFewErrorsIsBelievedALittleLater) {
  for (const uint32_t packets : {1u, 3u, 40u}) {
    RudiBench b;
    b.open_initiator(packets);
    Host slow;
    slow.between_errors = 1_s;
    slow.burst = 6;
    const int64_t ms = failed_after_ms(b, slow);
    EXPECT_GE(ms, 2000) << packets;
    EXPECT_LE(ms, 4000) << packets;
  }
}

// The series of errors began with the process that is gone. Its successor answers the next resend,
// which may be up to 200 ms after it began: nothing fails.
TEST_F(UnreachableTest, ANewProcessOnThePortOfADeadOneIsNotTakenForIt) {
  for (int64_t ms = 1500; ms <= 1990; ms += 10) {
    RudiBench b;
    b.open_initiator(1);
    Host host;
    host.born = b.now + Duration::milliseconds(ms);
    run(b, host, 5_s);
    EXPECT_TRUE(b.client.failures.empty()) << ms;
    EXPECT_EQ(b.client.responded.size(), 1u) << ms;
  }
}

TEST_F(UnreachableTest, ANewProcessOnThePortDoesNotFailARudiPacket) {
  for (int64_t ms = 1500; ms <= 1990; ms += 10) {
    RudiBench b;
    b.send(1, 1);
    Host host;
    host.born = b.now + Duration::milliseconds(ms);
    run(b, host, 5_s);
    EXPECT_TRUE(b.client.failures.empty()) << ms;
  }
}

// An error that comes at the moment of a resend is about an older packet, perhaps of another PDC.
// The resend may be with a new process, which takes its time.
TEST_F(UnreachableTest, APacketThatLeftAfterTheLastErrorIsWaitedFor) {
  RudiBench b;
  b.open_initiator(1);
  for (const Instant end = b.now + 10_s; b.now < end; b.now = b.now + kStep) {
    b.pds->advance(b.now);
    if (!b.tx().empty()) b.pds->path_reports().on_unreachable(address(9), b.now);
  }
  EXPECT_TRUE(b.client.failures.empty());
}

}  // namespace
}  // namespace uet::pds::test
