// The contents of one response to an outgoing packet, with any header, and the copy of returned
// data into a message. [ses.md 7]
#pragma once

#include "ses/outgoing/tx_message.h"

#include "pds/client.h"
#include "wire/code_points.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

struct Answer {
  enum class Kind : uint8_t {
    ok,    // default, implied, or RESPONSE OK [SES-142, SES-143]
    none,  // NO_RESPONSE: the answer comes later [SES-145]
    data,
    error,
    malformed,
  };
  Kind kind = Kind::ok;
  wire::ReturnCode code = wire::ReturnCode::ok;
  uint8_t ri_generation = 0;
  wire::ListCode list{};
  bool is_default = true;
  uint32_t modified_length = 0;
  uint32_t message_offset = 0;
  std::span<const std::byte> data;

  // The answer to a deferrable send that must wait. [SES-095]
  bool defers() const {
    return !is_default && list == wire::ListCode::overflow && modified_length == 0;
  }
  static Answer malformed() {
    Answer a;
    a.kind = Kind::malformed;
    return a;
  }
};

Answer read_answer(const pds::RxResponse& response);

// The code is not an error. [SES-142]
bool is_good(wire::ReturnCode code);

// The target will accept it when its application posts a receive or takes kept messages. [SES-191]
constexpr bool waits_for_application(wire::ReturnCode code) {
  return code == wire::ReturnCode::disabled_gen || code == wire::ReturnCode::no_match;
}

// Places one chunk of a read, or the old values of a fetching atomic. False: the message did not
// ask for it; nothing has changed. [SES-024, SES-076]
bool take_data(TxMessage& m, uint32_t offset, uint32_t modified_length,
               std::span<const std::byte> data);

}  // namespace uet::ses
