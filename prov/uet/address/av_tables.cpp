// The same change in each table; see av_tables.h.
#include "prov/uet/address/av_tables.h"

namespace uet::prov {

AvTables::AvTables(DomainEngines& engines, uint64_t index_mask, bool has_keys, size_t expected)
    : engines_(engines) {
  for (size_t i = 0; i < engines.size(); ++i) tables_.emplace_back(index_mask, has_keys, expected);
}

void AvTables::end() {
  for (const DomainEngine& engine : engines_) {
    ProgressEngine::Entry entry(*engine.progress);
    of(engine).for_each_peer([&](PeerId peer) { entry.fep().unlist(peer, entry.now()); });
  }
}

// Free in all tables: operations in flight may keep an index in one of them.
uint64_t AvTables::free_index() {
  uint64_t index = 0;
  for (bool is_free = false; !is_free;) {
    is_free = true;
    for (const DomainEngine& engine : engines_) {
      const ProgressEngine::Entry entry(*engine.progress);
      const uint64_t next = of(engine).free_from(index);
      // The index that the first table proposes is requested from the others in the same round.
      is_free &= next == index || engine.index == 0;
      index = next;
    }
  }
  return index;
}

fi_addr_t AvTables::add(const UetAddress& address, std::span<const ses::Destination> to,
                        const fi_addr_t* user_id) {
  const uint64_t index = free_index();
  for (const DomainEngine& engine : engines_) {
    const ProgressEngine::Entry entry(*engine.progress);
    of(engine).add(index, address, to[engine.index]);
    if (user_id != nullptr) of(engine).set_user_id(index, *user_id);
  }
  return fi_addr_t{index};
}

bool AvTables::set_user_id(fi_addr_t address, fi_addr_t id) {
  for (const DomainEngine& engine : engines_) {
    const ProgressEngine::Entry entry(*engine.progress);
    if (of(engine).find(address) == nullptr) return false;
    of(engine).set_user_id(address, id);
  }
  return true;
}

void AvTables::give_up(std::span<const ses::Destination> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    ProgressEngine::Entry entry(*engines_[i].progress);
    entry.fep().unlist(to[i].peer, entry.now());
  }
}

int AvTables::remove(fi_addr_t address) {
  for (const DomainEngine& engine : engines_) {
    ProgressEngine::Entry entry(*engine.progress);
    const AvTable& table = of(engine);
    if (table.find(address) == nullptr) return -FI_EINVAL;
    if (table.is_in_use(address)) entry.round();
    if (table.is_in_use(address)) return -FI_EBUSY;
  }
  for (const DomainEngine& engine : engines_) {
    ProgressEngine::Entry entry(*engine.progress);
    const PeerId peer = of(engine).find(address)->peer;
    if (of(engine).remove(address)) entry.fep().unlist(peer, entry.now());
  }
  return 0;
}

void AvTables::release_ended() {
  for (const DomainEngine& engine : engines_) {
    ProgressEngine::Entry entry(*engine.progress);
    of(engine).release_ended([&](PeerId peer) { entry.fep().unlist(peer, entry.now()); });
  }
}

}  // namespace uet::prov
