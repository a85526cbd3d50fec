// Datagrams in: each goes where its type belongs. The order of the checks is that of PDS 7.1 (V1 to
// V9). [PDS-060]
#pragma once

#include "pds/answer_demux.h"
#include "pds/connectionless/connectionless.h"
#include "pds/door/replies.h"
#include "pds/lookup.h"
#include "pds/request_demux.h"
#include "pds/resources.h"
#include "pds/trimmed.h"

#include <span>

namespace uet::pds {

class Demux {
 public:
  Demux(Resources& res, Connectionless& connectionless, Replies& replies, Trimmed& trimmed,
        Lookup& lookup, RequestDemux& requests, AnswerDemux& answers)
      : res_(res),
        connectionless_(connectionless),
        replies_(replies),
        trimmed_(trimmed),
        lookup_(lookup),
        requests_(requests),
        answers_(answers) {}

  // One datagram, or several that came together.
  void receive(std::span<const RxDatagram> datagrams, Instant now);
  void receive(const RxDatagram& d, Instant now);

 private:
  void on_request(const RxDatagram& d, Instant now);
  void on_control(const RxDatagram& d, Instant now);
  void on_nack(const RxDatagram& d, Instant now);

  Resources& res_;
  Connectionless& connectionless_;
  Replies& replies_;
  Trimmed& trimmed_;
  Lookup& lookup_;
  RequestDemux& requests_;
  AnswerDemux& answers_;
};

}  // namespace uet::pds
