// TFC: what each PDC has of the cells of its context at the source, and of the buffer at the
// destination. Without TFC there is no such memory, and no packet comes here. [CMS-146, CMS-147]
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
  // Nothing where another algorithm is in use. Errc::invalid: a cell of no octets, or a first
  // allocation that is too short for a packet.
  Result<void> create(Arena& arena, const cms::Config& cms);
  bool is_on() const { return !pdcs_.empty(); }

  // --- the source ---

  // The packet of a slot leaves, and spends cells unless it has some: one that is sent again has
  // them if it was not lost.
  void on_sent(Pdc& pdc, TxSlot& slot);
  // It is known to have arrived, whatever was thought of it before.
  [[gnu::cold]] void on_arrived(Pdc& pdc, TxSlot& slot);
  // It is lost or refused: the destination keeps nothing of it. In ROD it has its cells still.
  [[gnu::cold]] void on_lost(Pdc& pdc, TxSlot& slot);
  // The same, and it is not sent again.
  [[gnu::cold]] void on_given_up(Pdc& pdc, TxSlot& slot);
  // Cumulative credit of the PDC. [CMS-022]
  cms::CreditNews on_credit(Pdc& pdc, const cms::Credit& e) {
    return pdc.path->ccc.cells()->on_credit(of(pdc).sent, e);
  }
  // Cells were spent that the destination has not granted again.
  bool is_owed(const Pdc& pdc) const { return pdcs_[pdc.id.value()].sent.spent > 0; }
  // Nothing of the PDC is outstanding, and no credit of it comes any more.
  void on_ended(Pdc& pdc) {
    if (is_on()) pdc.path->ccc.cells()->on_closed(of(pdc).sent);
  }

  // --- the destination; sizes are nominal ---

  // A packet is kept until its turn. False: no cell is free for it. Nothing was changed.
  [[nodiscard]] bool keep(Pdc& pdc, uint32_t bytes) {
    return !is_on() || of(pdc).received.on_kept(cells(bytes), first_);
  }
  // One that was kept is dropped, to come again.
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
