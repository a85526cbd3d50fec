// Random traffic to two endpoints that share their receives, with queues that are often full,
// cancels, and endpoints that close and come back: each receive ends once, each message that was
// accepted arrives once and whole, and no completion slot is lost or used twice. [LF-133]
#include "ses/test/shared_fixture.h"

#include <map>
#include <set>

namespace uet::ses::test {
namespace {

class SharedSoakTest : public SharedTest {
 protected:
  static constexpr uint32_t kSlots = 6;  // of each queue

  // The number of a message, which travels as header data, decides its contents.
  static Octets payload_of(uint64_t number) {
    return pattern(static_cast<size_t>(number * 7919 % 5000), static_cast<uint8_t>(number));
  }
  void send_one(Rng& rng) {
    const Sharer& to = rng.chance(0.5) ? x_ : y_;
    if (!to.is_open) return;
    const uint64_t number = ++sent_;
    SendRequest s = send_request(stored(payload_of(number)), number);
    s.to.ri = to.ri;
    s.to.capabilities = deferrable_ ? kAiBase | kAiFull : kAiBase | kHpc;
    s.to.initiator_id = 101;
    s.tagged = rng.chance(0.7);
    s.tag = s.tagged ? 1 + rng.below(5) : 0;
    s.data = number;
    s.flags = kOpRemoteData | (rng.chance(0.2) ? uint32_t{kOpDeliveryComplete} : 0);
    if (!a_->ses->send(a_->ep, s, now_).ok()) --sent_;
  }
  void post_one(Rng& rng, bool takes_anything) {
    const uintptr_t context = ++next_context_;
    Octets& room = rooms_[context];
    room.resize(5000);
    ReceiveRequest r = request_of(room, context);
    r.tagged = rng.chance(0.6);
    r.tag = r.tagged ? 1 + rng.below(5) : 0;
    if (r.tagged && (takes_anything || rng.chance(0.3))) r.ignore = ~uint64_t{0};
    if (!r.tagged && rng.chance(0.2)) {
      r.multi = true;
      r.multi_min = 4000;
    }
    if (!b_->ses->receive(shared_, r, now_).ok()) {
      rooms_.erase(context);
    } else if (!takes_anything && rng.chance(0.1) && (x_.is_open || y_.is_open)) {
      (void)cancel(context);
    }
  }
  // The application reads some completions, which gives their slots back.
  void read(Sharer& s, uint64_t limit) {
    while (limit-- != 0 && !s.completions.empty()) {
      const Completion c = s.completions.front();
      s.completions.erase(s.completions.begin());
      ++s.slots;
      const auto context = reinterpret_cast<uintptr_t>(c.context.op);
      ASSERT_EQ(rooms_.count(context), 1u) << "completed twice, or never posted";
      const bool is_cut = c.status == Completion::Status::truncated;
      if (c.ok() || is_cut) {
        const Octets expected = payload_of(c.data);
        const auto* begin =
            c.buffer != nullptr ? static_cast<const std::byte*>(c.buffer) : rooms_[context].data();
        ASSERT_EQ(c.bytes + c.truncated_bytes, expected.size());
        EXPECT_TRUE(std::equal(begin, begin + c.bytes, expected.begin()));
        EXPECT_TRUE(arrived_.insert(c.data).second) << "twice: " << c.data;
      }
      // Messages that were in a released one may be read later, from the other's queue.
      if (c.multi_done) {
        EXPECT_TRUE(released_.insert(context).second);
      }
      if (c.buffer == nullptr && !c.multi_done) rooms_.erase(context);
    }
  }
  // The reports to A, without sends that ended because an endpoint had closed.
  void collect() {
    for (const Completion& c : a_->completions) {
      ++ended_;
      if (c.ok()) accepted_.insert(reinterpret_cast<uintptr_t>(c.context.op));
    }
    a_->completions.clear();
  }
  void exchange(Rng& rng, double loss) {
    for (transmit(); !network_.empty(); transmit()) {
      const size_t at = rng.below(network_.size());
      if (rng.chance(loss)) {
        network_.take(at);
      } else {
        deliver(at);
      }
    }
  }
  void pass(Duration span) {
    now_ = now_ + span;
    for (Node* node : {a_.get(), b_.get()}) {
      node->advance(now_);
      node->pds.resend_all();
    }
  }
  void shake(Rng& rng, bool reopens) {
    for (int i = 0; i < 4; ++i) send_one(rng);
    for (int i = 0; i < 3; ++i) post_one(rng, false);
    exchange(rng, 0.1);
    for (Sharer* s : {&x_, &y_}) read(*s, rng.below(5));
    if (reopens && rng.chance(0.1)) {
      Sharer& s = rng.chance(0.5) ? x_ : y_;
      if (s.is_open) {
        close(s);
        EXPECT_EQ(s.booked, 0u) << "promised and never used";
      } else {
        open(s);
      }
    }
    collect();
    pass(Duration::milliseconds(static_cast<int64_t>(rng.below(100))));
  }
  void finish_all(Rng& rng) {
    for (Sharer* s : {&x_, &y_}) {
      if (!s->is_open) open(*s);
    }
    for (int round = 0; round < 2000 && (ended_ < sent_ || kept() != 0); ++round) {
      for (int i = 0; i < 3 && round < 600; ++i) post_one(rng, true);
      exchange(rng, 0);
      for (Sharer* s : {&x_, &y_}) read(*s, UINT64_MAX);
      collect();
      pass(Duration::milliseconds(100));
    }
  }
  uint32_t kept() {
    Snapshot all;
    b_->ses->snapshot(all, now_);
    return all.kept_count;
  }
  void soak(uint64_t seed, bool reopens) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    config_.unexpected_bytes = rng.below(20) * 4096;
    config_.unexpected_messages = 2 + static_cast<uint32_t>(rng.below(20));
    config_.rx_messages = 2 + static_cast<uint32_t>(rng.below(20));
    config_.rendezvous_bytes = seed % 3 == 0 ? 2000 : UINT32_MAX;
    deferrable_ = seed % 3 == 1;
    config_.profiles = deferrable_ ? kAiBase | kAiFull | kHpc : kEveryProfile;
    config_.defer_to = DeferTo::everybody;
    config_.defer_bytes = 1000;
    rx_size_ = 2000;
    begin();
    x_.slots = y_.slots = kSlots;
    a_->pds.allows_void_resend = b_->pds.allows_void_resend = true;
    sent_ = ended_ = 0;
    rooms_.clear();
    released_.clear();
    arrived_.clear();
    accepted_.clear();
    for (int round = 0; round < 60 && !HasFailure(); ++round) shake(rng, reopens);
    finish_all(rng);
    EXPECT_EQ(ended_, sent_);
    for (Sharer* s : {&x_, &y_}) {
      close(*s);
      read(*s, UINT64_MAX);
      EXPECT_EQ(s->booked, 0u);
      EXPECT_EQ(s->slots, kSlots);
    }
    for (const uintptr_t context : released_) rooms_.erase(context);
    EXPECT_EQ(rooms_.size(), b_->ses->receives_open(shared_));
    EXPECT_TRUE(b_->ses->idle());
    restarted_ += count(Counter::rx_restarted);
    read_ += count(Counter::rx_rendezvous);
    full_ += count(Counter::rx_no_completion_slot);
    b_->ses->close_shared(shared_, now_);
    if (reopens) return;  // what an endpoint had kept is gone with it
    EXPECT_EQ(arrived_, accepted_);
    EXPECT_EQ(accepted_.size(), sent_);
  }

  // The run covered all hard cases.
  void expect_variety() const {
    EXPECT_GT(restarted_, 100u);
    EXPECT_GT(read_, 100u);
    EXPECT_GT(full_, 100u);
  }

  bool deferrable_ = false;
  uint64_t restarted_ = 0;
  uint64_t read_ = 0;
  uint64_t full_ = 0;
  uint64_t sent_ = 0;
  uint64_t ended_ = 0;  // of them
  uintptr_t next_context_ = 1'000'000;
  std::map<uintptr_t, Octets> rooms_;  // by context, while posted
  std::set<uintptr_t> released_;       // of them, multi-receives
  std::set<uint64_t> accepted_;        // A got this answer
  std::set<uint64_t> arrived_;
};

TEST_F(SharedSoakTest, EachMessageArrivesOnceAndNoSlotIsLost) {
  for (uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) soak(seed, false);
  expect_variety();
}

TEST_F(SharedSoakTest, EndpointsMayComeAndGo) {
  for (uint64_t seed = 101; seed <= 130 && !HasFailure(); ++seed) soak(seed, true);
  expect_variety();
}

}  // namespace
}  // namespace uet::ses::test
