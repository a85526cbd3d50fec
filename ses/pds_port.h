// What SES calls in the packet delivery sublayer, as six function pointers: so that SES is tested
// over a scripted PDS, and pds need not exist to compile this folder.
#pragma once

#include "pds/client.h"

#include "base/result.h"
#include "base/serial.h"
#include "base/time.h"

namespace uet::pds {
class Pds;
}

namespace uet::ses {

// The functions have the meaning of the members of pds::Pds of the same name.
struct PdsPort {
  void* self = nullptr;
  Result<pds::FlowId> (*flow)(void* self, PeerId peer, TrafficClass tc, pds::Mode mode,
                              JobId job) = nullptr;
  void (*ready)(void* self, pds::FlowId flow) = nullptr;
  bool (*respond)(void* self, pds::RxToken token, const pds::Verdict& verdict,
                  Instant now) = nullptr;
  bool (*send_return)(void* self, pds::PdcHandle pdc, pds::MessageHandle message) = nullptr;
  void (*message_done)(void* self, pds::PdcHandle pdc) = nullptr;
  void (*want_answers)(void* self, pds::FlowId flow, Instant now) = nullptr;
  void (*release)(void* self, pds::FlowId flow) = nullptr;
};

// The port of the real sublayer.
PdsPort port_of(pds::Pds& pds);

}  // namespace uet::ses
