// The text of a dump: valid, complete, and of bounded length whatever its numbers are.
#include "prov/uet/observe/dump.h"
#include "prov/uet/observe/test/widest.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

namespace uet::prov {
namespace {

// Every number as wide as it can be.
pds::PdcSnapshot widest_pdc() {
  pds::PdcSnapshot s;
  s.id = s.peer_id = Pdcid(65535);
  s.peer = longest_address();
  s.state = pds::PdcState::close_ack_wait;
  s.mode = pds::Mode::rudi;
  s.tc = TrafficClass(255);
  s.is_initiator = true;
  s.tx_base = s.tx_next = s.rx_cack = s.rx_max = Psn(kMost);
  s.lost = s.oldest_resends = s.oldest_nacks = s.out_of_order = s.stored = s.verdicts = kMost;
  s.mp_range = 65535;
  s.window_bytes = s.inflight_bytes = std::numeric_limits<uint64_t>::max();
  s.oldest_age = s.round_trip = s.silent = s.waiting = s.refused = s.timer = kLongest;
  return s;
}

ses::OperationSnapshot widest_operation() {
  ses::OperationSnapshot s;
  s.endpoint = s.peer_ri = ResourceIndex(4095);
  s.peer = longest_address();
  s.peer_pid = PidOnFep(4095);
  s.kind = ses::OpKind::fetching_atomic;
  s.state = "started";
  s.context = reinterpret_cast<const void*>(~uintptr_t{0});
  s.tag = s.bytes = s.message_start = std::numeric_limits<uint64_t>::max();
  s.message_bytes = s.pulled_packets = s.done_packets = s.retries = kMost;
  s.message_id = 65535;
  s.refused = s.timer = kLongest;
  return s;
}

std::unique_ptr<Dump> widest_dump() {
  auto d = std::make_unique<Dump>();
  d->pdcs.fill(widest_pdc());
  d->pdcs_listed = kDumpEntries;
  d->usage.pdcs = kMost;
  d->operations.fill(widest_operation());
  ses::ReceiveSnapshot receive;
  receive.endpoint = ResourceIndex(4095);
  receive.from = longest_address();
  receive.context = reinterpret_cast<const void*>(~uintptr_t{0});
  receive.tag = receive.ignore = receive.bytes = std::numeric_limits<uint64_t>::max();
  d->receives.fill(receive);
  ses::KeptSnapshot kept;
  kept.endpoint = ResourceIndex(4095);
  kept.peer = longest_address();
  kept.initiator = kept.bytes = kMost;
  kept.tag = std::numeric_limits<uint64_t>::max();
  d->kept.fill(kept);
  ses::ArrivingSnapshot arriving;
  arriving.peer = longest_address();
  arriving.message_id = 65535;
  arriving.bytes = arriving.arrived = kMost;
  arriving.silent = kLongest;
  d->arriving.fill(arriving);
  d->ses.operation_count = d->ses.receive_count = d->ses.kept_count = d->ses.arriving_count = kMost;
  return d;
}

TEST(DumpTest, NoDumpIsTooLongForAnAnswer) {
  DomainStatus status;
  status.domain = status.fabric = std::string(64, '"');  // each becomes six octets
  status.local = longest_address();
  const std::string text = dump_text(status, *widest_dump());
  EXPECT_LT(text.size(), kDumpBytesMax);
  EXPECT_EQ(occurrences(text, "\"tx_base\":4294967295"), kDumpEntries);
  EXPECT_EQ(occurrences(text, "\"kind\":\"fetching_atomic\""), kDumpEntries);
  EXPECT_EQ(occurrences(text, "\"arrived\":4294967295"), kDumpEntries);
  EXPECT_EQ(occurrences(text, "\"count\":4294967295"), 5u) << "all are counted";
  EXPECT_EQ(occurrences(text, "{"), occurrences(text, "}"));
}

TEST(DumpTest, AnEngineThatIsHeldIsReported) {
  Dump dump;
  dump.is_held = true;
  DomainStatus status;
  status.domain = "eth0";
  const std::string text = dump_text(status, dump);
  EXPECT_NE(text.find("\"held\":true"), text.npos) << text;
  EXPECT_EQ(text.find("pdcs"), text.npos) << "nothing is known of them";
}

}  // namespace
}  // namespace uet::prov
