// Packets that a switch has trimmed. A trimmed packet causes a NACK, from which the source learns
// early that data was lost; it opens no PDC, moves no window and never reaches the client. [PDS 11,
// PDS-V2]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/door/replies.h"
#include "pds/door/trim_nacks.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/destination.h"
#include "pds/rx/inbound.h"
#include "pds/rx/inbox.h"
#include "pds/tx/loss_recovery.h"

#include "wire/pds.h"
#include "wire/tss.h"

#include <optional>

namespace uet::pds {

class Trimmed {
 public:
  Trimmed(Resources& res, PdcTable& table, Connectionless& connectionless, Replies& replies,
          LossRecovery& loss, Destination& destination, Inbox& inbox)
      : res_(res),
        table_(table),
        connectionless_(connectionless),
        replies_(replies),
        loss_(loss),
        destination_(destination),
        inbox_(inbox),
        nacks_(res.config.trim_nacks_per_second) {}

  // A datagram with the DSCP of trimmed packets, of two octets at least.
  void receive(const RxDatagram& d, Instant now);

 private:
  void on_request(const RxDatagram& d, Instant now);
  void on_secured(const RxDatagram& datagram, Instant now);
  void on_ack(const RxDatagram& d, Instant now);
  std::optional<Inbound> read_header(const RxDatagram& d) const;
  bool binds(const Pdc* pdc, const Inbound& in) const;
  Pdc* find_syn(const Inbound& in, bool& is_new);
  void answer_again(Pdc& pdc, const Inbound& in, Arrival how, Instant now);

  Resources& res_;
  PdcTable& table_;
  Connectionless& connectionless_;
  Replies& replies_;
  LossRecovery& loss_;
  Destination& destination_;
  Inbox& inbox_;
  TrimNacks nacks_;
};

}  // namespace uet::pds
