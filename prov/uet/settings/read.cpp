// Reading of settings; see read.h.
#include "prov/uet/settings/read.h"

#include "prov/uet/settings/describe.h"
#include "prov/uet/settings/setting.h"

#include <utility>

namespace uet::prov {
namespace {

// The reference's parameter for a checksum or encryption, which this provider does not have. It is
// no setting, but a user who requests protection must not get less. [LF-135]
constexpr std::string_view kProtection = "DATA_PROTECT";

Complaint no_protection(std::string_view value) {
  return {std::string(kProtection),
          "FI_UET_DATA_PROTECT=" + std::string(value) +
              " asks for protection that uet does not have (traffic is neither encrypted nor "
              "authenticated), so nothing is offered",
          true};
}

// A packet of such a class would count as one that a switch has trimmed, and never arrive.
// [CMS-177]
void check_classes(SettingsRead& out) {
  const Settings& settings = out.settings;
  const struct {
    const char* name;
    uint8_t dscp;
  } classes[] = {{"DSCP_DATA", settings.data_dscp()},
                 {"DSCP_ACK", settings.stack.pds.control_dscp}};
  for (const auto& [name, dscp] : classes) {
    if ((settings.cut_dscps() >> dscp & 1) == 0) continue;
    out.complaints.push_back({name,
                              "FI_UET_" + std::string(name) + " is " + std::to_string(dscp) +
                                  ", which is also the DSCP of trimmed packets, so every such "
                                  "packet would count as trimmed: give it another DSCP than "
                                  "FI_UET_DSCP_TRIMMED and FI_UET_DSCP_TRIMMED_LASTHOP. Nothing "
                                  "is offered",
                              true});
    out.settings.valid = false;
  }
}

}  // namespace

SettingsRead read_settings(const SettingTexts& texts) {
  SettingsRead out;
  for (const Setting& row : all_settings()) {
    const auto at = texts.find(row.name);
    if (at == texts.end() || set_from_text(row, at->second, out.settings).ok()) continue;
    if (row.is_strict) out.settings.valid = false;
    out.complaints.push_back({row.name, wrong_value_text(row, at->second), row.is_strict});
  }
  check_classes(out);
  for (const auto& [name, value] : texts) {
    if (find_setting(name) != nullptr) continue;
    if (name == kProtection && value != "0") {
      out.settings.valid = false;
      out.complaints.push_back(no_protection(value));
    } else {
      out.complaints.push_back({name, unknown_name_text(name), false});
    }
  }
  return out;
}

}  // namespace uet::prov
