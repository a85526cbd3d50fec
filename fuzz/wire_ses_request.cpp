// Fuzz target: the three SES requests and their extensions.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/ses.h"

using namespace uet;

namespace {

// hd is reserved in the small header: shown as received, sent 0. All else is as check_header says.
void check_small(std::span<const std::byte> octets) {
  wire::Reader r(octets);
  const auto parsed = wire::SmallRequest::parse(r);
  if (!parsed.ok()) return;
  std::byte emitted[wire::SmallRequest::kSize];
  wire::Writer w(emitted);
  parsed->emit(w);
  wire::SmallRequest expected = *parsed;
  expected.common.hd = false;
  wire::Reader again(w.written());
  UET_ASSERT(*wire::SmallRequest::parse(again) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  check_small(octets);
  fuzz::check_header<wire::StandardRequest>(octets);
  fuzz::check_header<wire::MediumRequest>(octets);
  fuzz::check_header<wire::Rendezvous>(octets);
  fuzz::check_header<wire::Atomic>(octets);
  fuzz::check_header<wire::CompareSwap>(octets);
  return 0;
}
