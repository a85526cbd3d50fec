// Names of the counters.
#include "pds/counters.h"

#include <array>

namespace uet::pds {

const char* name(Count c) {
#define UET_PDS_NAME(name) #name,
  static constexpr std::array kNames = {UET_PDS_COUNTERS(UET_PDS_NAME)};
#undef UET_PDS_NAME
  static_assert(kNames.size() == static_cast<size_t>(Count::count_));
  return c < Count::count_ ? kNames[static_cast<size_t>(c)] : "reserved";
}

}  // namespace uet::pds
