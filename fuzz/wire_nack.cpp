// Fuzz target: NACK and NACK_CCX.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/pds.h"

using namespace uet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  fuzz::check_header<wire::Nack>(octets);
  fuzz::check_header<wire::NackCcx>(octets);
  return 0;
}
