// A client for tests of PDS: messages are counts of octets, answers come from a function, and
// everything that PDS says is recorded. Header of every request: message handle and offset, 4
// octets each.
#pragma once

#include "pds/pds.h"

#include "wire/pds.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace uet::pds::test {

inline constexpr Instant kStart = Instant::from_ns(1'000'000'000);

// The first time-out of a PDC equals the others unless a test sets it. FirstTimeOutTest sets a
// longer one.
inline Config with_equal_timeouts(Config config) {
  if (config.rto_init == Config{}.rto_init) config.rto_init = config.rto_min;
  return config;
}

inline FabricAddress address(uint8_t last, uint16_t port = kUetPort) {
  return FabricAddress::v4(0x0A000000U | last, port);
}

using PacketName = std::pair<uint32_t, uint32_t>;  // message, offset
using PacketNames = std::vector<PacketName>;

class StubClient final : public Client {
 public:
  struct Message {
    uint32_t bytes = 0;
    uint32_t pulled = 0;
    bool keep_pdc = false;
    wire::NextHeader next_hdr = wire::NextHeader::standard;
    bool is_taken_back = false;  // nothing more of it is to be sent
  };
  // Options of a test.
  struct Script {
    bool sack_completes = true;    // for packets that are not the last of their message
    bool quiet = false;            // no operation waits for the answers to pulled packets
    bool says_last = true;         // with each message that nothing waits behind
    bool check_octets = true;      // payload is what encode() wrote
    bool names_are_unique = true;  // no two packets of a test have the same name
    bool has_open = false;         // says so of every PDC
    bool shortens = false;         // packets that are too long
    JobId job{1};                  // of every request
  };
  // The messages that wait for a PDC, and which one each has got.
  struct Started {
    std::map<FlowId, std::deque<MessageHandle>> waiting;
    std::map<uint32_t, PdcHandle> pdc_of;
    uint32_t asked = 0;  // questions for a message
  };
  // The requests that it has taken.
  struct Received {
    std::map<PacketName, int> times;
    PacketNames order;
    std::map<PacketName, RxToken> tokens;
    uint64_t bytes = 0;
  };
  Script script;
  uint32_t mtu = 1024;
  std::function<Verdict(PacketName, const RxRequest&)> verdict;
  Pds* pds = nullptr;

  Started started;
  std::map<uint32_t, Message> messages;
  Received received;
  std::map<PacketName, int> responded, failed;
  std::map<PacketName, std::vector<std::byte>> response_octets;
  std::vector<Failure> failures;
  std::map<uint32_t, Failure> aborted;
  std::vector<bool> closed;  // `clean` of every PDC that went

  void post(FlowId flow, uint32_t handle, uint32_t bytes, bool keep_pdc = false) {
    Message& m = messages[handle];
    m.bytes = bytes;
    m.keep_pdc = keep_pdc;
    started.waiting[flow].push_back(MessageHandle(handle));
    const uint32_t packets = bytes == 0 ? 1 : (bytes + mtu - 1) / mtu;
    pds->ready(flow, bytes + uint64_t{packets} * kPacketOverheadBytes);
  }

  bool start(FlowId flow, PdcHandle pdc, StartedMessage& out, Instant) override {
    ++started.asked;
    auto& q = started.waiting[flow];
    if (q.empty()) return false;
    out.message = q.front();
    out.keep_pdc = messages[out.message.value()].keep_pdc;
    started.pdc_of[out.message.value()] = pdc;
    q.pop_front();
    out.is_last = script.says_last && q.empty();
    return true;
  }
  bool pull(MessageHandle handle, PacketRef& out) override {
    Message& m = messages.at(handle.value());
    if (m.is_taken_back) return false;
    out.message = handle;
    out.offset = m.pulled;
    out.length = static_cast<uint16_t>(std::min(mtu, m.bytes - m.pulled));
    out.next_hdr = m.next_hdr;
    out.som = m.pulled == 0;
    m.pulled += out.length;
    out.eom = m.pulled == m.bytes;
    out.sack_completes = script.sack_completes && !out.eom;
    out.quiet = script.quiet;
    return true;
  }
  void encode(const PacketRef& ref, wire::Writer& w, TxBatch& batch) override {
    w.u32(ref.message.value());
    w.u32(ref.offset);
    batch.add_payload(payload(), ref.length);
  }
  Verdict on_request(const RxRequest& r, Instant) override {
    wire::Reader in(r.ses);
    if (in.remaining() < 8) {
      EXPECT_FALSE(script.check_octets);
      Verdict v;
      v.kind = Verdict::Kind::drop;
      return v;
    }
    PacketName name;
    name.first = in.u32();
    name.second = in.u32();
    if (script.check_octets) {
      EXPECT_EQ(std::memcmp(in.peek(in.remaining()), payload(), in.remaining()), 0);
    }
    Verdict v = verdict ? verdict(name, r) : Verdict::accepted();
    const bool silent = v.kind == Verdict::Kind::accept || v.kind == Verdict::Kind::later;
    if (r.mode == Mode::rudi && silent) v = plain_answer();  // every request is answered [PDS-202]
    if (v.kind != Verdict::Kind::nack && v.kind != Verdict::Kind::drop) {
      const bool is_new = ++received.times[name] == 1;
      EXPECT_TRUE(is_new || !script.names_are_unique)
          << "delivered twice: " << name.first << "+" << name.second;
      received.order.push_back(name);
      received.tokens[name] = r.token;
      received.bytes += in.remaining();
    }
    return v;
  }
  void on_response(const PacketRef& ref, const RxResponse& r, Instant) override {
    const PacketName name{ref.message.value(), ref.offset};
    EXPECT_EQ(++responded[name], 1) << "answered twice: " << name.first << "+" << name.second;
    EXPECT_EQ(failed.count(name), 0u);
    if (!r.ses.empty()) response_octets[name].assign(r.ses.begin(), r.ses.end());
  }
  void on_failed(const PacketRef& ref, const Failure& f, Instant) override {
    const PacketName name{ref.message.value(), ref.offset};
    EXPECT_EQ(++failed[name], 1);
    EXPECT_EQ(responded.count(name), 0u);
    failures.push_back(f);
  }
  void on_aborted(MessageHandle handle, const Failure& f, Instant) override {
    EXPECT_TRUE(aborted.emplace(handle.value(), f).second);
  }
  bool shorten(const PacketRef&) override { return script.shortens; }
  JobId job_of(std::span<const std::byte>) const override { return script.job; }
  bool has_open_message(PdcHandle) const override { return script.has_open; }
  void on_pdc_closed(PdcHandle, PeerId, bool clean, Instant) override { closed.push_back(clean); }

  // A response of 12 octets, all 0xA5.
  static Verdict plain_answer() {
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response;
    v.response.length = 12;
    for (uint32_t i = 0; i < 12; ++i) v.response.bytes[i] = std::byte{0xA5};
    return v;
  }

  // The same to every request: for `verdict`.
  static Verdict answer_all(PacketName, const RxRequest&) { return plain_answer(); }

  static const std::byte* payload() {
    static const std::vector<std::byte> octets = [] {
      std::vector<std::byte> v(8192);
      for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::byte>(i * 7 + i / 251);
      return v;
    }();
    return octets.data();
  }
};

}  // namespace uet::pds::test
