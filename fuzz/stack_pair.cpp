// Fuzz target: two whole endpoints, a forger and strangers, in the clear (fuzz/stack/run.h).
#include "fuzz/stack/run.h"
#include "fuzz/target.h"

// Each run frees megabytes, and sanitizers detect a use at the next access: a small quarantine is
// enough.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* octets, size_t size) {
  uet::fuzz::Program program({octets, size});
  const uint8_t how = program.u8();
  uet::fuzz::Carrier clear;
  uet::fuzz::run(how, program, clear);
  return 0;
}
