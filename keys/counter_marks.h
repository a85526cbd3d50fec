// Which counters of each key were used, so that a restart uses none twice: a file whose mark is
// raised, and durable, before the counters below it are used. docs/decisions/0022. [TSS-043]
#pragma once

#include "tss/tx_counter.h"

#include <cstdint>
#include <map>
#include <string>

namespace uet::keys {

// Counters that may be used from now on: SecureDomain::grant.
struct Reserved {
  uint64_t from = 0;
  uint64_t until = 0;
};

class CounterMarks {
 public:
  // Makes an empty file. Only for a host that has never sealed with its keys: an act of set-up,
  // never of a restart. Throws KeyFileError, also when there is one.
  static void create(const std::string& path);

  // Takes the file for this process alone. Throws KeyFileError when it is missing, cannot be read
  // whole, or is taken: then nothing may be sealed.
  explicit CounterMarks(const std::string& path);
  ~CounterMarks();
  CounterMarks(const CounterMarks&) = delete;
  CounterMarks& operator=(const CounterMarks&) = delete;

  // The next `count` counters of the key with this check value and this source (address or SSI, a
  // word), none below `first`. Durable when it returns; throws KeyFileError when that cannot be.
  Reserved reserve(const std::string& check_value, const std::string& source, uint64_t first,
                   uint64_t count = tss::kCountersAhead);

 private:
  std::string path_;
  int lock_ = -1;
  std::map<std::string, uint64_t> marks_;
};

}  // namespace uet::keys
