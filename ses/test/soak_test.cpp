// Both sides post everything at random over a lossy, reordering network with tiny tables; in the
// end every operation has completed once, every octet is right, and nothing is held any more.
#include "ses/test/pair.h"

#include <map>

namespace uet::ses::test {
namespace {

class SoakTest : public PairTest {
 protected:
  // The tag identifies a message of a side; its payload follows from the tag.
  static Octets payload_of(uint64_t tag) {
    return pattern(static_cast<size_t>(tag * 7919 % 6000), static_cast<uint8_t>(tag));
  }
  struct Side {
    Node* node = nullptr;
    std::map<uintptr_t, Octets> buffers;  // by context, alive until the completion
    std::map<uintptr_t, uint64_t> tags;   // of sends
    uint32_t posted = 0;
    uint32_t completed = 0;
    Octets memory = Octets(8000);
    uint64_t key = 0;  // of the other side's memory
  };

  void post(Side& s, Rng& rng) {
    const uintptr_t context = ++next_context_;
    const auto kind = rng.below(10);
    Result<void> done;
    if (kind < 4) {
      const uint64_t tag = 1 + rng.below(40);
      s.buffers[context] = payload_of(tag);
      SendRequest r = send_request(s.buffers[context], context);
      r.tagged = true;
      r.tag = tag;
      r.flags = (rng.chance(0.2) ? uint32_t{kOpDeliveryComplete} : 0) |
                (rng.chance(0.05) ? uint32_t{kOpFence} : 0);
      done = post_result(s.node->ses->send(s.node->ep, r, now_));
      s.tags[context] = tag;
    } else if (kind < 8) {
      s.buffers[context] = Octets(6000);
      ReceiveRequest r = receive_request(s.buffers[context], context);
      r.tagged = true;
      r.tag = 1 + rng.below(40);
      r.ignore = rng.chance(0.5) ? ~uint64_t{0} : 0;
      done = post_result(s.node->ses->receive(s.node->ep, r, now_));
    } else {
      s.buffers[context] = Octets(rng.below(8000));
      RmaRequest r = rma_request(kind == 8, s.buffers[context], s.key);
      r.context.op = reinterpret_cast<void*>(context);
      r.to = to_b();
      done = post_result(s.node->ses->rma(s.node->ep, r, now_));
    }
    if (is_posted_) {
      ++s.posted;
    } else {
      s.buffers.erase(context);
    }
    if (rng.chance(0.05)) s.node->ses->cancel(s.node->ep, reinterpret_cast<void*>(context), now_);
  }
  template <class T>
  Result<void> post_result(const Result<T>& r) {
    is_posted_ = r.ok();
    EXPECT_TRUE(r.ok() || r.error() == Errc::again);
    return r.ok() ? Result<void>() : r.error();
  }
  void collect(Side& s) {
    for (const Completion& c : s.node->completions) {
      const auto context = reinterpret_cast<uintptr_t>(c.context.op);
      ASSERT_EQ(s.buffers.count(context), 1u) << "completed twice, or never posted";
      ++s.completed;
      if (c.kind == OpKind::tagged_recv && c.ok()) {
        const Octets expected = payload_of(c.tag);
        const Octets& room = s.buffers[context];
        ASSERT_EQ(c.bytes, expected.size());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), room.begin()));
      } else {
        const bool may_fail = c.status == Completion::Status::cancelled ||
                              (c.status == Completion::Status::refused &&
                               c.code == wire::ReturnCode::initiator_err) ||
                              c.status == Completion::Status::aborted;
        EXPECT_TRUE(c.ok() || may_fail) << int(c.status) << " " << wire::name(c.code);
      }
      s.buffers.erase(context);
    }
    s.node->completions.clear();
  }
  // Each side's memory is open to the other.
  void connect(Side& a, Side& b) {
    a.node = a_.get();
    b.node = b_.get();
    for (Side* s : {&a, &b}) {
      s->node->pds.window = 8;
      s->node->pds.allows_void_resend = true;
      RegionRequest r;
      r.iov = keep(s->memory);
      r.access = kRemoteRead | kRemoteWrite;
      const RegionId id = *s->node->ses->memory().add(r);
      s->node->ses->memory().enable(id);
      (s == &a ? b : a).key = s->node->ses->memory().key(id);
    }
  }
  void exchange(Rng& rng, double loss, bool reorder) {
    for (transmit(); !network_.empty(); transmit()) {
      const size_t at = reorder ? rng.below(network_.size()) : 0;
      if (rng.chance(loss)) {
        network_.take(at);
      } else {
        deliver(at);
      }
    }
  }

  // Small rooms, so that every limit is met.
  void configure(Rng& rng, bool is_rod) {
    config_.unexpected_bytes = rng.below(20) * 4096;
    config_.unexpected_messages = 1 + static_cast<uint32_t>(rng.below(20));
    config_.rx_messages = 2 + static_cast<uint32_t>(rng.below(20));
    config_.return_messages = 4;
    options_.tx_size = 40;
    options_.rx_size = 1000;  // the last part can always post a receive that takes anything
    options_.mode = is_rod ? pds::Mode::rod : pds::Mode::rud;
  }
  void elapse(Side& a, Side& b, Duration time) {
    collect(a);
    collect(b);
    now_ = now_ + time;
    for (Side* s : {&a, &b}) {
      s->node->advance(now_);
      s->node->pds.resend_all();
    }
  }
  void post_a_receive_for_anything(Side& s) {
    const uintptr_t context = ++next_context_;
    s.buffers[context] = Octets(6000);
    ReceiveRequest r = receive_request(s.buffers[context], context);
    r.tagged = true;
    r.ignore = ~uint64_t{0};
    if (s.node->ses->receive(s.node->ep, r, now_).ok()) {
      ++s.posted;
    } else {
      s.buffers.erase(context);
    }
  }
  // Receives for all that is still wanted, then quiet: all sends end.
  void finish(Side& a, Side& b, Rng& rng, bool is_rod) {
    for (int round = 0; round < 400 && !(a_->ses->idle() && b_->ses->idle()); ++round) {
      post_a_receive_for_anything(a);
      post_a_receive_for_anything(b);
      exchange(rng, 0, !is_rod);
      elapse(a, b, Duration::milliseconds(50));
    }
    EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  }

  uintptr_t next_context_ = 100;
  bool is_posted_ = false;
};

TEST_F(SoakTest, EverythingPostedCompletesOnceAndNothingIsLeft) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const bool is_rod = seed % 2 == 0;
    configure(rng, is_rod);
    start();
    Side a, b;
    connect(a, b);
    for (int round = 0; round < 60; ++round) {
      for (int i = 0; i < 5; ++i) {
        post(a, rng);
        post(b, rng);
      }
      exchange(rng, is_rod ? 0 : 0.1, !is_rod);
      elapse(a, b, Duration::milliseconds(static_cast<int64_t>(rng.below(100))));
    }
    finish(a, b, rng, is_rod);
    for (Side* s : {&a, &b}) {
      s->node->ses->close_endpoint(s->node->ep, now_);
      collect(*s);
      EXPECT_EQ(s->completed, s->posted);
      EXPECT_TRUE(s->buffers.empty());
      EXPECT_EQ(s->node->pds.asked.messages_done, s->node->pds.asked.keep_pdc);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace uet::ses::test
