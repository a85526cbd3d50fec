// RCCC at the source. By hand, with 100 Gb/s and 12 us: the BDP has 150,000 octets, MaxWnd is
// 225,000; a packet has 4,000 nominal octets, a unit 256.
#include "cms/credit_source.h"

#include <gtest/gtest.h>

namespace uet::cms::credit_source {
namespace {

using namespace uet::literals;

constexpr uint32_t kPacket = 4000;
constexpr int64_t kBdp = 150'000;
constexpr int64_t kWindow = 225'000;
const Instant kStart = Instant::from_ns(1'000'000'000);

Config config() {
  Config c;
  c.algorithm = Algorithm::rccc;
  c.mtu_bytes = kPacket;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  c.credit.timeout = 300_us;
  return c;
}

CreditNeed need(uint64_t backlog, uint64_t resend = 0) { return {backlog, resend}; }

class CreditSourceTest : public ::testing::Test {
 protected:
  void send(uint32_t packets) {
    for (uint32_t i = 0; i < packets; ++i) source_.on_sent(kPacket);
  }
  // Nothing is left of the first window, and the destination has answered.
  void exhaust() {
    source_.on_feedback();
    ASSERT_EQ(source_.credit_bytes(), 0);
  }
  Instant now_ = kStart;
  CreditSource source_{config()};
};

// [CMS-120, CMS-121] One BDP goes out on trust, whatever a window is.
TEST_F(CreditSourceTest, BeginsWithOneBdpOfCredit) {
  EXPECT_EQ(source_.credit_bytes(), kBdp);
  EXPECT_TRUE(source_.is_speculating());
  EXPECT_EQ(source_.told(), 0u);
  EXPECT_EQ(source_.window_bytes(), uint64_t{kWindow});

  Config c = config();
  c.credit.first_permille = 500;
  EXPECT_EQ(CreditSource(c).credit_bytes(), kBdp / 2);
  c.credit.first_permille = 9000;
  EXPECT_EQ(CreditSource(c).credit_bytes(), kWindow) << "at most MaxWnd";
}

// [CMS-121, CMS-125] A stack in software begins with 128 KiB of payload, here 32 packets of 4,240
// octets, and holds at most this window of credit: a receive buffer takes no more.
TEST(CreditInSoftwareTest, SocketsHoldLittle) {
  Config c = config();
  c.mtu_bytes = 4240;
  c.start_slowly = true;
  EXPECT_EQ(CreditSource(c).credit_bytes(), 32 * 4240);
  c.window_bytes_max = 200'000;
  EXPECT_EQ(CreditSource(c).window_bytes(), 200'000u);
  c.window_bytes_max = 100'000;
  EXPECT_EQ(CreditSource(c).credit_bytes(), 100'000);
}

// [CMS-120, CMS-123] The 38th packet finds 150,000 - 37 * 4,000 = 2,000 octets, less than its size.
TEST_F(CreditSourceTest, AnyCreditAdmitsOnePacket) {
  for (int i = 0; i < 38; ++i) {
    ASSERT_TRUE(source_.may_send()) << i;
    send(1);
  }
  EXPECT_FALSE(source_.may_send());
  EXPECT_EQ(source_.credit_bytes(), -2000);
}

// [CMS-123] Nothing is not some.
TEST_F(CreditSourceTest, NoCreditAdmitsNone) {
  exhaust();
  EXPECT_FALSE(source_.may_send());
}

// [CMS-124] Nominal octets, of resends too.
TEST_F(CreditSourceTest, SendingSpendsNominalOctets) {
  source_.on_sent(1234);
  EXPECT_EQ(source_.credit_bytes(), kBdp - 1234);
}

// [CMS-122] The first answer cancels the unused initial credit; later ones cancel nothing.
TEST_F(CreditSourceTest, TheFirstAnswerEndsTheTrust) {
  send(3);
  source_.on_feedback();
  EXPECT_FALSE(source_.is_speculating());
  EXPECT_EQ(source_.credit_bytes(), 0);
  source_.on_credit({10, now_});
  source_.on_feedback();
  EXPECT_EQ(source_.credit_bytes(), 2560);
}

// [CMS-122] Octets that were sent on trust, beyond the credit, remain a debt after the first
// answer.
TEST_F(CreditSourceTest, TheFirstAnswerPaysNoDebt) {
  send(38);
  source_.on_feedback();
  EXPECT_EQ(source_.credit_bytes(), -2000);
}

// [CMS-122, CMS-125] The first credit ends the trust before it counts.
TEST_F(CreditSourceTest, TheFirstCreditReplacesTheTrust) {
  EXPECT_EQ(source_.on_credit({4, now_}), CreditNews::taken);
  EXPECT_FALSE(source_.is_speculating());
  EXPECT_EQ(source_.credit_bytes(), 4 * 256);
}

// [CMS-117, CMS-125] Cumulative: a lost one is made up by the next, a repeated one counts once.
TEST_F(CreditSourceTest, CreditIsCumulative) {
  exhaust();
  source_.on_credit({64, now_});
  source_.on_credit({64, now_});
  EXPECT_EQ(source_.credit_bytes(), 16'384);
  EXPECT_EQ(source_.on_credit({192, now_}), CreditNews::taken) << "128 was lost";
  EXPECT_EQ(source_.credit_bytes(), 3 * 16'384);
  EXPECT_EQ(source_.on_credit({128, now_}), CreditNews::old);
  EXPECT_EQ(source_.credit_bytes(), 3 * 16'384);
}

// [CMS-125, T-33] Whatever is granted makes a window: 878.9 units.
TEST_F(CreditSourceTest, HoldsAWindowOfCreditAtMost) {
  exhaust();
  EXPECT_EQ(source_.on_credit({878, now_}), CreditNews::taken);
  EXPECT_EQ(source_.credit_bytes(), 878 * 256);
  EXPECT_EQ(source_.on_credit({879, now_}), CreditNews::clamped);
  EXPECT_EQ(source_.credit_bytes(), kWindow);
  EXPECT_EQ(source_.on_credit({0x7F'FFFF, now_}), CreditNews::clamped);
  EXPECT_EQ(source_.on_credit({0xFF'FFF0, now_}), CreditNews::clamped);
  EXPECT_EQ(source_.credit_bytes(), kWindow);
  EXPECT_EQ(source_.on_credit({5, now_}), CreditNews::clamped) << "newer by 21, over the end";
  EXPECT_EQ(source_.on_credit({0xFF'FFFF, now_}), CreditNews::old);
}

// [CMS-118, CMS-119] The counters begin with 0 and pass the end of 24 bits.
TEST_F(CreditSourceTest, TargetsPassTheEndOfTheCounter) {
  exhaust();
  source_.on_credit({0x7F'FFFF, now_});
  source_.on_credit({0xFF'FFFE, now_});
  send(57);  // 228,000 of 225,000
  ASSERT_EQ(source_.credit_bytes(), -3000);
  // 7,000 octets: 28 units (27.3), beyond 0xFF'FFFE.
  EXPECT_EQ(source_.target(need(4000)), 0x1Au);
}

// [CMS-126] Backlog and resends, less the credit at hand; rounded up.
TEST_F(CreditSourceTest, AsksForItsBacklogLessItsCredit) {
  exhaust();
  EXPECT_EQ(source_.target(need(4000)), 16u) << "15.6";
  EXPECT_EQ(source_.target(need(4000, 4000)), 32u) << "31.3";
  source_.on_credit({32, now_});
  EXPECT_EQ(source_.target(need(4000, 4000)), 32u) << "8,192 octets are there";
  send(1);
  EXPECT_EQ(source_.target(need(4000)), 32u) << "what leaves takes as much of both";
  send(1);
  EXPECT_EQ(source_.target(need(8000)), 32u + 31u) << "7,808 octets: 30.5";
}

// [CMS-126] No more than MaxWnd, however much waits: 878.9 units.
TEST_F(CreditSourceTest, AsksForAWindowAtMost) {
  exhaust();
  EXPECT_EQ(source_.target(need(1'000'000'000)), 879u);
}

// [CMS-126, CMS-143] With NSCC no more than its window and a packet: 54,000 octets, 210.9 units.
TEST_F(CreditSourceTest, AsksForNoMoreThanNsccAllows) {
  exhaust();
  CreditNeed n = need(1'000'000, 4000);
  n.window_limit = 50'000 + kPacket;
  EXPECT_EQ(source_.target(n), 211u);
}

// [CMS-126] A source that still has its initial credit asks for a packet anyway.
TEST_F(CreditSourceTest, AsksForAPacketWhileItSendsOnTrust) {
  EXPECT_EQ(source_.target(need(4000)), 16u) << "15.6";
  CreditSource idle(config());
  EXPECT_EQ(idle.target(need(0)), 0u);
  CreditSource trusted(config());
  trusted.on_feedback();
  trusted.on_credit({100, now_});
  EXPECT_EQ(trusted.target(need(4000)), 100u) << "trust is over: its credit suffices";
}

// [CMS-126] A FEP that sends to four destinations asks each for a quarter: 50,000 octets.
TEST_F(CreditSourceTest, SharesItsLinkAmongDestinations) {
  exhaust();
  CreditNeed n = need(200'000);
  n.senders = 4;
  EXPECT_EQ(source_.target(n), 196u) << "195.3";
}

// [CMS-126] Never less than it said: not when data is withdrawn, not when the window shrinks.
TEST_F(CreditSourceTest, NeverAsksForLessThanBefore) {
  exhaust();
  EXPECT_EQ(source_.target(need(40'000)), 157u);
  EXPECT_EQ(source_.target(need(0)), 157u);
  CreditNeed n = need(40'000);
  n.window_limit = kPacket;
  EXPECT_EQ(source_.target(n), 157u);
  EXPECT_EQ(source_.told(), 157u);
}

// [CMS-127] Data that waits without credit, and that no packet has announced, is announced at once.
TEST_F(CreditSourceTest, SendsARequestIfNoPacketCanCarryTheDemand) {
  exhaust();
  source_.on_need(need(4000), now_);
  EXPECT_TRUE(source_.wants_request(now_));
  EXPECT_EQ(source_.target(need(4000)), 16u);
  source_.on_requested(now_);
  EXPECT_FALSE(source_.wants_request(now_ + 20_us)) << "it was reported";
  source_.on_need(need(4000), now_ + 20_us);
  EXPECT_FALSE(source_.wants_request(now_ + 20_us));
}

// [CMS-127] With credit a packet leaves and carries the demand; without data there is no demand.
TEST_F(CreditSourceTest, RequestsNothingWhileItMaySend) {
  source_.on_need(need(4000), now_);
  EXPECT_TRUE(source_.deadline().is_never());
  exhaust();
  source_.on_need(need(0), now_);
  EXPECT_TRUE(source_.deadline().is_never());
}

// [CMS-128] One request in a base RTT, 12 us, whatever happens meanwhile.
TEST_F(CreditSourceTest, RequestsOnceInABaseRtt) {
  exhaust();
  source_.on_need(need(4000), now_);
  source_.target(need(4000));
  source_.on_requested(now_);
  source_.on_need(need(8000), now_ + 1_us);
  EXPECT_FALSE(source_.wants_request(now_ + 11_us));
  EXPECT_EQ(source_.deadline(), now_ + 12_us);
  EXPECT_TRUE(source_.wants_request(now_ + 12_us));
}

// [CMS-128] A loss without credit is reported even if the target stays the same.
TEST_F(CreditSourceTest, ALossWithoutCreditIsReported) {
  source_.target(need(40'000));
  exhaust();
  source_.on_need(need(0), now_);
  source_.on_lost(true);
  source_.on_need(need(0, 4000), now_);
  EXPECT_EQ(source_.credit_bytes(), 0);
  EXPECT_TRUE(source_.wants_request(now_));
  EXPECT_EQ(source_.target(need(0, 4000)), 16u) << "as before: the trust asked for a packet";
}

// [CMS-128] A destination without the PDC would refuse the request: the source grants itself one
// packet and repeats its first packet, once for any number of losses.
TEST_F(CreditSourceTest, ALossBeforeThePdcStandsGrantsAPacket) {
  send(38);
  source_.on_feedback();
  ASSERT_EQ(source_.credit_bytes(), -2000);
  source_.on_lost(false);
  EXPECT_EQ(source_.credit_bytes(), 2000);
  source_.on_lost(false);
  EXPECT_EQ(source_.credit_bytes(), 2000);
  EXPECT_TRUE(source_.may_send());
}

// [CMS-128] With credit the packet is sent again by that.
TEST_F(CreditSourceTest, ALossWithCreditNeedsNothing) {
  exhaust();
  source_.on_credit({1, now_});
  source_.on_lost(false);
  source_.on_lost(true);
  EXPECT_EQ(source_.credit_bytes(), 256);
  EXPECT_TRUE(source_.deadline().is_never());
}

// [CMS-129] 300 us without credit, then 600, 1,200, 2,400, 4,800 and no longer.
TEST_F(CreditSourceTest, TheTimerDoublesUpToSixteenTimes) {
  exhaust();
  source_.target(need(4000));
  source_.on_need(need(4000), now_);
  for (const int64_t times : {1, 2, 4, 8, 16, 16}) {
    const Instant due = now_ + 300_us * times;
    EXPECT_EQ(source_.deadline(), due) << times;
    EXPECT_FALSE(source_.wants_request(due - 1_ns));
    ASSERT_TRUE(source_.wants_request(due));
    now_ = due;
    source_.on_requested(now_);
  }
}

// [CMS-129] After four unanswered requests, each after twice the time, more requests are pointless:
// a packet may leave without credit. Credit ends that.
TEST_F(CreditSourceTest, WithoutAnswersItSendsWithoutCredit) {
  exhaust();
  source_.target(need(8000));
  source_.on_need(need(8000), now_);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(source_.is_unanswered()) << i;
    now_ = source_.deadline();
    source_.on_requested(now_);
  }
  EXPECT_TRUE(source_.is_unanswered());
  EXPECT_FALSE(source_.may_send());
  source_.on_unanswered();
  EXPECT_EQ(source_.credit_bytes(), kPacket);
  send(1);
  source_.on_need(need(4000), now_);
  EXPECT_EQ(source_.on_credit({0, now_}), CreditNews::taken);
  EXPECT_TRUE(source_.is_unanswered()) << "it says nothing new";
  EXPECT_EQ(source_.on_credit({1, now_}), CreditNews::taken);
  EXPECT_FALSE(source_.is_unanswered());
}

// [T-34, CMS-127] A demand before a PDC is established may not be trusted: without credit it is
// repeated at once when the first answer comes.
TEST_F(CreditSourceTest, AnEstablishedPdcAsksAgain) {
  send(38);
  source_.target(need(20'000));
  source_.on_feedback();
  source_.on_need(need(20'000), now_);
  EXPECT_EQ(source_.deadline(), now_ + 300_us) << "all of it was reported";
  source_.on_established();
  source_.on_need(need(20'000), now_);
  EXPECT_TRUE(source_.wants_request(now_));
  source_.on_requested(now_);
  EXPECT_FALSE(source_.wants_request(now_ + 12_us));
}

// [CMS-129] Credit starts it again, from one timeout; the same credit again does not.
TEST_F(CreditSourceTest, CreditRestartsTheTimer) {
  send(38);
  source_.on_feedback();  // 2,000 below zero
  source_.target(need(4000));
  source_.on_need(need(4000), now_);
  source_.on_requested(now_ + 300_us);
  ASSERT_EQ(source_.deadline(), now_ + 900_us);
  EXPECT_EQ(source_.on_credit({2, now_ + 400_us}), CreditNews::taken);
  EXPECT_EQ(source_.deadline(), now_ + 700_us);
  source_.on_credit({2, now_ + 500_us});
  EXPECT_EQ(source_.deadline(), now_ + 700_us);
}

// [CMS-129] Without a configured timeout: 4 base RTTs, at least 250 us (a quarter of the RTO).
TEST(CreditTimeoutTest, IsFourBaseRttsOrAQuarterOfTheRto) {
  Config c = config();
  EXPECT_EQ(credit_timeout(c), 300_us);
  c.credit.timeout = Duration::zero();
  EXPECT_EQ(credit_timeout(c), 250_us);
  c.base_rtt = 100_us;
  EXPECT_EQ(credit_timeout(c), 400_us);
}

}  // namespace
}  // namespace uet::cms::credit_source
