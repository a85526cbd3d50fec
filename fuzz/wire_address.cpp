// Fuzz target: the UET libfabric address, as octets and as text.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/address.h"

#include <string_view>

using namespace uet;

namespace {

// An accepted text prints to a text that is accepted and has the same meaning.
void check_text(std::string_view text) {
  const auto parsed = wire::parse_uet_address(text);
  if (!parsed.ok()) return;
  char printed[128];
  const size_t length = wire::print(printed, *parsed);
  UET_ASSERT(length < sizeof printed);
  const auto again = wire::parse_uet_address(std::string_view(printed, length));
  UET_ASSERT(again.ok());
  UET_ASSERT(*again == *parsed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::check_header<wire::UetAddress>(fuzz::octets_of(data, size));
  check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
