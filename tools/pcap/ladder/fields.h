// All fields of a packet by the names of the specification, for people and for JSON. Derived
// values, such as clear_psn, are in brackets.
#pragma once

#include "tools/pcap/ladder/conversation.h"

#include <string>
#include <vector>

namespace uet::tools::ladder {

struct FieldText {
  std::string name;
  std::string value;
};

// In the order of the headers. Fields that this form of a header does not have are left out, and
// so are flags that are not set.
std::vector<FieldText> fields_of(const Captured& captured, Decoder& decode);

}  // namespace uet::tools::ladder
