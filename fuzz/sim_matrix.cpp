// Fuzz target: connection matrices of htsim. An accepted matrix can be run, and reads the same
// after it was written.
#include "fuzz/target.h"
#include "sim/traffic/matrix.h"

#include "base/assert.h"

#include <string>
#include <string_view>

using namespace uet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* octets, size_t size) {
  try {
    const sim::Traffic traffic =
        sim::read_matrix({reinterpret_cast<const char*>(octets), size}, "F");
    UET_ASSERT(traffic.problem().empty());
    const std::string text = sim::matrix_text(traffic);
    const sim::Traffic again = sim::read_matrix(text, "F");
    UET_ASSERT(again.flows.size() == traffic.flows.size());
    UET_ASSERT(sim::matrix_text(again) == text);
  } catch (const sim::TrafficError&) {
    // Most inputs are wrong.
  }
  return 0;
}
