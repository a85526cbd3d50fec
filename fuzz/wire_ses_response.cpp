// Fuzz target: the three SES responses.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/ses.h"

using namespace uet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  fuzz::check_header<wire::Response>(octets);
  fuzz::check_header<wire::ResponseData>(octets);
  fuzz::check_header<wire::ResponseDataSmall>(octets);
  return 0;
}
