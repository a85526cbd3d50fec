// SPDX-License-Identifier: GPL-2.0-or-later
// Tables over a whole capture, in tshark with -z and in Wireshark's Statistics menu: PDCs, and SES
// operations with the time to their responses.
#include "dissector/statistics.h"

#include "dissector/pdc.h"

#include "wire/pds_prologue.h"

#include <bit>

namespace uet::dissector {

namespace {

int tap;

// What the tables see of a packet.
struct Tapped {
  PdsFields pds;
  SesFields ses;
  bool has_ses;
  uint32_t payload_bytes;
  const Note* note;
};

// Times by their logarithm, 16 steps for each power of two: percentiles are right to 5 %.
struct Times {
  static constexpr unsigned kSteps = 16, kPowers = 40;
  uint32_t count;
  uint32_t by_step[kPowers * kSteps];

  void add(const nstime_t& time) {
    const int64_t ns = time.secs * int64_t{1000000000} + time.nsecs;
    const uint64_t value = ns < int64_t{kSteps} ? kSteps : static_cast<uint64_t>(ns);
    const auto power = static_cast<unsigned>(std::bit_width(value)) - 5;  // value >> power: 16..31
    const unsigned step = power * kSteps + static_cast<unsigned>(value >> power) - kSteps;
    ++by_step[step < kPowers * kSteps ? step : kPowers * kSteps - 1];
    ++count;
  }
  // In microseconds: the middle of the step below which that part of the times is.
  double percentile(unsigned percent) const {
    uint64_t seen = 0;
    for (unsigned step = 0; step < kPowers * kSteps; ++step) {
      seen += by_step[step];
      if (seen * 100 < uint64_t{count} * percent) continue;
      const double scale = static_cast<double>(uint64_t{1} << (step / kSteps));
      return (step % kSteps + kSteps + 0.5) * scale / 1000;
    }
    return 0;
  }
};

stat_tap_table_item column(stat_tap_table_item_enum type, const char* name, const char* format) {
  return {type, type == TABLE_ITEM_STRING ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT, name, format};
}

stat_tap_table_item_type* cell(const stat_tap_table* table, guint row, guint at) {
  return stat_tap_get_field_data(table, row, at);
}

void add(stat_tap_table* table, guint row, guint at, uint32_t value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.uint_value += value;
  stat_tap_set_field_data(table, row, at, field);
}

void set(stat_tap_table* table, guint row, guint at, double value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.float_value = value;
  stat_tap_set_field_data(table, row, at, field);
}

// All numbers from a column on become 0, the times behind them too.
void reset_cells(stat_tap_table* table, guint first, guint times_at) {
  for (guint row = 0; row < table->num_elements; ++row) {
    *static_cast<Times*>(cell(table, row, times_at)->user_data.ptr_value) = Times{};
    for (guint at = first; at < table->num_fields; ++at) {
      stat_tap_table_item_type* field = cell(table, row, at);
      if (field->type == TABLE_ITEM_FLOAT) {
        field->value.float_value = 0;
      } else {
        field->value.uint_value = 0;
      }
      stat_tap_set_field_data(table, row, at, field);
    }
  }
}

namespace pdc_table {

enum Column : guint {
  kNumber,
  kEnds,
  kRequests,
  kBytes,
  kRetransmissions,
  kNacks,
  kAcks,
  kMissing,
  kMedian,
  kP99,
  kColumns
};

stat_tap_table_item columns[] = {
    column(TABLE_ITEM_UINT, "PDC", "%u"),
    column(TABLE_ITEM_STRING, "Initiator > target", "%-36s"),
    column(TABLE_ITEM_UINT, "Requests", "%u"),
    column(TABLE_ITEM_UINT, "Payload bytes", "%u"),
    column(TABLE_ITEM_UINT, "Retransmissions", "%u"),
    column(TABLE_ITEM_UINT, "NACKs", "%u"),
    column(TABLE_ITEM_UINT, "ACKs", "%u"),
    column(TABLE_ITEM_UINT, "Missing in SACKs", "%u"),
    column(TABLE_ITEM_FLOAT, "RTT median us", "%.1f"),
    column(TABLE_ITEM_FLOAT, "RTT 99 % us", "%.1f"),
};

void init(stat_tap_table_ui* ui) {
  if (stat_tap_find_table(ui, "UET PDCs") != nullptr) return;
  stat_tap_add_table(ui, stat_tap_init_table("UET PDCs", kColumns, 0, "uet.pds.pdc == %u"));
}

void add_row(stat_tap_table* table, guint row) {
  stat_tap_table_item_type fields[kColumns] = {};
  for (guint i = 0; i < kColumns; ++i) fields[i].type = columns[i].type;
  fields[kNumber].value.uint_value = row;
  fields[kEnds].value.string_value = g_strdup("");
  fields[kMedian].user_data.ptr_value = g_new0(Times, 1);
  stat_tap_init_table_row(table, row, kColumns, fields);
}

// Who talks, from the first packet that the table sees of the PDC.
void name_row(stat_tap_table* table, guint row, uint8_t way, const packet_info* pinfo) {
  stat_tap_table_item_type* field = cell(table, row, kEnds);
  if (field->value.string_value[0] != '\0') return;
  char* from = address_to_str(nullptr, way == 0 ? &pinfo->net_src : &pinfo->net_dst);
  char* to = address_to_str(nullptr, way == 0 ? &pinfo->net_dst : &pinfo->net_src);
  g_free(const_cast<char*>(field->value.string_value));
  field->value.string_value = g_strdup_printf("%s > %s", from, to);
  stat_tap_set_field_data(table, row, kEnds, field);
  wmem_free(nullptr, from);
  wmem_free(nullptr, to);
}

tap_packet_status packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                         tap_flags_t) {
  const auto& p = *static_cast<const Tapped*>(tapped);
  if (p.note->pdc == nullptr) return TAP_PACKET_DONT_REDRAW;
  auto* ui = static_cast<stat_data_t*>(data);
  stat_tap_table* table = g_array_index(ui->stat_tap_data->tables, stat_tap_table*, 0);
  const guint row = p.note->pdc->number;
  while (table->num_elements <= row) add_row(table, table->num_elements);
  name_row(table, row, p.note->way, pinfo);
  if (p.note->sent != nullptr) {
    add(table, row, kRequests, 1);
    add(table, row, kBytes, p.payload_bytes);
    if (p.note->retransmission) add(table, row, kRetransmissions, 1);
  }
  if (wire::is_nack(p.pds.type)) add(table, row, kNacks, 1);
  if (wire::is_ack(p.pds.type)) {
    add(table, row, kAcks, 1);
    add(table, row, kMissing, static_cast<uint32_t>(std::popcount(p.note->missing)));
    if (p.note->has_response_time) {
      auto* times = static_cast<Times*>(cell(table, row, kMedian)->user_data.ptr_value);
      times->add(p.note->response_time);
      set(table, row, kMedian, times->percentile(50));
      set(table, row, kP99, times->percentile(99));
    }
  }
  return TAP_PACKET_REDRAW;
}

void reset(stat_tap_table* table) { reset_cells(table, kRequests, kMedian); }

void free_cell(stat_tap_table*, guint, guint at, stat_tap_table_item_type* field) {
  if (at == kEnds) g_free(const_cast<char*>(field->value.string_value));
  if (at == kMedian) g_free(field->user_data.ptr_value);
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

void init(stat_tap_table_ui* ui) {
  if (stat_tap_find_table(ui, "UET SES operations") != nullptr) return;
  stat_tap_table* table =
      stat_tap_init_table("UET SES operations", kColumns, 0, "uet.ses.opcode == %u");
  stat_tap_add_table(ui, table);
  for (guint row = 0; row < kRows; ++row) {
    stat_tap_table_item_type fields[kColumns] = {};
    for (guint i = 0; i < kColumns; ++i) fields[i].type = columns[i].type;
    fields[kOpcode].value.string_value = wire::name(static_cast<wire::SesOpcode>(row));
    fields[kMedian].user_data.ptr_value = g_new0(Times, 1);
    stat_tap_init_table_row(table, row, kColumns, fields);
  }
}

tap_packet_status packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                         tap_flags_t) {
  const auto& p = *static_cast<const Tapped*>(tapped);
  const Note& note = *p.note;
  const Message* message = note.message != nullptr ? note.message : note.answered_message;
  if (!p.has_ses || message == nullptr) return TAP_PACKET_DONT_REDRAW;
  const auto row = static_cast<guint>(message->opcode);
  if (row >= kRows) return TAP_PACKET_DONT_REDRAW;
  auto* ui = static_cast<stat_data_t*>(data);
  stat_tap_table* table = g_array_index(ui->stat_tap_data->tables, stat_tap_table*, 0);
  add(table, row, kPackets, 1);
  add(table, row, kBytes, p.payload_bytes);
  if (note.message != nullptr) {
    if (message->first_frame == pinfo->num) add(table, row, kMessages, 1);
    return TAP_PACKET_REDRAW;
  }
  add(table, row, kResponses, 1);
  if (p.ses.return_code > wire::ReturnCode::ok) add(table, row, kErrors, 1);
  if (note.completes) {
    auto* times = static_cast<Times*>(cell(table, row, kMedian)->user_data.ptr_value);
    times->add(note.service_time);
    set(table, row, kMedian, times->percentile(50));
    set(table, row, kP99, times->percentile(99));
  }
  return TAP_PACKET_REDRAW;
}

void reset(stat_tap_table* table) { reset_cells(table, kMessages, kMedian); }

void free_cell(stat_tap_table*, guint, guint at, stat_tap_table_item_type* field) {
  if (at == kMedian) g_free(field->user_data.ptr_value);
}

}  // namespace ses_table

}  // namespace

void tap_packet(packet_info* pinfo, const Packet& packet, const Note& note) {
  if (!have_tap_listener(tap)) return;
  auto* tapped = wmem_new0(packet_scope(pinfo), Tapped);
  *tapped = {packet.pds, packet.ses, packet.has_ses,
             packet.payload_start >= 0 ? static_cast<uint32_t>(packet.payload_length) : 0, &note};
  tap_queue_packet(tap, pinfo, tapped);
}

void register_statistics() {
  tap = register_tap("uet");
  static tap_param filter[] = {{PARAM_FILTER, "filter", "Filter", nullptr, TRUE}};
  static stat_tap_table_ui pdcs{};
  pdcs.group = REGISTER_STAT_GROUP_GENERIC;
  pdcs.title = "UET PDCs";
  pdcs.tap_name = "uet";
  pdcs.cli_string = "uet,pdc";
  pdcs.stat_tap_init_cb = pdc_table::init;
  pdcs.packet_func = pdc_table::packet;
  pdcs.stat_tap_reset_table_cb = pdc_table::reset;
  pdcs.stat_tap_free_table_item_cb = pdc_table::free_cell;
  pdcs.nfields = pdc_table::kColumns;
  pdcs.fields = pdc_table::columns;
  pdcs.nparams = array_length(filter);
  pdcs.params = filter;
  register_stat_tap_table_ui(&pdcs);
  static stat_tap_table_ui operations = pdcs;
  operations.title = "UET SES operations";
  operations.cli_string = "uet,ses";
  operations.stat_tap_init_cb = ses_table::init;
  operations.packet_func = ses_table::packet;
  operations.stat_tap_reset_table_cb = ses_table::reset;
  operations.stat_tap_free_table_item_cb = ses_table::free_cell;
  operations.nfields = ses_table::kColumns;
  operations.fields = ses_table::columns;
  register_stat_tap_table_ui(&operations);
}

}  // namespace uet::dissector
