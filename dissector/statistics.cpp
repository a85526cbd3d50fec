// SPDX-License-Identifier: GPL-2.0-or-later
// Tables over a whole capture, in tshark with -z and in Wireshark's Statistics menu: PDCs, SES
// operations with the time to their responses, and how packets spread over entropy values.
#include "dissector/statistics.h"

#include "dissector/pdc.h"

#include "wire/pds_prologue.h"

#include <bit>
#include <cmath>
#include <span>

namespace uet::dissector {

namespace {

int tap;

// What the tables see of a packet.
struct Tapped {
  PdsFields pds;
  SesFields ses;
  bool has_ses;
  uint32_t payload_bytes;
  uint16_t entropy;
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

// Packets by their entropy value.
struct Spread {
  GHashTable* by_value;  // value to packets; made with the first
  uint32_t packets, most;
  uint16_t most_used;
  double sum;  // of n * log2(n) over the values

  void add(uint16_t value) {
    if (by_value == nullptr) by_value = g_hash_table_new(nullptr, nullptr);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(by_value, GUINT_TO_POINTER(value)));
    const guint now = before + 1;
    g_hash_table_insert(by_value, GUINT_TO_POINTER(value), GUINT_TO_POINTER(now));
    ++packets;
    sum += now * std::log2(now) - (before == 0 ? 0 : before * std::log2(before));
    if (now > most) {
      most = now;
      most_used = value;
    }
  }
  uint32_t values() const { return by_value == nullptr ? 0 : g_hash_table_size(by_value); }
  // n values that are used alike have log2(n) bits.
  double bits() const { return packets == 0 ? 0 : std::log2(packets) - sum / packets; }
  void clear() {
    if (by_value != nullptr) g_hash_table_destroy(by_value);
    *this = {};
  }
};

// NACKs by their code.
struct Codes {
  uint32_t by_code[256];

  // "TRIMMED 3, ROD_OOO 1" in the order of the codes; g_malloc's.
  char* text() const {
    GString* out = g_string_new(nullptr);
    for (uint32_t code = 0; code < std::size(by_code); ++code) {
      if (by_code[code] == 0) continue;
      const char* name = wire::name(static_cast<wire::NackCode>(code));
      g_string_append_printf(out, "%s%s %u", out->len == 0 ? "" : ", ", name, by_code[code]);
    }
    return g_string_free(out, FALSE);
  }
};

// What a row keeps beside its cells; its first cell has it.
struct Kept {
  Times times;
  Spread spread;
  Codes nacks;
  GHashTable* rows;  // of the first row: what a row is of to its number
};

stat_tap_table_item column(stat_tap_table_item_enum type, const char* name, const char* format) {
  return {type, type == TABLE_ITEM_STRING ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT, name, format};
}

using Columns = std::span<const stat_tap_table_item>;

stat_tap_table* table_of(void* data) {
  return g_array_index(static_cast<stat_data_t*>(data)->stat_tap_data->tables, stat_tap_table*, 0);
}

stat_tap_table_item_type* cell(const stat_tap_table* table, guint row, guint at) {
  return stat_tap_get_field_data(table, row, at);
}

Kept& kept(const stat_tap_table* table, guint row) {
  return *static_cast<Kept*>(cell(table, row, 0)->user_data.ptr_value);
}

void set(stat_tap_table* table, guint row, guint at, uint32_t value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.uint_value = value;
  stat_tap_set_field_data(table, row, at, field);
}

void add(stat_tap_table* table, guint row, guint at, uint32_t value) {
  set(table, row, at, cell(table, row, at)->value.uint_value + value);
}

void set(stat_tap_table* table, guint row, guint at, double value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.float_value = value;
  stat_tap_set_field_data(table, row, at, field);
}

// Takes the text, which is g_malloc's.
void set(stat_tap_table* table, guint row, guint at, char* text) {
  stat_tap_table_item_type* field = cell(table, row, at);
  g_free(const_cast<char*>(field->value.string_value));
  field->value.string_value = text;
  stat_tap_set_field_data(table, row, at, field);
}

// One more time, and the median and the 99th percentile in the columns from `median` on.
void add_time(stat_tap_table* table, guint row, guint median, const nstime_t& time) {
  Times& times = kept(table, row).times;
  times.add(time);
  set(table, row, median, times.percentile(50));
  set(table, row, median + 1, times.percentile(99));
}

// An empty row at the end.
void add_row(stat_tap_table* table, Columns columns) {
  constexpr size_t kColumnsMax = 12;
  g_assert(columns.size() <= kColumnsMax);
  stat_tap_table_item_type fields[kColumnsMax] = {};
  for (size_t i = 0; i < columns.size(); ++i) {
    fields[i].type = columns[i].type;
    if (fields[i].type == TABLE_ITEM_STRING) fields[i].value.string_value = g_strdup("");
  }
  fields[0].user_data.ptr_value = g_new0(Kept, 1);
  stat_tap_init_table_row(table, table->num_elements, static_cast<guint>(columns.size()), fields);
}

// The row of something that has a number; a new one if `is_new`, so that a filter leaves no row
// without packets.
guint row_of(stat_tap_table* table, Columns columns, uint32_t number, bool& is_new) {
  void* const key = GUINT_TO_POINTER(number);
  void* row = nullptr;
  const bool is_first = table->num_elements == 0;
  is_new = is_first || g_hash_table_lookup_extended(kept(table, 0).rows, key, nullptr, &row) == 0;
  if (!is_new) return GPOINTER_TO_UINT(row);
  const guint added = table->num_elements;
  add_row(table, columns);
  if (is_first) kept(table, 0).rows = g_hash_table_new(g_direct_hash, g_direct_equal);
  g_hash_table_insert(kept(table, 0).rows, key, GUINT_TO_POINTER(added));
  return added;
}

// A table without rows; nothing when it is there.
stat_tap_table* new_table(stat_tap_table_ui* ui, const char* name, Columns columns,
                          const char* filter) {
  if (stat_tap_find_table(ui, name) != nullptr) return nullptr;
  stat_tap_table* table = stat_tap_init_table(name, static_cast<int>(columns.size()), 0, filter);
  stat_tap_add_table(ui, table);
  return table;
}

// Who sends to whom, in the direction that the packet does not travel if `turned`.
char* ends_of(const packet_info* pinfo, bool turned) {
  char* from = address_to_str(nullptr, turned ? &pinfo->net_dst : &pinfo->net_src);
  char* to = address_to_str(nullptr, turned ? &pinfo->net_src : &pinfo->net_dst);
  char* ends = g_strdup_printf("%s > %s", from, to);
  wmem_free(nullptr, from);
  wmem_free(nullptr, to);
  return ends;
}

// What a row is of stays: its number, its name, its ends. All that was counted becomes nothing.
void reset(stat_tap_table* table) {
  constexpr guint kCounted = 2;  // the first column that may hold a text of what was counted
  for (guint row = 0; row < table->num_elements; ++row) {
    kept(table, row).times = {};
    kept(table, row).spread.clear();
    kept(table, row).nacks = {};
    for (guint at = 1; at < table->num_fields; ++at) {
      const stat_tap_table_item_enum type = cell(table, row, at)->type;
      if (type == TABLE_ITEM_UINT) set(table, row, at, uint32_t{0});
      if (type == TABLE_ITEM_FLOAT) set(table, row, at, 0.0);
      if (type == TABLE_ITEM_STRING && at >= kCounted) set(table, row, at, g_strdup(""));
    }
  }
}

void free_cell(stat_tap_table*, guint, guint at, stat_tap_table_item_type* field) {
  if (field->type == TABLE_ITEM_STRING) g_free(const_cast<char*>(field->value.string_value));
  if (at != 0) return;
  auto* row = static_cast<Kept*>(field->user_data.ptr_value);
  row->spread.clear();
  if (row->rows != nullptr) g_hash_table_destroy(row->rows);
  g_free(row);
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

tap_packet_status packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
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
    if (message->first_frame == pinfo->num) add(table, row, kMessages, 1);
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

void register_table(const char* title, const char* option, void (*init)(stat_tap_table_ui*),
                    tap_packet_cb packet, std::span<stat_tap_table_item> columns) {
  static tap_param filter[] = {{PARAM_FILTER, "filter", "Filter", nullptr, TRUE}};
  auto* ui = wmem_new0(wmem_epan_scope(), stat_tap_table_ui);
  ui->group = REGISTER_STAT_GROUP_GENERIC;
  ui->title = title;
  ui->tap_name = "uet";
  ui->cli_string = option;
  ui->stat_tap_init_cb = init;
  ui->packet_func = packet;
  ui->stat_tap_reset_table_cb = reset;
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
  tap = register_tap("uet");
  register_table("UET PDCs", "uet,pdc", pdc_table::init, pdc_table::packet, pdc_table::columns);
  register_table("UET SES operations", "uet,ses", ses_table::init, ses_table::packet,
                 ses_table::columns);
  register_table("UET entropy values", "uet,entropy", entropy_table::init, entropy_table::packet,
                 entropy_table::columns);
}

}  // namespace uet::dissector
