// The tables of an address vector, one for each engine of its domain, with the same indices. Calls
// take the locks of the engines, one after the other. [LF-145, decision 27]
#pragma once

#include "prov/uet/address/av_table.h"
#include "prov/uet/domain/engines.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uet::prov {

class AvTables {
 public:
  // See AvTable.
  AvTables(DomainEngines& engines, uint64_t index_mask, bool has_keys, size_t expected);
  AvTables(const AvTables&) = delete;
  AvTables& operator=(const AvTables&) = delete;
  // Gives up the peers of all entries: once, while the domain is still held open.
  void end();

  // The table for endpoints of that engine; the lock of the engine is held.
  AvTable& of(const DomainEngine& engine) { return tables_[engine.index]; }

  // The rest with the set-up lock held.

  // A new entry in each table. `to`: the address as each engine knows it, in their order.
  // `user_id`: what completions are to call it, or null.
  fi_addr_t add(const UetAddress& address, std::span<const ses::Destination> to,
                const fi_addr_t* user_id);
  // False: there is no such entry.
  bool set_user_id(fi_addr_t address, fi_addr_t id);
  // Gives up what add() was not called for: the first engines' ways to an address.
  void give_up(std::span<const ses::Destination> to);
  // Removes the entry. -FI_EINVAL: there is none. -FI_EBUSY: operations to it are in flight.
  int remove(fi_addr_t address);
  // Frees entries that waited for operations which have ended.
  void release_ended();

 private:
  uint64_t free_index();

  DomainEngines& engines_;
  std::vector<AvTable> tables_;
};

}  // namespace uet::prov
