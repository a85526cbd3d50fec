// For the tests of the parts of the target: they are put together as in Incoming, up to the one
// under test. The other folders are stubs, and there is one region of memory.
#pragma once

#include "ses/incoming/atomic_requests.h"
#include "ses/incoming/incoming.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>
#include <string>
#include <vector>

namespace uet::ses::test {

// "accept", "drop", "later", "nack CODE", or the return code of the response.
inline std::string said(const pds::Verdict& v) {
  switch (v.kind) {
    case pds::Verdict::Kind::accept:
      return "accept";
    case pds::Verdict::Kind::drop:
      return "drop";
    case pds::Verdict::Kind::later:
      return "later";
    case pds::Verdict::Kind::nack:
      return std::string("nack ") + wire::name(v.nack);
    case pds::Verdict::Kind::respond:
      break;
  }
  return wire::name(wire::ReturnCode(static_cast<uint8_t>(v.response.bytes[1]) & 0x3F));
}
inline wire::Response response_of(const pds::Verdict& v) {
  wire::Reader r(v.response.bytes);
  return wire::Response::read(r);
}

class TargetTest : public PartTest {
 protected:
  TargetTest() {
    uet::test::calls().clear();
    answers() = {};
    Rng rng(1, 1);
    EXPECT_TRUE(arriving_.create(rng).ok());
    EXPECT_TRUE(read_answers_.create().ok());
    EXPECT_TRUE(regions_.create(arena_, 1, 1).ok());
    const IoSlice all{memory_.data(), memory_.size()};
    region_ = *regions_.add({.iov = {&all, 1}});
    payload_.fill(std::byte{0xAB});
    ep_ = &open();
    ep_->rx.owner = this;
    ep_->rx.complete = [](void* me, const Completion& c) {
      static_cast<TargetTest*>(me)->done_.push_back(c);
    };
    ep_->rx.reserve = [](void* me) { return static_cast<TargetTest*>(me)->has_room_; };
  }
  ~TargetTest() override {
    arriving_.close_pdc(kPdc, [](RxMessage&) {});
  }

  // Octets [offset, offset + length) of a message; `message` is its length.
  Request packet(uint32_t message, uint32_t offset, uint32_t length,
                 wire::SesOpcode opcode = wire::SesOpcode::send) const {
    Request q;
    q.peer = peer_;
    q.mode = pds::Mode::rud;
    q.token = {kPdc, Psn(100)};
    q.header = wire::NextHeader::standard;
    q.id = MessageId(0x55);
    q.initiator = 44;
    q.common.opcode = opcode;
    q.common.som = offset == 0;
    q.common.eom = offset + length == message;
    q.common.job_id = kJob;
    q.common.ri_generation = 3;
    q.request_length = message;
    q.offset = offset;
    q.length = length;
    if (opcode != wire::SesOpcode::read) q.payload = std::span(payload_).first(length);
    return q;
  }
  Request whole(uint32_t bytes, wire::SesOpcode opcode = wire::SesOpcode::send) const {
    return packet(bytes, 0, bytes, opcode);
  }

  static constexpr pds::PdcHandle kPdc{5};

  alignas(16) std::array<std::byte, 4096> memory_{};  // of the region
  std::array<std::byte, 1024> payload_;
  MemoryRegions regions_;
  ArrivingMessages arriving_{res_};
  Refusals refusals_{res_, arriving_};
  ReadAnswers read_answers_{res_, regions_};
  Outgoing outgoing_{res_, endpoints_, regions_};
  RegionId region_;
  Endpoint* ep_ = nullptr;
  bool has_room_ = true;
  std::vector<Completion> done_;
};

// With all parts.
class TargetParts : public TargetTest {
 protected:
  Receives receives_{res_};
  KeptMessages kept_{res_, endpoints_, arriving_};
  Generations generations_{regions_, kept_.room()};
  Pulls pulls_{res_, endpoints_, receives_, outgoing_.posting()};
  DeferredMessages deferred_{res_, endpoints_, receives_, kept_, outgoing_.posting()};
  Delivery delivery_{res_, endpoints_, receives_, kept_, arriving_, pulls_, deferred_};
  Sends sends_{res_,         arriving_, refusals_, receives_, kept_,
               generations_, delivery_, pulls_,    deferred_};
  Rma rma_{res_, regions_, arriving_, refusals_, delivery_, read_answers_, outgoing_};
  AtomicRequests atomics_{res_, regions_, refusals_, receives_, read_answers_, sends_};
};

// The same with a posted receive.
class SendsTest : public TargetParts {
 protected:
  ~SendsTest() override {
    if (receive_.is_matchable) ep_->matcher(receive_.tagged).remove(receive_);
    receive_.memory.release(res_.receive_iovs);
  }
  void post_receive(uint32_t bytes, bool tagged = false) {
    receive_.memory.assign(IoSlice{octets_.data(), bytes});
    receive_.tagged = tagged;
    ep_->matcher(tagged).post(receive_);
  }
  pds::Verdict give(const Request& q) {
    RxMessage* const known = q.is_single() ? nullptr : arriving_.find(q);
    return known != nullptr ? sends_.proceed(*known, *ep_, q) : sends_.begin(*ep_, q);
  }

  PostedReceive receive_;
  UnexpectedMessage record_;
  alignas(16) std::array<std::byte, 4096> octets_{};  // of the receive
};

}  // namespace uet::ses::test
