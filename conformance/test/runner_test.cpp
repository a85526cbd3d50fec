// Cases that must fail do fail, with the line, the expectation and the arrival; and cases with
// mistakes count as broken. The conformance cases themselves are in conformance/cases.
#include "conformance/runner.h"
#include "conformance/case.h"
#include "conformance/in_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::conformance {
namespace {

using ::testing::Test;

const std::string kHead = "title a test\npeer A 10.0.0.1\npeer B 10.0.0.2\n";
// A message of four octets on a new PDC; PSN 1000.
const std::string kSyn =
    "inject A ev=7 | RUD_REQ syn ar psn=1000 spdcid=9 | STANDARD opcode=SEND som eom rel job_id=1 "
    "pid_on_fep=1 resource_index=1 message_id=5 request_length=4 | payload *4\n";

Outcome run_text(const std::string& text) {
  Case c;
  Outcome outcome;
  outcome.text = read_case(text, "x.txt", c);
  std::unique_ptr<Host> host;
  if (outcome.text.empty()) host = make_in_process(c.host, outcome.text);
  if (host == nullptr) {
    outcome.kind = Outcome::Kind::broken;
    return outcome;
  }
  return run(c, *host, {});
}

// "passed", or the kind and the text of what went wrong.
std::string said(const std::string& steps) {
  const Outcome outcome = run_text(kHead + steps);
  if (outcome.kind == Outcome::Kind::passed) return "passed";
  return (outcome.kind == Outcome::Kind::failed ? "failed " : "broken ") + outcome.text;
}

// The output contains each of the texts.
void expect_said(const std::string& steps, std::initializer_list<std::string> texts) {
  const std::string all = said(steps);
  for (const std::string& text : texts) {
    EXPECT_NE(all.find(text), std::string::npos) << "no \"" << text << "\" in:\n" << all;
  }
}

TEST(RunnerTest, AnExpectedPacketPasses) {
  EXPECT_EQ(said("receive r length=10\n" + kSyn +
                 "expect A next ev=7 dscp=46 | ACK ack_psn=1000 dpdcid=9 spdcid=$p | NONE\n"
                 "completion r bytes=4 | payload 00010203\n"
                 "content r | payload 00010203eeee\n"
                 "expect none for 10ms\n"
                 "counter rx_packets +1\n"),
            "passed");
}

TEST(RunnerTest, AMissingPacketIsShownWithTheArrivals) {
  expect_said("receive r length=10\n" + kSyn + "expect A within 5ms | NACK nack_code=ROD_OOO\n",
              {"failed x.txt:6: expected: expect A within 5ms | NACK nack_code=ROD_OOO",
               "no such packet within 5ms",
               "came: ev=7 dscp=46 | ACK cack_psn=1000 spdcid=", "but it has ACK, not NACK",
               "A > host ev=7 | RUD_REQ ar syn psn=1000 spdcid=9 | STANDARD opcode=SEND"});
}

TEST(RunnerTest, AWrongFieldIsNamedWithBothValues) {
  const std::string before = "receive r length=10\n" + kSyn;
  expect_said(before + "expect A | ACK cack_psn=1001\n",
              {"ACK cack_psn is 1000, not cack_psn=1001"});
  expect_said(before + "expect A | ACK cack_psn!=1000\n", {"is 1000, not cack_psn!=1000"});
  expect_said(before + "expect A | ACK cack_psn=900..999\n", {"is 1000, not cack_psn=900..999"});
  expect_said(before + "expect A | ACK req=CLEAR\n", {"ACK req is none, not req=CLEAR"});
  expect_said(before + "expect A ev=8 | ACK\n", {"ev is 7, not ev=8"});
  EXPECT_EQ(said(before + "expect A | ACK/ACK_CC cack_psn=999..1001 req=0\n"), "passed");
}

TEST(RunnerTest, NextTakesTheVeryNextPacketOfThatPeer) {
  const std::string before = "receive r length=10\n" + kSyn;
  expect_said(before + "expect A next | NACK\n", {"another packet came"});
  expect_said(before + "expect B within 1ms | ACK\n",
              {"no packet waited that no step had expected"});
}

TEST(RunnerTest, AnExpectedPacketIsTakenOnce) {
  expect_said("receive r length=10\n" + kSyn + "expect A | ACK\nexpect A within 1ms | ACK\n",
              {"failed x.txt:7:"});
}

TEST(RunnerTest, ExpectNoneSeesEarlierAndLaterArrivals) {
  expect_said("receive r length=10\n" + kSyn + "expect none A | ACK\n",
              {"failed x.txt:6:", "a packet came: host > A ev=7 dscp=46 | ACK cack_psn=1000"});
  EXPECT_EQ(said("receive r length=10\n" + kSyn + "expect none A | NACK\nexpect none B\n"),
            "passed");
  EXPECT_EQ(said("receive r length=10\n" + kSyn + "discard\nexpect none for 10ms\n"), "passed");
  // The SYN of a send goes again when nothing answers it, 50 ms later.
  const std::string send = "post send s to A | payload 01\nexpect A | RUD_REQ syn retx=0\n";
  EXPECT_EQ(said(send + "expect none A for 49ms | RUD_REQ\n"), "passed");
  expect_said(send + "expect none A for 51ms | RUD_REQ\n", {"a packet came: host > A", "retx"});
}

TEST(RunnerTest, CapturesAreComparedAndSummed) {
  const std::string send = "post send s to A | payload 01\nexpect A | RUD_REQ psn=$psn spdcid=$p\n";
  EXPECT_EQ(said(send + "expect A within 60ms | RUD_REQ retx psn=$psn spdcid=$p\n"), "passed");
  expect_said(send + "expect A within 60ms | RUD_REQ retx psn=$psn+1\n", {"not psn=$psn+1"});
  EXPECT_EQ(said(send + "inject A | ACK cack_psn=$psn spdcid=3 dpdcid=$p\ncompletion s bytes=1\n"),
            "passed");
  expect_said(send + "inject A | ACK cack_psn=$psm spdcid=3 dpdcid=$p\n",
              {"broken x.txt:6:", "$psm has no value yet"});
}

TEST(RunnerTest, SumsWrapAsTheFieldDoes) {
  EXPECT_EQ(said("let zero = 0\ninject A | CP ctl_type=NOOP ar psn=$zero-1 spdcid=9 dpdcid=77\n"
                 "expect A | NACK nack_code=INV_DPDCID nack_psn=0xffffffff spdcid=0 dpdcid=9\n"),
            "passed");
}

TEST(RunnerTest, VariablesOfABlockEndWithEachTurn) {
  EXPECT_EQ(said("repeat 3 as i {\n  post send s$i to A | payload *1+$i\n"
                 "  expect A | RUD_REQ psn=$psn | STANDARD | payload *1+$i\n}\n"),
            "passed");
  expect_said(
      "repeat 3 as i {\n  post send s$i to A | payload *1+$i\n"
      "  expect A | RUD_REQ | STANDARD | payload 00\n}\n",
      {"failed x.txt:6:", "octet 0 is 1, not 0", "in turn 1 of the repetition"});
}

TEST(RunnerTest, DefinitionsStandForTheirText) {
  EXPECT_EQ(said("define send STANDARD opcode=SEND\ndefine both RUD_REQ | %send som eom\n"
                 "post send s to A | payload 01\nexpect A | %both request_length=1\n"),
            "passed");
  expect_said("expect A | %sent\n", {"broken x.txt:4: %sent is not defined"});
}

TEST(RunnerTest, AMissingCompletionIsShownWithTheArrivals) {
  const std::string before = "receive r length=2\n" + kSyn;
  expect_said(before + "completion r bytes=4\n", {"came: completion r kind=recv status=truncated"});
  expect_said(before + "completion r\n", {"but status is truncated"});
  expect_said(before + "completion r status=truncated bytes=3\n", {"bytes is 2, not 3"});
  expect_said(before + "completion r status=truncated | payload 0002\n", {"octet 1 is 1, not 2"});
  expect_said(before + "completion none\n", {"it came: completion r"});
  expect_said("receive q length=1\ncompletion q within 3ms\n", {"it did not come within 3ms"});
  EXPECT_EQ(said(before + "completion r status=truncated bytes=2 truncated=2 | payload 0001\n"
                          "completion none for 1ms\n"),
            "passed");
}

TEST(RunnerTest, ContentAndCountersFailWithTheActualValues) {
  const std::string before = "receive r length=8\n" + kSyn;
  expect_said(before + "content r offset=2 | payload 0204\n",
              {"in r from 2 on octet 1 is 3, not 4"});
  expect_said(before + "content r offset=6 | payload eeeeee\n", {"it has 2 octets, not 3"});
  expect_said(before + "counter rx_packets =2\n", {"it is 1"});
}

TEST(RunnerTest, AMistakeInACaseIsNotAFailure) {
  const std::pair<std::string, std::string> kMistakes[] = {
      {"expect A | ACC\n", "no header ACC"},
      {"expect A | ACK cak_psn=1\n", "no field cak_psn in ACK"},
      {"expect A | ACK cack_psn\n", "cack_psn needs a value"},
      {"expect A | ACK/STANDARD\n", "STANDARD does not stand where ACK does"},
      {"expect A | NACK nack_code=ROD\n", "nack_code=ROD: no such value"},
      {"expect none A for 1ms | NACK nack_cod=1\n", "no field nack_cod in NACK"},
      {"expect C | ACK\n", "no peer C"},
      {"expect A within 5 | ACK\n", "5: no time"},
      {"expect A colour=1 | ACK\n", "no option of an expected packet"},
      {"inject A | ACK cak_psn=1\n", "no field cak_psn"},
      {"inject A colour=1 | ACK\n", "no option of a packet"},
      {"inject A ev | ACK\n", "no option of a packet"},
      {"inject A ecn=4 | ACK\n", "no option of a packet, or no value of it"},
      {"receive r size=3\n", "no option of this call"},
      {"post receive r\n", "post send|tagged"},
      {"post send s to C | payload 00\n", "no peer C"},
      {"frobnicate\n", "no step frobnicate"},
      {"counter no_such =1\n", "no counter no_such"},
      {"content q | payload 00\n", "no buffer q"},
      {"completion q\n", "no call q"},
      {"completion none q for 1ms\n", "no call q"},
      {"receive r length=1\ncompletion r colour=1\n", "no colour in a completion"},
      {"receive r length=1\ncompletion r status=bad\n", "status=bad: no such status"},
      {"event remote_wriet\n", "no event remote_wriet"},
      {"event none remote_wriet for 1ms\n", "no event remote_wriet"},
      {"repeat 2 {\nadvance 1ms\n", "a block without its closing brace"},
      {"advance 1ms\n}\n", "a brace that ends nothing"},
      {"advance\n", "advance TIME"},
  };
  for (const auto& [steps, problem] : kMistakes) {
    SCOPED_TRACE(steps);
    expect_said(steps, {"broken ", problem});
  }
  EXPECT_EQ(run_text("peer A 10.0.0.1\nadvance 1ms\n").text,
            "x.txt:1: a case begins with its title");
  EXPECT_EQ(run_text("title t\n").text, "x.txt:1: a case without a step");
  EXPECT_EQ(run_text("title t\nset NO_SUCH=1\nadvance 1ms\n").text, "setting NO_SUCH: not found");
  EXPECT_EQ(run_text("title t\nset CC=slow\nadvance 1ms\n").text,
            "x.txt:2: set NAME=NUMBER|WORD...");
  EXPECT_EQ(run_text("title t\nendpoint E mode=fast\nadvance 1ms\n").text,
            "x.txt:2: mode=fast: no setting of an endpoint");
}

// A host that can do only what one across a network can.
class FarHost final : public Host {
 public:
  explicit FarHost(std::unique_ptr<Host> inner) : inner_(std::move(inner)) {}
  Instant now() const override { return inner_->now(); }
  void send(const Datagram& datagram) override { inner_->send(datagram); }
  void wait(Instant until, std::vector<Datagram>& packets, std::vector<Event>& events) override {
    inner_->wait(until, packets, events);
  }
  std::string call(const Call& call) override { return inner_->call(call); }
  uint64_t key(const std::string& region) const override { return inner_->key(region); }
  const Octets* content(const std::string& name) const override { return inner_->content(name); }
  bool cancel(const std::string& name) override { return inner_->cancel(name); }
  void close_endpoint(size_t endpoint) override { inner_->close_endpoint(endpoint); }
  bool is_in_process() const override { return false; }
  std::optional<uint64_t> counter(std::string_view) const override { return never(); }
  void report_unreachable(const FabricAddress&) override { never(); }
  void report_too_long(const FabricAddress&, uint32_t) override { never(); }
  void close_all(bool) override { never(); }
  bool is_idle() const override { return never() != 0; }

 private:
  static uint64_t never() {
    ADD_FAILURE() << "asked for what it cannot do";
    return 0;
  }
  std::unique_ptr<Host> inner_;
};

Outcome run_far(const std::string& text) {
  Case c;
  std::string problem = read_case(kHead + text, "x.txt", c);
  FarHost host(make_in_process(c.host, problem));
  EXPECT_EQ(problem, "");
  return run(c, host, {});
}

TEST(RunnerTest, ARemoteHostIsNotAskedForLocalActions) {
  const Outcome outcome =
      run_far("receive r length=4\n" + kSyn +
              "counter rx_packets =99\nunreachable A\ntoo_long A mtu=1500\nclose_all\n"
              "idle within 1ms\nexpect A | ACK\n");
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.kind, Outcome::Kind::passed);
  EXPECT_EQ(outcome.skipped, 5u);
  EXPECT_EQ(run_far("inject A sdi=5 | ACK\n").kind, Outcome::Kind::skipped);
  EXPECT_EQ(run_far("inject A ago=5us | ACK\n").kind, Outcome::Kind::skipped);
  EXPECT_EQ(run_far("needs process\nadvance 1ms\n").kind, Outcome::Kind::skipped);
}

TEST(RunnerTest, LocalActionsAreKnown) {
  Case c;
  EXPECT_EQ(read_case(kHead + "inject A sdi=5 | ACK\n", "x.txt", c), "");
  EXPECT_TRUE(c.needs_process);
  Case d;
  EXPECT_EQ(read_case(kHead + "inject A ecn=3 | ACK\n", "x.txt", d), "");
  EXPECT_FALSE(d.needs_process);
}

}  // namespace
}  // namespace uet::conformance
