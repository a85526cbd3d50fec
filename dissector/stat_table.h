// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of Wireshark's stat_tap with what our rows need: cells that are set and added to, times,
// rows by number, all given back. What the tables are of is statistics.cpp's.
#pragma once

#include "dissector/tallies.h"

#include <span>

namespace uet::dissector {

using Columns = std::span<const stat_tap_table_item>;

// What a row keeps beside its cells; its first cell has it.
struct Kept {
  Times times;
  Spread spread;
  Codes nacks;
  GHashTable* rows;  // of the first row: what a row is of to its number
};

stat_tap_table_item column(stat_tap_table_item_enum type, const char* name, const char* format);

// A table without rows; nothing when it is there.
stat_tap_table* new_table(stat_tap_table_ui* ui, const char* name, Columns columns,
                          const char* filter);

// That of a tap's callback.
stat_tap_table* table_of(void* data);

// An empty row at the end.
void add_row(stat_tap_table* table, Columns columns);

// The row of something that has a number; a new one if `is_new`, so that a filter leaves no row
// without packets.
guint row_of(stat_tap_table* table, Columns columns, uint32_t number, bool& is_new);

Kept& kept(const stat_tap_table* table, guint row);
void set(stat_tap_table* table, guint row, guint at, uint32_t value);
void set(stat_tap_table* table, guint row, guint at, double value);
void set(stat_tap_table* table, guint row, guint at, char* text);  // takes it; it is g_malloc's
void add(stat_tap_table* table, guint row, guint at, uint32_t value);

// One more time, and the median and the 99th percentile in the columns from `median` on.
void add_time(stat_tap_table* table, guint row, guint median, const nstime_t& time);

// For stat_tap: forgets what was counted; gives a cell back, and with the first what the row kept.
void reset_table(stat_tap_table* table);
void free_cell(stat_tap_table* table, guint row, guint at, stat_tap_table_item_type* field);

}  // namespace uet::dissector
