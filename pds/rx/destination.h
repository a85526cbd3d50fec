// This FEP as a destination: which sources get credit, and what ACKs report about its memory. [PDS
// 19.3, cms.md 4, 5.3]
#pragma once

#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

#include "cms/credit_pacer.h"
#include "cms/destination_pressure.h"
#include "wire/pds.h"

#include <optional>

namespace uet::pds {

// A grant that is due: the Credit CP, and the PDC that it goes on.
struct DueGrant {
  Pdc* pdc = nullptr;  // null: none is due
  wire::Control header;
  cms::CreditKey key;
};

class Destination {
 public:
  Destination(Resources& res, PdcTable& table) : res_(res), table_(table) {}

  // Where the configuration has no credit, peers may ask for some, which is counted. [T-34]
  Result<void> create(Arena& arena);

  // Credit that the peer asks for, in a request or in a Credit Request CP. The grant goes to the
  // PDC that asked last. False: no state for its context is free: refuse the packet. [CMS-007,
  // CMS-130, CMS-135]
  bool on_demand(Pdc& pdc, const wire::CreditRequest& demand, cms::AskedBy by, Instant now);
  // A request packet, after its demand. [CMS-135, CMS-141]
  void on_received(const Pdc& pdc, const Inbound& in, cms::Received e);
  // `bytes` octets of unexpected messages are held. If ACKs report credit only, sources are granted
  // less. [CMS-116, CMS-192]
  void set_pressure(uint64_t bytes, Instant now) {
    if (!pressure_) return;
    pressure_->on_occupancy(bytes, now);
    if (!pacer_ || !tells_credit()) return;
    pacer_->on_host_queue(bytes, {res_.cms.pressure_low_bytes, res_.cms.pressure_high_bytes});
  }

  // What an ACK of the PDC reports to its source: credit if the source uses credit alone, else
  // memory and received octets. [CMS-030, CMS-031, CMS-043]
  cms::Feedback feedback(Instant now) const {
    return pressure_ ? pressure_->feedback(now) : cms::Feedback{};
  }
  bool tells_credit() const {
    return res_.cms.algorithm == cms::Algorithm::rccc || res_.cells.is_on();
  }
  uint32_t granted(const Pdc& pdc);

  // When note_due() has something to note; never() while no source asks, and while a grant is due.
  Instant deadline() const { return pacer_ && !is_due_ ? pacer_->deadline() : Instant::never(); }
  // A grant may be due, which the next transmit sends. Call it when enough of them were sent.
  void note_due(Instant now) { is_due_ = pacer_ && pacer_->deadline() <= now; }
  bool is_due() const { return is_due_; }
  // The next grant that is due. Its caller sends it, and says whether it went. [CMS-132, CMS-137]
  DueGrant next_grant(Instant now);
  void note_sent(const DueGrant& grant, bool is_sent);

 private:
  Resources& res_;
  PdcTable& table_;
  std::optional<cms::CreditPacer> pacer_;
  std::optional<cms::DestinationPressure> pressure_;
  bool is_due_ = false;
};

}  // namespace uet::pds
