// Fuzz target: the ACK family.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/pds.h"

using namespace uet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  fuzz::check_header<wire::Ack>(octets);
  fuzz::check_header<wire::AckCc>(octets);
  fuzz::check_header<wire::AckCcx>(octets);
  return 0;
}
