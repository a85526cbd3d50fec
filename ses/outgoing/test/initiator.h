// For the tests of the parts of the initiator: they are put together as in Outgoing, up to the one
// under test. The other folders are stubs.
#pragma once

#include "ses/outgoing/posting.h"
#include "ses/outgoing/settling.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>
#include <vector>

namespace uet::ses::test {

// An open endpoint that keeps the completions reported to it.
class InitiatorTest : public PartTest {
 protected:
  explicit InitiatorTest(const Config& config = small()) : PartTest(config) {
    uet::test::calls().clear();
    answers() = {};
    use(pds::Mode::rud);
  }
  void use(pds::Mode mode) {
    if (ep_ != nullptr) endpoints_.close(*ep_);
    ep_ = &open(mode);
    ep_->tx.owner = this;
    ep_->tx.complete = [](void* me, const Completion& c) {
      static_cast<InitiatorTest*>(me)->done_.push_back(c);
    };
  }
  std::array<IoSlice, 1> memory(uint32_t bytes) { return {IoSlice{octets_.data(), bytes}}; }
  // Both the timers of operations and of remotes are due in order.
  template <class Fn>
  void elapse(Duration time, Fn&& fn) {
    res_.now = res_.now + time;
    res_.timers.expire(res_.now, fn);
  }

  Endpoint* ep_ = nullptr;
  std::vector<Completion> done_;
  std::vector<std::byte> octets_ = std::vector<std::byte>(kRetainBytes + 1);
};

// With all parts.
class InitiatorParts : public InitiatorTest {
 protected:
  explicit InitiatorParts(const Config& config = small()) : InitiatorTest(config) {
    Rng rng(1, 1);
    EXPECT_TRUE(operations_.create().ok());
    EXPECT_TRUE(flows_.create(rng).ok());
    EXPECT_TRUE(remotes_.create(4, rng).ok());
    EXPECT_TRUE(settling_.create(rng).ok());
  }
  Remote& remote() { return **remotes_.get(*ep_, to_peer()); }

  static constexpr pds::PdcHandle kPdc{5};

  MemoryRegions memory_regions_;
  Exposures exposures_{res_, memory_regions_};
  Deferrals deferrals_{res_};
  Flows flows_{res_};
  Remotes remotes_{res_, flows_};
  SendOrder order_{res_, remotes_};
  Operations operations_{res_, endpoints_, flows_, order_, exposures_, deferrals_};
  Settling settling_{res_, operations_, order_, exposures_};
  Posting posting_{res_, remotes_, order_, operations_, exposures_, deferrals_};
};

}  // namespace uet::ses::test
