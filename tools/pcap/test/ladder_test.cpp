// Ladders of small captures written as text: what each packet is to the others, by hand.
#include "tools/pcap/ladder/ladder.h"
#include "tools/pcap/ladder/drawing.h"
#include "tools/pcap/ladder/fields.h"
#include "tools/pcap/packet_language.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::tools::ladder {
namespace {

using wire::Trailer;

// A point of capture before each line: "1 TIME FROM > TO | ...".
std::vector<Captured> capture_of(const std::vector<std::string>& lines) {
  std::vector<Captured> out;
  for (const std::string& text : lines) {
    const Line line = parse_line(text.substr(2));
    EXPECT_EQ(line.problem, "") << text;
    if (!line.frame) continue;
    out.push_back({line.frame->time_ns, kLinkEthernet, line.frame->octets,
                   static_cast<uint32_t>(text[0] - '0'), static_cast<uint32_t>(out.size() + 1)});
  }
  return out;
}

std::string link_text(const Ladder& ladder, const char* word, uint32_t rung) {
  if (rung == kNone) return "";
  return std::string(" ") + word + " " + std::to_string(ladder.rungs[rung].frame);
}

// "3 > psn 1003 SEND ... acked by 5", one line a rung; times in microseconds where both ends are
// known.
std::string picture(const Ladder& ladder) {
  std::string out;
  for (const Rung& r : ladder.rungs) {
    out += std::to_string(r.frame) + (r.way == 0 ? " > " : " < ") + r.label;
    if (r.retransmission) out += ", again";
    if (r.duplicate) out += ", duplicate";
    if (r.out_of_order) out += ", out of order";
    if (r.cause != Cause::none) out += std::string(" for ") + name(r.cause);
    out += link_text(ladder, "in", r.caused_by) + link_text(ladder, "after", r.previous) +
           link_text(ladder, "answers", r.answers) + link_text(ladder, "acked by", r.acked_by) +
           link_text(ladder, "refused by", r.nacked_by);
    if (r.fate == Fate::arrived) {
      out += " " + std::to_string(r.time_ns / 1000) + " to " + std::to_string(r.arrived_ns / 1000);
    } else if (r.fate != Fate::not_known) {
      out += std::string(" ") + name(r.fate);
    }
    out += "\n";
  }
  return out;
}

Ladder only_ladder(const std::vector<Captured>& packets) {
  const auto all = conversations_of(packets, Trailer::none);
  EXPECT_EQ(all.size(), 1U);
  return ladder_of(packets, all.at(0), 0, Trailer::none);
}

const std::string kForth = "10.0.0.1 > 10.0.0.2 | ";
const std::string kBack = "10.0.0.2 > 10.0.0.1 | ";
const std::string kSend = " | STANDARD opcode=SEND som eom message_id=1 request_length=2 ";

TEST(LadderTest, AnswersAndCausesAreLinked) {
  const auto packets = capture_of({
      "0 0.000 " + kForth + "RUD_REQ syn psn=10 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.001 " + kForth + "RUD_REQ syn psn=12 psn_offset=2 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.002 " + kBack +
          "ACK_CC cack_psn=10 ack_psn_offset=2 spdcid=7 dpdcid=9 mpr=8 "
          "sack_psn_offset=1 sack_bitmap=2",
      "0 0.003 " + kForth + "RUD_REQ retx psn=11 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP",
      "0 0.004 " + kBack + "NACK nack_code=NO_RESOURCE nack_psn=11 spdcid=7 dpdcid=9",
      "0 0.005 " + kForth + "RUD_REQ retx psn=11 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP",
      "0 0.006 " + kForth + "RUD_REQ syn psn=12 psn_offset=2 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.015 " + kForth + "RUD_REQ retx psn=11 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP",
      "0 0.016 " + kBack + "ACK retx cack_psn=12 ack_psn_offset=-1 spdcid=7 dpdcid=9",
  });
  const Ladder ladder = only_ladder(packets);
  EXPECT_EQ(picture(ladder),
            "1 > psn 10 syn NO_OP acked by 3\n"
            "2 > psn 12 syn NO_OP acked by 9\n"
            "3 < ACK_CC cack 10 ack 12 misses 11 answers 2\n"
            "4 > psn 11 NO_OP, again acked by 9 refused by 5\n"
            "5 < NACK NO_RESOURCE psn 11 answers 4\n"
            "6 > psn 11 NO_OP, again for NACK in 5 after 4 acked by 9\n"
            "7 > psn 12 syn NO_OP, duplicate after 2 acked by 9\n"
            "8 > psn 11 NO_OP, again for time-out after 6 acked by 9\n"
            "9 < ACK cack 12 ack 11 answers 8\n");
  EXPECT_EQ(ladder.counts.retransmissions, 3U);
  EXPECT_EQ(ladder.counts.duplicates, 1U);
  EXPECT_EQ(ladder.counts.lost, 0U);
  EXPECT_FALSE(ladder.both_ends);
  EXPECT_EQ(ends_text(ladder), "Captured at one point: which packets were lost is not known.");
}

// [PDS-051] The target of a secured PDC says where to begin: still the same PDC, also for a SYN
// that was sent before.
TEST(LadderTest, APdcThatRestartsIsOnePdc) {
  const auto packets = capture_of({
      "0 0.000 " + kForth + "RUD_REQ syn psn=10 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.001 " + kBack + "NACK nack_code=NEW_START_PSN nack_psn=10 spdcid=7 dpdcid=9 payload=500",
      "0 0.002 " + kForth + "RUD_REQ syn psn=500 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.003 " + kForth + "RUD_REQ syn retx psn=10 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.004 " + kBack + "ACK cack_psn=500 spdcid=7 dpdcid=9",
  });
  EXPECT_EQ(picture(only_ladder(packets)),
            "1 > psn 10 syn NO_OP refused by 2\n"
            "2 < NACK NEW_START_PSN psn 10 answers 1\n"
            "3 > psn 500 syn NO_OP acked by 5\n"
            "4 > psn 10 syn NO_OP, again for NACK in 2 after 1\n"
            "5 < ACK cack 500 answers 3\n");
}

// [PDS-030] PSNs wrap, and so does what an ACK covers.
TEST(LadderTest, AcknowledgementsCoverPsnsAcrossTheWrap) {
  const auto packets = capture_of({
      "0 0.000 " + kForth + "RUD_REQ syn psn=0xffffffff spdcid=9 | SMALL opcode=NO_OP",
      "0 0.001 " + kForth + "RUD_REQ syn psn=0 psn_offset=1 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.002 " + kForth + "RUD_REQ syn psn=1 psn_offset=2 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.003 " + kBack + "ACK cack_psn=0 spdcid=7 dpdcid=9",
  });
  EXPECT_EQ(picture(only_ladder(packets)),
            "1 > psn 4294967295 syn NO_OP acked by 4\n"
            "2 > psn 0 syn NO_OP acked by 4\n"
            "3 > psn 1 syn NO_OP\n"
            "4 < ACK cack 0 answers 2\n");
}

// The target's clock is 500 ms ahead. The second packet does not arrive, its retransmission does.
std::vector<std::string> two_ends() {
  const std::string first = kForth + "RUD_REQ syn psn=10 spdcid=9" + kSend + "| payload 0102";
  const std::string second =
      kForth + "RUD_REQ syn psn=11 psn_offset=1 spdcid=9 | SMALL opcode=NO_OP";
  const std::string again = kForth + "RUD_REQ retx psn=11 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP";
  const std::string ack = kBack +
                          "ACK cack_psn=10 spdcid=7 dpdcid=9 | RESPONSE "
                          "response_opcode=RESPONSE return_code=OK message_id=1";
  return {"0 1.000000 " + first, "0 1.000010 " + second, "0 1.000050 " + ack,
          "0 1.000100 " + again, "1 1.500020 " + first,  "1 1.500030 " + ack,
          "1 1.500120 " + again, "1 1.500125 " + again};
}

TEST(LadderTest, BothEndsShowLossAndTheWayOfEachPacket) {
  const auto packets = capture_of(two_ends());
  const Ladder ladder = only_ladder(packets);
  EXPECT_TRUE(ladder.both_ends);
  EXPECT_EQ(ladder.clock_ns, 500000000);
  EXPECT_EQ(picture(ladder),
            "1 > psn 10 syn SEND msg 1 2 B acked by 6 0 to 20\n"
            "2 > psn 11 syn NO_OP lost\n"
            "6 < ACK cack 10 RESPONSE OK msg 1 answers 1 30 to 50\n"
            "4 > psn 11 NO_OP, again for time-out after 2 100 to 120\n"
            "8 > psn 11 NO_OP, again for time-out after 4 seen only where it arrived\n");
  EXPECT_EQ(ladder.counts.lost, 1U);
}

// The end of a point does not depend on the order of the files.
TEST(LadderTest, TheEndsAreFoundInEitherOrder) {
  std::vector<std::string> lines = two_ends();
  for (std::string& line : lines) line[0] = line[0] == '0' ? '1' : '0';
  const auto packets = capture_of(lines);
  const Ladder ladder = only_ladder(packets);
  EXPECT_EQ(ladder.clock_ns, 500000000);
  EXPECT_EQ(ladder.counts.lost, 1U);
  EXPECT_EQ(ladder.rungs.at(0).frame, 1U);
  EXPECT_EQ(ladder.rungs.at(0).arrived_ns, 20000);
}

TEST(LadderTest, MessagesReachFromTheirFirstPacketToTheResponse) {
  const std::string part = " | STANDARD opcode=SEND message_id=5 request_length=4 ";
  const auto packets = capture_of({
      "0 0.000 " + kForth + "RUD_REQ syn psn=10 spdcid=9" + part + "som | payload 0102",
      "0 0.001 " + kForth + "RUD_REQ syn psn=11 psn_offset=1 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.002 " + kForth + "RUD_REQ syn psn=12 psn_offset=2 spdcid=9" + part +
          "eom payload_length=2 message_offset=2 | payload 0304",
      "0 0.003 " + kBack +
          "ACK cack_psn=12 spdcid=7 dpdcid=9 | RESPONSE "
          "response_opcode=RESPONSE return_code=OK message_id=5",
  });
  const Ladder ladder = only_ladder(packets);
  ASSERT_EQ(ladder.messages.size(), 2U);
  const Message& m = ladder.messages[0];
  EXPECT_EQ(m.id, 5);
  EXPECT_EQ(m.first, 0U);
  EXPECT_EQ(m.last, 3U);
  EXPECT_EQ(m.response, 3U);
  EXPECT_EQ(m.seen, 4U);
  EXPECT_EQ(ladder.messages[1].first, 1U);
  EXPECT_EQ(ladder.messages[1].last, 1U);
}

// [PDS-046] The same identifier with another start is another PDC; packets that are not UET have
// none.
TEST(LadderTest, PdcsAreDistinguished) {
  auto packets = capture_of({
      "0 0.000 " + kForth + "RUD_REQ syn psn=10 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.001 " + kForth + "ROD_REQ syn psn=77 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.002 " + kBack + "ACK cack_psn=77 spdcid=8 dpdcid=9",
      "0 0.003 " + kBack + "RUD_REQ syn psn=10 spdcid=9 | SMALL opcode=NO_OP",
      "0 0.004 " + kForth + "RUDI_REQ pkt_id=5 | SMALL opcode=WRITE",
      "0 0.005 10.0.0.1 > 10.0.0.2:53 | raw 1122334455667788",
  });
  const auto all = conversations_of(packets, Trailer::none);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_FALSE(all[0].rod);
  EXPECT_EQ(all[0].members.size(), 1U);
  EXPECT_TRUE(all[1].rod);
  EXPECT_EQ(all[1].members.size(), 2U);
  EXPECT_EQ(all[1].pdcid[1].value(), 8);
  EXPECT_EQ(text_of(all[2].address[0]), "10.0.0.2");
}

Drawing drawing_of(const Ladder& ladder) {
  Drawing out;
  out.ladder = &ladder;
  out.capture = "cut";
  out.count = static_cast<uint32_t>(ladder.rungs.size());
  return out;
}

std::string fields_text(const std::string& headers) {
  std::string out;
  Decoder decode(Trailer::none);
  for (const FieldText& f : fields_of(capture_of({"0 0 " + kForth + headers}).at(0), decode)) {
    if (f.name.starts_with("ip.") || f.name.starts_with("udp.")) continue;
    out += (out.empty() ? "" : " ") + f.name + "=" + f.value;
  }
  return out;
}

// Only fields of this form of the header; flags that are set; derived values in brackets.
TEST(LadderTest, APacketShowsTheFieldsOfItsForm) {
  EXPECT_EQ(fields_text("RUD_REQ syn psn=18 psn_offset=2 clear_psn_offset=-3 spdcid=9 | SMALL "
                        "opcode=WRITE som=0 job_id=7 request_length=2 buffer_offset=0x10"),
            "pds.type=RUD_REQ (2) syn=1 clear_psn_offset=-3 [clear_psn]=15 psn=18 spdcid=9 "
            "psn_offset=2 [start_psn]=16 ses=SMALL opcode=WRITE (1) eom=1 ri_generation=0 job_id=7 "
            "pid_on_fep=0 resource_index=0 request_length=2 buffer_offset=0x10 "
            "rejected=single_packet_som_eom");
  EXPECT_EQ(fields_text("ACK p req=CLEAR probe_opaque=7 cack_psn=5 spdcid=1 dpdcid=2"),
            "pds.type=ACK (7) p=1 req=CLEAR (1) probe_opaque=7 cack_psn=5 spdcid=1 dpdcid=2");
  EXPECT_EQ(fields_text("NACK nt nack_code=ROD_OOO nack_pkt_id=5"),
            "pds.type=NACK (10) nt=1 nack_code=ROD_OOO (13) vendor_code=0 nack_pkt_id=5 spdcid=0 "
            "dpdcid=0 payload=0");
  EXPECT_EQ(fields_text("CP ctl_type=CREDIT psn=1 spdcid=1 dpdcid=2 payload=0x500"),
            "pds.type=CP (11) ctl_type=CREDIT (7) probe_opaque=0 psn=1 spdcid=1 dpdcid=2 "
            "payload=1280 credit=5");
}

// A capture that kept only the beginning of packets is drawn as far as their headers are there;
// cut anywhere, nothing else happens.
TEST(LadderTest, PacketsCapturedInPartAreDrawn) {
  const auto whole = capture_of(two_ends());
  for (size_t kept = 0; kept < 110; ++kept) {
    std::vector<Captured> packets = whole;
    for (Captured& packet : packets) {
      packet.on_wire_octets = static_cast<uint32_t>(packet.octets.size());
      packet.octets.resize(std::min(kept, packet.octets.size()));
    }
    const auto all = conversations_of(packets, Trailer::none);
    constexpr size_t kPdsEnd = 14 + 20 + 8 + 12;
    if (kept >= kPdsEnd) {
      EXPECT_EQ(all.size(), 1U) << kept;
    }
    for (const Conversation& c : all) {
      const Ladder ladder = ladder_of(packets, c, 0, Trailer::none);
      if (kept >= kPdsEnd) {
        EXPECT_EQ(ladder.counts.lost, 1U) << kept;
      }
      const Drawing drawing = drawing_of(ladder);
      EXPECT_NE(svg_of(drawing).find("</svg>"), std::string::npos);
      EXPECT_NE(page_of(drawing).find("</html>"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace uet::tools::ladder
