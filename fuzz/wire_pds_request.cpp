// Fuzz target: RUD, ROD, RUDI and UUD requests and the RUDI response.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/pds.h"

using namespace uet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  fuzz::check_header<wire::Prologue>(octets);
  fuzz::check_header<wire::Request>(octets);
  fuzz::check_header<wire::RudiRequest>(octets);
  fuzz::check_header<wire::RudiResponse>(octets);
  fuzz::check_header<wire::Uud>(octets);
  return 0;
}
