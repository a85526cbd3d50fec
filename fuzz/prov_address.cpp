// Fuzz target: a UET address that an application hands over, as 40 octets and as text.
#include "fuzz/target.h"
#include "prov/uet/address/address.h"
#include "prov/uet/api/compat.h"

#include "base/assert.h"

using namespace uet;

namespace {

// What was accepted is written in that form, and what was written has the same meaning.
void check(uint32_t form, const uint8_t* data, size_t size) {
  const auto read = prov::read_address(form, data, size);
  if (!read.ok()) return;
  const std::string written = prov::write_address(form, *read);
  const auto again = prov::read_address(form, written.data(), written.size());
  UET_ASSERT(again.ok());
  UET_ASSERT(*again == *read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const uint32_t form : {uint32_t{FI_FORMAT_UNSPEC}, uint32_t{FI_ADDR_STR},
                              uint32_t{FI_SOCKADDR_IN}, uint32_t{FI_SOCKADDR_IN6}}) {
    check(form, data, size);
  }
  return 0;
}
