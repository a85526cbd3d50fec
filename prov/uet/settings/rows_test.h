// Settings of level test: faults on purpose. Rows of the table; see setting.h. For table.cpp only.
#pragma once

#include "prov/uet/settings/fields.h"
#include "prov/uet/settings/setting.h"

#include "io/fault/fault_plan.h"

namespace uet::prov {

inline constexpr Setting kTestRows[] = {
    {.name = "FAULT",
     .kind = Kind::text,
     .unit = "a fault plan",
     .field = {.text = [](const Settings& s) { return s.fault; },
               .read =
                   [](Settings& s, std::string_view text) {
                     if (text.empty() || !io::parse_fault_plan(text).has_value()) return false;
                     s.fault = text;
                     return true;
                   }},
     .source = "ours",
     .help = "Packets are lost, doubled, delayed or changed on purpose",
     .unset = "no faults",
     .example = "loss=0.01,dup=0.001",
     .is_strict = true},
};

}  // namespace uet::prov
