// What the packet delivery sublayer asks of the layer above it (SES in the product, a stub in the
// tests), and the words both use. PDS never sees a SES header field; SES never sees a PSN window.
// [PDS 19.1, 19.2]
#pragma once

#include "wire/code_points.h"
#include "wire/writer.h"

#include "base/packet.h"
#include "base/serial.h"
#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::pds {

enum class Mode : uint8_t {
  rud,
  rod,
  rudi,
  uud
};

// One stream of messages that may share PDCs: (peer, traffic class, mode, JobID). [PDS-013]
using FlowId = Id<struct FlowTag, uint32_t>;

// The client's own handle of an outgoing message; PDS only carries it around. 0: none.
using MessageHandle = Id<struct MessageHandleTag, uint32_t>;

// A PDC of this FEP, as a handle that goes stale when the PDC is freed. 0: none.
using PdcHandle = Id<struct PdcHandleTag, uint32_t>;

// All that is needed to encode one packet of a message, the first time and again. [PDS-066]
struct PacketRef {
  MessageHandle message;
  uint32_t offset = 0;          // octet of the message that the payload starts at
  uint16_t length = 0;          // payload octets; in a READ request the octets asked for
  wire::NextHeader next_hdr{};  // SES header that encode() will write
  bool som : 1 = false;
  bool eom : 1 = false;
  // A SACK alone completes the packet: its response carries no news the client waits for. [PDS-093]
  bool sack_completes : 1 = false;
  // No operation waits for the answer, so the packet need not ask for an ACK at once. [PDS-064]
  bool quiet : 1 = false;
  // `length` octets come back, and none go.
  bool asks : 1 = false;
};
static_assert(sizeof(PacketRef) == 12);

// Largest overhead of a packet in the accounting of congestion management: PDS and SES headers,
// UDP, and 40 octets. [CMS-015]
inline constexpr uint32_t kPacketOverheadBytes = 16 + 44 + 8 + 40;

// Octets that a packet is announced with. [CMS-014]
constexpr uint32_t announced_bytes(const PacketRef& ref) {
  return (ref.asks ? 0u : ref.length) + kPacketOverheadBytes;
}

// One message for start(). PDS pulls all its packets before it pulls the next message of the same
// PDC. [PDS-016]
struct StartedMessage {
  MessageHandle message;
  bool keep_pdc = false;  // return data is expected: the PDC stays open until message_done()
  bool is_last = false;   // nothing waits behind it: PDS need not ask before the next ready()
};

// Names a received request for an answer that comes later, and the PDC for return data. [PDS-167]
struct RxToken {
  PdcHandle pdc;
  Psn psn;
};

// A received request, delivered once per PSN. Spans are borrowed for the call.
struct RxRequest {
  PeerId peer;
  Mode mode = Mode::rud;
  bool ce = false;                 // arrived ECN-CE
  bool in_order = true;            // every lower PSN of its PDC has arrived
  bool is_confirmed = true;        // false: its source may be forged; it never used our PDCID
  uint32_t sdi = 0;                // secure domain it was verified in; 0: in the clear [TSS-079]
  wire::NextHeader next_hdr{};     // small, medium, standard, response_data(_small)
  RxToken token;                   // pdc 0 for RUDI and UUD; the PSN of RUDI is its pkt_id
  std::span<const std::byte> ses;  // SES header, extensions and payload
  Instant arrival;
};

// The largest SES answer that travels inside an ACK: header (20) and Max_ACK_Data_Size (16).
inline constexpr uint32_t kMaxAckSesBytes = 20 + 16;  // [PDS-166]

// An encoded SES response as it goes behind the ACK header.
struct EncodedResponse {
  wire::NextHeader next_hdr{};
  uint8_t length = 0;
  std::array<std::byte, kMaxAckSesBytes> bytes{};
};

// The client's answer to a request.
struct Verdict {
  enum class Kind : uint8_t {
    accept,   // default response; PDS may imply it by CACK
    respond,  // `response` goes out now; kept until cleared when `guaranteed` [PDS-100]
    later,    // respond() will follow; the PSN counts as received meanwhile [PDS-075]
    nack,     // refused with `nack`; leaves no trace [PDS-112, PDS-118]
    drop,     // UUD: nothing is answered; on a PDC as if it had never arrived
  };
  Kind kind = Kind::accept;
  wire::NackCode nack{};
  bool guaranteed = true;
  EncodedResponse response;
  // RUDI, with respond: the answer is this message instead, a single packet with data. It is pulled
  // and encoded when it leaves, then on_response is called for it. [PDS-202]
  MessageHandle answer;

  static Verdict accepted() { return {}; }
  static Verdict refused(wire::NackCode code) {
    Verdict v;
    v.kind = Kind::nack;
    v.nack = code;
    return v;
  }
  static Verdict deferred() {
    Verdict v;
    v.kind = Kind::later;
    return v;
  }
};

// The answer to one of our packets. `ses` is empty when the response was implied by CACK or the
// ACK carried none: default OK. [PDS-168]
struct RxResponse {
  wire::NextHeader next_hdr{};
  std::span<const std::byte> ses;
  Instant arrival;
};

enum class FailureReason : uint8_t {
  timeout,      // nothing heard within the retry limit or FI_UET_PEER_TIMEOUT
  nack,         // the peer refused for good; `nack` says how
  closed,       // the PDC closed in error
  aborted,      // local abort
  unreachable,  // the network said so (ICMP, no route)
  no_route,     // no path for the address at all
  too_long,     // a packet of the message is longer than the route now carries [PDS-250]
  no_key,       // its secure domain was taken out of use
};

// The error to report for a packet or message that will never be answered. [PDS-149]
struct Failure {
  FailureReason reason = FailureReason::timeout;
  wire::NackCode nack{};
  bool not_delivered = false;  // certainly not executed: the client may send it again [PDS-119]
};

// Every call is made from Pds::receive, transmit or advance, with no reentrance: the client may
// call Pds::ready, respond, send_return and message_done from inside.
class Client {
 public:
  // The next message waiting on `flow`, or false. `pdc` will carry all of its packets; none in the
  // modes without PDCs. [PDS-015]
  virtual bool start(FlowId flow, PdcHandle pdc, StartedMessage& out, Instant now) = 0;

  // The next packet of a started message (or of one given to send_return). False: the message has
  // nothing more to send, ever (it was aborted); PDS drops it without a trace. A packet that was
  // pulled will be sent: PDS asks only when the window and CMS admit it. [PDS-067]
  virtual bool pull(MessageHandle message, PacketRef& out) = 0;

  // Writes the SES header of `ref` to `header` and appends its payload to `batch`. Same octets for
  // the first transmission and every later one. [PDS-146]
  virtual void encode(const PacketRef& ref, wire::Writer& header, TxBatch& batch) = 0;

  // A new request, exactly once per PSN. Without PSNs any number of times: on RUDI each time
  // answered by respond, nack or drop [PDS-202], on UUD never answered [PDS-211]. [PDS-076]
  virtual Verdict on_request(const RxRequest& request, Instant now) = 0;

  // `ref` is answered, exactly once per packet. [PDS-092] On UUD: it has left. [PDS-211]
  virtual void on_response(const PacketRef& ref, const RxResponse& response, Instant now) = 0;

  // The same for packets in a row, each with that response.
  virtual void on_responses(std::span<const PacketRef> refs, const RxResponse& response,
                            Instant now) {
    for (const PacketRef& ref : refs) on_response(ref, response, now);
  }

  // `ref` was sent and will never be answered. Exactly one of on_response and on_failed is called
  // for every packet that was pulled.
  virtual void on_failed(const PacketRef& ref, const Failure& failure, Instant now) = 0;

  // A started message still had packets to pull when its PDC ended. Called once, after on_failed
  // for its sent packets.
  virtual void on_aborted(MessageHandle message, const Failure& failure, Instant now) = 0;

  // The packet is too long for what the route carries by now. True: encode() makes it a short one
  // from here on, which says that its message ends or fails; it is sent again and answered. False:
  // it cannot, and ends in FailureReason::too_long. [PDS-250]
  virtual bool shorten(const PacketRef&) { return false; }

  // JobID of the first request on a new PDC; 0 when the octets do not carry one. [T-02]
  virtual JobId job_of(std::span<const std::byte> ses) const = 0;

  // Whether a message that began on the PDC has more to come. [PDS-181]
  virtual bool has_open_message(PdcHandle pdc) const = 0;

  // A new request of the PDC came and was refused, because no place is free for its response: often
  // answers that the client owes hold the places. Its sender lives, and sends it again.
  // [PDS-101]
  virtual void on_no_place(PdcHandle, Instant) {}

  // A PDC is gone in either role: forget rx state keyed by it. `clean` is false when the peer may
  // not have finished what it began.
  virtual void on_pdc_closed(PdcHandle pdc, PeerId peer, bool clean, Instant now) = 0;

 protected:
  ~Client() = default;
};

}  // namespace uet::pds
