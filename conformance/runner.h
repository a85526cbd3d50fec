// Carries out the steps of a case against a host.
#pragma once

#include "conformance/case.h"
#include "conformance/host.h"

#include <cstdint>
#include <string>

namespace uet::conformance {

struct Outcome {
  enum class Kind : uint8_t {
    passed,
    failed,   // the host did not do what the case expects
    broken,   // the case is at fault
    skipped,  // it needs a host in this process
  };
  Kind kind = Kind::passed;
  std::string text;      // expected and actual
  uint32_t steps = 0;    // executed steps, those of repetitions each time
  uint32_t skipped = 0;  // lines that need a host in this process
  Duration elapsed;      // as the host's clock goes
};

struct RunOptions {
  bool trace = false;  // packets, calls and events are printed as they pass
};

Outcome run(const Case& c, Host& host, const RunOptions& options);

}  // namespace uet::conformance
