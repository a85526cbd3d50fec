// For the tests of posted receives and kept messages: the parts of the folder, put together as in
// Incoming. The other folders are stubs.
#pragma once

#include "ses/receives/delivery.h"

#include "base/test/calls.h"
#include "ses/outgoing/outgoing.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>
#include <vector>

namespace uet::ses::test {

class ReceivesParts : public PartTest {
 protected:
  ReceivesParts() {
    uet::test::calls().clear();
    answers() = {};
    EXPECT_TRUE(receives_.create().ok());
    EXPECT_TRUE(kept_.create().ok());
    use({});
  }
  ~ReceivesParts() override { delivery_.close(*ep_); }

  // An endpoint with receives of its own, or with those of that queue.
  void use(ReceiveQueueId shared) {
    if (ep_ != nullptr) endpoints_.close(*ep_);
    ep_ = &open(pds::Mode::rud, shared);
    ep_->rx.owner = this;
    ep_->rx.complete = [](void* me, const Completion& c) {
      static_cast<ReceivesParts*>(me)->done_.push_back(c);
    };
    ep_->rx.reserve = [](void* me) { return static_cast<ReceivesParts*>(me)->has_room_; };
  }

  Result<void> receive(uint32_t bytes = 1000, void* context = nullptr, bool multi = false) {
    const IoSlice slice{octets_.data(), bytes};
    ReceiveRequest request;
    request.iov = {&slice, 1};
    request.context.op = context;
    request.multi = multi;
    request.multi_min = 10;
    return delivery_.receive(*ep_->queue, request);
  }
  // A message of `bytes` octets, all of value `fill`, is kept.
  UnexpectedMessage& keep(uint32_t bytes, int fill, bool is_complete = true) {
    UnexpectedMessage* const u = kept_.room().admit({peer_, true}, bytes);
    EXPECT_NE(u, nullptr);
    const std::vector<std::byte> payload(bytes, static_cast<std::byte>(fill));
    EXPECT_TRUE(kept_.room().store(*u, 0, payload, true));
    Request q;
    q.peer = peer_;
    q.request_length = bytes;
    KeptMessages::keep(*ep_, *u, q, {0, peer_, 0, kJob});
    u->is_complete = is_complete;
    return *u;
  }

  MemoryRegions memory_;
  ArrivingMessages arriving_{res_};
  Receives receives_{res_};
  KeptMessages kept_{res_, endpoints_, arriving_};
  Outgoing outgoing_{res_, endpoints_, memory_};
  Pulls pulls_{res_, endpoints_, receives_, outgoing_.posting()};
  DeferredMessages deferred_{res_, endpoints_, receives_, kept_, outgoing_.posting()};
  Delivery delivery_{res_, endpoints_, receives_, kept_, arriving_, pulls_, deferred_};
  Endpoint* ep_ = nullptr;
  bool has_room_ = true;
  std::vector<Completion> done_;
  std::array<std::byte, 2000> octets_{};
};

}  // namespace uet::ses::test
