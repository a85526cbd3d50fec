// The order in which requests are judged. [SES-110..117]
#include "ses/incoming/checks.h"

#include "ses/test/answers.h"
#include "ses/test/parts.h"
#include "wire/ses.h"

#include <algorithm>
#include <vector>

namespace uet::ses::test {
namespace {

using wire::ReturnCode;
using wire::SesOpcode;
using Kind = Decision::Kind;

class ChecksTest : public PartTest {
 protected:
  ChecksTest() {
    answers() = {};
    checks_.create();
  }
  Request request(SesOpcode opcode) const {
    Request q;
    q.peer = peer_;
    q.mode = pds::Mode::rud;
    q.token.pdc = pds::PdcHandle(1);
    q.header = wire::NextHeader::standard;
    q.common.opcode = opcode;
    q.common.rel = q.common.som = q.common.eom = true;
    q.common.job_id = kJob;
    q.common.pid_on_fep = kPid;
    q.common.resource_index = kRi;
    return q;
  }
  // "refuse <code>" or the kind as a number.
  std::string said(const Request& q) {
    const Decision d = checks_.judge(q);
    if (d.kind != Kind::refuse) return std::to_string(static_cast<int>(d.kind));
    return std::string("refuse ") + wire::name(d.code);
  }
  static std::string kind(Kind k) { return std::to_string(static_cast<int>(k)); }

  MemoryRegions memory_;
  KeptRoom room_;
  Generations generations_{memory_, room_};
  Checks checks_{res_, endpoints_, memory_, generations_};
};

// [T-20, SES-136] Everything is wrong; each fault that is mended shows the next one.
TEST_F(ChecksTest, FaultsAreFoundInTheOrderOfTheSpecification) {
  Endpoint& ep = open();
  ep.untagged_generation.is_enabled = false;
  Request q = request(SesOpcode{0x3E});  // no opcode
  q.common.job_id = JobId(9);
  q.common.pid_on_fep = PidOnFep(9);
  q.common.resource_index = ResourceIndex(9);
  q.common.ie = true;
  q.common.ri_generation = 3;
  q.mode = pds::Mode::rudi;
  q.request_length = 0xFFFF'FFFF;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::unsupported_op));
  q.common.opcode = SesOpcode::send;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::bad_job_id));
  q.common.job_id = kJob;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::bad_pid));
  q.common.pid_on_fep = kPid;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::bad_index));
  q.common.resource_index = kRi;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::initiator_err));
  q.common.ie = false;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::op_violation));  // RUDI
  q.mode = pds::Mode::rud;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::disabled_gen));
  ep.untagged_generation.is_enabled = true;
  ep.untagged_generation.value = 1;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::bad_generation));
  EXPECT_EQ(checks_.judge(q).generation, 1);
  q.common.ri_generation = 1;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::unsupported_size));
  q.request_length = 5;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::op_violation));  // no octets
  q.length = 5;
  q.has_data = true;
  ep.rx.carries_data = false;
  EXPECT_EQ(said(q), std::string("refuse ") + wire::name(ReturnCode::op_violation));  // its data
  q.has_data = false;
  EXPECT_EQ(said(q), kind(Kind::send));
  EXPECT_EQ(checks_.judge(q).endpoint, &ep);
}

// Each fault has its own counter.
TEST_F(ChecksTest, CausesWithOneCodeAreCountedApart) {
  Endpoint& ep = open();
  Request q = request(SesOpcode::send);
  q.request_length = 5;
  EXPECT_EQ(checks_.judge(q).why, Counter::rx_length_violation);
  q.length = 5;
  q.has_data = true;
  ep.rx.carries_data = false;
  EXPECT_EQ(checks_.judge(q).why, Counter::rx_header_data_refused);
  q.mode = pds::Mode::rudi;
  EXPECT_EQ(checks_.judge(q).why, Counter::rx_mode_violation);
}

// The control messages need no endpoint, or no generation. [SES-098, SES-105]
TEST_F(ChecksTest, ControlMessagesAreJudgedBeforeTheRest) {
  EXPECT_EQ(said(request(SesOpcode::deferrable_rtr)), kind(Kind::restart));
  open();
  Request q = request(SesOpcode::msg_error);
  q.common.ri_generation = 3;
  q.common.som = false;
  EXPECT_EQ(said(q), kind(Kind::msg_error));
}

TEST_F(ChecksTest, OpcodesGoToTheirHandlers) {
  open();
  EXPECT_EQ(said(request(SesOpcode::no_op)), kind(Kind::no_op));
  EXPECT_EQ(said(request(SesOpcode::write)), kind(Kind::write));
  EXPECT_EQ(said(request(SesOpcode::read)), kind(Kind::read));
  EXPECT_EQ(said(request(SesOpcode::atomic)), kind(Kind::atomic));
  EXPECT_EQ(said(request(SesOpcode::tsend_atomic)), kind(Kind::send_atomic));
  EXPECT_EQ(said(request(SesOpcode::tagged_send)), kind(Kind::send));
}

// [SES-088, SES-115] The packet may lie in memory that its sender still writes to (shared memory):
// the parsed copy does not change with it, so the checked lengths are used.
TEST_F(ChecksTest, AParsedRequestDoesNotChangeWithItsPacket) {
  wire::StandardRequest h;
  h.common.opcode = SesOpcode::rendezvous_send;
  h.common.som = h.common.eom = h.common.rel = true;
  h.message_id = MessageId(77);
  h.request_length = 5000;
  wire::Rendezvous source;
  source.eager_length = 1024;
  source.read_memory_key = 9;
  std::vector<std::byte> octets(wire::StandardRequest::kSize + wire::Rendezvous::kSize + 1024);
  wire::Writer w(octets);
  h.emit(w);
  source.emit(w);
  pds::RxRequest rx;
  rx.next_hdr = wire::NextHeader::standard;
  rx.ses = octets;
  const auto q = parse_request(rx, 4096);
  ASSERT_TRUE(q.ok());
  ASSERT_TRUE(has_legal_lengths(*q));
  std::fill(octets.begin(), octets.end() - 1024, std::byte{1});
  EXPECT_EQ(q->pushed(), 1024u);
  EXPECT_EQ(q->rendezvous, source);
  EXPECT_TRUE(has_legal_lengths(*q));
}

}  // namespace
}  // namespace uet::ses::test
