// SPDX-License-Identifier: GPL-2.0-or-later
// Tables over a whole capture, in tshark with -z and in Wireshark's Statistics menu: PDCs, SES
// operations with the time to their responses, and how packets spread over entropy values.
#include "dissector/statistics.h"

#include "dissector/names.h"
#include "dissector/pdc.h"
#include "dissector/stat_table.h"

#include "wire/pds_prologue.h"

#include <bit>
#include <cstring>

namespace uet::dissector {

namespace {

constexpr const char* kTapName = "uet";
int tap;

// The facts about a packet for the tables.
struct Tapped {
  PdsFields pds;
  SesFields ses;
  bool has_ses;
  uint32_t payload_bytes;
  uint16_t entropy;
  const Note* note;
};

// Source and destination of the packet; the other way round if `turned`.
char* ends_of(const packet_info* pinfo, bool turned) {
  char* from = address_to_str(nullptr, turned ? &pinfo->net_dst : &pinfo->net_src);
  char* to = address_to_str(nullptr, turned ? &pinfo->net_src : &pinfo->net_dst);
  char* ends = g_strdup_printf("%s > %s", from, to);
  wmem_free(nullptr, from);
  wmem_free(nullptr, to);
  return ends;
}

namespace pdc_table {

enum Column : guint {
  kNumber,
  kEnds,
  kPackets,
  kRequests,
  kBytes,
  kRetransmissions,
  kAcks,
  kMissing,
  kMedian,
  kP99,
  kNacks,
  kNackCodes,
  kColumns
};

stat_tap_table_item columns[] = {
    column(TABLE_ITEM_UINT, "PDC", "%u"),
    column(TABLE_ITEM_STRING, "Initiator > target", "%-36s"),
    column(TABLE_ITEM_UINT, "Packets", "%u"),
    column(TABLE_ITEM_UINT, "Requests", "%u"),
    column(TABLE_ITEM_UINT, "Payload bytes", "%u"),
    column(TABLE_ITEM_UINT, "Retransmissions", "%u"),
    column(TABLE_ITEM_UINT, "ACKs", "%u"),
    column(TABLE_ITEM_UINT, "Missing in SACKs", "%u"),
    column(TABLE_ITEM_FLOAT, "RTT median us", "%.1f"),
    column(TABLE_ITEM_FLOAT, "RTT 99 % us", "%.1f"),
    column(TABLE_ITEM_UINT, "NACKs", "%u"),
    column(TABLE_ITEM_STRING, "NACK codes", "%s"),
};
static_assert(std::size(columns) == kColumns);

void init(stat_tap_table_ui* ui) { new_table(ui, "UET PDCs", columns, "uet.pds.pdc == %u"); }

tap_packet_status packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                         tap_flags_t) {
  const auto& p = *static_cast<const Tapped*>(tapped);
  if (p.note->pdc == nullptr) return TAP_PACKET_DONT_REDRAW;
  stat_tap_table* table = table_of(data);
  bool is_new = false;
  const guint row = row_of(table, columns, p.note->pdc->number, is_new);
  if (is_new) {
    set(table, row, kNumber, p.note->pdc->number);
    set(table, row, kEnds, ends_of(pinfo, p.note->way != 0));
  }
  add(table, row, kPackets, 1);
  if (p.note->sent != nullptr) {
    add(table, row, kRequests, 1);
    add(table, row, kBytes, p.payload_bytes);
    if (p.note->retransmission) add(table, row, kRetransmissions, 1);
  }
  if (wire::is_nack(p.pds.type)) {
    Codes& nacks = kept(table, row).nacks;
    ++nacks.by_code[p.pds.nack_code];
    add(table, row, kNacks, 1);
    set(table, row, kNackCodes, nacks.text());
  }
  if (wire::is_ack(p.pds.type)) {
    add(table, row, kAcks, 1);
    add(table, row, kMissing, static_cast<uint32_t>(std::popcount(p.note->missing)));
    if (p.note->has_response_time) add_time(table, row, kMedian, p.note->response_time);
  }
  return TAP_PACKET_REDRAW;
}

}  // namespace pdc_table

namespace ses_table {

enum Column : guint {
  kOpcode,
  kMessages,
  kPackets,
  kBytes,
  kResponses,
  kErrors,
  kMedian,
  kP99,
  kColumns
};

constexpr guint kRows = 16;  // opcodes with a meaning

stat_tap_table_item columns[] = {
    column(TABLE_ITEM_STRING, "Operation", "%-20s"),
    column(TABLE_ITEM_UINT, "Messages", "%u"),
    column(TABLE_ITEM_UINT, "Packets", "%u"),
    column(TABLE_ITEM_UINT, "Payload bytes", "%u"),
    column(TABLE_ITEM_UINT, "Responses", "%u"),
    column(TABLE_ITEM_UINT, "Errors", "%u"),
    column(TABLE_ITEM_FLOAT, "Service median us", "%.1f"),
    column(TABLE_ITEM_FLOAT, "Service 99 % us", "%.1f"),
};
static_assert(std::size(columns) == kColumns);

void init(stat_tap_table_ui* ui) {
  stat_tap_table* table = new_table(ui, "UET SES operations", columns, "uet.ses.opcode == %u");
  if (table == nullptr) return;
  for (guint row = 0; row < kRows; ++row) {
    add_row(table, columns);
    set(table, row, kOpcode, g_strdup(wire::name(static_cast<wire::SesOpcode>(row))));
  }
}

tap_packet_status packet(void* data, packet_info*, epan_dissect_t*, const void* tapped,
                         tap_flags_t) {
  const auto& p = *static_cast<const Tapped*>(tapped);
  const Note& note = *p.note;
  const Message* message = note.message != nullptr ? note.message : note.answered_message;
  if (!p.has_ses || message == nullptr) return TAP_PACKET_DONT_REDRAW;
  const auto row = static_cast<guint>(message->opcode);
  if (row >= kRows) return TAP_PACKET_DONT_REDRAW;
  stat_tap_table* table = table_of(data);
  add(table, row, kPackets, 1);
  add(table, row, kBytes, p.payload_bytes);
  if (note.message != nullptr) {
    if (note.begins_message) add(table, row, kMessages, 1);
    return TAP_PACKET_REDRAW;
  }
  add(table, row, kResponses, 1);
  if (p.ses.return_code > wire::ReturnCode::ok) add(table, row, kErrors, 1);
  if (note.completes) add_time(table, row, kMedian, note.service_time);
  return TAP_PACKET_REDRAW;
}

}  // namespace ses_table

namespace entropy_table {

enum Column : guint {
  kNumber,
  kEnds,
  kPackets,
  kValues,
  kMostUsed,
  kItsPackets,
  kBits,
  kColumns
};

stat_tap_table_item columns[] = {
    column(TABLE_ITEM_UINT, "PDC", "%u"),
    column(TABLE_ITEM_STRING, "From > to", "%-36s"),
    column(TABLE_ITEM_UINT, "Requests", "%u"),
    column(TABLE_ITEM_UINT, "Entropy values", "%u"),
    column(TABLE_ITEM_UINT, "Most used", "%u"),
    column(TABLE_ITEM_UINT, "Its requests", "%u"),
    column(TABLE_ITEM_FLOAT, "Spread bits", "%.2f"),
};
static_assert(std::size(columns) == kColumns);

void init(stat_tap_table_ui* ui) {
  new_table(ui, "UET entropy values", columns, "uet.pds.pdc == %u");
}

// A row for each way of a PDC.
tap_packet_status packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                         tap_flags_t) {
  const auto& p = *static_cast<const Tapped*>(tapped);
  if (p.note->pdc == nullptr || p.note->sent == nullptr) return TAP_PACKET_DONT_REDRAW;
  stat_tap_table* table = table_of(data);
  bool is_new = false;
  const guint row = row_of(table, columns, 2 * p.note->pdc->number + p.note->way, is_new);
  if (is_new) {
    set(table, row, kNumber, p.note->pdc->number);
    set(table, row, kEnds, ends_of(pinfo, false));
  }
  Spread& spread = kept(table, row).spread;
  spread.add(p.entropy);
  set(table, row, kPackets, spread.packets);
  set(table, row, kValues, spread.values());
  set(table, row, kMostUsed, uint32_t{spread.most_used});
  set(table, row, kItsPackets, spread.most);
  set(table, row, kBits, spread.bits());
  return TAP_PACKET_REDRAW;
}

}  // namespace entropy_table

const char* tap_name;

void register_table(const char* title, const char* option, void (*init)(stat_tap_table_ui*),
                    tap_packet_cb packet, std::span<stat_tap_table_item> columns) {
  static tap_param filter[] = {{PARAM_FILTER, "filter", "Filter", nullptr, TRUE}};
  const bool taken = strcmp(tap_name, kTapName) != 0;
  auto* ui = wmem_new0(wmem_epan_scope(), stat_tap_table_ui);
  ui->group = REGISTER_STAT_GROUP_GENERIC;
  ui->title = taken ? wmem_strconcat(wmem_epan_scope(), title, " (uetx)", nullptr) : title;
  ui->tap_name = tap_name;
  ui->cli_string = spare_if(taken, option);
  ui->stat_tap_init_cb = init;
  ui->packet_func = packet;
  ui->stat_tap_reset_table_cb = reset_table;
  ui->stat_tap_free_table_item_cb = free_cell;
  ui->nfields = columns.size();
  ui->fields = columns.data();
  ui->nparams = array_length(filter);
  ui->params = filter;
  register_stat_tap_table_ui(ui);
}

}  // namespace

void tap_packet(packet_info* pinfo, const Packet& packet, const Note& note) {
  if (!have_tap_listener(tap)) return;
  auto* tapped = wmem_new0(packet_scope(pinfo), Tapped);
  const uint32_t entropy = packet.native ? packet.entropy_header >> 16U : pinfo->srcport;
  *tapped = {packet.pds,
             packet.ses,
             packet.has_ses,
             packet.payload_start >= 0 ? static_cast<uint32_t>(packet.payload_length) : 0,
             static_cast<uint16_t>(entropy),
             &note};
  tap_queue_packet(tap, pinfo, tapped);
}

void register_statistics() {
  tap_name = spare_if(find_tap_id(kTapName) != 0, kTapName);  // a tap of another plugin has other
                                                              // data
  tap = register_tap(tap_name);
  register_table("UET PDCs", "uet,pdc", pdc_table::init, pdc_table::packet, pdc_table::columns);
  register_table("UET SES operations", "uet,ses", ses_table::init, ses_table::packet,
                 ses_table::columns);
  register_table("UET entropy values", "uet,entropy", entropy_table::init, entropy_table::packet,
                 entropy_table::columns);
}

}  // namespace uet::dissector
