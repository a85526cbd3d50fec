// The request header of a message, and its octets, written out by hand. [ses.md 3]
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

using wire::NextHeader;

std::string hex(const Octets& octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : octets) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

// The short forms of headers that both ends may use.
struct Forms {
  bool medium = false;
  bool small = false;
};

class HeadersTest : public PairTest {
 protected:
  void begin(const Forms& forms) {
    config_.medium_headers = forms.medium;
    config_.small_headers = forms.small;
    start();
  }
  Destination capable() const {
    Destination d = to_b();
    d.capabilities = kEveryProfile | kTakesSmallHeader;
    return d;
  }
  uint64_t expose_optimized(const Octets& memory) {
    RegionRequest r;
    r.iov = keep(memory);
    r.access = kRemoteRead | kRemoteWrite | kAtomic;
    r.optimized = true;
    region_ = *b_->ses->memory().add(r);
    b_->ses->memory().enable(region_);
    return b_->ses->memory().key(region_);
  }
  // The one packet that A sends now; everything then runs to its end.
  Parcel only_packet() {
    transmit();
    EXPECT_EQ(network_.size(), 1u);
    const Parcel p = network_[0];
    deliver_all();
    return p;
  }
  NextHeader header_of_send(const Octets& data) {
    EXPECT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
    transmit();
    const NextHeader h = network_[0].next_hdr;
    deliver_all();
    return h;
  }
  NextHeader header_of(const RmaRequest& r) {
    EXPECT_TRUE(a_->ses->rma(a_->ep, r, now_).ok());
    transmit();
    const NextHeader h = network_[0].next_hdr;
    deliver_all();
    return h;
  }
};

// [SES-045, SES-040] Nothing but the standard header unless it is asked for.
TEST_F(HeadersTest, TheStandardHeaderIsTheDefault) {
  EXPECT_EQ(header_of_send(pattern(8)), NextHeader::standard);
  Octets memory(64);
  RmaRequest w = rma_request(false, stored(pattern(8)), expose_optimized(memory));
  w.to = capable();
  EXPECT_EQ(header_of(w), NextHeader::standard);
}

// [SES-042, SES-039, WIRE-066] opcode 9, REL and HD and both ends; length 4; generation 0 and job
// 0x102; process 7; index 3; header data; initiator 100; tag; payload.
TEST_F(HeadersTest, AMediumTaggedSendIsThirtyTwoOctets) {
  begin({.medium = true});
  const Octets data = pattern(4);
  SendRequest s = send_request(data);
  s.tagged = true;
  s.tag = 0x1122334455667788;
  s.flags = kOpRemoteData;
  s.data = 0xA1A2A3A4A5A6A7A8;
  Octets room(10);
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.tag = s.tag;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  const Parcel p = only_packet();
  EXPECT_EQ(p.next_hdr, NextHeader::medium);
  EXPECT_EQ(hex(p.octets),
            "090f0004"
            "00000102"
            "00070003"
            "a1a2a3a4a5a6a7a8"
            "00000064"
            "1122334455667788"
            "01020304");
  EXPECT_EQ(take(*b_), "tagged_recv ok 4 tag 1234605616436508552 data 11647051513882650536 #2");
  EXPECT_EQ(take(*a_), "tagged_send ok 4 #1");
}

// [SES-018, SES-042] A write has its offset where header data would be: one of the two, not both.
TEST_F(HeadersTest, AMediumWriteHasAnOffsetOrData) {
  begin({.medium = true});
  Octets memory(64);
  const uint64_t key = expose(memory);
  const Octets data = pattern(2);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key, 5), now_).ok());
  const Parcel p = only_packet();
  EXPECT_EQ(p.next_hdr, NextHeader::medium);
  EXPECT_EQ(hex(p.octets).substr(0, 48),
            "010b0002"
            "00000102"
            "00070003"
            "0000000000000005"
            "00000064");
  EXPECT_EQ(memory[5], data[0]);

  RmaRequest with_data = rma_request(false, data, key, 0);
  with_data.flags = kOpRemoteData;
  with_data.data = 9;
  EXPECT_EQ(header_of(with_data), NextHeader::medium);
  with_data.remote_offset = 1;
  EXPECT_EQ(header_of(with_data), NextHeader::standard);
  EXPECT_EQ(take(*b_), "remote_write ok 2 data 9 #0 | remote_write ok 2 data 9 #0");
}

// [SES-071] An untagged send has no match field and no offset, whatever its post says of a tag.
TEST_F(HeadersTest, AnUntaggedSendHasNoTag) {
  begin({});
  const Octets data = pattern(4);
  SendRequest s = send_request(data);
  s.tag = 0x1122334455667788;
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  const Parcel p = only_packet();
  EXPECT_EQ(hex(p.octets).substr(24, 40),
            "0000000000000000"   // buffer offset
            "00000064"           // initiator 100
            "0000000000000000")  // match bits
      << hex(p.octets);
}

// [SES-042, SES-074] The short header is for messages of one packet, and not for requests whose
// answer is a separate message.
TEST_F(HeadersTest, LongMessagesAndReadsKeepTheStandardHeader) {
  begin({.medium = true, .small = true});
  Octets room(5000);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  EXPECT_EQ(header_of_send(pattern(1025)), NextHeader::standard);
  EXPECT_EQ(header_of_send(pattern(1024)), NextHeader::medium);
  Octets memory = pattern(64), back(64);
  RmaRequest read = rma_request(true, back, expose_optimized(memory));
  read.to = capable();
  EXPECT_EQ(header_of(read), NextHeader::standard);
  EXPECT_EQ(back, memory);
}

// [SES-045, SES-041, SES-008, WIRE-065] opcode 1, REL and both ends; length 3; job; process; the
// key as the index; offset; payload. Read on RUDI alike.
TEST_F(HeadersTest, ASmallWriteIsTwentyOctets) {
  begin({.small = true});
  Octets memory(64);
  const uint64_t key = expose_optimized(memory);
  ASSERT_EQ(key, uint64_t{1} << 62 | 1);
  const Octets data = pattern(3);
  RmaRequest w = rma_request(false, data, key, 6);
  w.to = capable();
  ASSERT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
  const Parcel p = only_packet();
  EXPECT_EQ(p.next_hdr, NextHeader::small);
  EXPECT_EQ(hex(p.octets),
            "010b0003"
            "00000102"
            "00070001"
            "0000000000000006"
            "010203");
  EXPECT_EQ(take(*a_), "write ok 3 #1");
  EXPECT_EQ(memory[8], data[2]);

  w.to.capabilities = kEveryProfile;  // the peer does not say that it takes it
  EXPECT_EQ(header_of(w), NextHeader::standard);
  w.to = capable();
  w.flags = kOpRemoteData;  // it has no place
  EXPECT_EQ(header_of(w), NextHeader::standard);
  w.flags = 0;
  w.key = expose(memory);  // an ordinary key
  EXPECT_EQ(header_of(w), NextHeader::standard);
}

// [SES-042, SES-140, WIRE-078] On RUDI PDS joins request and answer, so reads go short too, and are
// answered by the small response with data.
TEST_F(HeadersTest, ReadsOnRudiGoShort) {
  begin({.medium = true, .small = true});
  Octets memory = pattern(12), back(12);
  const uint64_t key = expose(memory, kRemoteRead, /*takes_small=*/true);
  RmaRequest read = rma_request(true, back, key);
  read.to = capable();
  read.flags = kOpRudi;
  for (const NextHeader expected : {NextHeader::small, NextHeader::medium}) {
    ASSERT_TRUE(a_->ses->rma(a_->ep, read, now_).ok());
    transmit();
    EXPECT_EQ(network_[0].next_hdr, expected);
    deliver(0);
    EXPECT_EQ(network_[0].next_hdr, NextHeader::response_data_small);
    deliver_all();
    EXPECT_EQ(take(*a_), "read ok 12 #1");
    EXPECT_EQ(back, memory);
    back.assign(back.size(), std::byte{});
    read.to.capabilities = kEveryProfile;
  }
}

// [SES-041, SES-046, SES-054] Atomics take the short headers too; the extension follows the header.
TEST_F(HeadersTest, AtomicsGoWithTheShortHeaders) {
  begin({.medium = true, .small = true});
  alignas(8) std::array<uint64_t, 2> number{40, 7};
  Octets unused(1);
  RegionRequest r;
  const IoSlice slice{reinterpret_cast<const std::byte*>(number.data()), sizeof number};
  r.iov = {&slice, 1};
  r.access = kRemoteRead | kRemoteWrite | kAtomic;
  r.optimized = true;
  const RegionId id = *b_->ses->memory().add(r);
  b_->ses->memory().enable(id);
  const uint64_t two = 2;
  const IoSlice operand{reinterpret_cast<const std::byte*>(&two), sizeof two};
  AtomicRequest q;
  q.to = to_b();
  q.code = {wire::AtomicOpcode::sum, wire::AtomicDatatype::uint64};
  q.operand = {&operand, 1};
  q.key = b_->ses->memory().key(id);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, q, now_).ok());
  EXPECT_EQ(only_packet().next_hdr, NextHeader::medium);
  q.to = capable();
  q.remote_offset = 8;
  ASSERT_TRUE(a_->ses->atomic(a_->ep, q, now_).ok());
  const Parcel p = only_packet();
  EXPECT_EQ(p.next_hdr, NextHeader::small);
  EXPECT_EQ(hex(p.octets),
            "030b0008"
            "00000102"
            "00070001"
            "0000000000000008"
            "02070200"
            "0000000000000002");
  EXPECT_EQ(number[0], 42u);
  EXPECT_EQ(number[1], 9u);
}

// [SES-008, SES-132] No index, no generation: what disables the index does not hold up the key.
TEST_F(HeadersTest, ASmallWritePassesADisabledIndex) {
  options_.mode = pds::Mode::rod;
  config_.profiles = kAiBase;  // nothing is kept
  config_.disable_index = true;
  begin({.small = true});
  Octets memory(64);
  const uint64_t key = expose_optimized(memory);
  const Octets data = pattern(3);
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
  transmit();
  deliver(0);  // B refuses; A does not know yet
  RmaRequest w = rma_request(false, data, key);
  w.to = capable();
  ASSERT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "write ok 3 #1");
}

// [SES-134, SES-146] A message without an ID is refused and goes again like any other.
TEST_F(HeadersTest, AMediumSendIsSentAgain) {
  options_.mode = pds::Mode::rod;
  config_.profiles = kAiBase;
  begin({.medium = true});
  const Octets data = pattern(3);
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  Octets room(10);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  elapse(Duration::milliseconds(200));
  EXPECT_EQ(take(*a_), "send ok 3 #1");
  EXPECT_EQ(take(*b_), "recv ok 3 #2");
  EXPECT_EQ(room[2], data[2]);
}

// [T-02] PDS asks for the job of a first request: all three headers have it in the same place.
TEST_F(HeadersTest, TheJobIsReadFromAnyRequestThatOpensAPdc) {
  begin({});
  Octets header(12);
  header[4] = std::byte{9};  // ri_generation
  header[5] = std::byte{1};
  header[6] = std::byte{2};
  header[7] = std::byte{3};
  EXPECT_EQ(a_->exchange->job_of(header), JobId(0x010203));
  header.pop_back();
  EXPECT_EQ(a_->exchange->job_of(header), JobId(0)) << "cut off";
}

}  // namespace
}  // namespace uet::ses::test
