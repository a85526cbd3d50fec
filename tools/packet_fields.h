// The words of uet_pcap's language: which header a name means, and which of its fields. The headers
// themselves are those of wire/; nothing here knows where a field is.
#pragma once

#include "wire/pds.h"
#include "wire/ses.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace uet::tools {

using PdsPart =
    std::variant<std::monostate, wire::Request, wire::Ack, wire::AckCc, wire::AckCcx, wire::Nack,
                 wire::NackCcx, wire::Control, wire::RudiRequest, wire::RudiResponse, wire::Uud>;
using SesPart =
    std::variant<std::monostate, wire::SmallRequest, wire::MediumRequest, wire::StandardRequest,
                 wire::Response, wire::ResponseData, wire::ResponseDataSmall>;
using ExtensionPart =
    std::variant<std::monostate, wire::Rendezvous, wire::Atomic, wire::CompareSwap>;

// The headers of one packet, as the line says.
struct Parts {
  PdsPart pds;
  SesPart ses;
  ExtensionPart extension;
};

// Takes one header of a line: its name and then its fields, each "field=value" or, for a bit, the
// name alone. Values are numbers or names of codes. Returns what is wrong, or nothing.
std::string take_header(Parts& parts, const std::vector<std::string_view>& words);

// The value of next_hdr for the SES header of the packet goes into its PDS header.
void set_next_header(Parts& parts);

}  // namespace uet::tools
