// TFC: the cells that each PDC uses as a source, and holds as a destination. Without TFC nothing is
// allocated, and packets skip this code. [CMS-146, CMS-147]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/schedule/flow.h"

#include "cms/tfc.h"

#include "base/arena.h"
#include "base/result.h"

#include <cstdint>
#include <span>

namespace uet::pds {

class Cells {
 public:
  // Allocates nothing with another algorithm. Errc::invalid: cells of 0 octets, or an initial
  // allocation smaller than a packet.
  Result<void> create(Arena& arena, const cms::Config& cms);
  bool is_on() const { return !pdcs_.empty(); }

  // --- the source ---

  // The packet of a slot is sent: it takes cells, unless it still has those of an earlier copy.
  void on_sent(Pdc& pdc, TxSlot& slot);
  // The packet has arrived, even if it was taken for lost: it has its cells again.
  [[gnu::cold]] void on_arrived(Pdc& pdc, TxSlot& slot);
  // The packet is lost or refused. RUD: it returns its cells. ROD: it keeps them.
  [[gnu::cold]] void on_lost(Pdc& pdc, TxSlot& slot);
  // The packet is not sent again: it returns its cells in RUD and in ROD.
  [[gnu::cold]] void on_given_up(Pdc& pdc, TxSlot& slot);
  // Cumulative credit of the PDC. [CMS-022]
  cms::CreditNews on_credit(Pdc& pdc, const cms::Credit& e) {
    return pdc.context->ccc.cells()->on_credit(of(pdc).sent, e);
  }
  // The PDC used cells that the destination has not granted again.
  bool is_owed(const Pdc& pdc) const { return pdcs_[pdc.id.value()].sent.spent > 0; }
  // Nothing of the PDC is outstanding, and no credit of it comes any more.
  void on_ended(Pdc& pdc) {
    if (is_on()) pdc.context->ccc.cells()->on_closed(of(pdc).sent);
  }

  // --- the destination; sizes are nominal ---

  // A packet is kept until its turn. False: no cell is free for it. Nothing was changed.
  [[nodiscard]] bool keep(Pdc& pdc, uint32_t bytes) {
    return !is_on() || of(pdc).received.on_kept(cells(bytes), first_);
  }
  // Drops a held-back packet; the peer sends it again.
  void drop(Pdc& pdc, uint32_t bytes) {
    if (is_on()) of(pdc).received.on_dropped(cells(bytes));
  }
  // The client has taken the payload of a packet.
  void free(Pdc& pdc, uint32_t bytes, bool was_kept);
  // Cumulative, for the next ACK. [CMS-031]
  uint32_t credit(const Pdc& pdc) const { return pdcs_[pdc.id.value()].received.credit(first_); }

  // The PDC is gone.
  void forget(Pdc& pdc) {
    if (is_on()) of(pdc) = {};
  }

 private:
  struct Both {
    cms::TfcShare sent;
    cms::TfcDestination received;
  };

  // Control packets take none. [CMS-193]
  static bool takes_cells(const TxSlot& slot) { return slot.kind == SlotKind::data; }
  Both& of(const Pdc& pdc) { return pdcs_[pdc.id.value()]; }
  uint32_t cells(uint32_t bytes) const { return cms::tfc_cells(tfc_, bytes); }

  static constexpr uint32_t kIds = 65536;

  std::span<Both> pdcs_;  // by PDCID; empty without TFC
  cms::TfcConfig tfc_;
  uint32_t first_ = 0;
};

}  // namespace uet::pds
