// Fuzz target: two whole endpoints whose packets are sealed, with a forger outside of their secure
// domain or, if bit 0 of the first octet is 0, inside (fuzz/stack/run.h, sealed_carrier.h).
// [TSS-143]
#include "fuzz/stack/run.h"
#include "fuzz/stack/sealed_carrier.h"
#include "fuzz/target.h"

// Each run frees megabytes, and sanitizers detect a use at the next access: a small quarantine is
// enough.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* octets, size_t size) {
  uet::fuzz::Program program({octets, size});
  const uint8_t how = program.u8();
  uet::fuzz::SealedCarrier sealed(/*has_insider=*/(how & 1) == 0);
  uet::fuzz::run(how, program, sealed);
  return 0;
}
