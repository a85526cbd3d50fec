// SPDX-License-Identifier: GPL-2.0-or-later
// Key files and key logs: the same lines, so one reader. docs/reference/key-file.md
#include "dissector/keys.h"

#include "dissector/dissect.h"

#include <glib/gstdio.h>
#include <wsutil/report_message.h>

#include <array>
#include <cerrno>

namespace uet::dissector {

namespace {

constexpr gint64 kFileBytesMax = 1 << 22;

std::array<KnownKey, kKeysMax> keys;
uint32_t key_count;
gint64 bytes_read;
bool told;  // the error in the file

// Takes every line that is a key. Only the first error is reported: a file of another kind has one
// in each line.
void take_lines(const char* path, std::string_view text) {
  uint32_t line = 0, mistakes = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(one.size() == text.size() ? one.size() : one.size() + 1);
    ++line;
    const tss::KeyLine parsed = tss::parse_key_line(one);
    const char* problem = parsed.problem;
    if (parsed.key && key_count == kKeysMax) problem = "more keys than the 1024 that are taken";
    if (problem != nullptr) {
      if (mistakes++ > 0 || told) continue;
      const auto size = static_cast<int>(parsed.field.size() < 40 ? parsed.field.size() : 40);
      report_failure("UET key file %s, line %u: %.*s%s%s.", path, line, size, parsed.field.data(),
                     size > 0 ? ": " : "", problem);
    } else if (parsed.key) {
      keys[key_count++] = {*parsed.key, line};
    }
  }
  if (mistakes > 1 && !told) report_failure("UET key file %s: %u lines are wrong.", path, mistakes);
  told = told || mistakes > 0;
}

// Opens a regular file of acceptable size; -1 after reporting the error.
gint64 size_of(const char* path) {
  GStatBuf status;
  const char* problem = nullptr;
  if (g_stat(path, &status) != 0) {
    problem = g_strerror(errno);
  } else if (!S_ISREG(status.st_mode) || status.st_size > kFileBytesMax) {
    problem = "no file of at most 4 MiB";
  }
  if (problem == nullptr) return status.st_size;
  if (!told) report_failure("UET key file %s: %s.", path, problem);
  told = true;
  return -1;
}

void read_file(const char* path) {
  key_count = 0;
  bytes_read = 0;
  gchar* text = nullptr;
  gsize size = 0;
  GError* error = nullptr;
  if (!g_file_get_contents(path, &text, &size, &error)) {
    report_failure("UET key file: %s.", error->message);
    g_error_free(error);
    return;
  }
  bytes_read = static_cast<gint64>(size);
  take_lines(path, std::string_view(text, size));
  g_free(text);
}

bool has_file() { return preferences.key_file != nullptr && preferences.key_file[0] != '\0'; }

}  // namespace

void load_keys() {
  told = false;
  key_count = 0;
  bytes_read = 0;
  if (has_file() && size_of(preferences.key_file) >= 0) read_file(preferences.key_file);
}

bool load_more_keys() {
  if (!has_file() || size_of(preferences.key_file) <= bytes_read) return false;
  read_file(preferences.key_file);
  return true;
}

const KnownKey* key_at(uint32_t index) { return index < key_count ? &keys[index] : nullptr; }

}  // namespace uet::dissector
