// Node B with two endpoints, X and Y, that share their receives; A sends to either. Each of the two
// has its own completion slots and record.
#pragma once

#include "ses/test/target_fixture.h"

#include <string>
#include <vector>

namespace uet::ses::test {

inline constexpr ResourceIndex kRiOfX = kRi;
inline constexpr ResourceIndex kRiOfY{4};

// An endpoint of B.
struct Sharer {
  CompletionSink sink() {
    CompletionSink s;
    s.owner = this;
    s.complete = [](void* me, const Completion& c) {
      auto& self = *static_cast<Sharer*>(me);
      self.completions.push_back(c);
      if (c.kind >= OpKind::recv && self.booked > 0) --self.booked;
    };
    s.reserve = [](void* me) {
      auto& self = *static_cast<Sharer*>(me);
      if (self.slots == 0) return false;
      --self.slots;
      ++self.booked;
      return true;
    };
    s.release = [](void* me) {
      auto& self = *static_cast<Sharer*>(me);
      EXPECT_GT(self.booked, 0u);
      ++self.slots;
      --self.booked;
    };
    return s;
  }

  ResourceIndex ri;
  EndpointId id;
  bool is_open = false;
  uint32_t slots = 1000;  // of its CQ: free
  uint32_t booked = 0;    // and promised
  std::vector<Completion> completions;
};

class SharedTest : public TargetTest {
 protected:
  void SetUp() override { begin(); }
  void begin() {
    start();
    b_->ses->close_endpoint(b_->ep, now_);
    shared_ = *b_->ses->open_shared(rx_size_);
    x_ = y_ = Sharer{};
    x_.ri = kRiOfX;
    y_.ri = kRiOfY;
    open(x_);
    open(y_);
  }
  void open(Sharer& s) {
    EndpointOptions options = options_;
    options.shared = shared_;
    const EndpointName name{kJob, kPid, s.ri, 101, false};
    const auto opened = b_->ses->open_endpoint(name, options, s.sink(), s.sink());
    ASSERT_TRUE(opened.ok());
    s.id = *opened;
    s.is_open = true;
  }
  void close(Sharer& s) {
    b_->ses->close_endpoint(s.id, now_);
    s.is_open = false;
  }
  void send(const Sharer& to, const Octets& data, uint64_t tag = 0, uintptr_t context = 1) {
    SendRequest s = send_request(stored(data), context);
    s.to.ri = to.ri;
    s.tagged = tag != 0;
    s.tag = tag;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  }
  ReceiveRequest request_of(Octets& room, uintptr_t context, uint64_t tag = 0) const {
    ReceiveRequest r = receive_request(room, context);
    r.tagged = tag != 0;
    r.tag = tag;
    return r;
  }
  void post(Octets& room, uintptr_t context, uint64_t tag = 0) {
    ASSERT_TRUE(b_->ses->receive(shared_, request_of(room, context, tag), now_).ok());
  }
  Result<void> cancel(uintptr_t context) {
    return b_->ses->cancel(shared_, reinterpret_cast<void*>(context), now_);
  }
  // The reports of both: "X recv ok 1 #2; Y ...".
  std::string told() {
    const std::string x = take(x_.completions), y = take(y_.completions);
    std::string out = x.empty() ? "" : "X " + x;
    if (!y.empty()) out += (out.empty() ? "Y " : "; Y ") + y;
    return out;
  }
  // No slot is promised to anything that will not come.
  bool is_balanced() const { return x_.booked == 0 && y_.booked == 0; }

  uint32_t rx_size_ = 1024;
  ReceiveQueueId shared_;
  Sharer x_;
  Sharer y_;
};

}  // namespace uet::ses::test
