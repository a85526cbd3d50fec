// The steps of TFC: out of line, so that packets without it do not carry them.
#include "pds/cells.h"

namespace uet::pds {

Result<void> Cells::create(Arena& arena, const cms::Config& cms) {
  if (cms.algorithm != cms::Algorithm::tfc) return {};
  if (cms.tfc.cell_bytes == 0) return Errc::invalid;
  tfc_ = cms.tfc;
  first_ = cms::tfc_first_cells(cms);
  if (first_ < cells(cms.mtu_bytes)) return Errc::invalid;
  pdcs_ = arena.make_zero_span<Both>(kIds);
  if (pdcs_.data() == nullptr) return Errc::no_memory;
  return {};
}

void Cells::on_sent(Pdc& pdc, TxSlot& slot) {
  if (!takes_cells(slot) || slot.has_cells) return;
  slot.has_cells = true;
  pdc.context->ccc.cells()->on_sent(of(pdc).sent, slot.bytes);
}

void Cells::on_arrived(Pdc& pdc, TxSlot& slot) {
  if (!is_on() || !takes_cells(slot) || slot.has_cells) return;
  slot.has_cells = true;
  pdc.context->ccc.cells()->on_arrived(of(pdc).sent, slot.bytes);
}

// ROD keeps the cells: otherwise the packets behind it would fill the buffer that it needs.
void Cells::on_lost(Pdc& pdc, TxSlot& slot) {
  if (pdc.mode == Mode::rud) on_given_up(pdc, slot);
}

void Cells::on_given_up(Pdc& pdc, TxSlot& slot) {
  if (!is_on() || !slot.has_cells) return;
  slot.has_cells = false;
  pdc.context->ccc.cells()->on_lost(of(pdc).sent, slot.bytes);
}

void Cells::free(Pdc& pdc, uint32_t bytes, bool was_kept) {
  cms::TfcDestination& received = of(pdc).received;
  was_kept ? received.on_freed(cells(bytes)) : received.on_passed(cells(bytes));
}

}  // namespace uet::pds
