// Calls of the upper layer, as a case writes them.
#pragma once

#include "conformance/case.h"
#include "conformance/host.h"
#include "conformance/values.h"

#include <span>
#include <string>
#include <string_view>

namespace uet::conformance {

// Takes "send NAME to PEER option...", "receive NAME ...", "region NAME ..." and the others, with
// the words up to the first bar in `words`, and the octets after it in `octets`. Returns the error,
// or nothing.
std::string take_call(const Case& c, const Variables& variables,
                      std::span<const std::string_view> words, std::string_view octets, Call& out);

}  // namespace uet::conformance
