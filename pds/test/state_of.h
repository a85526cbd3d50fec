// The state of a PDC, for tests that follow the tables of PDS 5.
#pragma once

#include "pds/pds.h"

#include <optional>
#include <vector>

namespace uet::pds::test {

// The state of the PDC to which `pds` gave that id; nothing: CLOSED. [PDS 5]
inline std::optional<PdcState> state_of(const Pds& pds, Pdcid id) {
  std::vector<PdcSnapshot> all(pds.open_pdcs());
  pds.snapshot(all, Instant());
  for (const PdcSnapshot& s : all) {
    if (s.id == id) return s.state;
  }
  return {};
}

}  // namespace uet::pds::test
