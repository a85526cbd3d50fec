// The used counters of each key, so that a restart uses none twice: the mark in a file is raised,
// and durable, before the counters below it are used. docs/decisions/0022. [TSS-043]
#pragma once

#include "tss/tx_counter.h"

#include <cstdint>
#include <string>

namespace uet::keys {

// Counters that may be used from now on: SecureDomain::grant.
struct Reserved {
  uint64_t from = 0;
  uint64_t until = 0;
};

class CounterMarks {
 public:
  // Makes an empty file. Only for a host that has never sealed with its keys: part of set-up, never
  // of a restart. Throws KeyFileError, also if the file exists.
  static void create(const std::string& path);

  // Throws KeyFileError when the file is missing or cannot be read whole: then nothing may be
  // sealed.
  explicit CounterMarks(const std::string& path);

  // The next `count` counters of the key with this check value and this source (address or SSI, a
  // word), none below `first`. Durable when it returns; throws KeyFileError if it cannot be.
  // Processes of one host share the file, and each gets different counters: calls take turns.
  // [TSS-042]
  Reserved reserve(const std::string& check_value, const std::string& source, uint64_t first,
                   uint64_t count = tss::kCountersAhead) const;

 private:
  std::string path_;
};

}  // namespace uet::keys
