// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of Wireshark's stat_tap with the features that our rows need: cells that are set and added
// to, times, rows by number, all freed at the end. statistics.cpp defines the tables.
#pragma once

#include "dissector/tallies.h"

#include <span>

namespace uet::dissector {

using Columns = std::span<const stat_tap_table_item>;

// Additional data of a row; its first cell has it.
struct Kept {
  Times times;
  Spread spread;
  Codes nacks;
  GHashTable* rows;  // from the identity of a row to its number
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

// For stat_tap: clears the counts; frees a cell, and with the first one the data of the row.
void reset_table(stat_tap_table* table);
void free_cell(stat_tap_table* table, guint row, guint at, stat_tap_table_item_type* field);

}  // namespace uet::dissector
