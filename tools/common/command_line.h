// How the programs of this folder take their command lines: one line on standard error says what is
// wrong with one, and the exit status is 2.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

namespace uet::tools {

constexpr int kBadUsage = 2;

// Whether one of the program's commands must be given.
enum class Commands : uint8_t {
  optional,
  required
};

// Parses, and gives --version to the program. What is returned is the exit status of a program that
// is to end now: after --help and --version (0), and when the command line is wrong.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv,
                                       Commands commands = Commands::optional);

// A check of options: a number from `min` to `max`, which NaN is not (CLI::Range lets it pass).
[[nodiscard]] CLI::Validator number_between(double min, double max);

// Says what is wrong with the command line that was parsed; returns the exit status.
[[nodiscard]] int misuse(const CLI::App& app, const std::string& what);

}  // namespace uet::tools
