// The record of each PDCID that was ever in use: its PDC, and the last PSN of the PDC before.
// [PDS-019, PDS-044]
#pragma once

#include "base/arena.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "base/serial.h"

#include <cstdint>
#include <span>

namespace uet::pds {

// PDCIDs are drawn at random: in a table with a place for each of the 65,535, nearly each of the
// first PDCs would take a page. So the places that are used are at least twice as many as records,
// and no more than four times, and a record stands at its id modulo their number or behind that.
// When there is a place for each id, every record stands at its own. Addresses for all are reserved
// from the start, for each second size in the same array.
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
    const std::span<Record> all = arena.make_zero_span<Record>(kMost);
    const std::span<Record> half = arena.make_zero_span<Record>(kMost / 2);
    if (all.empty() || half.empty()) return Errc::no_memory;
    records_ = all.first(kFirst);
    others_ = half.data();
    return {};
  }

  // Record::place of that id.
  uint16_t place_of(Pdcid id) const { return records_[locate(id)].place; }

  void prefetch(Pdcid id) const {
    uet::prefetch(&records_[id.value() & (records_.size() - 1)], sizeof(Record));
  }

  uint16_t last_psn_of(Pdcid id) const { return records_[locate(id)].last_psn; }

  // The record of an id that is not 0, made if missing: valid until the next call. Cost: a walk
  // over all records each time that the table doubles.
  Record& record_of(Pdcid id) {
    UET_ASSERT(id != Pdcid{});
    if (Record& known = records_[locate(id)]; known.id != 0) return known;
    if (2 * used_ >= records_.size() && records_.size() < kMost) grow();
    ++used_;
    Record& made = records_[locate(id)];
    made.id = id.value();
    return made;
  }

 private:
  static constexpr uint32_t kFirst = 64;     // places
  static constexpr uint32_t kMost = 65'536;  // one for each id
  static_assert(kFirst << 10 == kMost, "the last size is in the larger array, as the first");

  // Where the record of that id stands, or else a free place.
  uint32_t locate(Pdcid id) const {
    const auto mask = static_cast<uint32_t>(records_.size()) - 1;
    uint32_t at = id.value() & mask;
    while (records_[at].id != id.value() && records_[at].id != 0) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::span<Record> old = records_;
    records_ = {others_, 2 * old.size()};
    others_ = old.data();
    for (Record& record : old) {
      if (record.id != 0) records_[locate(Pdcid(record.id))] = record;
      record = {};
    }
  }

  std::span<Record> records_;  // a power of two of them
  Record* others_ = nullptr;   // all empty: where the next size will be
  uint32_t used_ = 0;
};

}  // namespace uet::pds
