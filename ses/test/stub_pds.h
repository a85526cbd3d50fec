// A scripted packet delivery sublayer for tests of SES: two nodes, one PDC per flow, packets that
// can be delivered in any order, lost and refused. It keeps the promises of pds/client.h and checks
// the ones SES makes: a resend has the octets of the first transmission.
#pragma once

#include "ses/ses.h"

#include "sim/world/transit.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace uet::ses::test {

using Octets = std::vector<std::byte>;

// One packet or one acknowledgement between two nodes.
struct Parcel {
  bool is_answer = false;
  uint32_t to = 0;         // node
  uint32_t initiator = 0;  // node that owns the flow
  uint32_t flow = 0;
  bool is_return = false;  // the return direction of the PDC
  uint32_t psn = 0;
  pds::Mode mode{};
  wire::NextHeader next_hdr{};
  Octets octets;  // SES header and payload, or the response
};

class StubPds final : public pds::Service {
 public:
  static constexpr uint32_t kTargetPdc = 0x1000;  // added to the flow number at the target

  StubPds(uint32_t node, sim::Transit<Parcel>& network) : node_(node), network_(network) {}
  void attach(Ses& ses) {
    client_ = &ses.exchange();
    ses.attach(*this);
  }

  // pds::Service
  Result<pds::FlowId> flow(PeerId peer, TrafficClass, pds::Mode mode, JobId, uint32_t) override;
  void ready(pds::FlowId flow, uint64_t bytes) override {
    flows_[flow.value()].is_ready = true;
    flows_[flow.value()].announced += bytes;
  }
  void withdraw(pds::FlowId flow, uint64_t bytes) override;
  void want_answers(pds::FlowId, Instant) override { ++asked.answers; }
  void release(pds::FlowId flow) override { asked.released.push_back(flow.value()); }
  bool respond(pds::RxToken token, const pds::Verdict& v, Instant now) override;
  bool send_return(pds::PdcHandle pdc, pds::MessageHandle message, uint32_t bytes) override;
  void message_done(pds::PdcHandle) override { ++asked.messages_done; }
  void set_pressure(uint64_t bytes, Instant) override { asked.pressure = bytes; }

  // Sends what may go: at most `window` packets outstanding on a flow.
  void transmit(Instant now);
  void receive(const Parcel& p, Instant now);
  // All packets that are not answered go again.
  void resend_all();
  // The return data under way is too long for the route: it goes again as errors. [PDS-250]
  void shorten_returns();
  // The same of requests. How many could be shortened.
  uint32_t shorten_requests();
  // The system refuses packets under way for good: requests, and answers to reads.
  void fail_sends(int error, Instant now);
  // PDCs of the peer's flows end: answers to reads under way, and waiting ones.
  void fail_returns(const pds::Failure& failure, Instant now);
  // Ends the PDC of a flow at its initiator: everything outstanding fails.
  void fail_flow(uint32_t flow, const pds::Failure& failure, Instant now);
  bool has_outstanding() const;
  // Octets that were announced on all flows and neither pulled nor withdrawn.
  uint64_t announced() const;

  uint32_t window = 16;
  uint32_t flows_max = UINT32_MAX;  // in use at once; then Errc::again
  // Calls that SES made.
  struct Asked {
    uint32_t messages_done = 0;
    uint32_t keep_pdc = 0;
    uint32_t answers = 0;
    std::vector<bool> quiet;         // of each pulled packet: no operation waits for its answer
    std::vector<uint32_t> domains;   // of the flows, in order; 0: in the clear
    std::vector<uint32_t> released;  // flows, in order
    uint64_t pressure = 0;           // as last set
  };
  Asked asked;
  uint32_t nacks_sent = 0;
  std::vector<uint8_t> last_answers;             // return codes of all explicit responses received
  bool allows_void_resend = false;               // an ended message may change its resend [PDS-182]
  std::optional<wire::ReturnCode> only_answers;  // to each request, instead of what SES says
  bool ends_returns = false;                     // PDCs are ending: no return data goes any more

 private:
  struct Sent {
    pds::PacketRef ref;
    Octets octets;
  };
  struct Direction {
    std::map<uint32_t, Sent> outstanding;
    uint32_t next_psn = 0;
    pds::MessageHandle active;
    std::deque<pds::MessageHandle> returns;  // return direction only
    std::set<uint32_t> received;
    std::map<uint32_t, pds::Verdict> answers;
  };
  struct FlowState {
    PeerId peer;
    pds::Mode mode{};
    bool is_ready = false;
    uint32_t pdc_number = 0;  // bumped when the PDC is replaced
    uint64_t announced = 0;   // octets, and neither pulled nor withdrawn
    Direction forward;
  };
  // State of a target about the PDC of a peer's flow.
  struct TargetState {
    Direction forward;  // receive side
    Direction back;     // send side
    pds::Mode mode{};
  };

  Octets encode(const pds::PacketRef& ref);
  void send(Direction& d, const pds::PacketRef& ref, Parcel p);
  void answer(const Parcel& p, const pds::Verdict& v);
  void receive_request(const Parcel& p, Instant now);
  void receive_answer(const Parcel& p, Instant now);

  uint32_t node_;
  sim::Transit<Parcel>& network_;
  Exchange* client_ = nullptr;
  std::deque<FlowState> flows_;
  std::map<uint32_t, TargetState> targets_;  // by flow of the peer
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
};

}  // namespace uet::ses::test
