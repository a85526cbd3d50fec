// Datagrams in: parsing, and finding the PDC they belong to. The order of the checks is that of
// PDS 7.1 (V1 to V9). [PDS-060]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/door/door.h"
#include "pds/door/proofs.h"
#include "pds/door/replies.h"
#include "pds/pdc/close_steps.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"
#include "pds/rx/inbox.h"
#include "pds/schedule/schedule.h"
#include "pds/trimmed.h"
#include "pds/tx/ack_reader.h"
#include "pds/tx/nack_reader.h"

#include "wire/pds.h"

#include <optional>
#include <span>

namespace uet::pds {

class Demux {
 public:
  Demux(Resources& res, PdcTable& table, Connectionless& connectionless, Schedule& schedule,
        IdleList& idle, Replies& replies, CloseSteps& steps, Inbox& inbox, AckReader& ack_reader,
        NackReader& nack_reader, Door& door, Trimmed& trimmed)
      : res_(res),
        table_(table),
        connectionless_(connectionless),
        schedule_(schedule),
        idle_(idle),
        replies_(replies),
        steps_(steps),
        inbox_(inbox),
        ack_reader_(ack_reader),
        nack_reader_(nack_reader),
        door_(door),
        trimmed_(trimmed) {}

  // One datagram, or several that came together.
  void receive(std::span<const RxDatagram> datagrams, Instant now);
  void receive(const RxDatagram& d, Instant now);

  // The PDC that the datagram is most likely for; nothing has been checked yet.
  Pdc* pdc_ahead(std::span<const std::byte> datagram) const;
  // Of the PDC that the datagram is for: prefetches the entry of the table, the PDC, and the memory
  // that the PDC points to.
  void prefetch_id(std::span<const std::byte> datagram) const;
  void prefetch_pdc(std::span<const std::byte> datagram) const;
  void prefetch_rest(const Pdc& pdc) const;

 private:
  void on_request(const RxDatagram& d, Instant now);
  void on_control(const RxDatagram& d, Instant now);
  void on_inbound(const Inbound& in, Instant now);
  void send_refusal(Pdc& pdc, const AckTrigger& packet, const Admission& result, Instant now);
  Pdc* look_up(const Inbound& in, Instant now);
  void refuse_binding(const Pdc& pdc, const Inbound& in, Instant now);
  Pdc* look_up_answered(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d);
  void on_ack(const RxDatagram& d, wire::PdsType type, Instant now);
  void on_nack(const RxDatagram& d, Instant now);

  Resources& res_;
  PdcTable& table_;
  Connectionless& connectionless_;
  Schedule& schedule_;
  IdleList& idle_;
  Replies& replies_;
  CloseSteps& steps_;
  Inbox& inbox_;
  AckReader& ack_reader_;
  NackReader& nack_reader_;
  Door& door_;
  Trimmed& trimmed_;
};

}  // namespace uet::pds
