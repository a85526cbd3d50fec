// SPDX-License-Identifier: GPL-2.0-or-later
// Cells and rows of stat_tap tables.
#include "dissector/stat_table.h"

namespace uet::dissector {

namespace {

stat_tap_table_item_type* cell(const stat_tap_table* table, guint row, guint at) {
  return stat_tap_get_field_data(table, row, at);
}

}  // namespace

stat_tap_table_item column(stat_tap_table_item_enum type, const char* name, const char* format) {
  return {type, type == TABLE_ITEM_STRING ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT, name, format};
}

stat_tap_table* new_table(stat_tap_table_ui* ui, const char* name, Columns columns,
                          const char* filter) {
  if (stat_tap_find_table(ui, name) != nullptr) return nullptr;
  stat_tap_table* table = stat_tap_init_table(name, static_cast<int>(columns.size()), 0, filter);
  stat_tap_add_table(ui, table);
  return table;
}

stat_tap_table* table_of(void* data) {
  return g_array_index(static_cast<stat_data_t*>(data)->stat_tap_data->tables, stat_tap_table*, 0);
}

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

Kept& kept(const stat_tap_table* table, guint row) {
  return *static_cast<Kept*>(cell(table, row, 0)->user_data.ptr_value);
}

void set(stat_tap_table* table, guint row, guint at, uint32_t value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.uint_value = value;
  stat_tap_set_field_data(table, row, at, field);
}

void set(stat_tap_table* table, guint row, guint at, double value) {
  stat_tap_table_item_type* field = cell(table, row, at);
  field->value.float_value = value;
  stat_tap_set_field_data(table, row, at, field);
}

void set(stat_tap_table* table, guint row, guint at, char* text) {
  stat_tap_table_item_type* field = cell(table, row, at);
  g_free(const_cast<char*>(field->value.string_value));
  field->value.string_value = text;
  stat_tap_set_field_data(table, row, at, field);
}

void add(stat_tap_table* table, guint row, guint at, uint32_t value) {
  set(table, row, at, cell(table, row, at)->value.uint_value + value);
}

void add_time(stat_tap_table* table, guint row, guint median, const nstime_t& time) {
  Times& times = kept(table, row).times;
  times.add(time);
  set(table, row, median, times.percentile(50));
  set(table, row, median + 1, times.percentile(99));
}

// The identity of a row stays: its number, its name, its ends.
void reset_table(stat_tap_table* table) {
  constexpr guint kCounted = 2;  // the first column that may hold a text of counts
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

}  // namespace uet::dissector
