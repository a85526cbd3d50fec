// Makes Settings of environment variables, which the caller hands in.
#pragma once

#include "prov/uet/settings/settings.h"

#include <map>
#include <string>
#include <vector>

namespace uet::prov {

// Names without FI_UET_, and their values.
using SettingTexts = std::map<std::string, std::string, std::less<>>;

struct Complaint {
  std::string name;       // without FI_UET_
  std::string text;       // "what is wrong; what to do"
  bool is_fatal = false;  // nothing is offered
};

struct SettingsRead {
  Settings settings;
  std::vector<Complaint> complaints;  // in the order of the table; unknown names last
};

// A wrong value leaves the default, or, with a strict setting, makes settings.valid false; an
// unknown name is ignored. Each is a complaint, and so are DSCPs that must differ and do not.
// [LF-135, CMS-177]
SettingsRead read_settings(const SettingTexts& texts);

}  // namespace uet::prov
