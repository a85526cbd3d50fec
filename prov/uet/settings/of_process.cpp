// Settings to and from libfabric; see of_process.h.
#include "prov/uet/settings/of_process.h"

#include "prov/uet/api/compat.h"
#include "prov/uet/api/log.h"
#include "prov/uet/observe/user_message.h"
#include "prov/uet/settings/describe.h"
#include "prov/uet/settings/read.h"

#include <unistd.h>

#include <string>
#include <string_view>

namespace uet::prov {
namespace {

// Names in the environment that no row has: a misspelt one would otherwise do nothing silently.
void add_unknown(SettingTexts& texts) {
  constexpr std::string_view kPrefix = "FI_UET_";
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (!entry.starts_with(kPrefix)) continue;
    const size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    const std::string_view name = entry.substr(kPrefix.size(), equals - kPrefix.size());
    if (find_setting(name) == nullptr) texts.emplace(name, entry.substr(equals + 1));
  }
}

// The environment, as libfabric reports it.
SettingTexts texts_of_process() {
  SettingTexts texts;
  for (const Setting& row : all_settings()) {
    char* value = nullptr;
    if (fi_param_get_str(&provider(), row.name, &value) != 0 || value == nullptr) continue;
    texts.emplace(row.name, value);
  }
  add_unknown(texts);
  return texts;
}

}  // namespace

void define_settings() {
  // Every value is a string to libfabric, so that a wrong one is seen here and not read as zero.
  for (const Setting& row : all_settings()) {
    fi_param_define(&provider(), row.name, FI_PARAM_STRING, "%s", help_text(row).c_str());
  }
}

Settings read_settings_of_process() {
  SettingsRead read = read_settings(texts_of_process());
  for (const Complaint& complaint : read.complaints) tell_user("%s", complaint.text.c_str());
  return std::move(read.settings);
}

}  // namespace uet::prov
