// CLI11 reports the error; here it becomes a line with the name of the program and of its command.
#include "tools/common/command_line.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

namespace uet::tools {

namespace {

std::string complaint_about(const CLI::App& app, const std::string& word) {
  if (!word.empty() && word.front() == '-') return "unknown option " + word;
  const bool may_be_command = app.get_subcommands().empty() && !app.get_subcommands({}).empty();
  return (may_be_command ? "unknown command " : "unexpected argument ") + word;
}

}  // namespace

std::optional<int> parse(CLI::App& app, int argc, char** argv, Commands commands) {
  app.set_version_flag("--version", UET_VERSION, "Print the version and exit");
  // Not require_subcommand(1): for a misspelt command it reports a missing one.
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return ended(app, app.exit(e));
    // Unknown words come before missing ones: the unknown one may be the missing one, misspelt.
    const auto unknown = app.remaining(true);
    return misuse(app, unknown.empty() ? e.what() : complaint_about(app, unknown.front()));
  }
  if (commands == Commands::required && app.get_subcommands().empty()) {
    std::string names;
    for (const CLI::App* command : app.get_subcommands({})) {
      names += names.empty() ? "" : ", ";
      names += command->get_name();
    }
    const bool is_one = names.find(',') == std::string::npos;
    return misuse(app, (is_one ? "a command is needed: " : "a command is needed, one of ") + names);
  }
  return std::nullopt;
}

CLI::Validator number_between(double min, double max) {
  const auto check = [min, max](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min && value <= max) return {};
    char limits[80];
    std::snprintf(limits, sizeof limits, " is not a number from %g to %g", min, max);
    return text + limits;
  };
  return CLI::Validator(check, "");
}

CLI::Validator whole_number() {
  const auto check = [](const std::string& text) -> std::string {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return {};
    return text + " is not a whole number from 0 to 18446744073709551615";
  };
  return CLI::Validator(check, "");
}

int ended(const CLI::App& app, int status, int failed) {
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: standard output cannot be written\n", app.get_name().c_str());
  return failed;
}

int misuse(const CLI::App& app, const std::string& what) {
  std::string name = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) name += ' ' + command->get_name();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), what.c_str(), name.c_str());
  return kBadUsage;
}

}  // namespace uet::tools
