// What this end has reported to the peer, and the counts for the next report. [PDS-045, PDS 8.3,
// CMS-041]
#pragma once

#include "pds/config.h"

#include <cstdint>

namespace uet::pds {

class Told {
 public:
  // Nominal octets of the data that was accepted; wraps.
  uint32_t rcvd_bytes() const { return rcvd_bytes_; }
  void add_received(uint32_t nominal) { rcvd_bytes_ += nominal; }
  // A request was answered: the ACK teaches a peer our PDCID.
  bool has_answered() const { return has_answered_; }
  void note_answered() { has_answered_ = true; }
  // The range that the peer assumes for us.
  uint8_t mpr() const { return mpr_; }
  void note_mpr(uint8_t mpr) { mpr_ = mpr; }
  // The context that the peer has last asked for credit for on this PDC. [CMS-006]
  bool knows_ccc() const { return knows_ccc_; }
  uint8_t ccc_id() const { return ccc_id_; }
  void note_ccc(uint8_t ccc_id) {
    ccc_id_ = ccc_id;
    knows_ccc_ = true;
  }

 private:
  uint32_t rcvd_bytes_ = 0;
  uint8_t mpr_ = kDefaultMpr;
  bool has_answered_ : 1 = false;
  bool knows_ccc_ : 1 = false;
  uint8_t ccc_id_ = 0;
};

}  // namespace uet::pds
