// Prints the doctor's findings.
#include "tools/ctl/doctor/command.h"

#include "tools/ctl/doctor/examine.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace uet::tools {
namespace {

void print_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json out;
  out["version"] = 1;
  out["verdict"] = grade_name(worst(findings));
  out["checks"] = nlohmann::ordered_json::array();
  for (const Finding& f : findings) {
    out["checks"].push_back({{"check", f.check},
                             {"grade", grade_name(f.grade)},
                             {"text", f.text},
                             {"remedy", f.remedy}});
  }
  std::printf("%s\n",
              out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& f : findings) {
    std::printf("%-8s %-10s %s\n", grade_name(f.grade), f.check.c_str(), f.text.c_str());
    if (!f.remedy.empty()) std::printf("%-19s fix: %s\n", "", f.remedy.c_str());
  }
}

}  // namespace

int doctor(const std::string& root, bool json) {
  const std::vector<Finding> findings = examine(collect_facts(root));
  if (json) {
    print_json(findings);
  } else {
    print_text(findings);
  }
  switch (worst(findings)) {
    case Grade::ok:
      return 0;
    case Grade::warning:
      return 1;
    case Grade::fault:
      return 3;
  }
  return 3;
}

}  // namespace uet::tools
