// Headers with random values that parse() accepts, for the round-trip tests.
#pragma once

#include "wire/pds.h"
#include "wire/ses.h"
#include "wire/tss.h"

#include <cinttypes>
#include <cstdio>
#include <random>

namespace uet::wire::test {

// Field values of every width, from a seed that is printed.
class Values {
 public:
  explicit Values(uint64_t seed) : engine_(seed) { std::printf("seed %" PRIu64 "\n", seed); }
  uint64_t bits(unsigned width) { return engine_() >> (64 - width); }
  bool flag() { return bits(1) != 0; }
  template <class T>
  T as(unsigned width) {
    return static_cast<T>(bits(width));
  }
  Pdcid pdcid() { return Pdcid(static_cast<uint16_t>(1 + bits(15))); }
  template <class Array>
  void fill(Array& a) {
    for (auto& b : a) b = as<std::byte>(8);
  }

 private:
  std::mt19937_64 engine_;
};

inline Request random_request(Values& v) {
  static constexpr PdsType kTypes[] = {PdsType::rud_request, PdsType::rod_request,
                                       PdsType::rud_cc_request, PdsType::rod_cc_request};
  Request h;
  h.type = kTypes[v.bits(2)];
  h.next_hdr = v.as<NextHeader>(2);
  h.retx = v.flag();
  h.ar = v.flag();
  h.syn = v.flag();
  h.clear_psn_offset = v.as<int16_t>(16);
  h.psn = Psn(v.as<uint32_t>(32));
  h.spdcid = v.pdcid();
  if (h.syn) {
    h.use_rsv_pdc = v.flag();
    h.private_mark = v.flag();
    h.psn_offset = v.as<uint16_t>(12);
  } else {
    h.dpdcid = v.pdcid();
  }
  if (h.has_cc()) {
    h.ccc_id = v.as<uint8_t>(8);
    h.credit_target = v.as<uint32_t>(24);
  }
  return h;
}

inline Ack random_ack(Values& v, PdsType type) {
  Ack h;
  h.type = type;
  const uint64_t next = v.bits(2);
  h.next_hdr = next == 0 ? NextHeader::none : static_cast<NextHeader>(3 + next);
  h.epsn = type == PdsType::ack && v.flag();
  h.m = v.flag();
  h.retx = v.flag();
  h.p = v.flag();
  h.req = v.as<AckRequest>(2);
  if (h.p)
    h.probe_opaque = v.as<uint16_t>(16);
  else
    h.ack_psn_offset = v.as<int16_t>(16);
  h.cack_psn = Psn(v.as<uint32_t>(32));
  h.spdcid = v.pdcid();
  h.dpdcid = v.pdcid();
  if (h.has_expected_psn()) h.expected_start_psn = Psn(v.as<uint32_t>(32));
  return h;
}

inline AckCc random_ack_cc(Values& v) {
  AckCc h;
  h.ack = random_ack(v, PdsType::ack_cc);
  h.cc_type = v.as<CcType>(4);
  h.cc_flags = v.as<uint8_t>(4);
  h.mpr = v.as<uint8_t>(8);
  h.sack_psn_offset = v.as<int16_t>(16);
  h.sack_bitmap = v.bits(64);
  h.state = v.bits(64);
  return h;
}

inline AckCcx random_ack_ccx(Values& v) {
  AckCcx h;
  h.ack = random_ack(v, PdsType::ack_ccx);
  h.ccx_type = v.as<uint8_t>(4);
  h.cc_flags = v.as<uint8_t>(4);
  h.mpr = v.as<uint8_t>(8);
  h.sack_psn_offset = v.as<int16_t>(16);
  h.sack_bitmap = v.bits(64);
  v.fill(h.state);
  return h;
}

inline Nack random_nack(Values& v, PdsType type) {
  Nack h;
  h.type = type;
  h.m = v.flag();
  h.retx = v.flag();
  h.nt = v.flag();
  h.nack_code = v.as<NackCode>(8);
  h.vendor_code = v.as<uint8_t>(8);
  if (h.nt)
    h.nack_pkt_id = PktId(v.as<uint32_t>(32));
  else
    h.nack_psn = Psn(v.as<uint32_t>(32));
  h.spdcid = Pdcid(v.as<uint16_t>(16));
  h.dpdcid = Pdcid(v.as<uint16_t>(16));
  h.payload = v.as<uint32_t>(32);
  return h;
}

inline NackCcx random_nack_ccx(Values& v) {
  NackCcx h;
  h.nack = random_nack(v, PdsType::nack_ccx);
  h.nccx_type = v.as<uint8_t>(4);
  v.fill(h.state);
  h.state[0] &= std::byte{0x0F};
  return h;
}

inline Control random_control(Values& v) {
  Control h;
  h.ctl_type = v.as<CtlType>(4);
  h.isrod = v.flag();
  h.retx = v.flag();
  h.ar = v.flag();
  h.syn = v.flag();
  h.probe_opaque = v.as<uint16_t>(16);
  h.psn = Psn(v.as<uint32_t>(32));
  h.spdcid = v.pdcid();
  if (h.syn) {
    h.use_rsv_pdc = v.flag();
    h.private_mark = v.flag();
    h.psn_offset = v.as<uint16_t>(12);
  } else {
    h.dpdcid = Pdcid(v.as<uint16_t>(16));
  }
  h.payload = v.as<uint32_t>(32);
  return h;
}

inline RequestCommon random_common(Values& v) {
  return {v.as<SesOpcode>(6),
          0,
          v.flag(),
          v.flag(),
          v.flag(),
          v.flag(),
          v.flag(),
          v.flag(),
          v.as<uint8_t>(8),
          JobId(v.as<uint32_t>(24)),
          PidOnFep(v.as<uint16_t>(12)),
          ResourceIndex(v.as<uint16_t>(12))};
}

inline StandardRequest random_standard(Values& v) {
  StandardRequest h;
  h.common = random_common(v);
  h.message_id = MessageId(v.as<uint16_t>(16));
  h.buffer_offset = v.bits(64);
  h.initiator = v.as<uint32_t>(32);
  h.match_bits = v.bits(64);
  if (h.common.som) {
    h.header_data = v.bits(64);
  } else {
    h.payload_length = v.as<uint16_t>(13);
    h.message_offset = v.as<uint32_t>(32);
  }
  h.request_length = v.as<uint32_t>(32);
  return h;
}

inline SmallRequest random_small(Values& v) {
  SmallRequest h;
  h.common = random_common(v);
  h.common.hd = false;
  h.common.som = h.common.eom = true;
  h.request_length = v.as<uint16_t>(14);
  h.buffer_offset = v.bits(64);
  return h;
}

inline MediumRequest random_medium(Values& v) {
  MediumRequest h;
  h.common = random_common(v);
  h.common.som = h.common.eom = true;
  h.request_length = v.as<uint16_t>(14);
  (h.common.hd ? h.header_data : h.buffer_offset) = v.bits(64);
  h.initiator = v.as<uint32_t>(32);
  h.match_bits = v.bits(64);
  return h;
}

inline Rendezvous random_rendezvous(Values& v) {
  return {v.as<uint32_t>(32),
          v.as<uint8_t>(8),
          PidOnFep(v.as<uint16_t>(12)),
          ResourceIndex(v.as<uint16_t>(12)),
          v.bits(64),
          v.bits(64)};
}

inline CompareSwap random_compare_swap(Values& v) {
  CompareSwap h;
  h.atomic = {static_cast<AtomicOpcode>(0x0D + v.bits(8) % 7), v.as<AtomicDatatype>(8),
              v.as<uint8_t>(8)};
  v.fill(h.compare_value);
  v.fill(h.swap_value);
  return h;
}

inline Response random_response(Values& v) {
  const ResponseCommon common{v.as<ListCode>(2), static_cast<ResponseOpcode>(v.bits(6) & 0x3D), 0,
                              v.as<ReturnCode>(6)};
  return {common, MessageId(v.as<uint16_t>(16)), v.as<uint8_t>(8), JobId(v.as<uint32_t>(24)),
          v.as<uint32_t>(32)};
}

inline ResponseData random_response_data(Values& v) {
  ResponseData h;
  h.common.list = v.as<ListCode>(2);
  h.common.return_code = v.as<ReturnCode>(6);
  h.response_message_id = MessageId(v.as<uint16_t>(16));
  h.job_id = JobId(v.as<uint32_t>(24));
  h.read_request_message_id = MessageId(v.as<uint16_t>(16));
  h.payload_length = v.as<uint16_t>(13);
  h.modified_length = v.as<uint32_t>(32);
  h.message_offset = v.as<uint32_t>(32);
  return h;
}

inline ResponseDataSmall random_response_data_small(Values& v) {
  ResponseDataSmall h;
  h.common.list = v.as<ListCode>(2);
  h.common.return_code = v.as<ReturnCode>(6);
  h.payload_length = v.as<uint16_t>(13);
  h.job_id = JobId(v.as<uint32_t>(24));
  h.original_request_psn = Psn(v.as<uint32_t>(32));
  return h;
}

inline TssHeader random_tss(Values& v) {
  TssHeader h;
  h.sp = v.flag();
  h.an = v.flag();
  h.sdi = v.as<uint32_t>(24);
  if (h.sp) h.ssi = v.as<uint32_t>(32);
  h.tsc = v.bits(64);
  return h;
}

// Calls f with one random header of every kind.
template <class F>
void for_each_header(Values& v, F f) {
  f(random_request(v));
  f(random_ack(v, PdsType::ack));
  f(random_ack_cc(v));
  f(random_ack_ccx(v));
  f(random_nack(v, PdsType::nack));
  f(random_nack_ccx(v));
  f(random_control(v));
  f(RudiRequest{v.as<NextHeader>(2), v.flag(), v.flag(), PktId(v.as<uint32_t>(32))});
  f(RudiResponse{NextHeader::response, v.flag(), v.flag(), PktId(v.as<uint32_t>(32))});
  f(Uud{v.as<NextHeader>(2)});
  f(random_standard(v));
  f(random_small(v));
  f(random_medium(v));
  f(random_rendezvous(v));
  f(Atomic{static_cast<AtomicOpcode>(v.bits(8) % 0x0D), v.as<AtomicDatatype>(8), v.as<uint8_t>(8)});
  f(random_compare_swap(v));
  f(random_response(v));
  f(random_response_data(v));
  f(random_response_data_small(v));
  f(random_tss(v));
}

}  // namespace uet::wire::test
