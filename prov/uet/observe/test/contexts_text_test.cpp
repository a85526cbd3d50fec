// The text of a page of congestion contexts: complete, and of bounded length whatever its numbers
// are.
#include "prov/uet/observe/contexts.h"
#include "prov/uet/observe/dump.h"
#include "prov/uet/observe/test/widest.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

namespace uet::prov {
namespace {

// Every number as wide as it can be.
pds::ContextSnapshot widest_context() {
  pds::ContextSnapshot s;
  s.peer = longest_address();
  s.tc = TrafficClass(255);
  s.lane = 255;
  s.algorithm = cms::Algorithm::fixed;
  s.window_bytes = s.inflight_bytes = s.backlog_bytes = s.resend_bytes =
      std::numeric_limits<uint64_t>::max();
  s.credit_bytes = std::numeric_limits<int64_t>::min();
  s.rtt = s.last_rtt = s.base_rtt = kLongest;
  s.acks = s.marked = s.recent_ecn_permille = s.strange_evs = s.evs = s.evs_resting =
      s.evs_excluded = kMost;
  return s;
}

TEST(PathsTextTest, NoPageIsTooLongForAnAnswer) {
  auto page = std::make_unique<ContextsPage>();
  page->contexts.fill(widest_context());
  page->page.listed = kContextsOfPage;
  page->page.next = page->page.count = kMost;
  DomainStatus status;
  status.domain = status.fabric = std::string(64, '"');  // each becomes six octets
  status.local = longest_address();
  const std::string text = contexts_text(status, *page);
  EXPECT_LT(text.size(), kDumpBytesMax);
  EXPECT_EQ(occurrences(text, "\"credit_bytes\":-9223372036854775808"), kContextsOfPage);
  EXPECT_EQ(occurrences(text, "\"next\":4294967295"), 1u);
  EXPECT_EQ(occurrences(text, "{"), occurrences(text, "}"));
}

TEST(PathsTextTest, APathHasItsNumbers) {
  auto page = std::make_unique<ContextsPage>();
  page->page.count = page->page.listed = 1;
  pds::ContextSnapshot& s = page->contexts[0];
  s.peer = FabricAddress::v4(0x0A000009);
  s.peer.port = 4793;
  s.tc = TrafficClass(2);
  s.is_sprayed = false;
  s.lane = 7;
  s.algorithm = cms::Algorithm::nscc;
  s.window_bytes = 150'000;
  s.inflight_bytes = 4'136;
  s.backlog_bytes = 90'000;
  s.resend_bytes = 1'092;
  s.is_held_back = true;
  s.rtt = Duration::nanoseconds(12'345);
  s.last_rtt = Duration::nanoseconds(20'000);
  s.base_rtt = Duration::nanoseconds(9'876);
  s.acks = 400;
  s.marked = 100;
  s.recent_ecn_permille = 250;
  s.strange_evs = 3;
  s.evs = 1;
  DomainStatus status;
  status.domain = "eth0";
  const std::string text = contexts_text(status, *page);
  EXPECT_NE(
      text.find(
          R"("held":false,"paths":{"count":1,"listed":[{"peer":"10.0.0.9 4793","tc":2,)"
          R"("kind":"single","lane":7,)"
          R"("algorithm":"nscc","window_bytes":150000,"inflight_bytes":4136,"backlog_bytes":90000,)"
          R"("resend_bytes":1092,"held_back":true,"rtt_ns":12345,"last_rtt_ns":20000,)"
          R"("base_rtt_ns":9876,"acks":400,"marked":100,"ecn_permille":250,)"
          R"("strange_evs":3,"evs":1,)"
          R"("evs_resting":0,"evs_excluded":0}]}})"),
      text.npos)
      << text;
}

TEST(PathsTextTest, AnEngineThatIsHeldIsReported) {
  ContextsPage page;
  page.is_held = true;
  DomainStatus status;
  const std::string text = contexts_text(status, page);
  EXPECT_NE(text.find("\"held\":true"), text.npos) << text;
  EXPECT_EQ(text.find("listed"), text.npos) << "nothing is known of them";
}

TEST(PathsTextTest, ARequestNamesItsPage) {
  EXPECT_EQ(page_asked_for("uet-ctl 1 paths"), 0u);
  EXPECT_EQ(page_asked_for("uet-ctl 1 paths 256"), 256u);
  EXPECT_EQ(page_asked_for("uet-ctl 1 paths 4294967295"), kMost);
  for (const char* other :
       {"uet-ctl 1 stats", "uet-ctl 1 path", "uet-ctl 1 paths ", "uet-ctl 1 paths256",
        "uet-ctl 1 paths -1", "uet-ctl 1 paths 1x", "uet-ctl 1 paths 4294967296", ""}) {
    EXPECT_EQ(page_asked_for(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace uet::prov
