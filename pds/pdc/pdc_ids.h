// What is known of each PDCID that was ever in use: which PDC has it, and where the PDC before that
// one ended. [PDS-019, PDS-044]
#pragma once

#include "base/arena.h"
#include "base/result.h"
#include "base/serial.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace uet::pds {

// PDCIDs are drawn at random: in a table with a place for each of the 65,535, nearly each of the
// first PDCs would take a page. So the places are as many as records need, at least twice, and a
// record stands at its id modulo their number or behind that. When there is a place for each id,
// every record stands at its own.
class PdcIds {
 public:
  struct Record {
    uint16_t id;        // 0, which is no PDCID: the place is free [PDS-011]
    uint16_t place;     // 1 + the index of its PDC in the pool; 0: none has it
    uint16_t last_psn;  // of the previous PDC with that id, the upper half [PDS-044]
  };
  static_assert(sizeof(Record) == 6);

  // Once, before anything else. The arena must outlive this object. Errc::no_memory.
  Result<void> create(Arena& arena) {
    arena_ = &arena;
    records_ = arena.make_zero_span<Record>(kFirst);
    return records_.empty() ? Result<void>(Errc::no_memory) : Result<void>();
  }

  // Record::place of that id.
  uint16_t place_of(Pdcid id) const { return records_[locate(id)].place; }

  // The record of an id that is not 0, made where there was none: good until the next call. Null:
  // no memory; nothing was changed. Cost: a walk over all records each time that they have doubled.
  Record* record_of(Pdcid id) {
    UET_ASSERT(id != Pdcid{});
    Record* found = &records_[locate(id)];
    if (found->id != 0) return found;
    if (2 * used_ >= records_.size() && records_.size() < kMost) {
      if (!grow()) return nullptr;
      found = &records_[locate(id)];
    }
    ++used_;
    found->id = id.value();
    return found;
  }

 private:
  static constexpr uint32_t kFirst = 64;     // places
  static constexpr uint32_t kMost = 65'536;  // one for each id

  // Where the record of that id stands, or else a free place.
  uint32_t locate(Pdcid id) const {
    const auto mask = static_cast<uint32_t>(records_.size()) - 1;
    uint32_t at = id.value() & mask;
    while (records_[at].id != id.value() && records_[at].id != 0) at = (at + 1) & mask;
    return at;
  }
  bool grow() {
    const std::span<const Record> old = records_;
    const std::span<Record> more = arena_->make_zero_span<Record>(2 * old.size());
    if (more.empty()) return false;
    records_ = more;
    for (const Record& record : old) {
      if (record.id != 0) records_[locate(Pdcid(record.id))] = record;
    }
    return true;
  }

  std::span<Record> records_;  // a power of two of them
  uint32_t used_ = 0;
  Arena* arena_ = nullptr;
};

}  // namespace uet::pds
