// Adds up the counters of every Pds that the tests of this binary made, so that the last word can
// be: each way to drop, refuse, resend and close was taken at least once.
#pragma once

#include "pds/counters.h"

namespace uet::pds::test {

inline Counters& taken() {
  static Counters all;
  return all;
}

}  // namespace uet::pds::test
