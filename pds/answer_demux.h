// ACKs and NACKs on their way to the PDC whose packets they answer. [PDS 7.1 V6 to V8]
#pragma once

#include "pds/lookup.h"
#include "pds/pdc/close_steps.h"
#include "pds/request_demux.h"
#include "pds/resources.h"
#include "pds/tx/ack_reader.h"
#include "pds/tx/nack_reader.h"

#include "wire/pds.h"

namespace uet::pds {

class AnswerDemux {
 public:
  AnswerDemux(Resources& res, Lookup& lookup, RequestDemux& requests, CloseSteps& steps,
              AckReader& ack_reader, NackReader& nack_reader)
      : res_(res),
        lookup_(lookup),
        requests_(requests),
        steps_(steps),
        ack_reader_(ack_reader),
        nack_reader_(nack_reader) {}

  void on_ack(const RxDatagram& d, wire::PdsType type, Instant now);
  // A NACK with the NT of a mode with PDCs.
  void on_nack(const RxDatagram& d, const wire::Nack& h, Instant now);

 private:
  Resources& res_;
  Lookup& lookup_;
  RequestDemux& requests_;
  CloseSteps& steps_;
  AckReader& ack_reader_;
  NackReader& nack_reader_;
};

}  // namespace uet::pds
